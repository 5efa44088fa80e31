//! Short-lived state: pending sign-ins, requests, forms, counters (architecture, section 7). One trait and
//! one conformance suite for each implementation. Values are sealed by the caller where they leave the
//! process; nothing here reads them.

use std::time::Duration;

use async_trait::async_trait;

use crate::domain::model::ids::RealmId;
use crate::domain::model::timestamp::Timestamp;
use crate::store::Error;

mod database;

pub use database::Database;

/// What is kept: a closed list. A value of one kind is invisible to every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A pending authorization (a "flow").
    Flow,
    /// A request kept on its way, such as a cross-site POST to the authorization endpoint or a pushed request.
    Request,
    /// A code whose payload is too long to be sealed into its text.
    Code,
    /// A counter with a window.
    Counter,
    /// A pending set-up of the first administrator.
    SetupForm,
    /// A pending logout.
    Logout,
    /// A one-time mark, such as a used form or hop.
    Once,
    /// What the first of several sign-ins that cross in one browser drew for all of them.
    Crossing,
    /// Ids of client assertions that were used, and since when this is remembered.
    Assertion,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Flow,
        Self::Request,
        Self::Code,
        Self::Counter,
        Self::SetupForm,
        Self::Logout,
        Self::Once,
        Self::Crossing,
        Self::Assertion,
    ];

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Request => "request",
            Self::Code => "code",
            Self::Counter => "counter",
            Self::SetupForm => "setup_form",
            Self::Logout => "logout",
            Self::Once => "once",
            Self::Crossing => "crossing",
            Self::Assertion => "assertion",
        }
    }
}

/// A value to be kept.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    /// Its realm.
    pub realm: RealmId,
    /// What it is.
    pub kind: Kind,
    /// Its key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
    /// Whose it is, with the number of values that one owner may have.
    pub owner: Option<Owner<'a>>,
    /// From here on it is not there.
    pub expires_at: Timestamp,
    /// The request's moment.
    pub now: Timestamp,
}

/// Whose a value is.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// The owner, such as a browser.
    pub id: &'a [u8],
    /// Only the newest so many are kept.
    pub cap: u32,
}

/// The id of something that may be used once.
#[derive(Debug, Clone, Copy)]
pub struct Mark<'a> {
    /// Its realm.
    pub realm: RealmId,
    /// What it is.
    pub kind: Kind,
    /// Its key.
    pub key: &'a [u8],
    /// Whose memory it goes into.
    pub owner: &'a [u8],
    /// So many marks may one owner have at a time.
    pub most: u32,
    /// Until then it is remembered.
    pub expires_at: Timestamp,
    /// The request's moment.
    pub now: Timestamp,
}

/// What became of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// Remembered, for the first time.
    New,
    /// It was there before.
    Known,
    /// Its owner's memory is full: nothing is forgotten to make room (`security-design` rule 15).
    Full,
}

/// A change of a value that nobody else has changed meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// Its realm.
    pub realm: RealmId,
    /// What it is.
    pub kind: Kind,
    /// Its key.
    pub key: &'a [u8],
    /// The version that was read.
    pub version: i64,
    /// The new value.
    pub value: &'a [u8],
    /// Its new end.
    pub expires_at: Timestamp,
    /// The request's moment.
    pub now: Timestamp,
}

/// A value with the version that [`ShortLived::update_if`] asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// Raised by each update.
    pub version: i64,
    /// The value.
    pub value: Vec<u8>,
}

/// Short-lived state. Each operation is atomic; what has expired is not there.
#[async_trait]
pub trait ShortLived: Send + Sync {
    /// Keeps a value. `false`: the key is taken. With an owner, only the owner's newest `cap` values stay.
    async fn put(&self, put: Put<'_>) -> Result<bool, Error>;

    /// Remembers an id that may be used once: of any number of callers one is told that it is new.
    async fn mark(&self, mark: Mark<'_>) -> Result<Marked, Error>;

    /// The value.
    async fn get(&self, realm: RealmId, kind: Kind, key: &[u8], now: Timestamp) -> Result<Option<Vec<u8>>, Error>;

    /// The value with its version.
    async fn get_versioned(
        &self,
        realm: RealmId,
        kind: Kind,
        key: &[u8],
        now: Timestamp,
    ) -> Result<Option<Versioned>, Error>;

    /// Takes the value away: of any number of callers one gets it.
    async fn take(&self, realm: RealmId, kind: Kind, key: &[u8], now: Timestamp) -> Result<Option<Vec<u8>>, Error>;

    /// Replaces the value if its version is still the one that was read. `false`: it is not, or it is gone.
    async fn update_if(&self, update: Update<'_>) -> Result<bool, Error>;

    /// Removes the value, if it is there.
    async fn delete(&self, realm: RealmId, kind: Kind, key: &[u8]) -> Result<(), Error>;

    /// Counts one more in the window that began with the first, and tells the count.
    async fn bump(
        &self,
        realm: RealmId,
        kind: Kind,
        key: &[u8],
        window: Duration,
        now: Timestamp,
    ) -> Result<u64, Error>;

    /// Removes what has expired and tells how much that was.
    async fn purge(&self, now: Timestamp) -> Result<u64, Error>;
}
