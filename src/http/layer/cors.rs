//! Cross-origin calls by script (Fetch standard; OpenID Connect Core 5.3; B-24). Metadata is open to
//! all, and so is registration, where nobody has an origin that is known yet and no cookie counts; token,
//! userinfo and revocation to the origins of the realm's clients; nothing else, and the authorization endpoint
//! never (RFC 9700 section 2.6). Errors carry the same headers as success.

use axum::body::Body;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use http::{Response, StatusCode};

use crate::context::Ctx;
use crate::service::{App, origins};

/// Who may call a row by script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cors {
    /// Nobody.
    Never,
    /// Everybody: public documents.
    Everyone,
    /// The origins of the realm's clients.
    Clients,
}

impl Cors {
    /// The origin to allow, if any.
    pub async fn allowed(self, app: &App, ctx: &Ctx, headers: &HeaderMap) -> Option<HeaderValue> {
        match self {
            Self::Never => None,
            Self::Everyone => Some(HeaderValue::from_static("*")),
            Self::Clients => {
                let origin = headers.get(ORIGIN)?;
                let known = origins::is_allowed(app, ctx.realm.id, origin.to_str().ok()?).await;
                // Without knowledge the answer is no: the browser will not show it to the script.
                known.unwrap_or(false).then(|| origin.clone())
            }
        }
    }

    /// Marks an answer.
    pub fn mark(self, response: &mut Response<Body>, allowed: Option<HeaderValue>) {
        if self == Self::Clients {
            response.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
        }
        if let Some(origin) = allowed {
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static("WWW-Authenticate, DPoP-Nonce, Retry-After"),
            );
        }
    }

    /// The answer to a preflight for an address with these methods: 204, never authenticated.
    #[must_use]
    pub fn preflight(self, allowed: Option<HeaderValue>, methods: &str) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        if allowed.is_some() {
            let headers = response.headers_mut();
            let more = if methods.contains("PUT") { "GET, PUT, DELETE" } else { "GET, POST" };
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(more));
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization, content-type, dpop"));
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
        }
        self.mark(&mut response, allowed);
        response
    }
}
