//! What comes next in a sign-in: request, session and consent in, one [`Step`] out (OpenID Connect
//! Core 3.1.2.3, 3.1.2.4 and 3.1.2.6). Pages never decide where to go; they do their step and ask again.
//! With `prompt=none` the answer is never a page.

use crate::model::client::{Client, ConsentMode};
use crate::model::consent::Consent;
use crate::model::ids::UserId;
use crate::model::session::Acr;
use crate::model::timestamp::Timestamp;
use crate::protocol::authorize::AuthorizeRequest;
use crate::protocol::redirect_uri::is_proof_of_identity;
use crate::protocol::refusal::{OauthCode, Refusal};

/// What the decision looks at.
#[derive(Debug, Clone)]
pub struct StepFacts<'a> {
    /// The checked request.
    pub request: &'a AuthorizeRequest,
    /// Its client.
    pub client: &'a Client,
    /// When the authorize request began.
    pub started_at: Timestamp,
    /// Now.
    pub now: Timestamp,
    /// Whether the person has to choose among the accounts of her browser before anything else.
    pub choose: bool,
    /// The session of the account whose request it is, if there is one.
    pub session: Option<SessionFact<'a>>,
    /// Whether this flow itself made the session's present proof. A proof made by another flow, or
    /// before this request began, does not count (`security-design` rule 5).
    pub fresh: bool,
    /// What the session's user allowed this client so far.
    pub consent: Option<&'a Consent>,
    /// Whether this flow's consent page was answered with yes, for this request.
    pub consent_given_now: bool,
    /// What `may_receive` said about the session's user; looked at only once there is one.
    pub may_receive: Result<(), Refusal>,
}

/// The browser's session as far as the decision needs it.
#[derive(Debug, Clone, Copy)]
pub struct SessionFact<'a> {
    /// Who.
    pub user: UserId,
    /// How this client knows her.
    pub sub: &'a str,
    /// When she last proved herself.
    pub auth_time: Timestamp,
    /// What the proof amounts to.
    pub acr: Acr,
    /// Whether the session is live now.
    pub live: bool,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Show the browser's accounts.
    SelectAccount,
    /// Show the sign-in page.
    Password {
        /// The name to pre-fill.
        offer: Option<Offer>,
    },
    /// Show the consent page.
    Consent {
        /// Scopes not yet allowed.
        ask: Vec<String>,
        /// Scopes allowed before.
        known: Vec<String>,
        /// Resources not yet allowed.
        resources: Vec<String>,
    },
    /// Give the client what it asked for.
    Issue {
        /// For these scopes.
        scope: Vec<String>,
    },
    /// Tell the client no, by redirect.
    Refuse(Refusal),
}

/// Whose name the sign-in page offers. Never a credential, and no sign of whether the user exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// The text of `login_hint`.
    Typed(String),
    /// The user with this `sub`, as this client knows her: from an ID token hint, or of the present session.
    /// The caller looks up the name.
    Subject(String),
}

/// Decides what comes next.
#[must_use]
pub fn next_step(facts: &StepFacts<'_>) -> Step {
    if facts.choose {
        return if facts.request.prompt.none {
            refuse(OauthCode::AccountSelectionRequired, "account_selection", "the user has to choose an account")
        } else {
            Step::SelectAccount
        };
    }
    let session = match check_login(facts) {
        Login::Enough(session) => session,
        Login::WrongPerson => {
            return refuse(
                OauthCode::LoginRequired,
                "hint_other_user",
                "another user signed in than id_token_hint or claims names",
            );
        }
        Login::AcrOutOfReach => {
            return refuse(
                OauthCode::UnmetAuthenticationRequirements,
                "acr_out_of_reach",
                "none of the acr values that claims demands can be reached by this user's sign-in",
            );
        }
        Login::Needed(_) if facts.request.prompt.none => {
            return refuse(OauthCode::LoginRequired, "login_required", "the user has to sign in");
        }
        Login::Needed(offer) => return Step::Password { offer },
    };
    debug_assert!(session.live, "only a live session is enough");
    if let Err(refusal) = &facts.may_receive {
        return Step::Refuse(refusal.clone());
    }
    match consent_needed(facts) {
        Some(_) if facts.request.prompt.none => {
            refuse(OauthCode::ConsentRequired, "consent_required", "the user has to consent")
        }
        Some(step) => step,
        None => Step::Issue { scope: facts.request.scope.clone() },
    }
}

enum Login<'a> {
    Enough(SessionFact<'a>),
    Needed(Option<Offer>),
    WrongPerson,
    AcrOutOfReach,
}

fn check_login<'a>(facts: &StepFacts<'a>) -> Login<'a> {
    let request = facts.request;
    // Nobody is made to sign in for what no sign-in reaches.
    if !is_met(&request.acr_demanded, Acr::REACHABLE.last().copied()) {
        return Login::AcrOutOfReach;
    }
    let Some(session) = facts.session.filter(|session| session.live) else {
        return Login::Needed(offer(request, None));
    };
    let fresh = facts.fresh && session.auth_time >= facts.started_at;
    if request.hint_sub.as_deref().is_some_and(|sub| sub != session.sub) {
        // Core 3.1.2.1: an error when the person who signed in is not the one of the hint. Asking again
        // after a proof of this very flow would ask for ever.
        return if fresh { Login::WrongPerson } else { Login::Needed(offer(request, Some(session))) };
    }
    let acr_met = is_met(&request.acr_demanded, Some(session.acr));
    if fresh {
        // What a proof of this very flow did not reach, asking again would not.
        return if acr_met { Login::Enough(session) } else { Login::AcrOutOfReach };
    }
    if request.prompt.login || !acr_met || is_too_old(request.max_age, session.auth_time, facts.now) {
        return Login::Needed(offer(request, Some(session)));
    }
    Login::Enough(session)
}

/// An essential `acr` (Core 5.5.1.1): one of its values, or a class above it. A session that falls short is
/// stepped up by a sign-in of its own. Nothing demanded is met by everything.
fn is_met(demanded: &[String], acr: Option<Acr>) -> bool {
    demanded.is_empty() || demanded.iter().filter_map(|value| Acr::from_name(value)).any(|value| Some(value) <= acr)
}

/// `max_age` (Core 3.1.2.1), by whole seconds as the relying party sees `auth_time`; 0 means the same
/// as `prompt=login`, also within the second. A proof of the future is within no age.
fn is_too_old(max_age: Option<u64>, auth_time: Timestamp, now: Timestamp) -> bool {
    let age = u64::try_from(now.as_secs().saturating_sub(auth_time.as_secs())).unwrap_or(0);
    max_age.is_some_and(|max_age| max_age == 0 || age > max_age || auth_time.is_ahead_of(now))
}

fn offer(request: &AuthorizeRequest, session: Option<SessionFact<'_>>) -> Option<Offer> {
    if let Some(sub) = &request.hint_sub {
        return Some(Offer::Subject(sub.clone()));
    }
    if let Some(hint) = &request.login_hint {
        return Some(Offer::Typed(hint.clone()));
    }
    session.map(|session| Offer::Subject(session.sub.to_owned()))
}

/// Consent (Core 3.1.2.4): remembered per person and client, asked again when scopes or resources grow.
/// `prompt=consent` asks whoever the client is; otherwise a client with `consent: skip` is trusted, for
/// `offline_access` too (Core 11). A client whose identity nothing proves is asked about each time (RFC
/// 8252 section 8.6).
fn consent_needed(facts: &StepFacts<'_>) -> Option<Step> {
    if facts.consent_given_now {
        return None;
    }
    let request = facts.request;
    let allowed = |scope: &String| facts.consent.is_some_and(|consent| consent.scope.contains(scope));
    let (known, ask): (Vec<String>, Vec<String>) = request.consent_scope().map(str::to_owned).partition(allowed);
    let reachable = |resource: &&String| facts.consent.is_some_and(|consent| consent.resources.contains(resource));
    let resources: Vec<String> = request.resources.iter().filter(|resource| !reachable(resource)).cloned().collect();
    let trusted = facts.client.metadata.consent == ConsentMode::Skip;
    let missing = facts.consent.is_none() || !ask.is_empty() || !resources.is_empty();
    let unproven = facts.client.is_public() && !is_proof_of_identity(&request.redirect_uri);
    let needed = request.prompt.consent || (!trusted && (missing || unproven));
    needed.then_some(Step::Consent { ask, known, resources })
}

fn refuse(code: OauthCode, reason: &'static str, description: &'static str) -> Step {
    Step::Refuse(Refusal::new(code, reason, description))
}

#[cfg(test)]
mod tests;
