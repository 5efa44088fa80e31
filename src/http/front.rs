//! The first room of every request: which host, which realm, who asks; and the last of every answer:
//! request id, security headers, the log line.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Each realm's addresses, with the realm they were made of.
type Sites = HashMap<RealmId, (Arc<Realm>, Arc<Site>)>;

/// The front: shared by all listeners, one router per runtime.
#[derive(Clone)]
pub struct Front {
    app: Arc<App>,
    router: Router,
    settings: Arc<FrontSettings>,
    authority: Arc<str>,
    base: Arc<str>,
    log: Option<AccessLog>,
    sites: Arc<RwLock<Sites>>,
    /// Where the walk of request ids stands.
    requests: Arc<AtomicU64>,
}

/// What a proxy adds; `--dev` refuses requests that carry any of it (`security-design` rule 29).
const FORWARDED: [&str; 5] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-prefix"];

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl Front {
    /// Puts the front before `router`.
    #[must_use]
    pub fn new(app: Arc<App>, router: Router, settings: FrontSettings, log: Option<AccessLog>) -> Self {
        let rest = settings.public_url.split_once("://").map_or("", |(_, rest)| rest);
        let (authority, base) = rest.split_once('/').map_or((rest, String::new()), |(a, path)| (a, format!("/{path}")));
        let requests = u64::from_be_bytes(crate::entropy::bytes(&*app.entropy, "request"));
        Self {
            requests: Arc::new(AtomicU64::new(requests)),
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
        let (mut response, label, site) = self.answer(peer, request, &request_id).await;
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        let note = response.extensions_mut().remove::<Note>().unwrap_or_default();
        let took = self.app.clock.monotonic().saturating_sub(started);
        let status = response.status();
        metrics().http_seconds.with_label_values(&[label, method, status.as_str()]).observe(took.as_secs_f64());
        if let Some(log) = &self.log {
            log.write(Entry {
                at: self.app.clock.now(),
                request_id: request_id.clone(),
                method,
                route: label.into(),
                status: status.as_u16(),
                micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                realm: site.map(|site| site.name.clone()),
                client_id: note.client,
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
    ) -> (Response<Body>, &'static str, Option<Arc<Site>>) {
        let (mut head, body) = request.into_parts();
        if self.settings.dev && FORWARDED.iter().any(|name| head.headers.contains_key(*name)) {
            let text = "This request came through a proxy, which a server started with --dev is not for.";
            return (self.bare(StatusCode::BAD_REQUEST, text), "host", None);
        }
        let Some(host) = self.host(peer, &head) else {
            return (self.bare(StatusCode::BAD_REQUEST, "A request needs exactly one Host header."), "host", None);
        };
        let path = head.uri.path().to_owned();
        let at = if host == *self.authority {
            place(&self.base, &path)
        } else {
            Place { realm: None, path: path.as_str().into() }
        };
        let realm = match self.realm(&host, &at).await {
            Ok(Some(realm)) if realm.enabled => realm,
            Ok(realm) => return self.nobody(&host, realm.is_some()),
            Err(error) => return self.unknown(&error, request_id),
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
                None => return (self.bare(StatusCode::BAD_REQUEST, "The address cannot be read."), label, Some(site)),
            }
        }
        head.extensions.insert(ctx);
        let mut request = Request::from_parts(head, body);
        request.extensions_mut().insert(peer);
        let mut response = self.router.clone().oneshot(request).await.into_response();
        headers::secure(&mut response, site.secure);
        (response, label, Some(site))
    }

    /// The answer where no realm answers: another host altogether, or an address without a realm.
    fn nobody(&self, host: &str, is_known: bool) -> (Response<Body>, &'static str, Option<Arc<Site>>) {
        if is_known || *host == *self.authority {
            return (self.bare(StatusCode::NOT_FOUND, "There is nothing at this address."), "none", None);
        }
        let text = format!("This provider does not answer as this host. Its address is {}.", self.settings.public_url);
        (self.bare(StatusCode::MISDIRECTED_REQUEST, &text), "host", None)
    }

    /// The answer when it cannot be told which realm this is.
    fn unknown(&self, error: &Error, request_id: &str) -> (Response<Body>, &'static str, Option<Arc<Site>>) {
        tracing::error!(request_id, %error, "the realm could not be read");
        let mut busy =
            self.bare(StatusCode::SERVICE_UNAVAILABLE, "The service is not available. Try again in a moment.");
        busy.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from_static("2"));
        (busy, "none", None)
    }

    /// A short text before a realm is known, with the headers of every answer.
    fn bare(&self, status: StatusCode, text: &str) -> Response<Body> {
        let mut response = plain(status, text);
        headers::secure(&mut response, self.is_https());
        response
    }

    fn is_https(&self) -> bool {
        self.settings.public_url.starts_with("https://")
    }

    /// The one host that was asked for, lower-case, without the scheme's own port. Forwarded hosts count
    /// only from trusted peers; an absolute request target beats `Host` (RFC 9112 section 3.2.2).
    fn host(&self, peer: Peer, head: &http::request::Parts) -> Option<String> {
        let forwarded = head.headers.get_all("x-forwarded-host").iter().next_back();
        let host = if !self.settings.dev
            && is_trusted(peer, &self.settings.trusted)
            && let Some(forwarded) = forwarded
        {
            forwarded.to_str().ok()?.rsplit(',').next()?.trim()
        } else if let Some(authority) = head.uri.authority() {
            authority.as_str()
        } else {
            let mut hosts = head.headers.get_all(HOST).iter();
            hosts.next().filter(|_| hosts.next().is_none())?.to_str().ok()?
        };
        let own_port = if self.is_https() { ":443" } else { ":80" };
        Some(host.strip_suffix(own_port).unwrap_or(host).to_ascii_lowercase())
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

    /// Sixteen hexadecimal digits that no other request of this or another process is likely to have: a walk
    /// through all numbers of 64 bits (SplitMix64) from a random place, since each answer needs one and none
    /// of them is a secret.
    fn request_id(&self) -> Arc<str> {
        let mut number = self.requests.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        format!("{:016x}", number ^ (number >> 31)).into()
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
