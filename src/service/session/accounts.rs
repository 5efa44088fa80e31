//! The accounts that are signed in in one browser: up to five, of different people, each with a session of its own
//! on this browser's device. One cookie names them all, the latest used first. Each part of it has its own tag,
//! so a cookie of one account is read and written as it always was.

use super::bind::SignedIn;
use super::cookie_text::{self, SessionCookie};
use crate::domain::model::ids::{RealmId, SessionId, UserId};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::signin::select_account::ACCOUNTS_MAX;
use crate::seal::Sealer;

/// An account with the secret that the browser has for it.
#[derive(Clone)]
struct Account {
    cookie: SessionCookie,
    signed_in: SignedIn,
}

/// The live accounts of a browser.
#[derive(Clone, Default)]
pub struct Accounts {
    list: Vec<Account>,
    has_current: bool,
}

impl Accounts {
    /// The next account of the cookie. Two of one person are one: the later entry is left out.
    pub(super) fn push(&mut self, cookie: SessionCookie, signed_in: SignedIn) {
        if self.of_user(signed_in.session.user).is_none() {
            self.list.push(Account { cookie, signed_in });
        }
    }

    /// The account in use: none after it was signed out, until somebody chooses.
    #[must_use]
    pub fn current(&self) -> Option<&SignedIn> {
        self.list.first().filter(|_| self.has_current).map(|account| &account.signed_in)
    }

    /// All of them, the latest used first.
    pub fn iter(&self) -> impl Iterator<Item = &SignedIn> {
        self.list.iter().map(|account| &account.signed_in)
    }

    /// Whether nobody is signed in here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the first is the present one.
    #[must_use]
    pub fn has_current(&self) -> bool {
        self.current().is_some()
    }

    /// The account with this session.
    #[must_use]
    pub fn of_session(&self, session: SessionId) -> Option<&SignedIn> {
        self.iter().find(|account| account.session.id == session)
    }

    /// The account of this person.
    #[must_use]
    pub fn of_user(&self, user: UserId) -> Option<&SignedIn> {
        self.iter().find(|account| account.session.user == user)
    }

    /// The session that has to give way when this person signs in beside the others: the one that nobody has used
    /// for longest.
    #[must_use]
    pub fn crowded_out_by(&self, user: UserId) -> Option<SessionId> {
        let is_full = self.list.len() >= ACCOUNTS_MAX && self.of_user(user).is_none();
        self.list.last().filter(|_| is_full).map(|account| account.signed_in.session.id)
    }

    /// The account becomes the present one.
    pub fn choose(&mut self, session: SessionId) {
        if let Some(place) = self.list.iter().position(|account| account.signed_in.session.id == session) {
            let chosen = self.list.remove(place);
            self.list.insert(0, chosen);
            self.has_current = true;
        }
    }

    /// The account is signed out here. If it was the present one, nobody is until somebody chooses: who is left
    /// has not asked to take her place.
    pub fn remove(&mut self, session: SessionId) {
        if self.current().is_some_and(|current| current.session.id == session) {
            self.has_current = false;
        }
        self.list.retain(|account| account.signed_in.session.id != session);
    }

    /// Somebody has just signed in, or proved herself again: hers is the present account, with a new secret.
    pub(super) fn enter(&mut self, cookie: SessionCookie, signed_in: SignedIn) {
        let user = signed_in.session.user;
        if let Some(crowded_out) = self.crowded_out_by(user) {
            self.remove(crowded_out);
        }
        self.list.retain(|account| account.signed_in.session.user != user);
        self.list.insert(0, Account { cookie, signed_in });
        self.has_current = true;
    }

    /// The value of the cookie that names them; `None` = there is nobody to name.
    #[must_use]
    pub fn cookie(&self, sealer: &Sealer, realm: RealmId) -> Option<String> {
        let cookies: Vec<SessionCookie> = self.list.iter().map(|account| account.cookie).collect();
        (!cookies.is_empty()).then(|| cookie_text::write_sessions(sealer, realm, self.has_current, &cookies))
    }

    /// How many seconds the cookie lives; `None` = until the browser closes. One person who does not stay signed in
    /// keeps it from outliving the browser for all: to be forgotten in there would be worse than a sign-in more.
    #[must_use]
    pub fn lifetime(&self, now: Timestamp) -> Option<u64> {
        let lives_on = self.iter().all(|account| account.session.remembered);
        self.iter().filter(|_| lives_on).map(|account| account.session.expires_at.since(now).as_secs()).max()
    }
}
