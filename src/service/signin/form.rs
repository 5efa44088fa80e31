//! The token in each form of the sign-in (`security-design` rule 5): bound to the browser, the flow,
//! the purpose, and to the session, person and credential epoch that were there when it was shown.
//! When any of them changed meanwhile, the form is shown again instead of being believed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::flow::FlowHandle;
use crate::context::Ctx;
use crate::seal::Purpose;
use crate::service::App;
use crate::service::session::bind::SignedIn;
use crate::service::session::cookie_text::BrowserCookie;

/// What a form token is bound to.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    /// Which form: `login`, `consent`, `logout`, `setup`.
    pub form: &'static str,
    /// The browser.
    pub browser: BrowserCookie,
    /// The flow, where there is one.
    pub flow: Option<FlowHandle>,
    /// Who was signed in.
    pub signed_in: Option<&'a SignedIn>,
}

/// The token for a form that is being shown.
#[must_use]
pub fn token(app: &App, ctx: &Ctx, binding: Binding<'_>) -> String {
    URL_SAFE_NO_PAD.encode(tag(app, ctx, binding))
}

/// Whether a submitted token is this form's, here and now.
#[must_use]
pub fn check(app: &App, ctx: &Ctx, binding: Binding<'_>, presented: Option<&str>) -> bool {
    let Some(bytes) = presented.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok()) else { return false };
    let state = state(binding.signed_in);
    let flow = flow(binding.flow);
    app.sealer.check_tag(
        ctx.realm.id,
        Purpose::Form,
        &[binding.form.as_bytes(), &binding.browser.0, &flow, &state],
        &bytes,
    )
}

fn tag(app: &App, ctx: &Ctx, binding: Binding<'_>) -> [u8; 16] {
    let state = state(binding.signed_in);
    let flow = flow(binding.flow);
    app.sealer.tag(ctx.realm.id, Purpose::Form, &[binding.form.as_bytes(), &binding.browser.0, &flow, &state])
}

fn flow(handle: Option<FlowHandle>) -> Vec<u8> {
    handle.map(|handle| handle.0.0.to_be_bytes().to_vec()).unwrap_or_default()
}

fn state(signed_in: Option<&SignedIn>) -> Vec<u8> {
    let Some(signed_in) = signed_in else { return Vec::new() };
    let mut bytes = signed_in.session.id.as_bytes().to_vec();
    bytes.extend_from_slice(&signed_in.session.secret_hash.0);
    bytes.extend_from_slice(signed_in.user.user.id.as_bytes());
    bytes.extend_from_slice(&signed_in.user.user.credential_epoch.to_be_bytes());
    bytes
}
