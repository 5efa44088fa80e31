//! RP-Initiated Logout 1.0 sections 2 to 4, `security-design` rule 6, behaviour case B-35.
//!
//! A valid hint that names the present session signs out without a question; everything else asks the
//! person. A redirect needs a valid hint and a registered URI, exactly equal; an unregistered one gives
//! an error page and nothing happens. An expired hint is as good as a fresh one. `client_id` alone proves
//! nothing about who sends, so its registered URI is only offered as a link. `logout_hint` can make us ask
//! where we would not; it never spares the question.

use super::id_token::HintClaims;
use super::refusal::{OauthCode, Refusal};
use crate::model::client::Client;
use crate::model::ids::SessionId;
use crate::model::session::Session;
use crate::model::user::User;

/// The `id_token_hint` of a request, after verification.
#[derive(Clone, Copy)]
pub enum Hint<'a> {
    /// None was sent.
    Absent,
    /// One was sent that is no ID token of this realm: altered, foreign, unsigned.
    Invalid,
    /// Signed by this realm, at whatever time, by whatever key of its.
    Valid(&'a HintClaims),
}

/// What is known when a logout is asked for.
#[derive(Clone, Copy)]
pub struct LogoutFacts<'a> {
    /// The hint.
    pub hint: Hint<'a>,
    /// The client that [`named_client`] told, as far as the realm knows it.
    pub client: Option<&'a Client>,
    /// `post_logout_redirect_uri`; empty counts as left out.
    pub post_logout_redirect_uri: Option<&'a str>,
    /// `state`; goes back byte for byte.
    pub state: Option<&'a str>,
    /// `logout_hint`: whom the client means, by session id, name, e-mail or subject.
    pub logout_hint: Option<&'a str>,
    /// The browser's present session, if it is live.
    pub session: Option<Present<'a>>,
}

/// A live session and its person.
#[derive(Clone, Copy)]
pub struct Present<'a> {
    /// The session.
    pub session: &'a Session,
    /// Whose it is.
    pub user: &'a User,
    /// Her `sub` as the client that the request names knows it.
    pub sub: &'a str,
}

/// Where the person goes once she is signed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// Back to the application.
    Redirect(String),
    /// Our own page, which says so and offers the way back.
    Offer(String),
    /// Our own page, which says so.
    SignedOutPage,
}

/// What a logout request leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Ask the person; on her yes end the session, then go on.
    Ask {
        /// The session in question.
        session: SessionId,
        /// Where she goes after a yes.
        then: Then,
    },
    /// End the session and go on.
    EndNow {
        /// The session that ends.
        session: SessionId,
        /// Where she goes.
        then: Then,
    },
    /// There is no session: go on at once.
    AlreadyOut(Then),
    /// Show an error; nothing ends, nothing is redirected.
    ErrorPage(Refusal),
}

/// The `client_id` of the request: from the hint, from the parameter, and the two must agree
/// (RP-Initiated Logout section 2).
pub fn named_client<'a>(hint: Hint<'a>, client_id: Option<&'a str>) -> Result<Option<&'a str>, Refusal> {
    let client_id = client_id.filter(|id| !id.is_empty());
    let Hint::Valid(claims) = hint else { return Ok(client_id) };
    let hinted = claims.client_id();
    match client_id {
        Some(id) if hinted != Some(id) => Err(Refusal::new(
            OauthCode::InvalidRequest,
            "logout_client_mismatch",
            "client_id is not the client of id_token_hint",
        )),
        _ => Ok(hinted),
    }
}

/// Whose sign-out is asked for, among the sessions of the browser, the latest used first: the one that a hint
/// names, else the present one. Where the present one has signed out already and a hint names somebody who is
/// not here, nobody's; without a hint somebody is asked.
#[must_use]
pub fn whom<'a>(
    hint: Hint<'_>,
    logout_hint: Option<&str>,
    held: &[Present<'a>],
    has_current: bool,
) -> Option<Present<'a>> {
    let claims = match hint {
        Hint::Valid(claims) => Some(claims),
        Hint::Absent | Hint::Invalid => None,
    };
    let by_sid = || claims.and_then(|claims| held.iter().find(|each| claims.sid == Some(each.session.id)));
    let by_sub = || claims.and_then(|claims| held.iter().find(|each| claims.sub == each.sub));
    let by_name = || logout_hint.and_then(|hint| held.iter().find(|each| names(hint, each)));
    let present = || held.first().filter(|_| has_current || claims.is_none());
    by_sid().or_else(by_sub).or_else(by_name).or_else(present).copied()
}

/// Decides on a logout request.
#[must_use]
pub fn decide_logout(facts: &LogoutFacts<'_>) -> Decision {
    let then = match way_back(facts) {
        Ok(then) => then,
        Err(refusal) => return Decision::ErrorPage(refusal),
    };
    let Some(present) = facts.session else { return Decision::AlreadyOut(then) };
    let session = present.session.id;
    let is_meant = facts.logout_hint.is_none_or(|hint| names(hint, &present));
    match facts.hint {
        Hint::Valid(claims) if claims.sid == Some(session) && is_meant => Decision::EndNow { session, then },
        _ => Decision::Ask { session, then },
    }
}

/// Whether `logout_hint` means this session or person (RP-Initiated Logout section 2 leaves its meaning to us).
fn names(hint: &str, present: &Present<'_>) -> bool {
    let user = present.user;
    let email = user.claims.email.as_deref().unwrap_or_default();
    hint == present.session.id.to_string()
        || hint == present.sub
        || [user.username.as_str(), email].iter().any(|name| hint.eq_ignore_ascii_case(name))
}

/// Where to go afterwards. The URI is compared as it stands, sign by sign.
fn way_back(facts: &LogoutFacts<'_>) -> Result<Then, Refusal> {
    let Some(uri) = facts.post_logout_redirect_uri.filter(|uri| !uri.is_empty()) else {
        return Ok(Then::SignedOutPage);
    };
    let Some(client) = facts.client else {
        // Nobody to ask whether it is registered. With a valid hint the client is gone since.
        return Ok(Then::SignedOutPage);
    };
    if !client.metadata.post_logout_redirect_uris.iter().any(|known| known == uri) {
        return Err(Refusal::new(
            OauthCode::InvalidRequest,
            "logout_uri_not_registered",
            "post_logout_redirect_uri is not registered for this client",
        ));
    }
    Ok(match facts.hint {
        _ if !client.enabled => Then::SignedOutPage,
        Hint::Valid(_) => Then::Redirect(return_address(uri, facts.state)),
        // A client_id alone proves nothing about who sends: no redirect without a hint.
        Hint::Absent => Then::Offer(return_address(uri, facts.state)),
        Hint::Invalid => Then::SignedOutPage,
    })
}

/// The registered URI, its own query kept, with `state` when there was one.
fn return_address(uri: &str, state: Option<&str>) -> String {
    let Some(state) = state else { return uri.to_owned() };
    let joint = match uri.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    let encoded: String = form_urlencoded::byte_serialize(state.as_bytes()).collect();
    format!("{uri}{joint}state={encoded}")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, ISSUER};
    use super::*;

    const HOME: &str = "https://app.example.com/";

    fn claims(sid: Option<SessionId>) -> HintClaims {
        HintClaims {
            iss: ISSUER.to_owned(),
            sub: "sub-alice".to_owned(),
            aud: vec!["web".to_owned()],
            azp: Some("web".to_owned()),
            sid,
            exp: 1,
        }
    }

    fn decide(hint: Hint<'_>, uri: Option<&str>, state: Option<&str>, session: Option<&Session>) -> Decision {
        let (client, user) = (sample::client(), sample::user());
        let client = (!matches!(hint, Hint::Absent)).then_some(&client);
        let session = session.map(|session| Present { session, user: &user, sub: &user.sub });
        decide_logout(&LogoutFacts { hint, client, post_logout_redirect_uri: uri, state, logout_hint: None, session })
    }

    fn home() -> Then {
        Then::Redirect(HOME.to_owned())
    }

    #[test]
    fn a_hint_of_the_present_session_signs_out_without_a_question() {
        let (hint, session) = (claims(Some(sample::SESSION)), sample::session());
        let got = decide(Hint::Valid(&hint), Some(HOME), Some("a+b"), Some(&session));
        let then = Then::Redirect("https://app.example.com/?state=a%2Bb".to_owned());
        assert_eq!(got, Decision::EndNow { session: sample::SESSION, then });
        let got = decide(Hint::Valid(&hint), None, Some("s"), Some(&session));
        assert_eq!(got, Decision::EndNow { session: sample::SESSION, then: Then::SignedOutPage });
    }

    #[test]
    fn among_several_the_one_that_is_named_signs_out() {
        let (alice, here) = (sample::user(), sample::session());
        let bob = User { sub: "sub-bob".to_owned(), username: "bob".to_owned(), ..sample::user() };
        let beside = Session { id: SessionId::from_bytes([77; 16]), ..sample::session() };
        let held = [
            Present { session: &here, user: &alice, sub: "sub-alice" },
            Present { session: &beside, user: &bob, sub: "sub-bob" },
        ];
        let hint = |sub: &str, sid: Option<SessionId>| HintClaims { sub: sub.to_owned(), ..claims(sid) };
        let of_bob = hint("sub-bob", Some(beside.id));
        let old_of_bob = hint("sub-bob", Some(SessionId::from_bytes([99; 16])));
        let of_nobody = hint("sub-carol", Some(SessionId::from_bytes([99; 16])));
        for (hint, logout_hint, has_current, expected) in [
            (Hint::Valid(&of_bob), None, true, Some(1)),
            (Hint::Valid(&of_bob), Some("alice"), true, Some(1)),
            (Hint::Valid(&old_of_bob), None, true, Some(1)),
            (Hint::Valid(&of_nobody), None, true, Some(0)),
            (Hint::Valid(&of_nobody), None, false, None),
            (Hint::Absent, Some("bob"), true, Some(1)),
            (Hint::Absent, Some("nobody"), true, Some(0)),
            (Hint::Absent, None, true, Some(0)),
            (Hint::Absent, None, false, Some(0)),
            (Hint::Invalid, None, true, Some(0)),
        ] {
            let found = whom(hint, logout_hint, &held, has_current).map(|found| found.session.id);
            assert_eq!(found, expected.map(|at: usize| held[at].session.id), "{logout_hint:?} {has_current}");
            assert!(whom(hint, logout_hint, &[], false).is_none());
        }
    }

    #[test]
    fn any_other_hint_asks() {
        let session = sample::session();
        let ask = |then| Decision::Ask { session: sample::SESSION, then };
        for sid in [None, Some(SessionId::from_bytes([99; 16]))] {
            let hint = claims(sid);
            assert_eq!(decide(Hint::Valid(&hint), Some(HOME), None, Some(&session)), ask(home()), "{sid:?}");
        }
        for hint in [Hint::Absent, Hint::Invalid] {
            let got = decide(hint, Some(HOME), Some("s"), Some(&session));
            assert_eq!(got, ask(Then::SignedOutPage), "no redirect without a valid hint");
            assert_eq!(decide(hint, None, None, Some(&session)), ask(Then::SignedOutPage));
        }
    }

    #[test]
    fn with_no_session_a_hinted_person_is_sent_back_all_the_same() {
        let hint = claims(Some(sample::SESSION));
        assert_eq!(decide(Hint::Valid(&hint), Some(HOME), None, None), Decision::AlreadyOut(home()));
        let page = Decision::AlreadyOut(Then::SignedOutPage);
        assert_eq!(decide(Hint::Valid(&hint), Some(""), None, None), page);
        assert_eq!(decide(Hint::Absent, Some(HOME), None, None), page);
        assert_eq!(decide(Hint::Invalid, Some(HOME), None, None), page);
    }

    #[test]
    fn an_unregistered_uri_is_an_error_page_and_nothing_ends() {
        let (hint, session) = (claims(Some(sample::SESSION)), sample::session());
        for uri in ["https://app.example.com", "https://app.example.com/?x=1", "https://evil.example/", "javascript:x"]
        {
            match decide(Hint::Valid(&hint), Some(uri), None, Some(&session)) {
                Decision::ErrorPage(refusal) => assert_eq!(refusal.reason, "logout_uri_not_registered"),
                other => panic!("{uri}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_disabled_or_deleted_client_gets_nobody_back() {
        let hint = claims(Some(sample::SESSION));
        let disabled = Client { enabled: false, ..sample::client() };
        for client in [Some(&disabled), None] {
            let facts = LogoutFacts {
                hint: Hint::Valid(&hint),
                client,
                post_logout_redirect_uri: Some(HOME),
                state: None,
                logout_hint: None,
                session: None,
            };
            assert_eq!(decide_logout(&facts), Decision::AlreadyOut(Then::SignedOutPage));
            assert_eq!(
                decide_logout(&LogoutFacts { hint: Hint::Absent, ..facts }),
                Decision::AlreadyOut(Then::SignedOutPage)
            );
        }
    }

    #[test]
    fn a_client_id_without_a_hint_gets_a_link_and_no_redirect() {
        let (client, user, session) = (sample::client(), sample::user(), sample::session());
        let facts = LogoutFacts {
            hint: Hint::Absent,
            client: Some(&client),
            post_logout_redirect_uri: Some(HOME),
            state: Some("a+b"),
            logout_hint: None,
            session: Some(Present { session: &session, user: &user, sub: &user.sub }),
        };
        let then = Then::Offer("https://app.example.com/?state=a%2Bb".to_owned());
        assert_eq!(decide_logout(&facts), Decision::Ask { session: sample::SESSION, then: then.clone() });
        assert_eq!(decide_logout(&LogoutFacts { session: None, ..facts }), Decision::AlreadyOut(then));
        let other = LogoutFacts { post_logout_redirect_uri: Some("https://evil.example/"), ..facts };
        assert!(matches!(decide_logout(&other), Decision::ErrorPage(_)), "not even as a link");
        let altered = LogoutFacts { hint: Hint::Invalid, session: None, ..facts };
        assert_eq!(decide_logout(&altered), Decision::AlreadyOut(Then::SignedOutPage), "a hint that lies is no client");
    }

    #[test]
    fn a_logout_hint_can_make_us_ask_and_never_spares_the_question() {
        let (client, mut user, session) = (sample::client(), sample::user(), sample::session());
        user.claims.email = Some("alice@example.com".to_owned());
        let hint = claims(Some(sample::SESSION));
        let sid = sample::SESSION.to_string();
        let decide = |hint, logout_hint| {
            decide_logout(&LogoutFacts {
                hint,
                client: Some(&client),
                post_logout_redirect_uri: None,
                state: None,
                logout_hint: Some(logout_hint),
                session: Some(Present { session: &session, user: &user, sub: "sub-for-this-client" }),
            })
        };
        let then = Then::SignedOutPage;
        for own in [sid.as_str(), "sub-for-this-client", &user.username, "Alice@Example.com"] {
            let now = Decision::EndNow { session: sample::SESSION, then: then.clone() };
            assert_eq!(decide(Hint::Valid(&hint), own), now, "{own}");
            assert!(matches!(decide(Hint::Absent, own), Decision::Ask { .. }), "{own}");
        }
        for other in ["bob", &user.sub, "ses_00000000000000000000000000000000", "alic"] {
            assert!(matches!(decide(Hint::Valid(&hint), other), Decision::Ask { .. }), "{other}");
        }
    }

    #[test]
    fn hint_and_client_id_must_agree() {
        let hint = claims(None);
        assert_eq!(named_client(Hint::Valid(&hint), None), Ok(Some("web")));
        assert_eq!(named_client(Hint::Valid(&hint), Some("")), Ok(Some("web")));
        assert_eq!(named_client(Hint::Valid(&hint), Some("web")), Ok(Some("web")));
        let mixed = named_client(Hint::Valid(&hint), Some("other")).unwrap_err();
        assert_eq!(mixed.reason, "logout_client_mismatch");
        assert_eq!(named_client(Hint::Invalid, Some("other")), Ok(Some("other")));
        assert_eq!(named_client(Hint::Absent, None), Ok(None));
    }

    #[test]
    fn state_goes_back_as_it_came_and_the_uris_own_query_stays() {
        let cases = [
            ("https://a.example/out", None, "https://a.example/out"),
            ("https://a.example/out", Some(""), "https://a.example/out?state="),
            ("https://a.example/out?x=1", Some("s"), "https://a.example/out?x=1&state=s"),
            ("https://a.example/out?", Some("s"), "https://a.example/out?state=s"),
            (
                "https://a.example/out",
                Some("a+b&c=d#e%20\u{e9}"),
                "https://a.example/out?state=a%2Bb%26c%3Dd%23e%2520%C3%A9",
            ),
        ];
        for (uri, state, want) in cases {
            assert_eq!(return_address(uri, state), want);
        }
    }
}
