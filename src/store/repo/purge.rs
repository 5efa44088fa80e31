//! Deletes what has served its time, by the database's clock (decisions: ended sessions and grants 90 days;
//! `security-design` rule 12: redemptions a day after their code; architecture, section 7: changes an hour).

use std::time::Duration;

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, Statement, Value};
use uuid::Uuid;

use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::{change, realm, revoked_token, session, setup_link};
use crate::store::sealed::Connected;
use crate::store::{Error, Tx};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const QUARTER: Duration = Duration::from_secs(90 * 24 * 3600);
/// A token counts a little longer than it says, for clocks that differ.
const LEEWAY: Duration = Duration::from_secs(60);

/// Deletes all that is due; gives the number of rows.
pub async fn all(tx: &mut Tx, now: Timestamp) -> Result<u64, Error> {
    let connection = tx.connection();
    let old = now.minus(QUARTER).as_micros();
    let mut rows = redemptions(tx, now).await?;
    rows += revoked_token::Entity::delete_many()
        .filter(revoked_token::Column::ExpiresAt.lt(now.minus(LEEWAY).as_micros()))
        .exec(connection)
        .await?
        .rows_affected;
    rows += change::Entity::delete_many()
        .filter(change::Column::CreatedAt.lt(now.minus(HOUR).as_micros()))
        .exec(connection)
        .await?
        .rows_affected;
    rows += setup_link::Entity::delete_many()
        .filter(setup_link::Column::ExpiresAt.lt(now.as_micros()))
        .exec(connection)
        .await?
        .rows_affected;
    // Two statements, so that each can take its index.
    for due in [session::Column::EndedAt.lt(old), session::Column::ExpiresAt.lt(old)] {
        rows += session::Entity::delete_many().filter(due).exec(connection).await?.rows_affected;
    }
    rows += run(tx, "delete from grant_record where ended_at < $1", [old.into()]).await?;
    for realm in realm::Entity::find().all(connection).await? {
        rows += expired_grants(tx, realm.id, now).await?;
    }
    Ok(rows)
}

async fn redemptions(tx: &Tx, now: Timestamp) -> Result<u64, Error> {
    run(tx, "delete from redemption where expires_at < $1", [now.minus(DAY).as_micros().into()]).await
}

/// Grants whose end came by time alone. Their expiry stands in no index, so that a rotation touches none;
/// but ids are ordered by birth, and whoever expired before `old` was born before `old`.
async fn expired_grants(tx: &Tx, realm: Uuid, now: Timestamp) -> Result<u64, Error> {
    let old = now.minus(QUARTER);
    let born = uuid::Builder::from_unix_timestamp_millis(u64::try_from(old.as_millis()).unwrap_or(0), &[0; 10]);
    let text = "delete from grant_record where realm_id = $1 and expires_at < $3 and id in (\
                select id from grant_record where realm_id = $1 and id < $2 order by id limit 1000)";
    run(tx, text, [realm.into(), born.into_uuid().into(), old.as_micros().into()]).await
}

async fn run<const N: usize>(tx: &Tx, text: &str, values: [Value; N]) -> Result<u64, Error> {
    let connection = tx.connection();
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), text, values);
    Ok(connection.execute_raw(statement).await?.rows_affected())
}
