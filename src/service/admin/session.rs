//! Sessions: listed and ended by an administrator.

use serde_json::json;

use super::Scribe;
use crate::domain::model::audit::AuditKind;
use crate::domain::model::event::EventKind;
use crate::domain::model::ids::SessionId;
use crate::domain::model::realm::Realm;
use crate::domain::model::session::{EndReason, Ended, Session};
use crate::domain::model::user::User;
use crate::service::{App, Error};
use crate::store::{self, Tx, repo};

/// A person's sessions, newest first, ended ones too.
pub async fn list(app: &App, user: &User, limit: u64) -> Result<Vec<Session>, Error> {
    Ok(repo::session::list_for_user(&app.store.read(), user.realm, user.id, limit).await?)
}

/// Ends one session; `false` when it had ended before. `NotFound` when there is none.
pub async fn end(app: &App, realm: &Realm, id: SessionId) -> Result<bool, Error> {
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let mut tx = app.store.begin().await?;
    let Some(session) = repo::session::find(&tx, realm.id, id).await? else { return Err(Error::NotFound) };
    let Some(user) = repo::user::find(&tx, realm.id, session.user).await? else { return Err(Error::NotFound) };
    let ended = Ended { at: scribe.now, reason: EndReason::EndedByAdmin };
    if !repo::session::end(&mut tx, realm.id, id, ended).await? {
        return Ok(false);
    }
    told(&mut tx, &scribe, &user, id).await?;
    tx.commit().await?;
    Ok(true)
}

/// Ends every session of a person with the grants that hang on them; what was granted for offline use
/// goes only when asked for. How many sessions it was.
pub async fn end_all(app: &App, user: &User, offline: Offline) -> Result<usize, Error> {
    let scribe = Scribe::operator(app, user.realm, app.clock.now());
    let ended = Ended { at: scribe.now, reason: EndReason::EndedByAdmin };
    let mut tx = app.store.begin().await?;
    // The parent row first: nothing that was begun before may be born after (rule 1).
    repo::user::raise_epoch(&mut tx, user.realm, user.id, scribe.now).await?;
    let also = offline == Offline::End;
    let sessions = repo::session::end_all_for_user(
        &mut tx,
        user.realm,
        user.id,
        ended,
        repo::session::Extent { except: None, offline: also },
    )
    .await?;
    for session in &sessions {
        told(&mut tx, &scribe, user, *session).await?;
    }
    tx.commit().await?;
    Ok(sessions.len())
}

/// What becomes of grants for offline use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offline {
    /// They go on.
    Keep,
    /// They end too.
    End,
}

async fn told(tx: &mut Tx, scribe: &Scribe<'_>, user: &User, session: SessionId) -> Result<(), store::Error> {
    let mut audit = scribe.audit(AuditKind::SessionEnded);
    audit.user = Some(user.id);
    audit.session = Some(session);
    audit.reason = Some(EndReason::EndedByAdmin.as_str());
    repo::audit::append(tx, &audit).await?;
    let data = json!({ "sid": session.to_string(), "reason": EndReason::EndedByAdmin.as_str() });
    repo::outbox::append(tx, &scribe.tell(EventKind::SessionRevoked, user, &data)).await
}
