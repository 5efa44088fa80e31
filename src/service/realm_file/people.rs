//! Writes users. Every change carries its audit and outbox events; what takes power away ends sessions
//! and grants.

use std::collections::HashMap;

use super::rows::Writer;
use crate::domain::model::ids::UserId;
use crate::domain::model::user::User;
use crate::domain::realm_file::{Act, Change, PasswordChange, StoredRealm, StoredUser, WantedUser};
use crate::service::admin::Scribe;
use crate::service::admin::user::{self, NewUser};
use crate::store::{Error, Tx, repo};

/// What is known about the user that is written.
pub(super) struct Facts<'a> {
    pub(super) stored: &'a StoredRealm,
    pub(super) act: &'a Act,
    pub(super) hashes: &'a HashMap<String, String>,
}

/// Names of users that change theirs or go are given up first, so that names can change hands.
pub(super) async fn release_names(
    tx: &mut Tx,
    scribe: &Scribe<'_>,
    stored: &StoredRealm,
    acts: &[Act],
) -> Result<(), Error> {
    for act in acts {
        let id = match &act.change {
            Change::PutUser(wanted) => wanted.id.filter(|id| renames(stored, *id, wanted)),
            Change::DeleteUser(id) => Some(*id),
            _ => None,
        };
        if let Some(id) = id {
            repo::identifier::replace_for(tx, scribe.realm, id, &[]).await?;
        }
    }
    Ok(())
}

fn find(stored: &StoredRealm, id: UserId) -> Option<&StoredUser> {
    stored.users.iter().find(|user| user.user.id == id)
}

fn renames(stored: &StoredRealm, id: UserId, wanted: &WantedUser) -> bool {
    find(stored, id).is_some_and(|before| {
        before.user.username != wanted.username
            || before.user.claims.email != wanted.claims.email
            || before.user.claims.email_verified != wanted.claims.email_verified
    })
}

/// Creates or updates a user.
pub(super) async fn put(tx: &mut Tx, writer: &Writer<'_>, facts: Facts<'_>, wanted: &WantedUser) -> Result<(), Error> {
    match wanted.id.and_then(|id| find(facts.stored, id)) {
        Some(before) => update(tx, writer, &facts, (before, wanted)).await,
        None => create(tx, writer, &facts, wanted).await,
    }
}

async fn create(tx: &mut Tx, writer: &Writer<'_>, facts: &Facts<'_>, wanted: &WantedUser) -> Result<(), Error> {
    let scribe = &writer.scribe;
    let new = NewUser {
        username: wanted.username.clone(),
        sub: wanted.sub.clone(),
        enabled: wanted.enabled,
        claims: wanted.claims.clone(),
    };
    let user = user::insert(tx, scribe, new).await?;
    if let Some(phc) = phc(facts, wanted)? {
        user::put_credential(tx, scribe, &user, phc).await?;
    }
    if !wanted.groups.is_empty() {
        repo::group::replace_for_user(tx, scribe.realm, user.id, &writer.group_ids(&wanted.groups)?).await?;
    }
    if !wanted.roles.is_empty() {
        repo::role::replace_for_user(tx, scribe.realm, user.id, &writer.role_ids(&wanted.roles)?).await?;
    }
    for power in &wanted.powers {
        user::give_power(tx, scribe, user.id, *power).await?;
    }
    Ok(())
}

fn phc(facts: &Facts<'_>, wanted: &WantedUser) -> Result<Option<String>, Error> {
    match &wanted.password {
        PasswordChange::Keep => Ok(None),
        PasswordChange::Hash(phc) => Ok(Some(phc.expose().to_owned())),
        PasswordChange::Value(_) => match facts.hashes.get(&wanted.username) {
            Some(phc) => Ok(Some(phc.clone())),
            None => Err(Error::Other(format!("the password of {} was not hashed", wanted.username))),
        },
    }
}

async fn update(
    tx: &mut Tx,
    writer: &Writer<'_>,
    facts: &Facts<'_>,
    (before, wanted): (&StoredUser, &WantedUser),
) -> Result<(), Error> {
    let scribe = &writer.scribe;
    let id = before.user.id;
    repo::group::replace_for_user(tx, scribe.realm, id, &writer.group_ids(&wanted.groups)?).await?;
    repo::role::replace_for_user(tx, scribe.realm, id, &writer.role_ids(&wanted.roles)?).await?;
    let user = User {
        username: wanted.username.clone(),
        claims: wanted.claims.clone(),
        updated_at: scribe.now,
        ..before.user.clone()
    };
    // What has events of its own is not told twice.
    let fields: Vec<&str> = facts
        .act
        .fields
        .iter()
        .map(|change| change.field.as_str())
        .filter(|field| !matches!(*field, "enabled" | "password" | "administrator"))
        .collect();
    if !fields.is_empty() {
        user::update(tx, scribe, &user, &fields).await?;
    }
    for power in wanted.powers.iter().filter(|power| !before.powers.contains(power)) {
        user::give_power(tx, scribe, id, *power).await?;
    }
    for power in before.powers.iter().filter(|power| !wanted.powers.contains(power)) {
        user::take_power(tx, scribe, id, *power).await?;
    }
    if let Some(phc) = phc(facts, wanted)? {
        user::put_password(tx, scribe, &user, phc).await?;
    }
    if wanted.enabled != before.user.enabled {
        user::set_enabled(tx, scribe, &user, wanted.enabled).await?;
    }
    Ok(())
}

/// Deletes a user.
pub(super) async fn delete(tx: &mut Tx, scribe: &Scribe<'_>, id: UserId) -> Result<(), Error> {
    match repo::user::find(&*tx, scribe.realm, id).await? {
        Some(user) => user::delete(tx, scribe, &user).await,
        None => Ok(()),
    }
}
