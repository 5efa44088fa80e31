//! The demo relying party at `/demo`, only with `--dev`: what an application does, as plainly as it
//! can be done. It knows the provider only through its public addresses, over HTTP like any other.

pub mod callback;
pub mod home;
pub mod logout;
pub mod refresh;
pub mod relying_party;
pub mod start;
pub mod state;

/// The demo's own client.
pub const CLIENT_ID: &str = "demo";
/// The demo's user.
pub const USERNAME: &str = "demo";
/// The demo user's password; it exists only in a development database.
pub const PASSWORD: &str = "doorward demo";
/// What the demo asks for.
pub const SCOPE: &str = "openid profile email offline_access";

use super::extract::call::Call;
use super::signin::{Provenance, browser, provenance};
use crate::service::Error;
use crate::service::signin::form::{self, Binding};

/// Whether the form came from the demo's own page.
///
/// # Errors
/// When the form cannot be read.
pub async fn is_genuine(call: &Call) -> Result<bool, Error> {
    let form = call.form().await?;
    let Some(browser) = browser(call) else { return Ok(false) };
    let binding = Binding { form: "demo", browser, flow: None, signed_in: None };
    let csrf = form.one("csrf").ok().flatten();
    Ok(provenance(call) == Provenance::Ours && form::check(&call.app, &call.ctx, binding, csrf))
}
