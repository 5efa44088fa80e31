//! `/userinfo` by GET and POST (OpenID Connect Core 5.3; RFC 6750 section 2).

use std::sync::Arc;

use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::http::extract::bearer::bearer;
use crate::http::extract::call::Call;
use crate::http::render::oauth;
use crate::service::Error;
use crate::service::userinfo::{self, Userinfo};

/// Answers `GET`.
///
/// # Errors
/// The challenges of RFC 6750 section 3.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    answer(&call, None).await
}

/// Answers `POST`.
///
/// # Errors
/// The challenges of RFC 6750 section 3.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let token = form.one("access_token").map_err(Refusal::from)?.map(str::to_owned);
    answer(&call, token).await
}

async fn answer(call: &Call, in_body: Option<String>) -> Result<Response<Body>, Error> {
    let token = token(call, in_body)?;
    match userinfo::answer(&call.app, &call.ctx, &token).await? {
        Userinfo::Plain(body) => Ok(oauth::json(StatusCode::OK, body)),
        Userinfo::Signed(jwt) => {
            let mut response = oauth::json(StatusCode::OK, jwt.into_bytes());
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/jwt"));
            Ok(response)
        }
    }
}

/// The one token of the request. In the query it is refused (RFC 9700 section 4.3.2).
fn token(call: &Call, in_body: Option<String>) -> Result<String, Error> {
    if call.raw_query().contains("access_token") {
        return Err(Error::refused(
            OauthCode::InvalidRequest,
            "token_in_query",
            "an access token does not belong into an address; send it in the Authorization header",
        ));
    }
    match (bearer(call)?, in_body) {
        (Some(token), None) | (None, Some(token)) => Ok(token),
        (Some(_), Some(_)) => Err(Error::refused(
            OauthCode::InvalidRequest,
            "token_twice",
            "send the token in one place only (RFC 6750 section 2)",
        )),
        (None, None) => {
            Err(Error::refused(OauthCode::InvalidToken, "token_missing", "send the access token as Bearer"))
        }
    }
}
