//! The dialect of pages: what surrounds them, their headers, and errors for people.

use askama::Template;
use axum::body::Body;
use http::header::{
    ACCEPT, ACCEPT_LANGUAGE, ALLOW, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
    SET_COOKIE,
};
use http::{Method, Response, StatusCode};
use percent_encoding::{CONTROLS, utf8_percent_encode};

use super::note::Note;
use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::redirect_uri;
use crate::domain::protocol::refusal::Refusal;
use crate::http::cookies::Cookie;
use crate::http::extract::call::Call;
use crate::http::page::text::negotiate;
use crate::http::page::text::{Key, Language};
use crate::http::page::{
    Back, BusyPage, Chrome, ClientHeader, DetailLine, ErrorPage, Fault, LanguageLink, broken, clean_title,
};
use crate::service::{Error, logo};

/// The language of this call's page.
#[must_use]
pub fn language(call: &Call, ui_locales: &[String]) -> Language {
    let settings = &call.ctx.realm.settings.locales;
    let supported: Vec<Language> = settings.supported.iter().filter_map(|tag| Language::from_tag(tag)).collect();
    let default = Language::from_tag(&settings.default).unwrap_or(Language::En);
    let chosen = call.page_param("lang").or_else(|| call.cookie(Cookie::Language));
    // The footer's choice beats what the application asked for: the person stands nearer.
    let asked = if chosen.is_some() { String::new() } else { ui_locales.join(" ") };
    negotiate(Some(&asked), chosen.as_deref(), call.header(&ACCEPT_LANGUAGE), &supported, default)
}

/// What surrounds this call's page. `ui_locales` is what the application asked for.
#[must_use]
pub fn chrome(call: &Call, ui_locales: &[String]) -> Chrome {
    let ctx = &call.ctx;
    let now = language(call, ui_locales);
    let mut chrome = Chrome::new(now, ctx.site.static_base.clone(), clean_title(ctx.realm.title()));
    ctx.site.origin.split_once("://").map_or("", |(_, host)| host).clone_into(&mut chrome.domain);
    chrome.request_id = ctx.request_id.to_string();
    if call.head.method == Method::GET && !call.path().starts_with("/authorize") {
        let supported = ctx.realm.settings.locales.supported.iter().filter_map(|tag| Language::from_tag(tag));
        chrome.languages =
            supported.map(|language| LanguageLink::new(language, with_language(call, language), now)).collect();
    }
    chrome
}

/// This page's own address with another language.
fn with_language(call: &Call, language: Language) -> String {
    let rest: Vec<&str> =
        call.raw_query().split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("lang=")).collect();
    let mut query = rest.join("&");
    if !query.is_empty() {
        query.push('&');
    }
    format!("{}?{query}lang={}", call.ctx.site.path(call.path()), language.code())
}

/// The client as people see it.
///
/// # Errors
/// When its logo cannot be looked up.
pub async fn client_header(call: &Call, client: &Client) -> Result<ClientHeader, Error> {
    let metadata = &client.metadata;
    let mut header = ClientHeader::named(client.title());
    header.logo = logo::address(&call.app, &call.ctx, client).await?;
    header.policy_uri.clone_from(&metadata.policy_uri);
    header.tos_uri.clone_from(&metadata.tos_uri);
    header.client_uri.clone_from(&metadata.client_uri);
    Ok(header)
}

/// Renders a page. `targets` are origins or schemes besides our own that its forms may lead to.
#[must_use]
pub fn html(call: &Call, status: StatusCode, page: &impl Template, targets: &[&str]) -> Response<Body> {
    framing(call, status, page, targets, &[])
}

/// As [`html`], for a page that loads `frames`: the origins of what it loads, and nothing else is framed.
#[must_use]
pub fn framing(
    call: &Call,
    status: StatusCode,
    page: &impl Template,
    targets: &[&str],
    frames: &[&str],
) -> Response<Body> {
    let Ok(text) = page.render() else { return broken(&call.ctx) };
    let mut response = document(status, text, targets, frames);
    let supported = &call.ctx.realm.settings.locales.supported;
    if call.head.method == Method::GET
        && let Some(code) = call.page_param("lang")
        && supported.contains(&code)
        && Language::from_tag(&code).is_some()
    {
        let cookie = Cookie::Language.set(&call.ctx.site, &code, Some(400 * 86_400));
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

fn document(status: StatusCode, text: String, targets: &[&str], frames: &[&str]) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let mut csp = String::from(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    );
    for target in targets.iter().filter(|target| is_csp_source(target)) {
        csp.push(' ');
        csp.push_str(target);
    }
    for (at, frame) in frames.iter().filter(|frame| is_csp_source(frame)).enumerate() {
        csp.push_str(if at == 0 { "; frame-src " } else { " " });
        csp.push_str(frame);
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    if let Ok(value) = HeaderValue::try_from(csp) {
        headers.insert(CONTENT_SECURITY_POLICY, value);
    }
    response
}

/// Nothing that could end the directive or begin another.
fn is_csp_source(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b';' | b',' | b'\'' | b'"'))
}

/// The static page for a fault of ours: it needs neither database nor templates.
fn broken(ctx: &Ctx) -> Response<Body> {
    document(StatusCode::INTERNAL_SERVER_ERROR, broken::page(&ctx.site.static_base, &ctx.request_id), &[], &[])
}

/// An error page for a person.
#[must_use]
pub fn fault(
    call: &Call,
    status: StatusCode,
    fault: Fault,
    reason: &'static str,
    detail: Vec<DetailLine>,
) -> Response<Body> {
    shown(call, status, error_page(call, fault, detail), reason)
}

fn error_page(call: &Call, fault: Fault, detail: Vec<DetailLine>) -> ErrorPage {
    let mut page = ErrorPage::new(chrome(call, &[]), fault, call.ctx.now.to_rfc3339());
    page.detail = detail;
    // No page without a way out; whether the cookie still counts is decided there.
    page.chrome.sign_out = call.cookie(Cookie::Session).map(|_| call.ctx.site.path("/logout"));
    if fault == Fault::FlowGone {
        // The application is not known any more; the start page says how to go on.
        let title = page.chrome.t(Key::ErrorOnward).to_owned();
        page.onward = Some(Back { title, href: call.ctx.site.path("/") });
    }
    page
}

fn shown(call: &Call, status: StatusCode, page: ErrorPage, reason: &'static str) -> Response<Body> {
    let mut response = html(call, status, &page, &[]);
    response.extensions_mut().insert(Note { client: None, reason: Some(reason) });
    response
}

/// A refused authorization or logout request that must not be answered by redirect.
#[must_use]
pub fn refused(call: &Call, refusal: &Refusal) -> Response<Body> {
    refused_request(call, refusal, &Params::default(), None)
}

/// As [`refused`], with what was sent: it is all that a developer can compare, since what is registered
/// is shown to nobody here. `client` is the one that the request names, where there is one.
#[must_use]
pub fn refused_request(call: &Call, refusal: &Refusal, sent: &Params, client: Option<&Client>) -> Response<Body> {
    let kind = if refusal.reason.starts_with("client") {
        Fault::UnknownClient
    } else if refusal.reason.starts_with("redirect_uri") {
        Fault::RedirectUri
    } else {
        Fault::Request
    };
    let mut lines = detail(refusal);
    let named = ["client_id", "redirect_uri"].into_iter().filter_map(|name| Some((name, sent.get(name)?)));
    lines.extend(named.map(|(name, value)| DetailLine { name: name.to_owned(), value: as_sent(value) }));
    let mut page = error_page(call, kind, lines);
    page.back = client.and_then(|client| beginning(call, client));
    shown(call, StatusCode::BAD_REQUEST, page, refusal.reason)
}

/// Where a sign-in at the application begins anew (OpenID Connect Core 4). Only an operator's word is offered.
fn beginning(call: &Call, client: &Client) -> Option<Back> {
    let uri = client.metadata.initiate_login_uri.as_deref();
    let uri = uri.filter(|_| client.enabled && !client.is_self_registered())?;
    let href = redirect_uri::append(uri, &[("iss", &call.ctx.site.issuer)]);
    Some(Back { title: clean_title(client.title()), href })
}

/// A refusal that does not go to its client, which registered itself, while nobody is signed in.
#[must_use]
pub fn not_returned(call: &Call, client: &Client, refusal: &Refusal) -> Response<Body> {
    let mut lines = detail(refusal);
    lines.push(DetailLine { name: "client_id".to_owned(), value: client.client_id.clone() });
    fault(call, StatusCode::BAD_REQUEST, Fault::NotReturned, refusal.reason, lines)
}

/// A stranger's value as people may see it: what is not visible ASCII stands percent-encoded, since it
/// could be invisible or turn the reading direction; long ones are cut.
fn as_sent(value: &str) -> String {
    const SHOWN: usize = 400;
    let text = utf8_percent_encode(value, CONTROLS).to_string();
    match text.get(..SHOWN) {
        Some(start) if text.len() > SHOWN => format!("{start}…"),
        _ => text,
    }
}

/// The lines for the application's developer.
#[must_use]
pub fn detail(refusal: &Refusal) -> Vec<DetailLine> {
    vec![
        DetailLine { name: "error".to_owned(), value: refusal.code.to_string() },
        DetailLine { name: "error_description".to_owned(), value: refusal.description.to_string() },
    ]
}

/// Renders an error.
#[must_use]
pub fn error(call: &Call, error: &Error) -> Response<Body> {
    super::log_fault(&call.ctx, error);
    let mut response = match error {
        Error::Refused(refusal) => refused(call, refusal),
        Error::Invalid(_) => fault(call, StatusCode::UNPROCESSABLE_ENTITY, Fault::Request, "invalid", Vec::new()),
        Error::TooLarge { .. } => {
            fault(call, StatusCode::PAYLOAD_TOO_LARGE, Fault::TooLarge, "body_too_large", Vec::new())
        }
        Error::NotFound if !reads_html(call.headers()) => {
            super::plain(StatusCode::NOT_FOUND, "There is nothing at this address.")
        }
        Error::NotFound => fault(call, StatusCode::NOT_FOUND, Fault::NotFound, "not_found", Vec::new()),
        Error::Busy { retry_after } => busy(call, *retry_after),
        Error::Throttled { retry_after, .. } => throttled(call, *retry_after),
        Error::Unavailable { .. } => {
            let mut response =
                fault(call, StatusCode::SERVICE_UNAVAILABLE, Fault::Unavailable, "unavailable", Vec::new());
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(2));
            response
        }
        Error::Internal(_) => broken(&call.ctx),
    };
    response.extensions_mut().insert(Note { client: None, reason: Some(error.reason()) });
    response
}

fn busy(call: &Call, retry_after: u32) -> Response<Body> {
    later(call, retry_after, StatusCode::SERVICE_UNAVAILABLE)
}

fn throttled(call: &Call, retry_after: u32) -> Response<Body> {
    later(call, retry_after, StatusCode::TOO_MANY_REQUESTS)
}

fn later(call: &Call, retry_after: u32, status: StatusCode) -> Response<Body> {
    let page = BusyPage {
        chrome: chrome(call, &[]),
        client: None,
        username: String::new(),
        password_unchecked: false,
        retry_after: u64::from(retry_after),
        retry_href: call.ctx.site.path("/"),
        is_rate_limited: status == StatusCode::TOO_MANY_REQUESTS,
    };
    let mut response = html(call, status, &page, &[]);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after));
    response
}

fn reads_html(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

/// A page's address that does not take the method: a short text, for it is a program that asks.
#[must_use]
pub fn method_not_allowed(ctx: &Ctx, allow: &str) -> Response<Body> {
    let mut response = super::plain(StatusCode::METHOD_NOT_ALLOWED, "This address does not take this method.");
    if let Ok(value) = HeaderValue::try_from(allow) {
        response.headers_mut().insert(ALLOW, value);
    }
    response.extensions_mut().insert(Note { client: None, reason: Some("method") });
    tracing::debug!(request_id = &*ctx.request_id, "method not allowed");
    response
}
