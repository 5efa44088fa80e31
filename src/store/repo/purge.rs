//! Deletes what has served its time, by the database's clock (decisions: ended sessions and grants 90 days;
//! `security-design` rule 12: redemptions a day after their code; architecture, section 7: changes an hour).
//! The audit log is kept.

use std::time::Duration;

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, Statement, Value};
use uuid::Uuid;

use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::{realm, setup_link};
use crate::store::sealed::Connected;
use crate::store::{Error, Tx};

/// So many rows of a kind go at once, so that no transaction keeps others waiting.
pub const MOST: u64 = 1000;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
const QUARTER: Duration = Duration::from_secs(90 * 24 * 3600);
/// Browsers keep no cookie for longer than this, so a browser that was away comes back as another.
const COOKIE: Duration = Duration::from_secs(400 * 24 * 3600);
/// A token counts a little longer than it says, for clocks that differ.
const LEEWAY: Duration = Duration::from_secs(60);

/// Rows of a table that have served their time: its key, the time that an index is on, how long they are kept
/// after it.
const DUE: [(&str, &str, &str, Duration); 9] = [
    ("redemption", "realm_id, code_id", "expires_at", DAY),
    ("revoked_token", "realm_id, token_id", "expires_at", LEEWAY),
    ("change", "seq", "created_at", HOUR),
    ("session", "realm_id, id", "ended_at", QUARTER),
    ("session", "realm_id, id", "expires_at", QUARTER),
    ("grant_record", "realm_id, id", "ended_at", QUARTER),
    // Only what a broker has confirmed was sent.
    ("outbox", "realm_id, id", "sent_at", WEEK),
    ("backchannel_logout", "realm_id, session_id, client_key", "done_at", WEEK),
    // An operator who wonders why a registration fails still finds it.
    ("initial_access_token", "realm_id, id", "expires_at", WEEK),
];

/// Deletes what is due, [`MOST`] rows of a kind; gives the number of rows.
pub async fn all(tx: &mut Tx, now: Timestamp) -> Result<u64, Error> {
    let mut rows = 0;
    for (table, key, time, kept) in DUE {
        let text =
            format!("delete from {table} where ({key}) in (select {key} from {table} where {time} < $1 limit {MOST})");
        rows += run(tx, &text, [now.minus(kept).as_micros().into()]).await?;
    }
    rows += setup_link::Entity::delete_many()
        .filter(setup_link::Column::ExpiresAt.lt(now.as_micros()))
        .exec(tx.connection())
        .await?
        .rows_affected;
    for realm in realm::Entity::find().all(tx.connection()).await? {
        rows += expired_grants(tx, realm.id, now).await?;
    }
    Ok(rows)
}

/// Deletes browsers on which nobody has signed in for longer than any of them keeps a cookie and nobody is
/// signed in any more, [`MOST`] of a realm. When a browser was last used stands in no index, so this looks
/// at every one that was born before; once an hour is enough.
pub async fn devices(tx: &mut Tx, now: Timestamp) -> Result<u64, Error> {
    let old = now.minus(COOKIE);
    let text = format!(
        "delete from device where realm_id = $1 and id in (select id from device where realm_id = $1 and id < $2 \
         and last_seen_at < $3 and not exists (select 1 from user_device join session on \
         session.realm_id = user_device.realm_id and session.user_id = user_device.user_id \
         and session.device_id = user_device.device_id where user_device.realm_id = device.realm_id \
         and user_device.device_id = device.id and session.ended_at is null) order by id limit {MOST})"
    );
    let mut rows = 0;
    for realm in realm::Entity::find().all(tx.connection()).await? {
        rows += run(tx, &text, [realm.id.into(), born_at(old).into(), old.as_micros().into()]).await?;
    }
    Ok(rows)
}

/// Grants whose end came by time alone. Their expiry stands in no index, so that a rotation touches none;
/// but ids are ordered by birth, and whoever expired before `old` was born before `old`.
async fn expired_grants(tx: &Tx, realm: Uuid, now: Timestamp) -> Result<u64, Error> {
    let old = now.minus(QUARTER);
    let text = format!(
        "delete from grant_record where realm_id = $1 and expires_at < $3 and id in (\
         select id from grant_record where realm_id = $1 and id < $2 order by id limit {MOST})"
    );
    run(tx, &text, [realm.into(), born_at(old).into(), old.as_micros().into()]).await
}

/// The least id that is born at a moment.
fn born_at(moment: Timestamp) -> Uuid {
    let millis = u64::try_from(moment.as_millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &[0; 10]).into_uuid()
}

async fn run<const N: usize>(tx: &Tx, text: &str, values: [Value; N]) -> Result<u64, Error> {
    let connection = tx.connection();
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    Ok(connection.execute_raw(statement).await?.rows_affected())
}
