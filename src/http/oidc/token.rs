//! `POST /token` (RFC 6749 section 3.2): the phases that every grant shares, and one table from grant
//! type to use case.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::authorization;
use crate::domain::model::client::GrantType;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::http::extract::call::Call;
use crate::http::render::note::Note;
use crate::http::render::oauth;
use crate::observe::metrics;
use crate::service::register::used;
use crate::service::token::{authorization_code, client_credentials, refresh_token};
use crate::service::{Error, client_auth};

/// Parameters of this endpoint that may stand once; `resource` may repeat.
const SINGLE: [&str; 10] = [
    "grant_type",
    "code",
    "redirect_uri",
    "code_verifier",
    "refresh_token",
    "scope",
    "client_id",
    "client_secret",
    "client_assertion",
    "client_assertion_type",
];

/// Answers `POST`.
///
/// # Errors
/// The refusals of RFC 6749 section 5.2.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let outcome = answer(&call).await;
    if let Err(error) = &outcome {
        metrics().token_errors.with_label_values(&["token", code(error)]).inc();
    }
    outcome
}

/// The error as it is answered.
fn code(error: &Error) -> &'static str {
    match error {
        Error::Refused(refusal) => refusal.code,
        Error::Invalid(_) | Error::TooLarge { .. } | Error::NotFound => OauthCode::InvalidRequest,
        Error::Busy { .. } | Error::Throttled { .. } | Error::Unavailable { .. } => OauthCode::TemporarilyUnavailable,
        Error::Internal(_) => OauthCode::ServerError,
    }
    .as_str()
}

async fn answer(call: &Call) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    form.check_single(&SINGLE).map_err(Refusal::from)?;
    let name = form.one("grant_type").map_err(Refusal::from)?;
    let client = client_auth::authenticate(&call.app, &call.ctx, "/token", &authorization(call)?, &form).await?;
    let Some(name) = name else {
        return Err(Error::refused(
            OauthCode::InvalidRequest,
            "grant_type_missing",
            "the parameter grant_type is missing",
        ));
    };
    let Some(grant) = GrantType::from_name(name) else { return Err(unknown()) };
    // A refresh token is classified before anything else is refused (`security-design` rule 10), so its
    // use case looks at the registration itself, afterwards.
    if !matches!(grant, GrantType::RefreshToken | GrantType::Implicit) && !client.has_grant(grant) {
        return Err(Error::Refused(Refusal::with(
            OauthCode::UnauthorizedClient,
            "grant_type_not_registered",
            &format!("this client is not registered for {}: add it to its grant_types", grant.as_str()),
        )));
    }
    let answer = match grant {
        // The authorization endpoint gives it, or nobody.
        GrantType::Implicit => return Err(unknown()),
        GrantType::AuthorizationCode => authorization_code::grant(&call.app, &call.ctx, &client, &form).await?,
        GrantType::RefreshToken => refresh_token::grant(&call.app, &call.ctx, &client, &form).await?,
        GrantType::ClientCredentials => client_credentials::grant(&call.app, &call.ctx, &client, &form).await?,
    };
    used::note(&call.app, &call.ctx, &client).await;
    let body = serde_json::to_vec(&answer).map_err(|error| Error::Internal(error.to_string()))?;
    let mut response = oauth::json(StatusCode::OK, body);
    response.extensions_mut().insert(Note { client: Some(client.client_id.clone()), reason: None });
    Ok(response)
}

fn unknown() -> Error {
    Error::refused(
        OauthCode::UnsupportedGrantType,
        "grant_type_unknown",
        "this provider gives tokens by authorization_code, refresh_token and client_credentials",
    )
}
