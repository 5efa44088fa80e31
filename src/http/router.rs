//! The whole surface in one table: method, path, who answers, in which dialect errors speak, who may
//! call by script, whether it takes a body. Nothing is mounted anywhere else. Paths are relative to
//! the realm's issuer; `front` has taken the rest off.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::routing::{MethodFilter, on};
use http::{Method, Request, Response};

use super::extract::call::Call;
use super::layer::cors::Cors;
use super::render::{bearer, oauth, page, plain};
use super::{demo, oidc, root, setup, signin, statics};
use crate::context::Ctx;
use crate::domain::model::realm::RealmSettings as Settings;
use crate::service::{App, Error};

/// An endpoint: takes the call, answers or fails; the row's dialect renders the failure.
pub type Endpoint =
    Box<dyn Fn(Arc<Call>) -> Pin<Box<dyn Future<Output = Result<Response<Body>, Error>> + Send>> + Send + Sync>;

/// How a row's errors speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// RFC 6749 section 5.2.
    Oauth,
    /// RFC 6750 section 3.
    Bearer,
    /// A page.
    Page,
}

/// Where a row exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Under every realm's issuer.
    Realm,
    /// Only under `public_url`.
    Main,
    /// Only under `public_url`, only with `--dev`.
    Dev,
}

/// A row of the table.
pub struct Row {
    /// One method; GET also answers HEAD.
    pub method: Method,
    /// Path below the issuer.
    pub path: &'static str,
    /// Where it exists.
    pub audience: Audience,
    /// How its errors speak.
    pub dialect: Dialect,
    /// Who may call it by script.
    pub cors: Cors,
    /// Whether it takes a body, of at most `limits.body_kib`.
    pub takes_body: bool,
    /// Whether a realm has it: what is switched off is not there.
    pub is_there: fn(&Settings) -> bool,
    /// What answers.
    pub endpoint: Endpoint,
}

impl Row {
    fn where_it(mut self, is_there: fn(&Settings) -> bool) -> Self {
        self.is_there = is_there;
        self
    }
}

const fn registers(settings: &Settings) -> bool {
    settings.client_registration.enabled
}

/// The surface.
#[must_use]
pub fn table() -> Vec<Row> {
    use Audience::{Dev, Main, Realm};
    use Cors::{Clients, Everyone, Never};
    use Dialect::{Bearer, Oauth, Page};
    vec![
        // Metadata and keys.
        get("/.well-known/openid-configuration", Realm, Oauth, Everyone, oidc::openid_configuration::get),
        get("/.well-known/oauth-authorization-server", Realm, Oauth, Everyone, oidc::openid_configuration::get),
        get("/.well-known/jwks.json", Realm, Oauth, Everyone, oidc::jwks::get),
        // The protocol.
        get("/authorize", Realm, Page, Never, oidc::authorize::get),
        post("/authorize", Realm, Page, Never, oidc::authorize::post),
        post("/token", Realm, Oauth, Clients, oidc::token::post),
        get("/userinfo", Realm, Bearer, Clients, oidc::userinfo::get),
        post("/userinfo", Realm, Bearer, Clients, oidc::userinfo::post),
        post("/introspect", Realm, Oauth, Never, oidc::introspect::post),
        post("/revoke", Realm, Oauth, Clients, oidc::revoke::post),
        post("/register", Realm, Bearer, Everyone, oidc::register::post).where_it(registers),
        get("/register/{client_id}", Realm, Bearer, Everyone, oidc::register_client::get).where_it(registers),
        put("/register/{client_id}", Realm, Bearer, Everyone, oidc::register_client::put).where_it(registers),
        delete("/register/{client_id}", Realm, Bearer, Everyone, oidc::register_client::delete).where_it(registers),
        get("/logout", Realm, Page, Never, oidc::logout::get),
        post("/logout", Realm, Page, Never, oidc::logout::post),
        get("/session/check", Realm, Page, Never, oidc::check_session::get),
        // The pages of the sign-in.
        get("/login", Realm, Page, Never, signin::login::get),
        post("/login", Realm, Page, Never, signin::login::post),
        get("/login/select-account", Realm, Page, Never, signin::select_account::get),
        post("/login/select-account", Realm, Page, Never, signin::select_account::post),
        get("/login/start", Realm, Page, Never, signin::start::get),
        get("/login/logo", Realm, Page, Never, signin::logo::get),
        get("/consent", Realm, Page, Never, signin::consent::get),
        post("/consent", Realm, Page, Never, signin::consent::post),
        post("/logout/confirm", Realm, Page, Never, signin::logout::post),
        // Set-up, static files, the way in for people who type the address.
        get("/setup/{token}", Main, Page, Never, setup::get),
        post("/setup/{token}", Main, Page, Never, setup::post),
        get("/static/{*file}", Realm, Page, Never, statics::get),
        get("/favicon.ico", Realm, Page, Never, statics::favicon),
        get("/", Realm, Page, Never, root::get),
        // The demo relying party.
        get("/demo", Dev, Page, Never, demo::home::get),
        get("/demo/start", Dev, Page, Never, demo::start::get),
        get("/demo/callback", Dev, Page, Never, demo::callback::get),
        post("/demo/refresh", Dev, Page, Never, demo::refresh::post),
        post("/demo/logout", Dev, Page, Never, demo::logout::post),
    ]
}

fn get<F, Fut>(path: &'static str, audience: Audience, dialect: Dialect, cors: Cors, endpoint: F) -> Row
where
    F: Fn(Arc<Call>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response<Body>, Error>> + Send + 'static,
{
    Row {
        method: Method::GET,
        path,
        audience,
        dialect,
        cors,
        takes_body: false,
        is_there: |_| true,
        endpoint: boxed(endpoint),
    }
}

fn post<F, Fut>(path: &'static str, audience: Audience, dialect: Dialect, cors: Cors, endpoint: F) -> Row
where
    F: Fn(Arc<Call>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response<Body>, Error>> + Send + 'static,
{
    Row { method: Method::POST, takes_body: true, ..get(path, audience, dialect, cors, endpoint) }
}

fn put<F, Fut>(path: &'static str, audience: Audience, dialect: Dialect, cors: Cors, endpoint: F) -> Row
where
    F: Fn(Arc<Call>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response<Body>, Error>> + Send + 'static,
{
    Row { method: Method::PUT, takes_body: true, ..get(path, audience, dialect, cors, endpoint) }
}

fn delete<F, Fut>(path: &'static str, audience: Audience, dialect: Dialect, cors: Cors, endpoint: F) -> Row
where
    F: Fn(Arc<Call>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response<Body>, Error>> + Send + 'static,
{
    Row { method: Method::DELETE, ..get(path, audience, dialect, cors, endpoint) }
}

fn boxed<F, Fut>(endpoint: F) -> Endpoint
where
    F: Fn(Arc<Call>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response<Body>, Error>> + Send + 'static,
{
    Box::new(move |call| Box::pin(endpoint(call)))
}

/// The router of the table.
pub fn build(app: &Arc<App>, dev: bool) -> Router {
    let mut router = Router::new();
    let mut known: Vec<Known> = Vec::new();
    for row in table().into_iter().filter(|row| dev || row.audience != Audience::Dev) {
        match known.iter_mut().find(|known| known.path == row.path) {
            Some(known) => known.allow = format!("{}, {}", known.allow, allowed(&row.method)),
            None => known.push(Known {
                path: row.path,
                audience: row.audience,
                dialect: row.dialect,
                cors: row.cors,
                is_there: row.is_there,
                allow: allowed(&row.method).to_owned(),
            }),
        }
        let filter = match row.method {
            Method::GET => MethodFilter::GET,
            Method::PUT => MethodFilter::PUT,
            Method::DELETE => MethodFilter::DELETE,
            _ => MethodFilter::POST,
        };
        let (path, row, app) = (row.path, Arc::new(row), app.clone());
        let endpoint = move |request: Request<Body>| {
            let (app, row) = (app.clone(), row.clone());
            async move { run(app, &row, request).await }
        };
        router = router.route(path, on(filter, endpoint));
    }
    let known = Arc::new(known);
    for known in known.iter().filter(|known| known.cors != Cors::Never) {
        let (app, path, known) = (app.clone(), known.path, Arc::new(known.clone()));
        let endpoint = move |request: Request<Body>| preflight(app.clone(), known.clone(), request);
        router = router.route(path, on(MethodFilter::OPTIONS, endpoint));
    }
    let (app, elsewhere) = (app.clone(), app.clone());
    router
        .method_not_allowed_fallback(move |request: Request<Body>| {
            let (app, known) = (elsewhere.clone(), known.clone());
            async move { wrong_method(app, &known, request) }
        })
        .fallback(move |request: Request<Body>| {
            let app = app.clone();
            async move { missing(app, request) }
        })
}

/// What a path takes, for those who ask wrongly.
#[derive(Clone)]
struct Known {
    path: &'static str,
    audience: Audience,
    dialect: Dialect,
    cors: Cors,
    is_there: fn(&Settings) -> bool,
    allow: String,
}

async fn preflight(app: Arc<App>, known: Arc<Known>, request: Request<Body>) -> Response<Body> {
    let Some(ctx) = request.extensions().get::<Ctx>() else { return plain(http::StatusCode::NOT_FOUND, "") };
    if !(known.is_there)(&ctx.realm.settings) {
        return missing(app, request);
    }
    let allowed = known.cors.allowed(&app, ctx, request.headers()).await;
    known.cors.preflight(allowed, &known.allow)
}

fn wrong_method(app: Arc<App>, known: &[Known], request: Request<Body>) -> Response<Body> {
    let found = known.iter().find(|known| matches(known.path, request.uri().path()));
    match (found, request.extensions().get::<Ctx>()) {
        (Some(known), Some(ctx)) if known.audience != Audience::Realm && !ctx.site.main => missing(app, request),
        (Some(known), Some(ctx)) if !(known.is_there)(&ctx.realm.settings) => missing(app, request),
        (Some(known), Some(ctx)) if known.dialect == Dialect::Page => page::method_not_allowed(ctx, &known.allow),
        (Some(known), _) => oauth::method_not_allowed(&known.allow),
        _ => plain(http::StatusCode::METHOD_NOT_ALLOWED, "This address does not take this method."),
    }
}

fn missing(app: Arc<App>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Some(ctx) = head.extensions.get::<Ctx>().cloned() else {
        return plain(http::StatusCode::NOT_FOUND, "There is nothing at this address.");
    };
    page::error(&Call::new(app, ctx, head, body, 0), &Error::NotFound)
}

const fn allowed(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET, HEAD",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "POST",
    }
}

async fn run(app: Arc<App>, row: &Row, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Some(ctx) = head.extensions.get::<Ctx>().cloned() else {
        return plain(http::StatusCode::NOT_FOUND, "There is nothing at this address.");
    };
    if !(row.is_there)(&ctx.realm.settings) {
        return missing(app, Request::from_parts(head, body));
    }
    let elsewhere = row.audience != Audience::Realm && !ctx.site.main;
    let allowed = row.cors.allowed(&app, &ctx, &head.headers).await;
    let limit = if row.takes_body { app.config.limits.body } else { 0 };
    let call = Arc::new(Call::new(app, ctx, head, body, limit));
    let outcome = if elsewhere { Err(Error::NotFound) } else { (row.endpoint)(call.clone()).await };
    let mut response = outcome.unwrap_or_else(|error| match row.dialect {
        Dialect::Oauth => oauth::error(&call.ctx, &error),
        Dialect::Bearer => bearer::error(&call.ctx, &error),
        Dialect::Page => page::error(&call, &error),
    });
    row.cors.mark(&mut response, allowed);
    response
}

/// The pattern that a path falls under, for the log line and metrics: never the path itself.
#[must_use]
pub fn label(path: &str) -> &'static str {
    static PATHS: LazyLock<Vec<&'static str>> = LazyLock::new(|| table().iter().map(|row| row.path).collect());
    PATHS.iter().copied().find(|pattern| matches(pattern, path)).unwrap_or("none")
}

/// Whether `path` falls under `pattern`.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('{') {
        Some((prefix, rest)) => path
            .strip_prefix(prefix)
            .is_some_and(|tail| !tail.is_empty() && (rest.starts_with('*') || !tail.contains('/'))),
        None => pattern == path,
    }
}
