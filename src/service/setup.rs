//! The first administrator, by a link that works once (`security-design` rule 30): 256 bits, hashed,
//! thirty minutes, consumed by POST, and only while there never was an administrator.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::admin::Scribe;
use super::admin::user::{self, NewUser};
use crate::context::Ctx;
use crate::domain::model::power::Power;
use crate::domain::model::secret::Secret;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::model::user::StandardClaims;
use crate::domain::signin::identifier;
use crate::entropy;
use crate::password::policy::{self, PolicyFault};
use crate::seal::sha256;
use crate::service::{App, Error, Fault};
use crate::store::{self, repo};

/// The words of a fault that pages tell apart.
pub const NAME_TAKEN: &str = "This name is taken.";
/// As above.
pub const PASSWORD_SHORT: &str = "The password is too short.";
/// As above.
pub const PASSWORD_LONG: &str = "The password is too long.";
/// As above.
pub const PASSWORD_WEAK: &str = "The password is too easy to guess.";

/// The first word that anybody tries here.
const PRODUCT: &str = "Doorward";

/// How long a link works.
pub const LINK_LIFE: Duration = Duration::from_secs(30 * 60);

/// Makes a link's secret part; an earlier one dies. `None` when there ever was an administrator.
///
/// # Errors
/// When the store cannot do it.
pub async fn make_link(app: &App, now: Timestamp) -> Result<Option<Secret>, Error> {
    if repo::power::had_administrator(&app.store.read()).await? {
        return Ok(None);
    }
    let bytes: [u8; 32] = entropy::bytes(&*app.entropy, "setup");
    let text = URL_SAFE_NO_PAD.encode(bytes);
    let mut tx = app.store.begin().await?;
    repo::setup::insert(&mut tx, sha256(text.as_bytes()), now.plus(LINK_LIFE)).await?;
    tx.commit().await?;
    Ok(Some(Secret::new(text)))
}

/// Whether the link may still be used; looks only.
///
/// # Errors
/// When the store cannot be read.
pub async fn is_open(app: &App, ctx: &Ctx, token: &str) -> Result<bool, Error> {
    let source = app.store.read();
    Ok(!repo::power::had_administrator(&source).await?
        && repo::setup::is_open(&source, sha256(token.as_bytes()), ctx.now).await?)
}

/// Makes the first administrator.
///
/// # Errors
/// `Invalid` with the fields to mend; `NotFound` when the link is spent, too old or was never one.
pub async fn finish(app: &App, ctx: &Ctx, token: &str, username: &str, password: &Secret) -> Result<(), Error> {
    let mut faults = Vec::new();
    if let Err(fault) = identifier::canonical(username) {
        faults.push(Fault { pointer: "username".to_owned(), detail: fault.to_string() });
    }
    let names = [username, PRODUCT, ctx.realm.display_name.as_deref().unwrap_or_default()];
    let normal = policy::check_chosen(password.expose(), &ctx.realm.settings.password_policy, &names)
        .map_err(|fault| {
            let detail = match fault {
                PolicyFault::TooShort { .. } => PASSWORD_SHORT,
                PolicyFault::TooLong => PASSWORD_LONG,
                PolicyFault::Weak => PASSWORD_WEAK,
            };
            faults.push(Fault { pointer: "password".to_owned(), detail: detail.to_owned() });
        })
        .ok();
    let Some(normal) = normal.filter(|_| faults.is_empty()) else { return Err(Error::Invalid(faults)) };
    if !is_open(app, ctx, token).await? {
        return Err(Error::NotFound);
    }
    let phc = app.passwords.hash(Secret::new(normal)).await?;
    let scribe = Scribe::by_request(app, ctx);
    let new =
        NewUser { username: username.trim().to_owned(), sub: None, enabled: true, claims: StandardClaims::default() };
    let mut tx = app.store.begin().await?;
    // The link is spent in the same transaction: whoever comes second finds none.
    if !repo::setup::consume(&mut tx, sha256(token.as_bytes()), ctx.now).await? {
        return Err(Error::NotFound);
    }
    let user = match user::insert(&mut tx, &scribe, new).await {
        Err(store::Error::Conflict(_)) => {
            let detail = NAME_TAKEN.to_owned();
            return Err(Error::Invalid(vec![Fault { pointer: "username".to_owned(), detail }]));
        }
        other => other?,
    };
    user::put_credential(&mut tx, &scribe, &user, phc).await?;
    user::give_power(&mut tx, &scribe, user.id, Power::Instance).await?;
    tx.commit().await?;
    Ok(())
}
