//! Back-Channel Logout 1.0: which ends of a session clients are told of, what a logout token says
//! (section 2.4), what an answer to it means (section 2.8), when it is sent again (section 2.5); behaviour
//! cases B-07 and B-36, `security.md` row 75.
//!
//! An end by time alone is told to nobody: no person was logged out, and a client that keeps its own
//! sessions would throw people out in the middle of their work because they had not looked at our pages.

use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::json;
use crate::model::ids::{SessionId, TokenId};
use crate::model::session::EndReason;
use crate::model::timestamp::Timestamp;

/// The `typ` header of a logout token.
pub const TYP: &str = "logout+jwt";
/// How long a logout token lives; each attempt sends a fresh one.
pub const LIFETIME: Duration = Duration::from_mins(2);
/// Attempts end so long after the session did.
pub const PATIENCE: Duration = Duration::from_hours(24);

const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
const FIRST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Whether clients are told that a session ended for this reason.
#[must_use]
pub const fn is_told(reason: EndReason) -> bool {
    match reason {
        EndReason::Logout
        // Somebody else signed in; a person who signs in again keeps her session (B-07).
        | EndReason::Replaced
        | EndReason::EndedByUser
        | EndReason::EndedByAdmin
        | EndReason::CredentialChanged
        | EndReason::UserDisabled
        | EndReason::UserDeleted => true,
        EndReason::Idle | EndReason::Expired => false,
        // Ends of grants, not of sessions.
        EndReason::ClientRemoved
        | EndReason::RevokedByClient
        | EndReason::CodeReplayed
        | EndReason::RefreshReused
        | EndReason::RefreshAhead
        | EndReason::ConsentWithdrawn
        | EndReason::SessionEnded => false,
    }
}

/// What a logout token is made of.
#[derive(Clone, Copy)]
pub struct LogoutTokenFacts<'a> {
    /// The realm's issuer.
    pub issuer: &'a str,
    /// The client's `client_id`.
    pub client_id: &'a str,
    /// The person, as this client's ID tokens name her.
    pub sub: &'a str,
    /// The session, as this client's ID tokens name it.
    pub sid: SessionId,
    /// The token's own id.
    pub jti: TokenId,
    /// The moment of the attempt.
    pub now: Timestamp,
}

/// The claims of a logout token. There is never a `nonce`, so that it cannot pass for an ID token.
#[derive(Serialize)]
pub struct LogoutTokenClaims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    iat: i64,
    exp: i64,
    #[serde(serialize_with = "json::shown")]
    jti: TokenId,
    #[serde(serialize_with = "json::shown")]
    sid: SessionId,
    events: Events,
}

/// Exactly one member, whose value is an empty object.
struct Events;

impl Serialize for Events {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Empty {}
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(EVENT, &Empty {})?;
        map.end()
    }
}

impl<'a> LogoutTokenClaims<'a> {
    /// Puts the claims together.
    #[must_use]
    pub fn new(facts: &LogoutTokenFacts<'a>) -> Self {
        Self {
            iss: facts.issuer,
            sub: facts.sub,
            aud: facts.client_id,
            iat: facts.now.as_secs(),
            exp: facts.now.plus(LIFETIME).as_secs(),
            jti: facts.jti,
            sid: facts.sid,
            events: Events,
        }
    }

    /// The JWT's payload.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The client has logged the person out: 200, and 204 and their like from frameworks.
    Done,
    /// The client refuses; the same again would be refused again.
    Refused,
    /// Something that may pass by itself.
    Again,
}

/// Judges the status of an answer. Sending again is for what may pass (section 2.5): the server's own
/// troubles, a time-out it names, too many requests. A redirect is not followed and does not pass.
#[must_use]
pub const fn judge(status: u16) -> Verdict {
    match status {
        200..=299 => Verdict::Done,
        408 | 425 | 429 | 500..=599 => Verdict::Again,
        _ => Verdict::Refused,
    }
}

/// When a logout that was queued at `queued` and has been tried `attempts` times is tried again; `None`: never.
/// The wait trebles, up to an hour. `spread` (0 to 255) adds up to a quarter, so that what failed together does
/// not come back together.
#[must_use]
pub fn next_attempt(queued: Timestamp, attempts: u32, spread: u8, now: Timestamp) -> Option<Timestamp> {
    let factor = 3_u32.saturating_pow(attempts.saturating_sub(1));
    let wait = FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT);
    let next = now.plus(wait + wait * u32::from(spread) / 1024);
    (next < queued.plus(PATIENCE)).then_some(next)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sample::{self, ISSUER};
    use super::*;

    #[test]
    fn a_logout_token_says_what_the_specification_names_and_no_more() {
        let claims = LogoutTokenClaims::new(&LogoutTokenFacts {
            issuer: ISSUER,
            client_id: "web",
            sub: "sub-alice",
            sid: sample::SESSION,
            jti: TokenId::from_bytes([9; 16]),
            now: sample::now(),
        });
        let payload: Value = serde_json::from_slice(&claims.to_bytes()).unwrap();
        assert_eq!(
            payload,
            json!({
                "iss": ISSUER, "sub": "sub-alice", "aud": "web", "iat": 1_800_000_000, "exp": 1_800_000_120,
                "jti": TokenId::from_bytes([9; 16]).to_string(),
                "sid": "ses_04040404040404040404040404040404",
                "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
            })
        );
    }

    #[test]
    fn people_and_administrators_end_sessions_for_clients_and_time_does_not() {
        let told: Vec<_> =
            EndReason::ALL.into_iter().filter(|reason| is_told(*reason)).map(EndReason::as_str).collect();
        assert_eq!(
            told,
            [
                "logout",
                "replaced",
                "ended_by_user",
                "ended_by_admin",
                "credential_changed",
                "user_disabled",
                "user_deleted"
            ]
        );
    }

    #[test]
    fn only_what_may_pass_is_sent_again() {
        for (status, verdict) in [
            (200, Verdict::Done),
            (204, Verdict::Done),
            (202, Verdict::Done),
            (301, Verdict::Refused),
            (302, Verdict::Refused),
            (307, Verdict::Refused),
            (400, Verdict::Refused),
            (401, Verdict::Refused),
            (404, Verdict::Refused),
            (405, Verdict::Refused),
            (408, Verdict::Again),
            (425, Verdict::Again),
            (429, Verdict::Again),
            (500, Verdict::Again),
            (501, Verdict::Again),
            (503, Verdict::Again),
            (504, Verdict::Again),
            (600, Verdict::Refused),
            (101, Verdict::Refused),
        ] {
            assert_eq!(judge(status), verdict, "{status}");
        }
    }

    #[test]
    fn the_wait_trebles_up_to_an_hour_and_ends_after_a_day() {
        let queued = sample::now();
        let mut now = queued;
        let mut waits = Vec::new();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let Some(next) = next_attempt(queued, attempts, 0, now) else { break };
            waits.push(next.since(now).as_secs());
            now = next;
        }
        assert_eq!(waits[..8], [10, 30, 90, 270, 810, 2_430, 3_600, 3_600]);
        assert!(now.since(queued) + LONGEST_WAIT >= PATIENCE && now.since(queued) < PATIENCE, "{attempts}");
        let spread = next_attempt(queued, u32::MAX, 255, queued).map(|at| at.since(queued).as_secs());
        assert_eq!(spread, Some(4_496));
        assert_eq!(next_attempt(queued, 1, 0, queued.plus(PATIENCE)), None);
    }
}
