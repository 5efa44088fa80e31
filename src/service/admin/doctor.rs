//! What can be wrong with a running set-up, and how to mend it.

use std::time::Duration;

use crate::domain::model::key::KeyPhase;
use crate::domain::model::realm::{MAIN_REALM, Realm};
use crate::domain::protocol::front_channel;
use crate::service::{App, sector, subject};
use crate::store::repo;

/// Clients per query.
const CLIENTS: u64 = 500;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// What was found.
    pub found: Found,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// All is well: what exactly.
    Well(String),
    /// It works, and could be better.
    Odd {
        /// What is odd.
        what: String,
        /// How to mend it.
        remedy: String,
    },
    /// It does not work.
    Bad {
        /// What is wrong.
        what: String,
        /// How to mend it.
        remedy: String,
    },
}

impl Check {
    /// A check that found all well.
    #[must_use]
    pub fn well(name: &str, what: impl Into<String>) -> Self {
        Self { name: name.to_owned(), found: Found::Well(what.into()) }
    }

    /// A check that found something odd.
    #[must_use]
    pub fn odd(name: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name: name.to_owned(), found: Found::Odd { what: what.into(), remedy: remedy.into() } }
    }

    /// A check that found something broken.
    #[must_use]
    pub fn bad(name: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name: name.to_owned(), found: Found::Bad { what: what.into(), remedy: remedy.into() } }
    }
}

/// Clock, realms and keys of an opened set-up.
pub async fn examine(app: &App) -> Vec<Check> {
    let mut checks = vec![clock(app).await];
    let realms = match repo::realm::list(&app.store.read()).await {
        Ok(realms) => realms,
        Err(error) => {
            checks.push(Check::bad("realms", error.to_string(), "doorward migrate, then look at the database's log"));
            return checks;
        }
    };
    if realms.iter().all(|realm| realm.name != MAIN_REALM) {
        checks.push(Check::odd("realms", "there is no realm main", "doorward apply with a file that has realm: main"));
    } else {
        checks.push(Check::well("realms", format!("{} declared", realms.len())));
    }
    for realm in realms {
        checks.push(keys(app, &realm).await);
        checks.extend(front_channel(&realm));
        checks.extend(sectors(app, &realm).await);
        checks.extend(registration(app, &realm).await);
    }
    checks.push(administrator(app).await);
    checks
}

async fn clock(app: &App) -> Check {
    const NAME: &str = "clock";
    let before = app.clock.now();
    match app.store.now().await {
        Ok(database) => {
            let apart = database.since(before).max(before.since(database));
            if apart > Duration::from_secs(2) {
                let what = format!("this machine and the database are {} ms apart", apart.as_millis());
                Check::bad(NAME, what, "run a time service such as chrony on both machines")
            } else {
                Check::well(NAME, format!("{} ms from the database's", apart.as_millis()))
            }
        }
        Err(error) => Check::bad(NAME, error.to_string(), "start the database, check database.url"),
    }
}

async fn keys(app: &App, realm: &Realm) -> Check {
    let name = format!("keys of {}", realm.name);
    let now = app.clock.now();
    let stored = match repo::key::list(&app.store.read(), realm.id).await {
        Ok(stored) => stored,
        Err(error) => return Check::bad(&name, error.to_string(), "doorward migrate"),
    };
    for alg in &realm.settings.keys.algorithms {
        let active = stored.iter().any(|key| key.alg == *alg && key.phase(now) == KeyPhase::Active);
        let remedy = format!("doorward key rotate --realm {} --alg {}", realm.name, alg.as_str());
        if !active {
            return Check::bad(&name, format!("no active {} key", alg.as_str()), remedy);
        }
        if let Err(error) = app.keys.signer(realm.id, *alg, now).await {
            return Check::bad(&name, error.to_string(), format!("check master_key; if it is lost: {remedy} --now"));
        }
    }
    if let Err(error) = subject::stored_key(app, realm) {
        return Check::bad(&name, error.to_string(), "restore the database with the master key it was made with");
    }
    Check::well(&name, format!("{} algorithms sign", realm.settings.keys.algorithms.len()))
}

/// Nothing to say where access tokens come from the token endpoint alone.
fn front_channel(realm: &Realm) -> Option<Check> {
    let warning = front_channel::warning_of_realm(&realm.settings)?;
    let (what, remedy) = warning.rsplit_once(". ").unwrap_or((warning, ""));
    let what = format!("{} {what}", front_channel::REALM_FIELD);
    Some(Check::odd(&format!("tokens of {}", realm.name), what, remedy))
}

/// Whether sector documents bear out what operators declared (OpenID Connect Core 8.1): applications that know
/// their people together are to be of one owner.
async fn sectors(app: &App, realm: &Realm) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut after = None;
    loop {
        let page = match repo::client::list(&app.store.read(), realm.id, after, CLIENTS).await {
            Ok(page) => page,
            Err(error) => {
                checks.push(Check::bad(&format!("clients of {}", realm.name), error.to_string(), "doorward migrate"));
                return checks;
            }
        };
        let Some(last) = page.last() else { return checks };
        after = Some(last.key);
        for client in &page {
            let Some(uri) = &client.metadata.sector_identifier_uri else { continue };
            let name = format!("sector of {} in {}", client.client_id, realm.name);
            checks.push(match sector::check(&app.outbound, &client.metadata, client.origin.into()).await {
                Ok(()) => Check::well(&name, format!("{uri} lists its redirect URIs")),
                Err(error) => Check::odd(
                    &name,
                    format!("{uri} {}", error.detail()),
                    "serve there a JSON array (application/json) of every redirect URI, or correct sector_identifier_uri",
                ),
            });
        }
    }
}

/// Where applications may register themselves: what is for tests only, and whether there is room.
async fn registration(app: &App, realm: &Realm) -> Vec<Check> {
    let policy = &realm.settings.client_registration;
    if !policy.enabled {
        return Vec::new();
    }
    let name = format!("registration in {}", realm.name);
    let count = match repo::registration::count(&app.store.read(), realm.id).await {
        Ok(count) => count,
        Err(error) => return vec![Check::bad(&name, error.to_string(), "doorward migrate")],
    };
    let mut checks = vec![if count < u64::from(policy.max_clients) {
        Check::well(&name, format!("{count} clients registered themselves, {} may", policy.max_clients))
    } else {
        let what = format!("{count} clients registered themselves, and no more may");
        Check::odd(
            &name,
            what,
            "doorward client list --origin self_registered, or raise client_registration.max_clients",
        )
    }];
    if policy.redirect_errors {
        let what = "errors go to addresses that anybody registers: whoever does can send people anywhere";
        checks.push(Check::odd(&name, what, "client_registration.redirect_errors: false, but for conformance runs"));
    }
    checks
}

async fn administrator(app: &App) -> Check {
    const NAME: &str = "administrator";
    match repo::power::had_administrator(&app.store.read()).await {
        Ok(true) => Check::well(NAME, "there is one"),
        Ok(false) => Check::odd(NAME, "there never was one", "doorward user make-admin NAME, or open the set-up link"),
        Err(error) => Check::bad(NAME, error.to_string(), "doorward migrate"),
    }
}
