//! Events for other services, appended in the batch together with the change they tell of. The number that
//! keeps a person's events in order comes from the person's row.

use super::attempt::Work;
use super::sql::{Sql, values};
use crate::domain::model::event::OutboxEvent;
use crate::store::Error;

const EXISTS: Sql = Sql::same("select 1 from outbox where realm_id = $1 and id = $2");

const NEXT: Sql =
    Sql::same("update user_account set event_seq = event_seq + 1 where realm_id = $1 and id = $2 returning event_seq");

/// The person is gone; what was told of him last had the highest number.
const AFTER_LAST: Sql =
    Sql::same("select coalesce(max(event_seq), 0) + 1 from outbox where realm_id = $1 and user_id = $2");

const EVENT: Sql = Sql::same(
    "insert into outbox (realm_id, id, user_id, event_seq, sub, kind, occurred_at, data) \
     values ($1, $2, $3, $4, $5, $6, $7, $8)",
);

impl Work<'_, '_> {
    /// Appends the event, once.
    pub(super) async fn tell(&mut self, event: &OutboxEvent) -> Result<(), Error> {
        if self.tx.row(EXISTS, values![event.realm, event.id.as_uuid()]).await?.is_some() {
            return Ok(());
        }
        let user = event.user.as_uuid();
        let next = match self.tx.row(NEXT, values![event.realm, user]).await? {
            Some(row) => Some(row),
            None => self.tx.row(AFTER_LAST, values![event.realm, user]).await?,
        };
        let number: i64 = next.map_or(Ok(1), |row| row.get(0))?;
        let row = values![
            event.realm,
            event.id.as_uuid(),
            user,
            number,
            event.sub.clone(),
            event.kind.as_str(),
            event.at,
            event.data.clone(),
        ];
        self.tx.execute(EVENT, row).await.map(drop)
    }
}
