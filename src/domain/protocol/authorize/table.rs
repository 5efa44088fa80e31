//! The authorization endpoint's checks on one page, in the order they run (RFC 6749 section 4.1.1,
//! OpenID Connect Core 3.1.2.2). Until client and redirect URI are established a refusal is a page of
//! our own; afterwards it goes to the client by redirect, in the response mode asked for.

use super::request::{AuthorizeRequest, ErrorRedirect, Prompt, ResponseMode};
use super::{
    client, hints, id_token_hint, max_age, nonce, pkce, prompt, redirect_uri, request_object, resource, response_mode,
    response_type, scope, state,
};
use crate::model::client::Client;
use crate::model::realm::Realm;
use crate::model::resource::Resource;
use crate::protocol::params::Params;
use crate::protocol::refusal::Refusal;

/// What the checks need beside the parameters; the caller has loaded it.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The realm asked.
    pub realm: &'a Realm,
    /// The client that `client_id` names, if there is one.
    pub client: Option<&'a Client>,
    /// The realm's resources.
    pub resources: &'a [Resource],
    /// What `id_token_hint` turned out to be.
    pub id_token_hint: HintFact,
}

/// What `id_token_hint` turned out to be; its signature is verified by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintFact {
    /// Not sent.
    Absent,
    /// Garbage, of another issuer, or of another client.
    Invalid,
    /// Ours, for this client; expired ones count too.
    Subject {
        /// Whom it names.
        sub: String,
    },
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It may be answered.
    Request(Box<AuthorizeRequest>),
    /// Refused on a page of our own: nobody is known to whom a redirect would be safe.
    Page(Refusal),
    /// Refused by redirect.
    Redirect(ErrorRedirect),
}

/// One check: reads the parameters and the facts, fills in its part of the request.
type Check = fn(&Asked<'_>, &mut AuthorizeRequest) -> Result<(), Refusal>;

/// What a check may look at.
pub(super) struct Asked<'a> {
    pub(super) params: &'a Params,
    pub(super) facts: &'a Facts<'a>,
    pub(super) client: &'a Client,
}

/// Single-valued parameters that this endpoint knows; `resource` may repeat (RFC 8707 section 2).
pub const SINGLE: [&str; 19] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "nonce",
    "response_mode",
    "prompt",
    "max_age",
    "display",
    "ui_locales",
    "login_hint",
    "id_token_hint",
    "acr_values",
    "code_challenge",
    "code_challenge_method",
    "request",
    "request_uri",
    "registration",
];

/// The checks that answer by redirect, in order. `resource` stands before `scope`, since the resources
/// decide which scopes are known; `max_age` knows `require_auth_time`.
const CHECKS: [(&str, Check); 13] = [
    ("single", |asked, _| asked.params.check_single(&SINGLE).map_err(Refusal::from)),
    ("request_object", request_object::check),
    ("state", state::check),
    ("response_type", response_type::check),
    ("response_mode", response_mode::check),
    ("resource", resource::check),
    ("scope", scope::check),
    ("nonce", nonce::check),
    ("code_challenge", pkce::check),
    ("prompt", prompt::check),
    ("max_age", max_age::check),
    ("id_token_hint", id_token_hint::check),
    ("hints", hints::check),
];

/// Runs the table.
#[must_use]
pub fn check(params: &Params, facts: &Facts<'_>) -> Outcome {
    let client = match client::check(params, facts) {
        Ok(client) => client,
        Err(refusal) => return Outcome::Page(refusal),
    };
    let redirect_uri = match redirect_uri::check(params, client) {
        Ok(redirect_uri) => redirect_uri,
        Err(refusal) => return Outcome::Page(refusal),
    };
    let asked = Asked { params, facts, client };
    let mut request = blank(client, redirect_uri);
    for (_, check) in CHECKS {
        if let Err(refusal) = check(&asked, &mut request) {
            let response_mode = response_mode::for_refusal(params);
            let state = state::for_refusal(params, response_mode);
            let redirect_uri = redirect_uri.to_owned();
            return Outcome::Redirect(ErrorRedirect { redirect_uri, response_mode, state, refusal });
        }
    }
    Outcome::Request(Box::new(request))
}

fn blank(client: &Client, redirect_uri: &str) -> AuthorizeRequest {
    AuthorizeRequest {
        client_id: client.client_id.clone(),
        redirect_uri: redirect_uri.to_owned(),
        response_mode: ResponseMode::Query,
        scope: Vec::new(),
        scope_differs: false,
        state: None,
        nonce: None,
        prompt: Prompt::default(),
        max_age: None,
        display: None,
        ui_locales: Vec::new(),
        login_hint: None,
        hint_sub: None,
        acr_values: Vec::new(),
        code_challenge: None,
        resources: Vec::new(),
        require_auth_time: false,
    }
}
