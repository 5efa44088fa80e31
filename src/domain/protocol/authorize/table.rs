//! The authorization endpoint's checks on one page, in the order they run (RFC 6749 section 4.1.1,
//! OpenID Connect Core 3.1.2.2). Until client and redirect URI are established a refusal is a page of
//! our own; afterwards it goes to the client by redirect, in the response mode asked for.

use super::request::{AuthorizeRequest, ErrorRedirect, Prompt, ResponseMode};
use super::{
    claims, client, hints, id_token_hint, max_age, nonce, pkce, prompt, redirect_uri, request_object, resource,
    response_mode, response_type, scope, state,
};
use crate::model::client::Client;
use crate::model::ids::SessionId;
use crate::model::realm::Realm;
use crate::model::resource::Resource;
use crate::model::response_type::ResponseType;
use crate::model::scope::Scope;
use crate::protocol::params::Params;
use crate::protocol::refusal::Refusal;
use crate::protocol::requested_claims::RequestedClaims;

/// What the checks need beside the parameters; the caller has loaded it.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The realm asked.
    pub realm: &'a Realm,
    /// The client that `client_id` names, if there is one.
    pub client: Option<&'a Client>,
    /// The realm's resources.
    pub resources: &'a [Resource],
    /// The scopes of the realm's own.
    pub scopes: &'a [Scope],
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
        /// Whom it names, as this client knows her.
        sub: String,
        /// The session it was made in.
        sid: Option<SessionId>,
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
pub const SINGLE: [&str; 20] = [
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
    "claims",
];

/// The checks that answer by redirect, in order. `resource` stands before `scope`, since the resources
/// decide which scopes are known; what stands after `response_type` depends on what it gives; `max_age` knows
/// `require_auth_time`, and `claims` whom a hint names.
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
    ("claims", claims::check),
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
            return redirect(params, redirect_uri, refusal);
        }
    }
    // Wishes cannot fail.
    hints::fill(&asked, &mut request);
    Outcome::Request(Box::new(request))
}

/// The answer where a request object could not be read: what stands beside it decides who is told.
#[must_use]
pub fn refuse(params: &Params, facts: &Facts<'_>, refusal: Refusal) -> Outcome {
    match client::check(params, facts).map(|client| redirect_uri::check(params, client)) {
        Ok(Ok(redirect_uri)) => redirect(params, redirect_uri, refusal),
        // The right one may have been inside.
        Ok(Err(_)) => Outcome::Page(refusal),
        Err(refusal) => Outcome::Page(refusal),
    }
}

fn redirect(params: &Params, redirect_uri: &str, refusal: Refusal) -> Outcome {
    let response_mode = response_mode::for_refusal(params);
    let state = state::for_refusal(params, response_mode);
    Outcome::Redirect(ErrorRedirect { redirect_uri: redirect_uri.to_owned(), response_mode, state, refusal })
}

fn blank(client: &Client, redirect_uri: &str) -> AuthorizeRequest {
    AuthorizeRequest {
        client_id: client.client_id.clone(),
        redirect_uri: redirect_uri.to_owned(),
        response_type: ResponseType::Code,
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
        hint_sid: None,
        acr_values: Vec::new(),
        code_challenge: None,
        resources: Vec::new(),
        require_auth_time: false,
        claims: RequestedClaims::default(),
        acr_demanded: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::example;
    use super::super::response::{Answer, Given, parameters};
    use super::*;
    use crate::protocol::redirect_uri::append;
    use crate::protocol::refusal::OauthCode;

    fn page(changes: &[(&str, &str)]) -> &'static str {
        match example::outcome_for(&example::client(), changes) {
            Outcome::Page(refusal) => refusal.reason,
            other => panic!("{changes:?}: {other:?}"),
        }
    }

    fn outcome_of(query: &str) -> Outcome {
        let (realm, client) = (example::realm(), example::client());
        let facts = Facts {
            realm: &realm,
            client: Some(&client),
            resources: &[],
            scopes: &[],
            id_token_hint: HintFact::Absent,
        };
        check(&Params::parse(query.as_bytes()).unwrap(), &facts)
    }

    #[test]
    fn a_good_request_comes_out_typed() {
        let request = example::request(&[]);
        assert_eq!((request.client_id.as_str(), request.redirect_uri.as_str()), ("app", "https://app.example/cb"));
        assert_eq!(request.state.as_deref(), Some("s1"));
        assert!(request.is_openid());
        // The redirect URI is kept as sent, with the port of this run.
        let request = example::request(&[("redirect_uri", "http://localhost:4711/cb")]);
        assert_eq!(request.redirect_uri, "http://localhost:4711/cb");
        let stored = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<AuthorizeRequest>(&stored).unwrap(), request);
    }

    #[test]
    fn nothing_is_sent_anywhere_until_client_and_redirect_uri_are_established() {
        for (changes, reason) in [
            (&[("client_id", "")][..], "client_id_missing"),
            (&[("client_id", "<img src=x onerror=alert(1)>")], "client_unknown"),
            (&[("client_id", "APP")], "client_unknown"),
            (&[("redirect_uri", "")], "redirect_uri_missing"),
            (&[("redirect_uri", "javascript:alert(1)//")], "redirect_uri_not_registered"),
            (&[("redirect_uri", "https://app.example/cb/")], "redirect_uri_not_registered"),
            (
                &[("redirect_uri", "https://app.example/cb"), ("redirect_uri", "https://e.example")],
                "parameter_repeated",
            ),
            (&[("client_id", "app"), ("client_id", "app")], "parameter_repeated"),
            // An object that may hold the right one does not help.
            (&[("redirect_uri", "https://e.example"), ("request", "e30.e30.")], "redirect_uri_not_registered"),
        ] {
            assert_eq!(page(changes), reason, "{changes:?}");
        }
    }

    #[test]
    fn a_disabled_or_absent_client_gets_a_page() {
        let realm = example::realm();
        let mut client = example::client();
        client.enabled = false;
        for (client, reason) in [(Some(&client), "client_disabled"), (None, "client_unknown")] {
            let facts = Facts { realm: &realm, client, resources: &[], scopes: &[], id_token_hint: HintFact::Absent };
            let Outcome::Page(refusal) = check(&example::with(&[]), &facts) else { panic!("{reason}") };
            assert_eq!((refusal.code, refusal.reason), (OauthCode::InvalidClient, reason));
        }
    }

    #[test]
    fn a_known_parameter_sent_twice_is_refused_by_redirect() {
        for name in SINGLE.into_iter().filter(|name| !matches!(*name, "client_id" | "redirect_uri")) {
            let twice = [(name, "x"), (name, "x")];
            assert_eq!(example::refused(&twice), (OauthCode::InvalidRequest, "parameter_repeated"), "{name}");
        }
        let Outcome::Redirect(error) =
            example::outcome_for(&example::client(), &[("scope", "openid"), ("scope", "openid")])
        else {
            panic!("not refused")
        };
        assert_eq!(error.state.as_deref(), Some("s1"));
        assert_eq!(error.refusal.description, "parameter scope is sent more than once");
    }

    #[test]
    fn a_state_sent_twice_or_broken_is_not_echoed() {
        let good = "response_type=code&client_id=app&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&scope=openid";
        for query in [
            format!("{good}&state=a&state=b"),
            format!("{good}&state=a&state=a&request=x"),
            format!("{good}&state=%zz"),
            format!("{good}&state=%ff"),
        ] {
            let Outcome::Redirect(error) = outcome_of(&query) else { panic!("{query}") };
            assert_eq!((error.refusal.code, error.state), (OauthCode::InvalidRequest, None), "{query}");
        }
    }

    #[test]
    fn empty_is_absent_and_unknown_is_ignored() {
        let query = "response_type=code&client_id=app&redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcb&scope=openid\
            &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256\
            &prompt=&max_age=&nonce=&request=&foo=1&foo=2&bar=%zz";
        let Outcome::Request(request) = outcome_of(query) else { panic!("refused") };
        assert_eq!((request.max_age, request.nonce, request.state), (None, None, None));
    }

    proptest! {
        #[test]
        fn no_query_makes_it_panic_or_redirect_to_a_stranger(
            query in "((client_id=app|redirect_uri=https://(app|evil)\\.example/cb|response_type=code|scope=openid\
                |state=[a%+]{0,3}|prompt=(none|login)|max_age=[0-9-]{0,3}|\\PC{0,6})&){0,12}",
        ) {
            match outcome_of(&query) {
                Outcome::Page(_) => {}
                Outcome::Request(request) => prop_assert_eq!(request.redirect_uri, "https://app.example/cb"),
                Outcome::Redirect(error) => prop_assert_eq!(error.redirect_uri, "https://app.example/cb"),
            }
        }

        #[test]
        fn a_state_survives_from_query_to_answer(state in "\\PC{1,40}") {
            let mut pairs = example::GOOD.to_vec();
            pairs.retain(|(name, _)| *name != "state");
            let query = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(pairs)
                .append_pair("state", &state)
                .finish();
            let Outcome::Request(request) = outcome_of(&query) else { return Err(TestCaseError::fail("refused")) };
            let given = Given { code: Some("c".to_owned()), ..Given::default() };
            let answer = parameters(Answer::Given(&given), request.state.as_deref(), "https://op.example", None);
            let uri = append(&request.redirect_uri, &answer);
            let (_, query) = uri.split_once('?').unwrap();
            let answered = Params::parse(query.as_bytes()).unwrap();
            prop_assert_eq!(answered.get("state"), Some(state.as_str()));
        }
    }
}
