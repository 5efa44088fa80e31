//! Audit events: who did what to whom, one line per security decision. The kinds are a closed list.

use super::ids::{ClientKey, EventId, GrantId, RealmId, SessionId, UserId};
use super::timestamp::Timestamp;

/// An audit event to be appended. It holds ids and closed words; a name that a stranger typed is
/// kept only as an HMAC (`security-design` rule 33).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// Its own id, made before it is stored, so that a repeated write is one event.
    pub id: EventId,
    /// Where.
    pub realm: RealmId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: AuditKind,
    /// The person concerned.
    pub user: Option<UserId>,
    /// The client concerned.
    pub client: Option<ClientKey>,
    /// The session concerned.
    pub session: Option<SessionId>,
    /// The grant concerned.
    pub grant: Option<GrantId>,
    /// Reason from a closed list, such as a [`super::session::EndReason`] or a refusal's reason.
    pub reason: Option<&'static str>,
    /// Who acted.
    pub actor: Actor,
    /// Client address (the personal part, kept apart and deletable).
    pub address: Option<String>,
    /// Request id, to find the log line.
    pub request: Option<String>,
}

/// Who acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The person concerned.
    Subject,
    /// A client.
    Client,
    /// The command line on the host.
    Operator,
    /// The product itself.
    System,
    /// Somebody who proved nothing.
    Stranger,
}

impl Actor {
    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Client => "client",
            Self::Operator => "operator",
            Self::System => "system",
            Self::Stranger => "stranger",
        }
    }
}

macro_rules! kinds {
    ($( $(#[$doc:meta])* $name:ident = $word:literal ),* $(,)?) => {
        /// The closed list of what is audited.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AuditKind { $( $(#[$doc])* $name ),* }

        impl AuditKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stored word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// Reads the stored word.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
            }
        }
    };
}

kinds! {
    /// A person signed in.
    SignedIn = "signed_in",
    /// A sign-in was refused.
    SignInRefused = "sign_in_refused",
    /// A session ended.
    SessionEnded = "session_ended",
    /// A session cookie came from another device than the session's.
    SessionMisused = "session_misused",
    /// A grant was made.
    GrantMade = "grant_made",
    /// A grant ended.
    GrantEnded = "grant_ended",
    /// A code was presented again by a party that could have used it.
    CodeReplayed = "code_replayed",
    /// A code was presented by a party that could not have used it.
    CodeMisused = "code_misused",
    /// A spent refresh token was presented.
    RefreshReused = "refresh_reused",
    /// A rotated refresh token was presented by somebody else within the grace.
    RefreshRepeatedByOther = "refresh_repeated_by_other",
    /// A refresh token with a genuine tag and a wrong secret, or ahead of its row: a key may be known.
    KeyCompromiseSuspected = "key_compromise_suspected",
    /// A refresh was refused though the token was the current one.
    RefreshRefused = "refresh_refused",
    /// A client sends the same `code_challenge` or `nonce` again and again.
    ValueRepeated = "value_repeated",
    /// A client failed to prove itself.
    ClientRefused = "client_refused",
    /// A token was revoked by its client.
    TokenRevoked = "token_revoked",
    /// A consent was given or widened.
    ConsentGiven = "consent_given",
    /// A consent was refused.
    ConsentDenied = "consent_denied",
    /// A user was created.
    UserCreated = "user_created",
    /// A user was changed.
    UserUpdated = "user_updated",
    /// A user was disabled.
    UserDisabled = "user_disabled",
    /// A user was enabled.
    UserEnabled = "user_enabled",
    /// A user was deleted.
    UserDeleted = "user_deleted",
    /// A password was set.
    PasswordSet = "password_set",
    /// A client was created.
    ClientCreated = "client_created",
    /// A client registered itself.
    ClientRegistered = "client_registered",
    /// A client was not let register itself.
    ClientRegistrationRefused = "client_registration_refused",
    /// A client that had registered itself was deleted, because it was not used.
    ClientExpired = "client_expired",
    /// An initial access token was made.
    InitialAccessTokenMade = "initial_access_token_made",
    /// An initial access token was revoked.
    InitialAccessTokenRevoked = "initial_access_token_revoked",
    /// A client was changed.
    ClientUpdated = "client_updated",
    /// A client was deleted.
    ClientDeleted = "client_deleted",
    /// A client secret was added or replaced.
    ClientSecretSet = "client_secret_set",
    /// A realm was created or changed by `apply`.
    RealmApplied = "realm_applied",
    /// A realm was exported with its secrets.
    RealmExported = "realm_exported",
    /// A signing key was announced, made active or retired.
    KeyRotated = "key_rotated",
    /// An administrative power was given.
    PowerGiven = "power_given",
    /// An administrative power was taken away.
    PowerTaken = "power_taken",
}
