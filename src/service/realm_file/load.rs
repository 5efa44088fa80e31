//! Loads a realm as the store holds it: whole for an export, for a plan only the users that the file
//! concerns.

use std::collections::HashSet;

use crate::domain::model::credential::CredentialSecret;
use crate::domain::model::ids::{RealmId, UserId};
use crate::domain::model::power::AdministrativePower;
use crate::domain::model::realm::Realm;
use crate::domain::model::user::User;
use crate::domain::realm_file::{DeclaredRealm, StoredRealm, StoredUser};
use crate::domain::signin::identifier::canonical_typed;
use crate::store::{Error, Source, repo};

/// Rows per page.
const PAGE: u64 = 500;

/// The realm with everything but its users.
async fn frame(source: &impl Source, realm: Realm) -> Result<StoredRealm, Error> {
    let id = realm.id;
    let mut clients = Vec::new();
    loop {
        let after = clients.last().map(|client: &crate::domain::model::client::Client| client.key);
        let page = repo::client::list(source, id, after, PAGE).await?;
        let done = page.is_empty();
        clients.extend(page);
        if done {
            break;
        }
    }
    Ok(StoredRealm {
        realm: Some(realm),
        // Sealed: opened by who plans or exports.
        pairwise_key: None,
        roles: repo::role::list(source, id).await?,
        groups: repo::group::list(source, id).await?,
        users: Vec::new(),
        clients,
        resources: repo::resource::list(source, id).await?,
        scopes: repo::scope::list(source, id).await?,
    })
}

/// The realm with all its users.
pub(super) async fn whole(source: &impl Source, realm: Realm) -> Result<StoredRealm, Error> {
    let mut stored = frame(source, realm).await?;
    all_users(source, &mut stored).await?;
    Ok(stored)
}

async fn all_users(source: &impl Source, stored: &mut StoredRealm) -> Result<(), Error> {
    let Some(realm) = stored.realm.as_ref().map(|realm| realm.id) else { return Ok(()) };
    let powers = repo::power::list(source, realm).await?;
    let mut after: Option<UserId> = None;
    loop {
        let page = repo::user::list(source, realm, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.id);
        for user in page {
            stored.users.push(details(source, user, &powers).await?);
        }
    }
}

/// What a plan for `declared` needs.
pub(super) async fn for_plan(
    source: &impl Source,
    declared: &DeclaredRealm,
    prune: bool,
) -> Result<StoredRealm, Error> {
    let Some(realm) = repo::realm::find_by_name(source, &declared.name).await? else {
        return Ok(StoredRealm::default());
    };
    let id = realm.id;
    let mut stored = frame(source, realm).await?;
    let mut seen = HashSet::new();
    let powers = repo::power::list(source, id).await?;
    // Who has a new client's id for a sub: the plan tells of the clash by name.
    for client in declared.clients.iter().flatten() {
        let is_new = stored.clients.iter().all(|before| before.client_id != client.client_id);
        if is_new && let Some(found) = repo::user::find_by_sub(source, id, &client.client_id).await? {
            load(source, &mut stored, (id, found.id), &powers, &mut seen).await?;
        }
    }
    let Some(users) = &declared.users else { return Ok(stored) };
    if prune {
        stored.users.clear();
        all_users(source, &mut stored).await?;
        return Ok(stored);
    }
    for user in users {
        // Also whoever holds the declared address or sub: the plan tells of the clash by name.
        let email = user.claims.get("email").and_then(|email| email.as_str());
        for name in [Some(user.username.as_str()), email].into_iter().flatten() {
            let Some(canonical) = canonical_typed(name) else { continue };
            let Some(found) = repo::identifier::find(source, id, &canonical).await? else { continue };
            load(source, &mut stored, (id, found.user), &powers, &mut seen).await?;
        }
        if let Some(sub) = &user.sub
            && let Some(found) = repo::user::find_by_sub(source, id, sub).await?
        {
            load(source, &mut stored, (id, found.id), &powers, &mut seen).await?;
        }
    }
    Ok(stored)
}

async fn load(
    source: &impl Source,
    stored: &mut StoredRealm,
    (realm, user): (RealmId, UserId),
    powers: &[AdministrativePower],
    seen: &mut HashSet<UserId>,
) -> Result<(), Error> {
    if seen.insert(user)
        && let Some(user) = repo::user::find(source, realm, user).await?
    {
        stored.users.push(details(source, user, powers).await?);
    }
    Ok(())
}

async fn details(source: &impl Source, user: User, powers: &[AdministrativePower]) -> Result<StoredUser, Error> {
    let (realm, id) = (user.realm, user.id);
    let phc = repo::credential::find_password(source, realm, id).await?.map(|credential| match credential.secret {
        CredentialSecret::Password { phc } => phc,
    });
    Ok(StoredUser {
        groups: repo::group::list_for_user(source, realm, id).await?,
        roles: repo::role::list_for_user(source, realm, id).await?,
        powers: powers.iter().filter(|power| power.user == id).map(|power| power.power).collect(),
        phc,
        user,
    })
}
