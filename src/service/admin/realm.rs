//! Realms, as far as the command line names them.

use crate::domain::model::realm::Realm;
use crate::service::{App, Error};
use crate::store::repo;

/// The realm of this name.
pub async fn find(app: &App, name: &str) -> Result<Option<Realm>, Error> {
    Ok(repo::realm::find_by_name(&app.store.read(), name).await?)
}

/// Every realm, by name.
pub async fn list(app: &App) -> Result<Vec<Realm>, Error> {
    let mut realms = repo::realm::list(&app.store.read()).await?;
    realms.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(realms)
}
