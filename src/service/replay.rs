//! The memory of what may be used once (`security-design` rule 15): ids of client assertions, in each
//! client's own part of the short-lived store, which all nodes share.
//!
//! The memory knows since when it remembers. That mark lies in the memory itself: lost with it, it is made
//! anew at the moment of the next use, and what may have been used before is refused. A realm's first memory
//! has nothing before it and remembers since ever.

use std::time::Duration;

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::ids::RealmId;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::client_assertion::{self, ClientAssertion};
use crate::seal::sha256;
use crate::service::{App, Error};
use crate::store::repo;
use crate::store::shortlived::{Kind, Mark, Marked, Put};

/// Ids of one client at a time: 33 requests a second with assertions that live five minutes, 166 with such
/// that live one.
pub const MOST: u32 = 10_000;

/// A century.
const FOR_EVER: Duration = Duration::from_secs(3_155_760_000);

/// Begins the first memory of a realm, once.
///
/// # Errors
/// When the store does not answer.
pub async fn prepare(app: &App, realm: RealmId, now: Timestamp) -> Result<(), Error> {
    let name = format!("replay_memory_{realm}");
    if repo::meta::get(&app.store.read(), &name).await?.is_some() {
        return Ok(());
    }
    // First that there was one: should this end here, the memory is taken for a lost one and not for a new one.
    let mut tx = app.store.begin().await?;
    repo::meta::set(&mut tx, &name, "begun").await?;
    tx.commit().await?;
    begin(app, realm, 0, Timestamp::from_micros(0), now).await
}

/// Spends an assertion that has been found genuine.
///
/// # Errors
/// The refusal of one that was used, or may have been; or that the memory does not answer.
pub async fn spend(app: &App, ctx: &Ctx, client: &Client, assertion: &ClientAssertion<'_>) -> Result<(), Error> {
    if assertion.may_predate(born(app, ctx).await?) {
        return Err(client_assertion::predates().into());
    }
    // By the id inside the verified token, never by its text, which can be respelled (rule 13).
    let key = sha256(&[client.key.as_bytes(), assertion.jti.as_bytes()].concat());
    let mark = Mark {
        realm: ctx.realm.id,
        kind: Kind::Assertion,
        key: &key.0,
        owner: client.key.as_bytes(),
        most: MOST,
        // A node whose clock is behind must still find it.
        expires_at: assertion.expires_at.plus(client_assertion::LEEWAY),
        now: ctx.now,
    };
    match app.store.shortlived().mark(mark).await? {
        Marked::New => Ok(()),
        Marked::Known => Err(client_assertion::replayed().into()),
        Marked::Full => Err(client_assertion::too_many().into()),
    }
}

/// Since when the realm's memory remembers. A restored realm has another epoch, and so another memory.
async fn born(app: &App, ctx: &Ctx) -> Result<Timestamp, Error> {
    let epoch = ctx.realm.restore_epoch;
    if let Some(born) = find(app, ctx, epoch).await? {
        return Ok(born);
    }
    begin(app, ctx.realm.id, epoch, ctx.now, ctx.now).await?;
    tracing::warn!(
        realm = ctx.realm.name,
        "the memory of used client assertions was lost: what was issued before now is refused"
    );
    Ok(find(app, ctx, epoch).await?.unwrap_or(ctx.now))
}

async fn find(app: &App, ctx: &Ctx, epoch: i64) -> Result<Option<Timestamp>, Error> {
    let found = app.store.shortlived().get(ctx.realm.id, Kind::Assertion, &place(epoch), ctx.now).await?;
    let micros = found.map(|bytes| bytes.try_into().map(i64::from_be_bytes)).transpose();
    let micros = micros.map_err(|_| Error::Internal("the birth of the replay memory is no moment".to_owned()))?;
    Ok(micros.map(Timestamp::from_micros))
}

async fn begin(app: &App, realm: RealmId, epoch: i64, born: Timestamp, now: Timestamp) -> Result<(), Error> {
    let put = Put {
        realm,
        kind: Kind::Assertion,
        key: &place(epoch),
        value: &born.as_micros().to_be_bytes(),
        owner: None,
        expires_at: now.plus(FOR_EVER),
        now,
    };
    // If somebody was quicker, his moment stands.
    app.store.shortlived().put(put).await?;
    Ok(())
}

/// Shorter than any id's key.
fn place(epoch: i64) -> Vec<u8> {
    [b"born".as_slice(), &epoch.to_be_bytes()].concat()
}
