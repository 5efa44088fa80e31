//! Whose a request is, among the accounts that are signed in in one browser (OpenID Connect Core 3.1.2.1: `prompt`,
//! `id_token_hint`, `login_hint`). A person is never changed silently for another: only the present one, or one
//! that the application names, goes on without being asked.

use serde::{Deserialize, Serialize};

use super::identifier::{canonical, canonical_typed};
use crate::model::ids::SessionId;
use crate::model::user::User;
use crate::protocol::authorize::AuthorizeRequest;

/// Accounts that one browser may hold (decisions, "Session").
pub const ACCOUNTS_MAX: usize = 5;

/// What the person decided within a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Nothing yet.
    #[default]
    Open,
    /// The account with this session: picked on the page, or just signed in.
    Account(SessionId),
    /// None of those that are there.
    Another,
}

/// An account that is signed in in the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Its session.
    pub session: SessionId,
    /// Whether `id_token_hint` names its person.
    pub is_hinted: bool,
    /// Whether `login_hint` names it.
    pub is_named: bool,
}

/// The browser's accounts as far as the decision needs them.
#[derive(Debug, Clone, Copy)]
pub struct Accounts<'a> {
    /// All of them, live, the latest used first.
    pub held: &'a [Held],
    /// Whether the first is the present one; after its sign-out there is none until somebody chooses.
    pub has_current: bool,
}

/// Whose the request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// This account's.
    Account(SessionId),
    /// Nobody's who is there: somebody has to sign in.
    Nobody,
    /// The person has to choose.
    Ask,
}

/// Decides whose the request is.
#[must_use]
pub fn select(request: &AuthorizeRequest, choice: Choice, accounts: Accounts<'_>) -> Selection {
    let Accounts { held, has_current } = accounts;
    let current = held.first().filter(|_| has_current).map(|account| account.session);
    let or_nobody = |found: Option<SessionId>| found.map_or(Selection::Nobody, Selection::Account);
    match choice {
        Choice::Another => return Selection::Nobody,
        Choice::Account(session) if held.iter().any(|account| account.session == session) => {
            return Selection::Account(session);
        }
        // It has ended since; whoever else is here was not the choice.
        Choice::Account(_) if !held.is_empty() && !request.prompt.none => return Selection::Ask,
        Choice::Account(_) | Choice::Open => {}
    }
    let named = named(request, held);
    if request.prompt.none {
        return or_nobody(named.or(current));
    }
    if held.is_empty() {
        return Selection::Nobody;
    }
    if request.prompt.select_account {
        return Selection::Ask;
    }
    if named.is_some() || request.hint_sub.is_some() {
        // A hint of somebody who is not there asks for her sign-in, not for a choice among others.
        return or_nobody(named.or(current));
    }
    match (held, current) {
        ([_], Some(current)) => Selection::Account(current),
        _ => Selection::Ask,
    }
}

/// The account that the application names; what it knows of a subject goes before a name.
fn named(request: &AuthorizeRequest, held: &[Held]) -> Option<SessionId> {
    let hinted = held.iter().find(|account| account.is_hinted);
    let by_name = || held.iter().find(|account| account.is_named).filter(|_| request.hint_sub.is_none());
    hinted.or_else(by_name).map(|account| account.session)
}

/// Whether a `login_hint` is a name that this person signs in with: her user name, or her address once it is
/// verified.
#[must_use]
pub fn is_name_of(hint: &str, user: &User) -> bool {
    let Some(hint) = canonical_typed(hint) else { return false };
    let is_same = |name: &str| canonical(name).is_ok_and(|name| name == hint);
    let email = user.claims.email.as_deref().filter(|_| user.claims.email_verified);
    is_same(&user.username) || email.is_some_and(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{RealmId, UserId};
    use crate::model::timestamp::Timestamp;
    use crate::model::user::StandardClaims;
    use crate::protocol::authorize::example;

    const A: SessionId = SessionId::from_bytes([1; 16]);
    const B: SessionId = SessionId::from_bytes([2; 16]);
    const GONE: SessionId = SessionId::from_bytes([9; 16]);

    fn held(session: SessionId) -> Held {
        Held { session, is_hinted: false, is_named: false }
    }

    fn selected(changes: &[(&str, &str)], choice: Choice, held: &[Held], has_current: bool) -> Selection {
        select(&example::request(changes), choice, Accounts { held, has_current })
    }

    #[test]
    fn one_account_goes_on_and_several_are_asked_about() {
        let (one, two) = ([held(A)], [held(A), held(B)]);
        for (changes, held, has_current, expected) in [
            (&[][..], &[][..], false, Selection::Nobody),
            (&[], &one, true, Selection::Account(A)),
            (&[], &two, true, Selection::Ask),
            // Somebody signed out here; the one who is left is not taken for her.
            (&[], &one, false, Selection::Ask),
            (&[("prompt", "select_account")], &[], false, Selection::Nobody),
            (&[("prompt", "select_account")], &one, true, Selection::Ask),
            (&[("prompt", "login")], &one, true, Selection::Account(A)),
            (&[("prompt", "login")], &two, true, Selection::Ask),
        ] {
            assert_eq!(selected(changes, Choice::Open, held, has_current), expected, "{changes:?} {held:?}");
        }
    }

    #[test]
    fn silence_means_the_present_account_and_never_another() {
        let silent = [("prompt", "none")];
        let two = [held(A), held(B)];
        assert_eq!(selected(&silent, Choice::Open, &two, true), Selection::Account(A));
        assert_eq!(selected(&silent, Choice::Open, &two, false), Selection::Nobody);
        assert_eq!(selected(&silent, Choice::Open, &[], false), Selection::Nobody);
    }

    #[test]
    fn a_hint_picks_the_account_that_it_names() {
        for prompt in ["", "none", "login"] {
            let hinted = [held(A), Held { is_hinted: true, ..held(B) }];
            let mut request = example::request(&[("prompt", prompt)]);
            request.hint_sub = Some("b".to_owned());
            let accounts = |held| Accounts { held, has_current: true };
            assert_eq!(select(&request, Choice::Open, accounts(&hinted)), Selection::Account(B), "{prompt}");
            // Of somebody else: it is left to the sign-in what becomes of it.
            let other = [held(A), Held { is_named: true, ..held(B) }];
            assert_eq!(select(&request, Choice::Open, accounts(&other)), Selection::Account(A), "{prompt}");
            let named = [held(A), Held { is_named: true, ..held(B) }];
            let wish = [("prompt", prompt), ("login_hint", "b")];
            assert_eq!(selected(&wish, Choice::Open, &named, true), Selection::Account(B), "{prompt}");
            assert_eq!(selected(&wish, Choice::Open, &named, false), Selection::Account(B), "{prompt}");
        }
        let named = [Held { is_named: true, ..held(A) }];
        let wish = [("prompt", "select_account"), ("login_hint", "a")];
        assert_eq!(selected(&wish, Choice::Open, &named, true), Selection::Ask, "who asks for a choice gets one");
    }

    #[test]
    fn a_choice_counts_while_its_account_is_there() {
        let two = [held(A), Held { is_named: true, ..held(B) }];
        for changes in [&[][..], &[("prompt", "select_account")], &[("login_hint", "b")]] {
            assert_eq!(selected(changes, Choice::Account(A), &two, true), Selection::Account(A), "{changes:?}");
            assert_eq!(selected(changes, Choice::Another, &two, true), Selection::Nobody, "{changes:?}");
        }
        let plain = [held(A), held(B)];
        assert_eq!(selected(&[], Choice::Account(GONE), &plain, true), Selection::Ask);
        assert_eq!(selected(&[], Choice::Account(GONE), &plain[..1], true), Selection::Ask);
        assert_eq!(selected(&[], Choice::Account(GONE), &[], false), Selection::Nobody);
    }

    #[test]
    fn a_name_is_hers_in_every_spelling_she_signs_in_with() {
        let claims = StandardClaims {
            email: Some("alice@example.com".to_owned()),
            email_verified: true,
            ..StandardClaims::default()
        };
        let mut user = User {
            realm: RealmId::from_bytes([1; 16]),
            id: UserId::from_bytes([2; 16]),
            sub: "sub-alice".to_owned(),
            username: "alice".to_owned(),
            enabled: true,
            credential_epoch: 0,
            created_at: Timestamp::from_secs(0),
            updated_at: Timestamp::from_secs(0),
            claims,
        };
        for (hint, expected) in [
            ("alice", true),
            ("ALICE", true),
            ("alice@Example.com", true),
            ("alic", false),
            ("", false),
            ("bob", false),
        ] {
            assert_eq!(is_name_of(hint, &user), expected, "{hint}");
        }
        user.claims.email_verified = false;
        assert!(!is_name_of("alice@example.com", &user), "nobody has verified it");
    }
}
