//! The protocol's endpoints, one file each, named by its path.

pub mod authorize;
pub mod check_session;
pub mod introspect;
pub mod jwks;
pub mod logout;
pub mod openid_configuration;
pub mod register;
pub mod register_client;
pub mod revoke;
pub mod token;
pub mod userinfo;

use axum::body::{Body, Bytes};
use http::header::AUTHORIZATION;
use http::{Response, StatusCode};
use serde_json::Value;

use super::extract::call::Call;
use super::render::note::Note;
use super::render::oauth;
use crate::domain::protocol::params::{ParamFault, Params};
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::service::Error;

/// All `Authorization` headers of a call.
fn authorization(call: &Call) -> Result<Vec<&str>, Error> {
    let all = call.headers().get_all(AUTHORIZATION).iter().map(|value| {
        value.to_str().map_err(|_| {
            Error::refused(
                OauthCode::InvalidClient,
                "client_basic_malformed",
                "the Authorization header is not ASCII text",
            )
        })
    });
    all.collect()
}

/// The answer that tells a client of itself.
fn registration(status: StatusCode, answer: &Value) -> Response<Body> {
    let mut response = oauth::json(status, answer.to_string().into_bytes());
    let client = answer.get("client_id").and_then(Value::as_str).map(str::to_owned);
    response.extensions_mut().insert(Note { client, reason: None });
    response
}

/// The JSON document of a registration.
async fn document(call: &Call) -> Result<Bytes, Error> {
    const WRONG: &str = "send the client's metadata as application/json";
    call.json(Refusal::new(OauthCode::InvalidClientMetadata, "content_type", WRONG)).await
}

/// The token that introspection and revocation are about. One too long to be read is a token of nobody
/// and not a fault of the request: whoever asks passes on what strangers sent (B-20, B-21).
fn token_parameter(form: &Params) -> Result<&str, Error> {
    match form.one("token") {
        Ok(Some(token)) => Ok(token),
        Ok(None) => {
            Err(Error::refused(OauthCode::InvalidRequest, "token_missing_parameter", "the parameter token is missing"))
        }
        Err(ParamFault::TooLong(_)) => Ok(""),
        Err(fault) => Err(Refusal::from(fault).into()),
    }
}
