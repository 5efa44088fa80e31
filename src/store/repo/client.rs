//! Clients with their secrets.

use std::collections::HashMap;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::grant;
use super::row::{Row, Unique as _, json, whole};
use crate::domain::model::client::{Client, ClientOrigin, ClientSecret, is_client_id};
use crate::domain::model::ids::{ClientKey, ClientSecretId, RealmId};
use crate::domain::model::session::{EndReason, Ended};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::client::{ActiveModel, Column, Entity, Model};
use crate::store::entity::client_secret as secret;
use crate::store::entity::grant_record;
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

/// A successor and the one it takes the place of.
const LIVE_SECRETS: usize = 2;

fn read(model: Model, secrets: Vec<ClientSecret>) -> Result<Client, Error> {
    let row = Row { table: "client", id: model.id };
    Ok(Client {
        realm: RealmId::from_uuid(model.realm_id),
        key: ClientKey::from_uuid(model.id),
        origin: row.some(ClientOrigin::from_name(&model.origin))?,
        metadata: row.json(&model.metadata)?,
        client_id: model.client_id,
        enabled: model.enabled,
        created_at: Timestamp::from_micros(model.created_at),
        secrets,
    })
}

/// Clients with their secrets, newest first: one query more, however many clients.
async fn with_secrets(source: &impl Source, realm: RealmId, rows: Vec<Model>) -> Result<Vec<Client>, Error> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let keys = rows.iter().map(|row| row.id);
    let found = secret::Entity::find()
        .filter(secret::Column::RealmId.eq(realm.as_uuid()))
        .filter(secret::Column::ClientKey.is_in(keys))
        .order_by_desc(secret::Column::CreatedAt)
        .order_by_desc(secret::Column::Id)
        .all(source.connection())
        .await?;
    let mut secrets: HashMap<Uuid, Vec<ClientSecret>> = HashMap::new();
    for model in found {
        let row = Row { table: "client_secret", id: model.id };
        secrets.entry(model.client_key).or_default().push(ClientSecret {
            id: ClientSecretId::from_uuid(model.id),
            hash: row.hash(&model.hash)?,
            sealed: model.sealed,
            created_at: Timestamp::from_micros(model.created_at),
            expires_at: model.expires_at.map(Timestamp::from_micros),
        });
    }
    let client = |model: Model| {
        let secrets = secrets.remove(&model.id).unwrap_or_default();
        read(model, secrets)
    };
    rows.into_iter().map(client).collect()
}

/// The client of this key.
pub async fn find(source: &impl Source, realm: RealmId, client: ClientKey) -> Result<Option<Client>, Error> {
    let found = Entity::find_by_id((realm.as_uuid(), client.as_uuid())).unique(source.connection()).await?;
    Ok(with_secrets(source, realm, found.into_iter().collect()).await?.pop())
}

/// The client of this public id. What strangers send in its place may hold bytes that a database refuses.
pub async fn find_by_client_id(source: &impl Source, realm: RealmId, client_id: &str) -> Result<Option<Client>, Error> {
    if !is_client_id(client_id) {
        return Ok(None);
    }
    let found = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::ClientId.eq(client_id))
        .unique(source.connection())
        .await?;
    Ok(with_secrets(source, realm, found.into_iter().collect()).await?.pop())
}

/// Clients in the order of their birth, after a known one.
pub async fn list(
    source: &impl Source,
    realm: RealmId,
    after: Option<ClientKey>,
    limit: u64,
) -> Result<Vec<Client>, Error> {
    let mut query = Entity::find().filter(Column::RealmId.eq(realm.as_uuid()));
    if let Some(after) = after {
        query = query.filter(Column::Id.gt(after.as_uuid()));
    }
    let rows = query.order_by_asc(Column::Id).limit(limit).all(source.connection()).await?;
    with_secrets(source, realm, rows).await
}

/// Makes a client. Its secrets are added apart. The realm's origins are cached whole, so their readers are told.
pub async fn insert(tx: &mut Tx, client: &Client) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: client.realm.as_uuid(),
        id: client.key.as_uuid(),
        client_id: client.client_id.clone(),
        enabled: client.enabled,
        created_at: client.created_at.as_micros(),
        metadata: json(&client.metadata)?,
        origin: client.origin.as_str().to_owned(),
        registration_token: None,
        last_used_at: None,
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    tx.changed(client.realm, ChangeKind::Client, client.key.as_uuid());
    Ok(())
}

/// Changes metadata, whose it is and whether it is enabled. What a disabled one was given ends: enabled again, it
/// begins anew. The client's row comes first (`security-design` rule 1).
pub async fn update(tx: &mut Tx, client: &Client, now: Timestamp) -> Result<(), Error> {
    let mut row = ActiveModel {
        enabled: Set(client.enabled),
        metadata: Set(json(&client.metadata)?),
        origin: Set(client.origin.as_str().to_owned()),
        ..ActiveModel::default()
    };
    if client.origin == ClientOrigin::Operator {
        // What the client could do for itself is the operator's now.
        (row.registration_token, row.last_used_at) = (Set(None), Set(None));
    }
    write(tx, client.realm, client.key, row).await?;
    if !client.enabled {
        let ended = Ended { at: now, reason: EndReason::ClientRemoved };
        grant::end_for_client(tx, client.realm, client.key, ended).await?;
    }
    Ok(())
}

async fn write(tx: &mut Tx, realm: RealmId, client: ClientKey, row: ActiveModel) -> Result<(), Error> {
    Entity::update_many()
        .set(row)
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Id.eq(client.as_uuid()))
        .exec(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::Client, client.as_uuid());
    Ok(())
}

/// Deletes a client with its secrets, roles, consents. Its grants end and stay, and so do the redemptions of
/// its codes (`security-design` rule 12).
pub async fn delete(tx: &mut Tx, realm: RealmId, client: ClientKey, now: Timestamp) -> Result<(), Error> {
    write(tx, realm, client, ActiveModel { enabled: Set(false), ..ActiveModel::default() }).await?;
    let ended = Ended { at: now, reason: EndReason::ClientRemoved };
    grant::end_for_client(tx, realm, client, ended).await?;
    Entity::delete_by_id((realm.as_uuid(), client.as_uuid())).exec(tx.connection()).await?;
    tx.changed(realm, ChangeKind::Roles, realm.as_uuid());
    Ok(())
}

/// Ends what disabled clients still have: what was born in the very moment in which they were disabled.
pub async fn end_leftovers(tx: &mut Tx, now: Timestamp) -> Result<u64, Error> {
    let live = Query::select()
        .expr(Expr::val(1))
        .from(grant_record::Entity)
        .and_where(Expr::col((grant_record::Entity, grant_record::Column::RealmId)).equals((Entity, Column::RealmId)))
        .and_where(Expr::col((grant_record::Entity, grant_record::Column::ClientKey)).equals((Entity, Column::Id)))
        .and_where(Expr::col((grant_record::Entity, grant_record::Column::EndedAt)).is_null())
        .to_owned();
    let found: Vec<(Uuid, Uuid)> = Entity::find()
        .select_only()
        .columns([Column::RealmId, Column::Id])
        .filter(Column::Enabled.eq(false))
        .filter(Expr::exists(live))
        .into_tuple()
        .all(tx.connection())
        .await?;
    let ended = Ended { at: now, reason: EndReason::ClientRemoved };
    let mut count = 0;
    for (realm, client) in found {
        let (realm, client) = (RealmId::from_uuid(realm), ClientKey::from_uuid(client));
        count += grant::end_for_client(tx, realm, client, ended).await?;
    }
    Ok(count)
}

/// Adds a secret. The one before counts until `keep_until`, or no longer when that is `None`; older ones go.
pub async fn add_secret(
    tx: &mut Tx,
    realm: RealmId,
    client: ClientKey,
    new: &ClientSecret,
    keep_until: Option<Timestamp>,
) -> Result<(), Error> {
    let connection = tx.connection();
    // Two additions at once must not leave three secrets: the second waits here.
    Entity::find_by_id((realm.as_uuid(), client.as_uuid())).lock_exclusive().unique(connection).await?;
    let kept = if keep_until.is_some() { LIVE_SECRETS - 1 } else { 0 };
    let known = secret::Entity::find()
        .filter(secret::Column::RealmId.eq(realm.as_uuid()))
        .filter(secret::Column::ClientKey.eq(client.as_uuid()))
        .order_by_desc(secret::Column::CreatedAt)
        .order_by_desc(secret::Column::Id)
        .all(connection)
        .await?;
    secret::Entity::delete_many()
        .filter(secret::Column::RealmId.eq(realm.as_uuid()))
        .filter(secret::Column::Id.is_in(known.iter().skip(kept).map(|secret| secret.id)))
        .exec(connection)
        .await?;
    secret::Entity::update_many()
        .col_expr(secret::Column::ExpiresAt, Expr::value(keep_until.map(Timestamp::as_micros)))
        .filter(secret::Column::RealmId.eq(realm.as_uuid()))
        .filter(secret::Column::Id.is_in(known.iter().take(kept).map(|secret| secret.id)))
        .exec(connection)
        .await?;
    let row: secret::ActiveModel = whole(secret::Model {
        realm_id: realm.as_uuid(),
        id: new.id.as_uuid(),
        client_key: client.as_uuid(),
        hash: new.hash.0.to_vec(),
        sealed: new.sealed.clone(),
        created_at: new.created_at.as_micros(),
        expires_at: new.expires_at.map(Timestamp::as_micros),
    });
    secret::Entity::insert(row).exec_without_returning(connection).await?;
    tx.changed(realm, ChangeKind::Client, client.as_uuid());
    Ok(())
}

/// Forgets every secret of a client that has none any more.
pub async fn forget_secrets(tx: &mut Tx, realm: RealmId, client: ClientKey) -> Result<(), Error> {
    secret::Entity::delete_many()
        .filter(secret::Column::RealmId.eq(realm.as_uuid()))
        .filter(secret::Column::ClientKey.eq(client.as_uuid()))
        .exec(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::Client, client.as_uuid());
    Ok(())
}

/// Forgets the sealed form of a client's secrets, which is kept only where they sign.
pub async fn forget_sealed(tx: &mut Tx, realm: RealmId, client: ClientKey) -> Result<(), Error> {
    secret::Entity::update_many()
        .col_expr(secret::Column::Sealed, Expr::value(Option::<Vec<u8>>::None))
        .filter(secret::Column::RealmId.eq(realm.as_uuid()))
        .filter(secret::Column::ClientKey.eq(client.as_uuid()))
        .exec(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::Client, client.as_uuid());
    Ok(())
}
