//! Facts about the person behind a grant, from read models where the rules allow it.

use std::sync::Arc;

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::{SessionId, UserId};
use crate::domain::model::session::Session;
use crate::domain::protocol::may_receive::{PersonFacts, SessionFacts, Subject, SubjectFacts, may_receive};
use crate::domain::protocol::refusal::Refusal;
use crate::domain::protocol::scope::ROLES;
use crate::service::{App, Error};
use crate::store::readmodel::UserFacts;
use crate::store::repo;

/// A person and the session that her right hangs on.
pub struct Person {
    /// The account; `None` when it is gone.
    pub user: Option<Arc<UserFacts>>,
    /// The session; `None` when it is gone.
    pub session: Option<Arc<Session>>,
}

/// Loads them.
///
/// # Errors
/// When they cannot be read.
pub async fn person(app: &App, ctx: &Ctx, user: UserId, session: SessionId) -> Result<Person, Error> {
    let user = app.store.models().user(ctx.realm.id, user).await?;
    Ok(Person { user, session: self::session(app, ctx, session).await? })
}

/// The session, with its last use as the database knows it where that decides.
///
/// # Errors
/// When it cannot be read.
pub async fn session(app: &App, ctx: &Ctx, session: SessionId) -> Result<Option<Arc<Session>>, Error> {
    let found = app.store.models().session(ctx.realm.id, session).await?;
    if let Some(cached) = &found
        && !cached.is_live(ctx.now)
        && cached.ended.is_none()
    {
        // Idle by what is remembered here: last-seen marks do not pass through read models.
        return Ok(repo::session::find(&app.store.read(), ctx.realm.id, session).await?.map(Arc::new));
    }
    Ok(found)
}

impl Person {
    /// Whether she may receive a token for `client` now: the one function decides.
    ///
    /// # Errors
    /// Its refusal.
    pub fn may(&self, ctx: &Ctx, client: &Client, right: Right<'_>) -> Result<(), Refusal> {
        let person = PersonFacts {
            user: self.user.as_deref().map(|facts| &facts.user),
            credential_epoch: right.credential_epoch,
            session: SessionFacts::of(right.offline, self.session.as_deref()),
            grant: right.grant,
        };
        may_receive(&SubjectFacts { realm: &ctx.realm, client, subject: Subject::Person(person), now: ctx.now })
    }
}

/// The roles of a client's own service account, where it is they that are told: nobody stands behind the token,
/// and `scope` asks for them.
///
/// # Errors
/// When they cannot be read.
pub async fn service_roles(
    app: &App,
    client: &Client,
    person: Option<&UserFacts>,
    scope: &[String],
) -> Result<Option<Arc<Vec<String>>>, Error> {
    if person.is_some() || !scope.iter().any(|own| own == ROLES) {
        return Ok(None);
    }
    Ok(Some(app.store.models().service_roles(client).await?))
}

/// The right that is asked about.
#[derive(Clone, Copy)]
pub struct Right<'a> {
    /// Whether it outlives its session.
    pub offline: bool,
    /// The epoch it was begun under; `None` for a grant that already stands.
    pub credential_epoch: Option<i64>,
    /// The grant, where there is one.
    pub grant: Option<&'a Grant>,
}
