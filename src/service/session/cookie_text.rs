//! What stands in our cookies. Each value carries a tag that is checked before any lookup
//! (`security-design` rule 7): a stranger's random cookie costs one HMAC and no query.

use crate::domain::model::ids::{DeviceId, RealmId, SessionId};
use crate::domain::model::secret::SecretHash;
use crate::domain::signin::select_account::ACCOUNTS_MAX;
use crate::domain::signin::tagged_text;
use crate::seal::{Purpose, Sealer, sha256};

/// The id and the rotating secret of a session cookie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionCookie {
    /// The public `sid`.
    pub id: SessionId,
    /// Its present secret.
    pub secret: [u8; 16],
}

/// The id and the secret of a device cookie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DeviceCookie {
    /// The device.
    pub id: DeviceId,
    /// Its secret.
    pub secret: [u8; 16],
}

/// The browser that began a pending sign-in: random bytes that mean nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BrowserCookie(pub [u8; 16]);

impl SessionCookie {
    /// The cookie's value.
    #[must_use]
    pub fn to_text(self, sealer: &Sealer, realm: RealmId) -> String {
        write(sealer, realm, Purpose::SessionCookie, &[self.id.as_bytes(), &self.secret])
    }

    /// Reads a genuine value.
    #[must_use]
    pub fn from_text(sealer: &Sealer, realm: RealmId, text: &str) -> Option<Self> {
        let (id, secret) = pair(&read::<32>(sealer, realm, Purpose::SessionCookie, text)?)?;
        Some(Self { id: SessionId::from_bytes(id), secret })
    }

    /// What rests in the database.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        sha256(&self.secret)
    }
}

/// Stands between the accounts of a session cookie, and before the first where none of them is the present one.
const BETWEEN: char = '.';

/// Writes a session cookie of several accounts; that of a single one is its own text.
#[must_use]
pub fn write_sessions(sealer: &Sealer, realm: RealmId, has_current: bool, sessions: &[SessionCookie]) -> String {
    let absent = (!has_current).then(String::new);
    let texts = sessions.iter().map(|session| session.to_text(sealer, realm));
    absent.into_iter().chain(texts).collect::<Vec<_>>().join(&BETWEEN.to_string())
}

/// Reads the genuine accounts of a session cookie and whether the first is the present one. What is no text of ours
/// is left out, more than we write is not looked at.
#[must_use]
pub fn read_sessions(sealer: &Sealer, realm: RealmId, text: &str) -> (bool, Vec<SessionCookie>) {
    let (has_current, text) = match text.strip_prefix(BETWEEN) {
        Some(rest) => (false, rest),
        None => (true, text),
    };
    let read: Vec<Option<SessionCookie>> =
        text.split(BETWEEN).take(ACCOUNTS_MAX).map(|part| SessionCookie::from_text(sealer, realm, part)).collect();
    let has_current = has_current && read.first().is_some_and(Option::is_some);
    (has_current, read.into_iter().flatten().collect())
}

impl DeviceCookie {
    /// The cookie's value.
    #[must_use]
    pub fn to_text(self, sealer: &Sealer, realm: RealmId) -> String {
        write(sealer, realm, Purpose::DeviceCookie, &[self.id.as_bytes(), &self.secret])
    }

    /// Reads a genuine value.
    #[must_use]
    pub fn from_text(sealer: &Sealer, realm: RealmId, text: &str) -> Option<Self> {
        let (id, secret) = pair(&read::<32>(sealer, realm, Purpose::DeviceCookie, text)?)?;
        Some(Self { id: DeviceId::from_bytes(id), secret })
    }

    /// What rests in the database.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        sha256(&self.secret)
    }
}

impl BrowserCookie {
    /// The cookie's value.
    #[must_use]
    pub fn to_text(self, sealer: &Sealer, realm: RealmId) -> String {
        write(sealer, realm, Purpose::BrowserCookie, &[&self.0])
    }

    /// Reads a genuine value.
    #[must_use]
    pub fn from_text(sealer: &Sealer, realm: RealmId, text: &str) -> Option<Self> {
        read::<16>(sealer, realm, Purpose::BrowserCookie, text).map(Self)
    }

    /// The owner under which its pending sign-ins are kept.
    #[must_use]
    pub fn owner(&self) -> [u8; 32] {
        sha256(&self.0).0
    }
}

/// Writes a value with its tag; also the handles in our pages' addresses.
pub(in crate::service) fn write(sealer: &Sealer, realm: RealmId, purpose: Purpose, parts: &[&[u8]]) -> String {
    tagged_text::write(parts, |covered| sealer.tag(realm, purpose, &[covered]))
}

/// Reads a genuine value of `N` bytes.
pub(in crate::service) fn read<const N: usize>(
    sealer: &Sealer,
    realm: RealmId,
    purpose: Purpose,
    text: &str,
) -> Option<[u8; N]> {
    let read = tagged_text::read::<N>(text)?;
    sealer.check_tag(realm, purpose, &[&read.covered], &read.tag).then_some(read.content)
}

fn pair(bytes: &[u8; 32]) -> Option<([u8; 16], [u8; 16])> {
    let (first, second) = bytes.split_at_checked(16)?;
    Some((first.try_into().ok()?, second.try_into().ok()?))
}
