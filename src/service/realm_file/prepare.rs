//! What takes long and must not happen inside the transaction: password hashes and signing keys.

use std::collections::HashMap;

use super::apply::Planned;
use super::{Failure, Input};
use crate::domain::model::ids::RealmId;
use crate::domain::model::realm::RealmSettings;
use crate::domain::model::secret::Secret;
use crate::domain::protocol::key_schedule;
use crate::domain::realm_file::{Change, Fault, PasswordChange, WantedUser};
use crate::password::policy;
use crate::service::admin::key::{self, Fresh};
use crate::service::admin::user::hash_normal;
use crate::service::{App, Error};
use crate::store::repo;

/// What was prepared for one realm.
#[derive(Default)]
pub(super) struct Prepared {
    /// The id of a realm that is new.
    pub(super) id: Option<RealmId>,
    /// PHC strings by user name as declared.
    pub(super) hashes: HashMap<String, String>,
    /// Signing keys.
    pub(super) keys: Fresh,
}

/// What was prepared, by realm name.
pub(super) type AllPrepared = HashMap<String, Prepared>;

/// Users whose password has to be hashed.
fn passwords(planned: &Planned) -> impl Iterator<Item = (&WantedUser, &Secret)> {
    planned.plan.acts.iter().filter_map(|act| match &act.change {
        Change::PutUser(user) => match &user.password {
            PasswordChange::Value(value) => Some((&**user, value)),
            PasswordChange::Keep | PasswordChange::Hash(_) => None,
        },
        _ => None,
    })
}

/// The settings as the plan leaves them, when it touches the realm.
pub(super) fn settings(planned: &Planned) -> Option<&RealmSettings> {
    planned.plan.acts.iter().find_map(|act| match &act.change {
        Change::PutRealm(wanted) => Some(&wanted.settings),
        _ => None,
    })
}

/// Whether everything that the plan needs was prepared.
pub(super) fn covers(all: &AllPrepared, planned: &Planned) -> bool {
    let Some(prepared) = all.get(&planned.plan.realm) else { return planned.plan.acts.is_empty() };
    (planned.stored.realm.is_some() || prepared.id.is_some())
        && passwords(planned).all(|(user, _)| prepared.hashes.contains_key(&user.username))
}

/// Prepares what is missing. Passwords are hashed two at a time: that is what the queue is sized for.
pub(super) async fn prepare(
    app: &App,
    input: &Input,
    planned: &[Planned],
    all: &mut AllPrepared,
) -> Result<(), Failure> {
    for planned in planned {
        let file = input.realms.iter().find(|realm| realm.name == planned.plan.realm).map(|realm| realm.file.as_str());
        let prepared = all.entry(planned.plan.realm.clone()).or_default();
        let now = app.clock.now();
        let id = match &planned.stored.realm {
            Some(realm) => realm.id,
            None => *prepared.id.get_or_insert_with(|| RealmId::from_uuid(app.entropy.uuid("realm", now))),
        };
        if let Some(settings) = settings(planned) {
            let keys = match &planned.stored.realm {
                Some(realm) => repo::key::list(&app.store.read(), realm.id).await?,
                None => Vec::new(),
            };
            let acts = key_schedule::plan(&keys, &settings.keys, now, key::longest_token(settings));
            let missing = key::wanted(&acts).into_iter().filter(|alg| !prepared.keys.contains_key(alg)).collect();
            prepared.keys.extend(key::make(app, id, settings.keys.rsa_bits, missing).await?);
        }
        let normal = normal(planned, prepared, file.unwrap_or_default())?;
        for pair in normal.chunks(2) {
            let [(first, password), rest @ ..] = pair else { continue };
            if let [(second, other)] = rest {
                let (one, two) = tokio::join!(hash_normal(app, password.clone()), hash_normal(app, other.clone()));
                prepared.hashes.insert(first.clone(), one?);
                prepared.hashes.insert(second.clone(), two?);
            } else {
                prepared.hashes.insert(first.clone(), hash_normal(app, password.clone()).await?);
            }
        }
    }
    Ok(())
}

/// The passwords still to be hashed, checked by the realm's policy and normalised.
fn normal(planned: &Planned, prepared: &Prepared, file: &str) -> Result<Vec<(String, Secret)>, Failure> {
    let stored = planned.stored.realm.as_ref().map(|realm| &realm.settings);
    let Some(settings) = settings(planned).or(stored) else {
        return Err(Error::Internal("a realm without settings".to_owned()).into());
    };
    let mut faults = Vec::new();
    let mut list = Vec::new();
    for (user, password) in passwords(planned).filter(|(user, _)| !prepared.hashes.contains_key(&user.username)) {
        match policy::check(password.expose(), &settings.password_policy) {
            Ok(normal) => list.push((user.username.clone(), Secret::new(normal))),
            Err(fault) => faults.push(Fault {
                file: file.to_owned(),
                line: 0,
                object: format!("user {}", user.username),
                field: "password.value".to_owned(),
                message: fault.to_string(),
            }),
        }
    }
    if faults.is_empty() { Ok(list) } else { Err(Failure::Faults(faults)) }
}
