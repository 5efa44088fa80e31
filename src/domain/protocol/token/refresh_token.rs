//! The refresh grant: RFC 6749 section 6, RFC 9700 section 4.14, OpenID Connect Core 12,
//! `security-design` rules 2 and 8 to 11.
//!
//! [`classify`] tells what a genuine token is, [`decide_refresh`] what happens. The order is rule 10's:
//! after client authentication and client match every token is classified first, `Reused` beats any
//! other refusal, and a refused request never rotates. The classification of one read decides
//! nothing alone: rotation is the store's guarded statement, whose loser reads and classifies again.

use std::time::Duration;

use super::resource::{fit, narrow};
use super::scope::{OFFLINE_ACCESS, check_no_wider, has, parse};
use super::{Entitlement, OfPerson};
use crate::clock::Trust;
use crate::model::client::{Client, ConsentMode, GrantType};
use crate::model::consent::Consent;
use crate::model::grant::Grant;
use crate::model::resource::Resource;
use crate::model::secret::SecretHash;
use crate::model::session::EndReason;
use crate::model::timestamp::Timestamp;
use crate::model::user::User;
use crate::protocol::refusal::{OauthCode, Refusal};

/// The grace never is longer, whatever a realm says (rule 9).
pub const GRACE_MAX: Duration = Duration::from_secs(30);
/// Foreign repeats in that many generations in a row end the family (rule 9).
pub const FOREIGN_STREAK_ENDS: i32 = 3;

/// What a token whose tag is genuine says, and who brings it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresentedRefresh {
    /// Its generation.
    pub generation: u32,
    /// SHA-256 of its secret.
    pub secret_hash: SecretHash,
    /// Keyed hash of the DPoP key, else of User-Agent and network prefix.
    pub presenter: [u8; 16],
}

/// The spans that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshLimits {
    /// How long a rotated token still gives its successor, capped at [`GRACE_MAX`].
    pub grace: Duration,
    /// A family unused for longer has ended.
    pub idle: Duration,
}

/// What a genuine token is, against its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presentation {
    /// The current generation: rotate.
    Current,
    /// One behind, within the grace: the same successor once more, nothing written.
    InGrace {
        /// From another presenter than the one that rotated.
        foreign: bool,
    },
    /// Behind and out of grace, or older: the family ends.
    Reused,
    /// Ahead of the row: the family ends, alarm.
    Ahead,
    /// The tag fits and the secret does not: refused, ends nothing, alarm.
    WrongSecret,
    /// The grant had ended before.
    Ended,
    /// Past its absolute or idle limit.
    Expired,
    /// One behind, but the rotation lies ahead of our clock by more than nodes may differ, or the clock that
    /// says that the grace is over cannot be believed: neither grace nor reuse can be told, so nothing is
    /// given and nothing ends (rule 17).
    Unsure,
}

/// Tells what a genuine token is (rules 8 to 10).
///
/// `Ended` comes before `Reused`: a family that has ended cannot end again, and its owner was told.
#[must_use]
pub fn classify(
    grant: &Grant,
    presented: &PresentedRefresh,
    limits: RefreshLimits,
    now: Timestamp,
    clock: Trust,
) -> Presentation {
    if grant.refresh_secret_hash != Some(presented.secret_hash) {
        return Presentation::WrongSecret;
    }
    if grant.ended.is_some() {
        return Presentation::Ended;
    }
    let in_time = match grant.generation.saturating_sub(i64::from(presented.generation)) {
        ..0 => return Presentation::Ahead,
        0 => Presentation::Current,
        1 if grant.rotated_at.is_ahead_of(now) => return Presentation::Unsure,
        1 if now.is_within(limits.grace.min(GRACE_MAX), grant.rotated_at) => {
            Presentation::InGrace { foreign: grant.presenter != Some(presented.presenter) }
        }
        1 if !clock.may_act() => return Presentation::Unsure,
        _ => return Presentation::Reused,
    };
    if now >= grant.expires_at || now.since(grant.last_used_at) > limits.idle {
        return Presentation::Expired;
    }
    in_time
}

/// The grant as it is if this presentation is of its current generation, from what is fixed in it. Whether it
/// is, only the store's guarded update can tell: where that does not hold, or the rules ask for anything but a
/// rotation, the row is read and classified.
#[must_use]
pub fn presume_current(known: &Grant, presented: &PresentedRefresh, now: Timestamp) -> Grant {
    Grant { generation: presented.generation.into(), rotated_at: now, last_used_at: now, ended: None, ..known.clone() }
}

/// The streak after a foreign repeat of the generation before `grant.generation` (rule 9): one
/// generation counts once, and one without a foreign repeat starts it anew. The store's guarded update
/// says the same in SQL.
#[must_use]
pub const fn streak_after_foreign_repeat(grant: &Grant) -> i32 {
    if grant.grace_streak > 0 && grant.grace_generation == grant.generation {
        grant.grace_streak
    } else if grant.grace_streak > 0 && grant.grace_generation == grant.generation - 1 {
        grant.grace_streak.saturating_add(1)
    } else {
        1
    }
}

/// What is known when a refresh token is presented.
pub struct RefreshFacts<'a> {
    /// The token's grant as the database has it.
    pub grant: &'a Grant,
    /// The authenticated client.
    pub client: &'a Client,
    /// The grant's user; `None` when no longer there.
    pub user: Option<&'a User>,
    /// What the person allowed this client, as of now.
    pub consent: Option<&'a Consent>,
    /// The realm's resources.
    pub resources: &'a [Resource],
    /// The realm's issuer.
    pub issuer: &'a str,
    /// The request's key against the grant's (rule 11); `Ok` while unbound.
    pub key: Result<(), Refusal>,
    /// The answer of [`crate::protocol::may_receive::may_receive`].
    pub may_receive: Result<(), Refusal>,
    /// The request's one moment.
    pub now: Timestamp,
    /// How far the clock that says so may be believed (rule 17).
    pub clock: Trust,
}

/// What the request says beyond the token.
#[derive(Debug, Clone, Copy, Default)]
pub struct RefreshRequest<'a> {
    /// `scope`; absent or empty = all that was granted.
    pub scope: Option<&'a str>,
    /// `resource`, any number of times.
    pub resource: &'a [&'a str],
}

/// What happens with a refresh request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// Rotate; when the store says `Lost`, read the grant again and decide again.
    Rotate(Box<Entitlement>),
    /// Give the same successor once more. Foreign: audit and count the streak, which may end the family.
    Repeat {
        /// What the tokens say.
        entitlement: Box<Entitlement>,
        /// From another presenter.
        foreign: bool,
    },
    /// End the family for the reason, then refuse.
    End(EndReason, Refusal),
    /// Refuse and raise a key-compromise alarm; nothing ends.
    Alarm(Refusal),
    /// Refuse; nothing is written but audit.
    Refused(Refusal),
}

/// Decides on a refresh request whose token's tag was genuine and whose client is authenticated.
#[must_use]
pub fn decide_refresh(
    facts: RefreshFacts<'_>,
    presented: &PresentedRefresh,
    limits: RefreshLimits,
    request: &RefreshRequest<'_>,
) -> RefreshOutcome {
    if facts.grant.client != facts.client.key {
        return RefreshOutcome::Refused(invalid("refresh_of_other_client"));
    }
    let foreign = match classify(facts.grant, presented, limits, facts.now, facts.clock) {
        Presentation::Reused => return RefreshOutcome::End(EndReason::RefreshReused, invalid("refresh_reused")),
        Presentation::Ahead => return RefreshOutcome::End(EndReason::RefreshAhead, invalid("refresh_ahead")),
        Presentation::WrongSecret => return RefreshOutcome::Alarm(invalid("refresh_wrong_secret")),
        Presentation::Ended => return RefreshOutcome::Refused(invalid("grant_ended")),
        Presentation::Expired => return RefreshOutcome::Refused(invalid("grant_expired")),
        Presentation::Unsure => {
            return RefreshOutcome::Refused(Refusal::new(
                OauthCode::TemporarilyUnavailable,
                "clock_unsure",
                "try again in a few seconds",
            ));
        }
        Presentation::Current => None,
        Presentation::InGrace { foreign } => Some(foreign),
    };
    match (entitle(facts, request), foreign) {
        (Err(refusal), _) => RefreshOutcome::Refused(refusal),
        (Ok(entitlement), None) => RefreshOutcome::Rotate(Box::new(entitlement)),
        (Ok(entitlement), Some(foreign)) => RefreshOutcome::Repeat { entitlement: Box::new(entitlement), foreign },
    }
}

/// Whether the client may use this grant at all (RFC 6749 section 5.2); asked after the token was
/// classified, since a client that lost the grant may still show that its token was stolen.
pub fn check_registered(client: &Client) -> Result<(), Refusal> {
    if client.has_grant(GrantType::RefreshToken) {
        return Ok(());
    }
    Err(Refusal::new(
        OauthCode::UnauthorizedClient,
        "grant_type_not_registered",
        "this client is not registered for refresh_token: add it to its grant_types",
    ))
}

/// Requested ∩ grant ∩ consent ∩ client, as of now (rule 2).
fn entitle(facts: RefreshFacts<'_>, request: &RefreshRequest<'_>) -> Result<Entitlement, Refusal> {
    facts.key?;
    facts.may_receive?;
    let (grant, client, terms) = (facts.grant, facts.client, &facts.grant.terms);
    check_registered(client)?;
    let user = facts.user.filter(|user| user.id == grant.user).ok_or_else(|| invalid("user_gone"))?;
    let allowed = allowed_scope(grant, client, facts.consent)?;
    let asked = parse(request.scope.unwrap_or_default())?;
    check_no_wider(&asked, &terms.scope)?;
    let scope: Vec<String> =
        allowed.iter().filter(|token| asked.is_empty() || asked.contains(token)).cloned().collect();
    if scope.is_empty() && !terms.scope.is_empty() {
        return Err(Refusal::new(
            OauthCode::InvalidScope,
            "scope_nothing_left",
            "nothing of the requested scope is still allowed",
        ));
    }
    let resources = narrow(request.resource, &still_allowed(grant, client, facts.consent))?;
    if resources.is_empty() && !terms.resources.is_empty() {
        return Err(Refusal::new(
            OauthCode::InvalidTarget,
            "resource_nothing_left",
            "none of the granted resources is still allowed",
        ));
    }
    let target = fit(request.resource, resources, scope, facts.resources, facts.issuer);
    // No nonce: OpenID Connect Core 12.2 says that a refreshed ID token should not have one.
    Ok(OfPerson { user, client, terms, session: grant.session, target }.entitlement(true))
}

/// Scopes of the grant that client and consent still allow. A withdrawn consent is a lost grant, and
/// so is a withdrawn `offline_access` for a grant that lives on it.
fn allowed_scope(grant: &Grant, client: &Client, consent: Option<&Consent>) -> Result<Vec<String>, Refusal> {
    let terms = &grant.terms;
    let consent = needed(client, consent)?;
    if let Some(consent) = consent
        && (consent.user != grant.user || consent.client != grant.client)
    {
        return Err(invalid("consent_withdrawn"));
    }
    let is_allowed = |token: &String| {
        has(&client.metadata.scope, token) && consent.is_none_or(|consent| consent.scope.contains(token))
    };
    if terms.offline && !is_allowed(&OFFLINE_ACCESS.to_owned()) {
        return Err(invalid("offline_withdrawn"));
    }
    Ok(terms.scope.iter().filter(|token| is_allowed(token)).cloned().collect())
}

/// `None` when nobody is asked for this client.
fn needed<'a>(client: &Client, consent: Option<&'a Consent>) -> Result<Option<&'a Consent>, Refusal> {
    match client.metadata.consent {
        ConsentMode::Skip => Ok(None),
        ConsentMode::Ask => consent.map(Some).ok_or_else(|| invalid("consent_withdrawn")),
    }
}

/// Resources of the grant that client and consent still allow.
fn still_allowed(grant: &Grant, client: &Client, consent: Option<&Consent>) -> Vec<String> {
    let by = |list: &[String], uri: &str| list.iter().any(|each| super::resource::is_same(each, uri));
    let is_allowed = |uri: &&String| {
        by(&client.metadata.resources, uri)
            && (client.metadata.consent == ConsentMode::Skip || consent.is_some_and(|given| by(&given.resources, uri)))
    };
    grant.terms.resources.iter().filter(is_allowed).cloned().collect()
}

const fn invalid(reason: &'static str) -> Refusal {
    Refusal::new(OauthCode::InvalidGrant, reason, "the refresh token is not valid")
}

#[cfg(test)]
mod tests;
