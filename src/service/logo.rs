//! Logos of clients: fetched once by the guarded client, kept, and served by us, so that no page of
//! ours makes a browser ask a stranger.

use std::time::Duration;

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::outbound::Trust;
use crate::service::{App, Error};
use crate::store::repo::{self, logo::Logo};

/// How long a host that failed is left alone.
const RETRY: Duration = Duration::from_secs(86_400);

/// The client's logo as kept, when it is the one registered now.
///
/// # Errors
/// When the store cannot be read.
pub async fn find(app: &App, realm: RealmId, client: &Client) -> Result<Option<Logo>, Error> {
    let Some(uri) = &client.metadata.logo_uri else { return Ok(None) };
    let logo = repo::logo::find(&app.store.read(), realm, client.key).await?;
    Ok(logo.filter(|logo| logo.uri == *uri && !logo.bytes.is_empty()))
}

/// Where the logo stands on our own host, when there is one.
///
/// # Errors
/// When the store cannot be read.
pub async fn address(app: &App, ctx: &Ctx, client: &Client) -> Result<Option<String>, Error> {
    let found = find(app, ctx.realm.id, client).await?;
    Ok(found.map(|logo| ctx.site.path(&format!("/login/logo?client={}&v={}", client.key, logo.fetched_at.as_secs()))))
}

/// Fetches the logos of clients that have none kept yet, a few at a time. A failure is kept as an
/// empty logo, so that an address that does not answer is asked again a day later, or when it changes.
///
/// # Errors
/// When the store cannot be read or written.
pub async fn fetch_missing(app: &App, realm: RealmId, now: Timestamp) -> Result<usize, Error> {
    let mut after: Option<ClientKey> = None;
    let mut fetched = 0;
    loop {
        let page = repo::client::list(&app.store.read(), realm, after, 200).await?;
        for client in &page {
            fetched += usize::from(fetch_one(app, client, now).await?);
            if fetched >= 20 {
                return Ok(fetched);
            }
        }
        match page.last() {
            Some(last) if page.len() == 200 => after = Some(last.key),
            _ => return Ok(fetched),
        }
    }
}

/// Fetches a client's logo, unless it is kept or its host has failed lately; whether it was asked.
///
/// # Errors
/// When the store cannot be read or written.
pub async fn fetch_one(app: &App, client: &Client, now: Timestamp) -> Result<bool, Error> {
    let Some(uri) = &client.metadata.logo_uri else { return Ok(false) };
    let kept = repo::logo::find(&app.store.read(), client.realm, client.key).await?;
    let is_done = |logo: &Logo| !logo.bytes.is_empty() || now.since(logo.fetched_at) < RETRY;
    if kept.is_some_and(|logo| logo.uri == *uri && is_done(&logo)) {
        return Ok(false);
    }
    let (media_type, bytes) = fetch(app, uri, client.origin.into()).await;
    let logo = Logo { uri: uri.clone(), media_type, bytes, fetched_at: now };
    let mut tx = app.store.begin().await?;
    repo::logo::put(&mut tx, client.realm, client.key, &logo).await?;
    tx.commit().await?;
    Ok(true)
}

async fn fetch(app: &App, uri: &str, trust: Trust) -> (String, Vec<u8>) {
    let Ok(url) = url::Url::parse(uri) else { return (String::new(), Vec::new()) };
    match app.outbound.logo(&url, trust).await {
        Ok(logo) => (logo.media_type, logo.bytes.to_vec()),
        Err(error) => {
            tracing::warn!(uri, %error, "a client's logo could not be fetched");
            (String::new(), Vec::new())
        }
    }
}
