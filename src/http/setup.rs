//! `/setup/{token}`: the first administrator. The link works once, by POST; looking at it changes nothing.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::extract::call::Call;
use super::page::{Fault, SetupDonePage, SetupError, SetupPage};
use super::render::page;
use super::signin::{Provenance, browser_or_new, provenance, set_cookie};
use crate::domain::model::secret::Secret;
use crate::service::signin::form::{self, Binding};
use crate::service::{Error, setup};

/// Answers `GET`.
///
/// # Errors
/// When the store cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let token = token(&call);
    if !setup::is_open(&call.app, &call.ctx, token).await? {
        return Ok(closed(&call));
    }
    Ok(show(&call, "", Vec::new(), StatusCode::OK))
}

/// Answers `POST`.
///
/// # Errors
/// When the store cannot do it, or past hashing capacity.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let field = |name| form.one(name).ok().flatten().unwrap_or("");
    let username: String = field("username").chars().take(256).collect();
    let (browser, fresh) = browser_or_new(&call);
    let binding = Binding { form: "setup", browser, flow: None, signed_in: None };
    let came_from = provenance(&call);
    let genuine = fresh.is_none()
        && came_from == Provenance::Ours
        && form::check(&call.app, &call.ctx, binding, Some(field("csrf")));
    if !genuine {
        return Ok(show(&call, &username, vec![SetupError::Stale], came_from.refusal()));
    }
    let password = Secret::from(field("password"));
    match setup::finish(&call.app, &call.ctx, token(&call), &username, &password).await {
        Ok(()) => {
            let done = SetupDonePage {
                chrome: page::chrome(&call, &[]),
                username,
                issuer: call.ctx.site.issuer.clone(),
                sign_in_href: None,
            };
            Ok(page::html(&call, StatusCode::OK, &done, &[]))
        }
        Err(Error::Invalid(faults)) => {
            let errors = faults.iter().map(|fault| error_of(&fault.pointer, &fault.detail)).collect();
            Ok(show(&call, &username, errors, StatusCode::UNPROCESSABLE_ENTITY))
        }
        Err(Error::NotFound) => Ok(closed(&call)),
        Err(error) => Err(error),
    }
}

fn token(call: &Call) -> &str {
    call.path().strip_prefix("/setup/").unwrap_or("")
}

fn closed(call: &Call) -> Response<Body> {
    page::fault(call, StatusCode::NOT_FOUND, Fault::SetupLink, "setup_link", Vec::new())
}

fn error_of(pointer: &str, detail: &str) -> SetupError {
    match (pointer, detail) {
        ("username", setup::NAME_TAKEN) => SetupError::UsernameTaken,
        ("username", _) => SetupError::UsernameInvalid,
        (_, setup::PASSWORD_SHORT) => SetupError::PasswordTooShort,
        (_, setup::PASSWORD_LONG) => SetupError::PasswordTooLong,
        _ => SetupError::PasswordWeak,
    }
}

fn show(call: &Call, username: &str, errors: Vec<SetupError>, status: StatusCode) -> Response<Body> {
    let (browser, cookie) = browser_or_new(call);
    let binding = Binding { form: "setup", browser, flow: None, signed_in: None };
    let setup = SetupPage {
        chrome: page::chrome(call, &[]),
        action: call.ctx.site.path(call.path()),
        csrf: form::token(&call.app, &call.ctx, binding),
        username: username.to_owned(),
        errors,
        min_length: u32::from(call.ctx.realm.settings.password_policy.min_length),
    };
    let mut response = page::html(call, status, &setup, &[]);
    set_cookie(&mut response, cookie);
    response
}
