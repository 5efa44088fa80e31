//! Accounts: made, changed, disabled, deleted, given a password or a power. Whatever takes power away
//! raises the account's epoch first and ends sessions and grants in a later statement of the same
//! transaction (`security-design` rule 1).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::Scribe;
use crate::domain::model::audit::AuditKind;
use crate::domain::model::credential::{Credential, CredentialSecret};
use crate::domain::model::event::EventKind;
use crate::domain::model::identifier::{Identifier, IdentifierKind};
use crate::domain::model::ids::{CredentialId, PowerId, UserId};
use crate::domain::model::power::{AdministrativePower, Power};
use crate::domain::model::realm::{MAIN_REALM, Realm};
use crate::domain::model::secret::Secret;
use crate::domain::model::session::{EndReason, Ended};
use crate::domain::model::user::{StandardClaims, User};
use crate::domain::signin::identifier::{self, NameFault};
use crate::password::{GateError, policy};
use crate::service::{App, Error, Fault};
use crate::store::{self, Tx, repo};

/// An account to be made.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// Name to sign in with, as it is spelled.
    pub username: String,
    /// What relying parties know; random when absent.
    pub sub: Option<String>,
    /// Whether it may do anything.
    pub enabled: bool,
    /// The claims.
    pub claims: StandardClaims,
}

/// Makes an account with its names.
pub async fn insert(tx: &mut Tx, scribe: &Scribe<'_>, new: NewUser) -> Result<User, store::Error> {
    // A random one is nobody's; one that was given may be a client's, whose own tokens have it for their `sub`.
    if let Some(sub) = &new.sub
        && repo::client::find_by_client_id(&*tx, scribe.realm, sub).await?.is_some()
    {
        return Err(store::Error::Conflict("client"));
    }
    let user = User {
        realm: scribe.realm,
        id: UserId::from_uuid(scribe.id("user")),
        sub: new.sub.unwrap_or_else(|| URL_SAFE_NO_PAD.encode(scribe.bytes::<16>("sub"))),
        username: new.username,
        enabled: new.enabled,
        credential_epoch: 0,
        created_at: scribe.now,
        updated_at: scribe.now,
        claims: new.claims,
    };
    repo::user::insert(tx, &user).await?;
    put_names(tx, &user).await?;
    let mut audit = scribe.audit(AuditKind::UserCreated);
    audit.user = Some(user.id);
    repo::audit::append(tx, &audit).await?;
    repo::outbox::append(tx, &scribe.tell(EventKind::UserCreated, &user, &json!({}))).await?;
    Ok(user)
}

/// Writes changed claims and names; `fields` are what other services are told.
pub async fn update(tx: &mut Tx, scribe: &Scribe<'_>, user: &User, fields: &[&str]) -> Result<(), store::Error> {
    repo::user::update(tx, user).await?;
    put_names(tx, user).await?;
    let mut audit = scribe.audit(AuditKind::UserUpdated);
    audit.user = Some(user.id);
    repo::audit::append(tx, &audit).await?;
    repo::outbox::append(tx, &scribe.tell(EventKind::UserUpdated, user, &json!({ "fields": fields }))).await
}

/// The names that an account signs in with: the user name, and the e-mail address once it is verified.
pub fn names(user: &User) -> Result<Vec<Identifier>, NameFault> {
    let name = |text: &str, kind| {
        Ok(Identifier { realm: user.realm, canonical: identifier::canonical(text)?, kind, user: user.id })
    };
    let mut names = vec![name(&user.username, IdentifierKind::Username)?];
    if let Some(email) = user.claims.email.as_deref().filter(|_| user.claims.email_verified) {
        let email = name(email, IdentifierKind::Email)?;
        // A user name that is the address itself is one name, not two.
        if names.iter().all(|known| known.canonical != email.canonical) {
            names.push(email);
        }
    }
    Ok(names)
}

async fn put_names(tx: &mut Tx, user: &User) -> Result<(), store::Error> {
    let names = names(user).map_err(|fault| store::Error::Other(format!("a name that was checked before {fault}")))?;
    repo::identifier::replace_for(tx, user.realm, user.id, &names).await
}

/// Ends every session and grant of an account. Its epoch must have been raised before.
async fn end_everything(tx: &mut Tx, scribe: &Scribe<'_>, user: &User, reason: EndReason) -> Result<(), store::Error> {
    let ended = Ended { at: scribe.now, reason };
    for session in repo::session::end_all_for_user(tx, scribe.realm, user.id, ended, repo::session::Extent::ALL).await?
    {
        let mut audit = scribe.audit(AuditKind::SessionEnded);
        audit.user = Some(user.id);
        audit.session = Some(session);
        audit.reason = Some(reason.as_str());
        repo::audit::append(tx, &audit).await?;
        let data = json!({ "sid": session.to_string(), "reason": reason.as_str() });
        repo::outbox::append(tx, &scribe.tell(EventKind::SessionRevoked, user, &data)).await?;
    }
    repo::grant::end_for_user(tx, scribe.realm, user.id, ended).await?;
    Ok(())
}

/// Enables an account, or disables it and ends all that it has.
pub async fn set_enabled(tx: &mut Tx, scribe: &Scribe<'_>, user: &User, enabled: bool) -> Result<(), store::Error> {
    repo::user::set_enabled(tx, scribe.realm, user.id, enabled, scribe.now).await?;
    let kind = if enabled { AuditKind::UserEnabled } else { AuditKind::UserDisabled };
    let mut audit = scribe.audit(kind);
    audit.user = Some(user.id);
    repo::audit::append(tx, &audit).await?;
    if enabled {
        return repo::outbox::append(tx, &scribe.tell(EventKind::UserUpdated, user, &json!({ "fields": ["enabled"] })))
            .await;
    }
    end_everything(tx, scribe, user, EndReason::UserDisabled).await?;
    repo::outbox::append(tx, &scribe.tell(EventKind::UserDisabled, user, &json!({}))).await
}

/// Replaces the password and ends all that was signed in with the old one.
pub async fn put_password(tx: &mut Tx, scribe: &Scribe<'_>, user: &User, phc: String) -> Result<(), store::Error> {
    repo::user::raise_epoch(tx, scribe.realm, user.id, scribe.now).await?;
    put_credential(tx, scribe, user, phc).await?;
    end_everything(tx, scribe, user, EndReason::CredentialChanged).await?;
    repo::outbox::append(tx, &scribe.tell(EventKind::PasswordChanged, user, &json!({}))).await
}

/// The password of an account that has none yet: nothing to end, nobody to tell.
pub async fn put_credential(tx: &mut Tx, scribe: &Scribe<'_>, user: &User, phc: String) -> Result<(), store::Error> {
    let credential = Credential {
        realm: scribe.realm,
        id: CredentialId::from_uuid(scribe.id("credential")),
        user: user.id,
        secret: CredentialSecret::Password { phc },
        created_at: scribe.now,
    };
    repo::credential::set_password(tx, &credential).await?;
    let mut audit = scribe.audit(AuditKind::PasswordSet);
    audit.user = Some(user.id);
    repo::audit::append(tx, &audit).await
}

/// Deletes an account; other services are told to delete what they hold.
pub async fn delete(tx: &mut Tx, scribe: &Scribe<'_>, user: &User) -> Result<(), store::Error> {
    repo::user::raise_epoch(tx, scribe.realm, user.id, scribe.now).await?;
    end_everything(tx, scribe, user, EndReason::UserDeleted).await?;
    let mut audit = scribe.audit(AuditKind::UserDeleted);
    audit.user = Some(user.id);
    repo::audit::append(tx, &audit).await?;
    repo::outbox::append(tx, &scribe.tell(EventKind::UserDeleted, user, &json!({}))).await?;
    repo::user::delete(tx, scribe.realm, user.id).await
}

/// Gives an administrative power.
pub async fn give_power(tx: &mut Tx, scribe: &Scribe<'_>, user: UserId, power: Power) -> Result<(), store::Error> {
    let row = AdministrativePower {
        realm: scribe.realm,
        id: PowerId::from_uuid(scribe.id("power")),
        user,
        power,
        created_at: scribe.now,
    };
    repo::power::insert(tx, &row).await?;
    let mut audit = scribe.audit(AuditKind::PowerGiven);
    audit.user = Some(user);
    audit.reason = Some(power.as_str());
    repo::audit::append(tx, &audit).await
}

/// Takes an administrative power away.
pub async fn take_power(tx: &mut Tx, scribe: &Scribe<'_>, user: UserId, power: Power) -> Result<(), store::Error> {
    repo::power::delete(tx, scribe.realm, user, power).await?;
    let mut audit = scribe.audit(AuditKind::PowerTaken);
    audit.user = Some(user);
    audit.reason = Some(power.as_str());
    repo::audit::append(tx, &audit).await
}

/// Hashes a new password by the realm's policy.
pub async fn hash(app: &App, realm: &Realm, password: &Secret) -> Result<String, Error> {
    let normal = policy::check(password.expose(), &realm.settings.password_policy)
        .map_err(|fault| Error::Invalid(vec![Fault { pointer: "password".to_owned(), detail: fault.to_string() }]))?;
    hash_normal(app, Secret::new(normal)).await
}

/// Hashes a password that was checked and normalised.
pub async fn hash_normal(app: &App, normal: Secret) -> Result<String, Error> {
    app.passwords.hash(normal).await.map_err(|error| match error {
        GateError::Busy { retry_after } => {
            Error::Busy { retry_after: u32::try_from(retry_after.as_secs().saturating_add(1)).unwrap_or(u32::MAX) }
        }
        GateError::Broken => Error::Internal("a password hash could not be computed".to_owned()),
    })
}

/// The account that a name means: a user name, a verified e-mail address, a `sub`, or `usr_…`.
pub async fn find(app: &App, realm: &Realm, name: &str) -> Result<Option<User>, Error> {
    let source = app.store.read();
    if let Ok(id) = name.parse::<UserId>() {
        return Ok(repo::user::find(&source, realm.id, id).await?);
    }
    if let Some(canonical) = identifier::canonical_typed(name)
        && let Some(found) = repo::identifier::find(&source, realm.id, &canonical).await?
    {
        return Ok(repo::user::find(&source, realm.id, found.user).await?);
    }
    Ok(repo::user::find_by_sub(&source, realm.id, name).await?)
}

/// Accounts in the order of their birth.
pub async fn list(app: &App, realm: &Realm, after: Option<UserId>, limit: u64) -> Result<Vec<User>, Error> {
    Ok(repo::user::list(&app.store.read(), realm.id, after, limit).await?)
}

/// An account with what stands beside it.
#[derive(Debug, Clone)]
pub struct Details {
    /// The account.
    pub user: User,
    /// Effective realm roles, by name.
    pub roles: Vec<String>,
    /// Paths of its groups.
    pub groups: Vec<String>,
    /// Its administrative powers.
    pub powers: Vec<Power>,
    /// Whether it has a password.
    pub has_password: bool,
}

/// An account with roles, groups and powers.
pub async fn details(app: &App, user: User) -> Result<Details, Error> {
    let source = app.store.read();
    let effective = repo::role::effective(&source, user.realm, user.id).await?;
    let powers = repo::power::list(&source, user.realm).await?;
    let has_password = repo::credential::find_password(&source, user.realm, user.id).await?.is_some();
    Ok(Details {
        roles: effective.roles,
        groups: effective.groups,
        powers: powers.into_iter().filter(|power| power.user == user.id).map(|power| power.power).collect(),
        has_password,
        user,
    })
}

/// Makes an account, with a password when one is given.
pub async fn create(app: &App, realm: &Realm, new: NewUser, password: Option<&Secret>) -> Result<User, Error> {
    let invalid = |pointer: &str, detail: String| Error::Invalid(vec![Fault { pointer: pointer.to_owned(), detail }]);
    identifier::canonical(&new.username).map_err(|fault| invalid("username", fault.to_string()))?;
    if let Some(email) = &new.claims.email {
        identifier::canonical(email).map_err(|fault| invalid("email", fault.to_string()))?;
    }
    let phc = match password {
        Some(password) => Some(hash(app, realm, password).await?),
        None => None,
    };
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let mut tx = app.store.begin().await?;
    let user = match insert(&mut tx, &scribe, new).await {
        Err(store::Error::Conflict(_)) => {
            return Err(invalid("username", "this name or address already means another user".to_owned()));
        }
        other => other?,
    };
    if let Some(phc) = phc {
        put_credential(&mut tx, &scribe, &user, phc).await?;
    }
    tx.commit().await?;
    Ok(user)
}

/// Sets a password and ends every session and grant of the account.
pub async fn set_password(app: &App, realm: &Realm, user: &User, password: &Secret) -> Result<(), Error> {
    let phc = hash(app, realm, password).await?;
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let mut tx = app.store.begin().await?;
    put_password(&mut tx, &scribe, user, phc).await?;
    Ok(tx.commit().await?)
}

/// Enables or disables; `false` when it was so already.
pub async fn switch(app: &App, user: &User, enabled: bool) -> Result<bool, Error> {
    let scribe = Scribe::operator(app, user.realm, app.clock.now());
    let mut tx = app.store.begin().await?;
    let Some(user) = repo::user::find(&tx, user.realm, user.id).await? else { return Err(Error::NotFound) };
    if user.enabled == enabled {
        return Ok(false);
    }
    set_enabled(&mut tx, &scribe, &user, enabled).await?;
    tx.commit().await?;
    Ok(true)
}

/// Gives a power; `false` when the account has it already. Instance powers exist only for subjects of
/// the main realm (`security-design` rule 27).
pub async fn make_admin(app: &App, realm: &Realm, user: &User, power: Power) -> Result<bool, Error> {
    if power == Power::Instance && realm.name != MAIN_REALM {
        let detail = format!("instance is only for users of the realm {MAIN_REALM}");
        return Err(Error::Invalid(vec![Fault { pointer: "power".to_owned(), detail }]));
    }
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let mut tx = app.store.begin().await?;
    let powers = repo::power::list(&tx, realm.id).await?;
    if powers.iter().any(|held| held.user == user.id && held.power == power) {
        return Ok(false);
    }
    give_power(&mut tx, &scribe, user.id, power).await?;
    tx.commit().await?;
    Ok(true)
}
