//! Locks of a round on PostgreSQL. Every transaction of the product that locks more than one row takes users
//! first, then sessions, then grants, so a round whose operations come in another order takes its locks in
//! one go at the beginning, each once in the strongest mode it will need. What only shares its parents needs
//! no such go: who ends a parent never holds a child that a sharer waits for.

use std::collections::BTreeSet;

use sea_orm::sqlx::{self, PgConnection};
use uuid::Uuid;

use super::Operation;
use super::sql::For;
use crate::store::Error;
use crate::store::error::from_sqlx;

/// Users by id and by the session to be stepped up.
macro_rules! users {
    ($mode:literal) => {
        concat!(
            "select 1 from user_account where (realm_id, id) in (\
             select * from unnest($1::uuid[], $2::uuid[]) union \
             select realm_id, user_id from session where (realm_id, id) in (select * from unnest($3::uuid[], $4::uuid[]))\
             ) order by realm_id, id for ",
            $mode
        )
    };
}

macro_rules! sessions {
    ($mode:literal) => {
        concat!(
            "select 1 from session where (realm_id, id) in (select * from unnest($1::uuid[], $2::uuid[])) \
             order by realm_id, id for ",
            $mode
        )
    };
}

/// The rows to be locked.
#[derive(Default)]
pub(super) struct Locks {
    users: BTreeSet<(Uuid, Uuid)>,
    users_of: BTreeSet<(Uuid, Uuid)>,
    sessions: BTreeSet<(Uuid, Uuid)>,
    writes_users: bool,
    writes_sessions: bool,
}

impl Locks {
    pub(super) fn of(operations: &[&Operation]) -> Self {
        let mut locks = Self::default();
        for operation in operations {
            locks.add(operation);
        }
        locks
    }

    fn add(&mut self, operation: &Operation) {
        match operation {
            Operation::Redeem(redeem) => {
                let realm = redeem.realm.as_uuid();
                self.users.insert((realm, redeem.grant.user.as_uuid()));
                self.sessions.insert((realm, redeem.grant.session.as_uuid()));
            }
            Operation::Grant(make) => {
                let realm = make.grant.realm.as_uuid();
                self.users.insert((realm, make.grant.user.as_uuid()));
                self.sessions.insert((realm, make.grant.session.as_uuid()));
            }
            Operation::Open(open) => {
                let realm = open.session.realm.as_uuid();
                self.users.insert((realm, open.session.user.as_uuid()));
                if let Some(replaced) = open.replaces {
                    self.sessions.insert((realm, replaced.as_uuid()));
                    self.writes_sessions = true;
                }
            }
            Operation::StepUp(step_up) => {
                let key = (step_up.realm.as_uuid(), step_up.session.as_uuid());
                self.users_of.insert(key);
                self.sessions.insert(key);
                self.writes_sessions = true;
            }
            Operation::End(end) => {
                self.sessions.insert((end.realm.as_uuid(), end.session.as_uuid()));
                self.writes_sessions = true;
                if let Some(event) = &end.outbox {
                    self.users.insert((event.realm.as_uuid(), event.user.as_uuid()));
                    self.writes_users = true;
                }
            }
            // A mark skips a session that is locked, a rotation locks nothing but its grant.
            Operation::Seen(_) | Operation::Rotate(_) | Operation::Audit(_) | Operation::Time(_) => {}
        }
    }

    pub(super) async fn take(self, connection: &mut PgConnection) -> Result<(), Error> {
        if !self.writes_sessions && !self.writes_users {
            return Ok(());
        }
        if !self.users.is_empty() || !self.users_of.is_empty() {
            let text = if self.writes_users { users!("no key update") } else { users!("share") };
            let (realms, ids) = columns(&self.users);
            let (realms_of, ids_of) = columns(&self.users_of);
            For::Batch.count();
            let query = sqlx::query(text).bind(realms).bind(ids).bind(realms_of).bind(ids_of);
            query.execute(&mut *connection).await.map_err(from_sqlx)?;
        }
        let text = if self.writes_sessions { sessions!("no key update") } else { sessions!("share") };
        let (realms, ids) = columns(&self.sessions);
        For::Batch.count();
        sqlx::query(text).bind(realms).bind(ids).execute(connection).await.map_err(from_sqlx)?;
        Ok(())
    }
}

fn columns(keys: &BTreeSet<(Uuid, Uuid)>) -> (Vec<Uuid>, Vec<Uuid>) {
    keys.iter().copied().unzip()
}
