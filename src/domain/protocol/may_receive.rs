//! THE function: may this subject receive a token now (`security.md` row 77, `security-design` rule 1).
//!
//! Every grant and every introspection calls [`may_receive`], so that a new way to a token cannot
//! forget a condition that an older one knows. It looks at values only: where they come from, and
//! that `ended_at` at issue comes from the database and not from a read model, is the caller's part.

use super::refusal::{OauthCode, Refusal};
use crate::model::client::Client;
use crate::model::grant::Grant;
use crate::model::realm::Realm;
use crate::model::session::Session;
use crate::model::timestamp::Timestamp;
use crate::model::user::User;

/// Everything the answer depends on.
#[derive(Clone, Copy)]
pub struct SubjectFacts<'a> {
    /// The realm that would issue.
    pub realm: &'a Realm,
    /// The client that would receive.
    pub client: &'a Client,
    /// On whose behalf.
    pub subject: Subject<'a>,
    /// The request's one moment.
    pub now: Timestamp,
}

/// On whose behalf a token is asked for.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// A person's.
    Person(PersonFacts<'a>),
    /// The client's own (RFC 6749 section 4.4).
    Client,
}

/// What is known of a person's right.
#[derive(Clone, Copy)]
pub struct PersonFacts<'a> {
    /// The account; `None` when it is no longer there.
    pub user: Option<&'a User>,
    /// The credential epoch under which the right was begun (of the flow, the code or the session);
    /// `None` where nothing was begun under one, as for a grant that already stands.
    pub credential_epoch: Option<i64>,
    /// The session the right hangs on.
    pub session: SessionFacts<'a>,
    /// The grant, where there is one already.
    pub grant: Option<&'a Grant>,
}

/// Whether a session must be live.
#[derive(Clone, Copy)]
pub enum SessionFacts<'a> {
    /// `offline_access`: the right outlives its session.
    NotNeeded,
    /// Online: this session, `None` when it is no longer there.
    Needed(Option<&'a Session>),
}

impl<'a> SessionFacts<'a> {
    /// What a grant asks for: a live session unless it is offline (decisions, "Offline").
    #[must_use]
    pub const fn of(offline: bool, session: Option<&'a Session>) -> Self {
        if offline { Self::NotNeeded } else { Self::Needed(session) }
    }
}

/// Whether the subject may receive a token now; the refusal's reason says what stood against it.
pub fn may_receive(facts: &SubjectFacts<'_>) -> Result<(), Refusal> {
    if !facts.realm.enabled {
        return Err(Refusal::new(OauthCode::UnauthorizedClient, "realm_disabled", "this realm is disabled"));
    }
    if facts.client.realm != facts.realm.id {
        return Err(refuse("client_of_other_realm"));
    }
    if !facts.client.enabled {
        return Err(Refusal::new(OauthCode::UnauthorizedClient, "client_disabled", "this client is disabled"));
    }
    match facts.subject {
        Subject::Client => Ok(()),
        Subject::Person(person) => may_person(facts, &person),
    }
}

fn may_person(facts: &SubjectFacts<'_>, person: &PersonFacts<'_>) -> Result<(), Refusal> {
    let user = person.user.ok_or_else(|| refuse("user_gone"))?;
    if user.realm != facts.realm.id {
        return Err(refuse("user_of_other_realm"));
    }
    if !user.enabled {
        return Err(refuse("user_disabled"));
    }
    if person.credential_epoch.is_some_and(|epoch| epoch != user.credential_epoch) {
        return Err(refuse("credential_changed"));
    }
    if let SessionFacts::Needed(session) = person.session {
        let session = session.ok_or_else(|| refuse("session_gone"))?;
        if session.realm != facts.realm.id || session.user != user.id {
            return Err(refuse("session_of_other_user"));
        }
        if !session.is_live(facts.now) {
            return Err(refuse("session_ended"));
        }
    }
    if let Some(grant) = person.grant {
        may_by_grant(facts, user, grant)?;
    }
    Ok(())
}

fn may_by_grant(facts: &SubjectFacts<'_>, user: &User, grant: &Grant) -> Result<(), Refusal> {
    if grant.realm != facts.realm.id || grant.client != facts.client.key || grant.user != user.id {
        return Err(refuse("grant_of_other_party"));
    }
    if grant.ended.is_some() {
        return Err(refuse("grant_ended"));
    }
    if facts.now >= grant.expires_at {
        return Err(refuse("grant_expired"));
    }
    Ok(())
}

const fn refuse(reason: &'static str) -> Refusal {
    Refusal::new(OauthCode::InvalidGrant, reason, "the grant is no longer valid: sign in again")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::ids::{ClientKey, RealmId, UserId};
    use crate::model::session::{EndReason, Ended};

    struct Case {
        realm: Realm,
        client: Client,
        user: Option<User>,
        epoch: Option<i64>,
        offline: bool,
        session: Option<Session>,
        grant: Option<Grant>,
    }

    fn with(change: impl FnOnce(&mut Case)) -> &'static str {
        let mut case = Case {
            realm: sample::realm(),
            client: sample::client(),
            user: Some(sample::user()),
            epoch: Some(3),
            offline: false,
            session: Some(sample::session()),
            grant: Some(sample::grant()),
        };
        change(&mut case);
        let person = PersonFacts {
            user: case.user.as_ref(),
            credential_epoch: case.epoch,
            session: SessionFacts::of(case.offline, case.session.as_ref()),
            grant: case.grant.as_ref(),
        };
        let facts = SubjectFacts {
            realm: &case.realm,
            client: &case.client,
            subject: Subject::Person(person),
            now: sample::now(),
        };
        may_receive(&facts).err().map_or("ok", |refusal| refusal.reason)
    }

    const STRANGE: [u8; 16] = [99; 16];

    fn ended() -> Ended {
        Ended { at: sample::ago(1), reason: EndReason::Logout }
    }

    fn user(case: &mut Case) -> &mut User {
        case.user.as_mut().unwrap()
    }

    fn session(case: &mut Case) -> &mut Session {
        case.session.as_mut().unwrap()
    }

    fn grant(case: &mut Case) -> &mut Grant {
        case.grant.as_mut().unwrap()
    }

    #[test]
    fn a_person_in_good_order_may_receive() {
        assert_eq!(with(|_| {}), "ok");
        assert_eq!(with(|case| case.grant = None), "ok");
        assert_eq!(with(|case| case.epoch = None), "ok");
    }

    #[test]
    fn each_single_fault_is_enough() {
        assert_eq!(with(|case| case.realm.enabled = false), "realm_disabled");
        assert_eq!(with(|case| case.client.enabled = false), "client_disabled");
        assert_eq!(with(|case| case.client.realm = RealmId::from_bytes(STRANGE)), "client_of_other_realm");
        assert_eq!(with(|case| case.user = None), "user_gone");
        assert_eq!(with(|case| user(case).enabled = false), "user_disabled");
        assert_eq!(with(|case| user(case).realm = RealmId::from_bytes(STRANGE)), "user_of_other_realm");
        assert_eq!(with(|case| user(case).credential_epoch = 4), "credential_changed");
        assert_eq!(with(|case| case.epoch = Some(4)), "credential_changed");
        assert_eq!(with(|case| case.session = None), "session_gone");
        assert_eq!(with(|case| session(case).ended = Some(ended())), "session_ended");
        assert_eq!(with(|case| session(case).expires_at = sample::now()), "session_ended");
        assert_eq!(with(|case| session(case).last_seen_at = sample::ago(1_801)), "session_ended");
        assert_eq!(with(|case| session(case).user = UserId::from_bytes(STRANGE)), "session_of_other_user");
        assert_eq!(with(|case| session(case).realm = RealmId::from_bytes(STRANGE)), "session_of_other_user");
        assert_eq!(with(|case| grant(case).ended = Some(ended())), "grant_ended");
        assert_eq!(with(|case| grant(case).expires_at = sample::now()), "grant_expired");
        assert_eq!(with(|case| grant(case).user = UserId::from_bytes(STRANGE)), "grant_of_other_party");
        assert_eq!(with(|case| grant(case).client = ClientKey::from_bytes(STRANGE)), "grant_of_other_party");
        assert_eq!(with(|case| grant(case).realm = RealmId::from_bytes(STRANGE)), "grant_of_other_party");
    }

    #[test]
    fn an_offline_grant_outlives_its_session_and_nothing_else() {
        let offline = |change: fn(&mut Case)| {
            with(|case| {
                case.offline = true;
                session(case).ended = Some(ended());
                change(case);
            })
        };
        assert_eq!(offline(|_| {}), "ok");
        assert_eq!(offline(|case| case.session = None), "ok");
        assert_eq!(offline(|case| user(case).enabled = false), "user_disabled");
        assert_eq!(offline(|case| grant(case).ended = Some(ended())), "grant_ended");
        assert_eq!(offline(|case| user(case).credential_epoch = 4), "credential_changed");
    }

    #[test]
    fn a_client_for_itself_needs_itself_and_its_realm() {
        let ask = |change: fn(&mut Realm, &mut Client)| {
            let (mut realm, mut client) = (sample::realm(), sample::client());
            change(&mut realm, &mut client);
            let facts = SubjectFacts { realm: &realm, client: &client, subject: Subject::Client, now: sample::now() };
            may_receive(&facts).err().map_or("ok", |refusal| refusal.reason)
        };
        assert_eq!(ask(|_, _| {}), "ok");
        assert_eq!(ask(|realm, _| realm.enabled = false), "realm_disabled");
        assert_eq!(ask(|_, client| client.enabled = false), "client_disabled");
        assert_eq!(ask(|realm, _| realm.id = RealmId::from_bytes(STRANGE)), "client_of_other_realm");
    }
}
