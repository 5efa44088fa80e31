//! The first room of every request: which host, which realm, who asks; and the last of every answer:
//! request id, security headers, the log line.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use http::header::{HOST, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request, Response, StatusCode, Uri};
use tower::ServiceExt;

use super::extract::address::{Peer, client_address, is_trusted};
use super::extract::place::{Place, place};
use super::layer::headers;
use super::render::{note::Note, plain};
use crate::config::network::Network;
use crate::context::{Ctx, Site};
use crate::domain::model::ids::RealmId;
use crate::domain::model::realm::{MAIN_REALM, Realm};
use crate::observe::log::{AccessLog, Entry};
use crate::observe::metrics::metrics;
use crate::service::{App, Error};

/// What the front needs to know of the configuration.
#[derive(Debug, Clone)]
pub struct FrontSettings {
    /// `public_url` without a trailing slash.
    pub public_url: String,
    /// Whose forwarded headers count.
    pub trusted: Vec<Network>,
    /// `--dev` refuses forwarded headers (`security-design` rule 29).
    pub dev: bool,
}

/// The front: shared by all listeners, one router per runtime.
#[derive(Clone)]
pub struct Front {
    app: Arc<App>,
    router: Router,
    settings: Arc<FrontSettings>,
    authority: Arc<str>,
    base: Arc<str>,
    log: Option<AccessLog>,
    sites: Arc<RwLock<HashMap<RealmId, (Arc<Realm>, Arc<Site>)>>>,
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl Front {
    /// Puts the front before `router`.
    #[must_use]
    pub fn new(app: Arc<App>, router: Router, settings: FrontSettings, log: Option<AccessLog>) -> Self {
        let rest = settings.public_url.split_once("://").map_or("", |(_, rest)| rest);
        let (authority, base) = rest.split_once('/').map_or((rest, String::new()), |(a, path)| (a, format!("/{path}")));
        Self {
            authority: authority.to_ascii_lowercase().into(),
            base: base.into(),
            app,
            router,
            log,
            settings: Arc::new(settings),
            sites: Arc::default(),
        }
    }

    /// Answers a request.
    pub async fn serve(self, peer: Peer, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let started = self.app.clock.monotonic();
        let request_id = self.request_id();
        let method = method(request.method());
        let (mut response, label, realm) = self.answer(peer, request, &request_id).await;
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        let note = response.extensions_mut().remove::<Note>().unwrap_or_default();
        let took = self.app.clock.monotonic().saturating_sub(started);
        let class = match response.status().as_u16() {
            ..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        metrics().http_requests.with_label_values(&[label, class]).inc();
        metrics().http_seconds.with_label_values(&[label]).observe(took.as_secs_f64());
        if let Some(log) = &self.log {
            log.write(Entry {
                at: self.app.clock.now(),
                request_id: request_id.clone(),
                method,
                route: label.into(),
                status: response.status().as_u16(),
                micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                realm: realm.map(|realm| Arc::from(realm.name.as_str())),
                client_id: note.client.map(Arc::from),
                reason: note.reason,
            });
        }
        Ok(response)
    }

    async fn answer(
        &self,
        peer: Peer,
        request: Request<Body>,
        request_id: &Arc<str>,
    ) -> (Response<Body>, &'static str, Option<Arc<Realm>>) {
        let (mut head, body) = request.into_parts();
        let Some(host) = self.host(peer, &head) else {
            return (plain(StatusCode::BAD_REQUEST, "A request needs exactly one Host header."), "host", None);
        };
        let path = head.uri.path().to_owned();
        let at = if host == *self.authority {
            place(&self.base, &path)
        } else {
            Place { realm: None, path: path.as_str().into() }
        };
        let realm = match self.realm(&host, &at).await {
            Ok(Some(realm)) if realm.enabled => realm,
            Ok(_) if host != *self.authority && at.realm.is_none() => {
                let text =
                    format!("This provider does not answer as this host. Its address is {}.", self.settings.public_url);
                return (plain(StatusCode::MISDIRECTED_REQUEST, &text), "host", None);
            }
            Ok(_) => return (plain(StatusCode::NOT_FOUND, "There is nothing at this address."), "none", None),
            Err(error) => {
                tracing::error!(request_id = &**request_id, %error, "the realm could not be read");
                let mut busy =
                    plain(StatusCode::SERVICE_UNAVAILABLE, "The service is not available. Try again in a moment.");
                busy.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from_static("2"));
                return (busy, "none", None);
            }
        };
        let site = self.site(&realm);
        let trusted: &[Network] = if self.settings.dev { &[] } else { &self.settings.trusted };
        let user_agent = head.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).map(|text| {
            let end = text.char_indices().nth(256).map_or(text.len(), |(at, _)| at);
            Arc::from(text.get(..end).unwrap_or(text))
        });
        let ctx = Ctx {
            now: self.app.clock.now(),
            realm: realm.clone(),
            site: site.clone(),
            request_id: request_id.clone(),
            address: client_address(peer, &head.headers, trusted),
            user_agent,
        };
        let label = super::router::label(&at.path);
        if at.path != path {
            match below(&head.uri, &at.path) {
                Some(uri) => head.uri = uri,
                None => return (plain(StatusCode::BAD_REQUEST, "The address cannot be read."), label, Some(realm)),
            }
        }
        head.extensions.insert(ctx);
        let mut request = Request::from_parts(head, body);
        request.extensions_mut().insert(peer);
        let mut response = self.router.clone().oneshot(request).await.into_response();
        headers::secure(&mut response, &site);
        (response, label, Some(realm))
    }

    /// The one host that was asked for, lower-case. Forwarded hosts count only from trusted peers.
    fn host(&self, peer: Peer, head: &http::request::Parts) -> Option<String> {
        if !self.settings.dev
            && is_trusted(peer, &self.settings.trusted)
            && let Some(forwarded) = head.headers.get("x-forwarded-host")
        {
            let text = forwarded.to_str().ok()?;
            return Some(text.rsplit(',').next().unwrap_or(text).trim().to_ascii_lowercase());
        }
        let mut hosts = head.headers.get_all(HOST).iter();
        let host = match hosts.next() {
            Some(value) => value.to_str().ok()?.to_ascii_lowercase(),
            None => head.uri.authority()?.as_str().to_ascii_lowercase(),
        };
        hosts.next().is_none().then_some(host)
    }

    async fn realm(&self, host: &str, at: &Place<'_>) -> Result<Option<Arc<Realm>>, Error> {
        let models = self.app.store.models();
        if *host != *self.authority {
            return Ok(models.realm_by_host(host).await?);
        }
        let name = match at.realm {
            // The main realm has one address only: public_url itself.
            Some(MAIN_REALM) => return Ok(None),
            Some(name) => name,
            None => MAIN_REALM,
        };
        let realm = models.realm_by_name(name).await?;
        // A realm with an issuer of its own is not to be found under another address too.
        Ok(realm.filter(|realm| realm.issuer.is_none() || realm.name == MAIN_REALM))
    }

    fn site(&self, realm: &Arc<Realm>) -> Arc<Site> {
        let known = self.sites.read().unwrap_or_else(PoisonError::into_inner).get(&realm.id).cloned();
        if let Some((as_of, site)) = known
            && Arc::ptr_eq(&as_of, realm)
        {
            return site;
        }
        let site = Arc::new(Site::new(&self.settings.public_url, realm));
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        if sites.len() > 4096 {
            sites.clear();
        }
        sites.insert(realm.id, (realm.clone(), site.clone()));
        site
    }

    fn request_id(&self) -> Arc<str> {
        let bytes: [u8; 8] = crate::entropy::bytes(&*self.app.entropy, "request");
        let mut text = String::with_capacity(16);
        for byte in bytes {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
        text.into()
    }
}

/// The method as the log names it: strangers' inventions have no name of their own.
const fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// The address with another path and the same query.
fn below(uri: &Uri, path: &str) -> Option<Uri> {
    let text = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    text.parse().ok()
}
