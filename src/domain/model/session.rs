//! A session: a person signed in on a device. It ends once, and keeps when and why.

use serde::{Deserialize, Serialize};

use super::ids::{DeviceId, RealmId, SessionId, UserId};
use super::secret::SecretHash;
use super::span::Span;
use super::timestamp::Timestamp;

/// A session as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its realm.
    pub realm: RealmId,
    /// Its row and, written out, the public `sid`.
    pub id: SessionId,
    /// Who.
    pub user: UserId,
    /// Where.
    pub device: DeviceId,
    /// SHA-256 of the cookie's present secret.
    pub secret_hash: SecretHash,
    /// The one before, honoured for ten seconds after `secret_rotated_at` for parallel tabs.
    pub previous_secret_hash: Option<SecretHash>,
    /// When the secret last changed.
    pub secret_rotated_at: Timestamp,
    /// When the person last proved herself.
    pub auth_time: Timestamp,
    /// What the proof amounts to.
    pub acr: Acr,
    /// How it was proved (RFC 8176).
    pub amr: Vec<Amr>,
    /// The user's credential epoch when the first factor was checked.
    pub credential_epoch: i64,
    /// "Keep me signed in".
    pub remembered: bool,
    /// Opened.
    pub created_at: Timestamp,
    /// Last browser request; a refresh does not move it (`security-design` rule 4).
    pub last_seen_at: Timestamp,
    /// Idle limit fixed when it was opened.
    pub idle: Span,
    /// The absolute end fixed when it was opened.
    pub expires_at: Timestamp,
    /// When and why it ended.
    pub ended: Option<Ended>,
}

impl Session {
    /// Whether it is live at `now`: not ended, inside its absolute and idle limits.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended.is_none() && !self.last_seen_at.is_ahead_of(now) && self.limit_reached(now).is_none()
    }

    /// The end that time alone has brought by `now`: of its two limits the one that was reached first, and
    /// when. The idle limit itself is still within.
    #[must_use]
    pub fn limit_reached(&self, now: Timestamp) -> Option<Ended> {
        let idle_at = self.last_seen_at.plus(self.idle.get());
        if idle_at < self.expires_at {
            (now > idle_at).then_some(Ended { at: idle_at, reason: EndReason::Idle })
        } else {
            (now >= self.expires_at).then_some(Ended { at: self.expires_at, reason: EndReason::Expired })
        }
    }
}

/// An end with its time and reason, kept 90 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: EndReason,
}

/// Why a session or a grant ended: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The person signed out.
    Logout,
    /// Another sign-in took its place in the same browser.
    Replaced,
    /// Unused for too long.
    Idle,
    /// The absolute limit.
    Expired,
    /// The person ended it from her own pages.
    EndedByUser,
    /// An administrator ended it.
    EndedByAdmin,
    /// A credential changed.
    CredentialChanged,
    /// The account was disabled.
    UserDisabled,
    /// The account was deleted.
    UserDeleted,
    /// The client was disabled or deleted.
    ClientRemoved,
    /// The client revoked it (RFC 7009).
    RevokedByClient,
    /// The code was presented again (RFC 6749 section 4.1.2).
    CodeReplayed,
    /// A spent refresh token was presented (RFC 9700 section 4.14.2).
    RefreshReused,
    /// A refresh token was ahead of its row: the database was set back or the key is known to somebody.
    RefreshAhead,
    /// The consent was withdrawn.
    ConsentWithdrawn,
    /// The session above it ended.
    SessionEnded,
}

impl EndReason {
    /// Every reason.
    pub const ALL: [Self; 16] = [
        Self::Logout,
        Self::Replaced,
        Self::Idle,
        Self::Expired,
        Self::EndedByUser,
        Self::EndedByAdmin,
        Self::CredentialChanged,
        Self::UserDisabled,
        Self::UserDeleted,
        Self::ClientRemoved,
        Self::RevokedByClient,
        Self::CodeReplayed,
        Self::RefreshReused,
        Self::RefreshAhead,
        Self::ConsentWithdrawn,
        Self::SessionEnded,
    ];

    /// The stored and logged word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Logout => "logout",
            Self::Replaced => "replaced",
            Self::Idle => "idle",
            Self::Expired => "expired",
            Self::EndedByUser => "ended_by_user",
            Self::EndedByAdmin => "ended_by_admin",
            Self::CredentialChanged => "credential_changed",
            Self::UserDisabled => "user_disabled",
            Self::UserDeleted => "user_deleted",
            Self::ClientRemoved => "client_removed",
            Self::RevokedByClient => "revoked_by_client",
            Self::CodeReplayed => "code_replayed",
            Self::RefreshReused => "refresh_reused",
            Self::RefreshAhead => "refresh_ahead",
            Self::ConsentWithdrawn => "consent_withdrawn",
            Self::SessionEnded => "session_ended",
        }
    }

    /// Reads the stored word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }
}

/// Authentication context classes, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acr {
    /// One factor.
    Aal1,
    /// Two factors.
    Aal2,
    /// Phishing-resistant.
    Phr,
    /// Phishing-resistant and hardware-protected.
    Phrh,
}

impl Acr {
    /// Every class, weakest first.
    pub const ALL: [Self; 4] = [Self::Aal1, Self::Aal2, Self::Phr, Self::Phrh];

    /// Those that a sign-in can reach today, weakest first; discovery lists them.
    pub const REACHABLE: [Self; 1] = [Self::Aal1];

    /// The claim's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aal1 => "aal1",
            Self::Aal2 => "aal2",
            Self::Phr => "phr",
            Self::Phrh => "phrh",
        }
    }

    /// Reads the claim's value.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|acr| acr.as_str() == name)
    }
}

/// Authentication methods (RFC 8176), those that are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amr {
    /// Password.
    Pwd,
}

impl Amr {
    /// The claim's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pwd => "pwd",
        }
    }

    /// Reads the claim's value.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        (name == "pwd").then_some(Self::Pwd)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Opened at nought, seen after `seen` seconds, with an idle limit of ten and an absolute one of thirty.
    fn session(seen: u64) -> Session {
        let at = |seconds| Timestamp::from_micros(0).plus(Duration::from_secs(seconds));
        Session {
            realm: RealmId::from_bytes([1; 16]),
            id: SessionId::from_bytes([2; 16]),
            user: UserId::from_bytes([3; 16]),
            device: DeviceId::from_bytes([4; 16]),
            secret_hash: SecretHash([5; 32]),
            previous_secret_hash: None,
            secret_rotated_at: at(0),
            auth_time: at(0),
            acr: Acr::Aal1,
            amr: vec![Amr::Pwd],
            credential_epoch: 0,
            remembered: false,
            created_at: at(0),
            last_seen_at: at(seen),
            idle: Span::secs(10),
            expires_at: at(30),
            ended: None,
        }
    }

    #[test]
    fn of_two_limits_the_one_that_was_reached_first_counts() {
        let cases = [
            (0, 10, None),
            (0, 11, Some((10, EndReason::Idle))),
            (0, 1_000, Some((10, EndReason::Idle))),
            (19, 29, None),
            (19, 30, Some((29, EndReason::Idle))),
            (20, 29, None),
            (20, 30, Some((30, EndReason::Expired))),
            (29, 30, Some((30, EndReason::Expired))),
            (29, 1_000, Some((30, EndReason::Expired))),
        ];
        for (seen, now, want) in cases {
            let session = session(seen);
            let now = Timestamp::from_micros(0).plus(Duration::from_secs(now));
            let found = session.limit_reached(now).map(|end| (end.at.as_secs(), end.reason));
            assert_eq!(found, want, "seen at {seen}, now {now:?}");
            assert_eq!(session.is_live(now), want.is_none(), "seen at {seen}, now {now:?}");
        }
    }
}
