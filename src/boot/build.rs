//! From configuration to the handles that everything works with. Each step that fails names the
//! thing and the remedy.

use std::sync::Arc;

use async_trait::async_trait;

use super::lock;
use crate::cli::Failure;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::domain::model::ids::RealmId;
use crate::domain::model::key::SigningKey;
use crate::entropy::{Entropy, SystemEntropy};
use crate::keys::{KeyRing, KeySource};
use crate::outbound::Outbound;
use crate::password::{GateSettings, PasswordGate};
use crate::seal::{self, MasterKey, Sealer};
use crate::service::{App, ClientKeys, LastUses, PairwiseKeys, RequestUris};
use crate::store::{Store, StoreSettings, repo};

/// What the handles are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The server.
    Serve,
    /// One command: small pools, one hashing thread.
    Command,
}

const MASTER_ID: &str = "master_key_id";
const MASTER_CHECK: &str = "master_key_check";
const MODE: &str = "mode";

/// Refuses to go on without a database, for commands that only look at one or change what is in it: in a
/// mistyped folder they would make an empty one, and a master key.
///
/// # Errors
/// When the embedded database's file does not exist.
pub fn check_exists(config: &Config) -> Result<(), Failure> {
    match config.database.file() {
        Some(file) if !file.exists() => Err(Failure::Config(format!(
            "there is no database {}: check data_dir and database.url. `doorward serve`, `migrate` and `apply` make a new one",
            file.display()
        ))),
        _ => Ok(()),
    }
}

/// Opens the database.
///
/// # Errors
/// When it does not answer, with its address's fault and the remedy.
pub async fn open_store(config: &Config) -> Result<Store, Failure> {
    open(config, Arc::new(SystemClock::new()), Arc::new(SystemEntropy)).await
}

async fn open(config: &Config, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Result<Store, Failure> {
    if config.database.is_embedded() {
        lock::make(&config.server.data_dir).map_err(Failure::Config)?;
    }
    let settings = StoreSettings {
        url: config.database.url.expose().to_owned(),
        pool_max: config.database.pool_max,
        acquire_timeout: config.database.acquire_timeout,
        statement_timeout: config.database.statement_timeout,
        durable: true,
    };
    Ok(Store::open(&settings, clock, entropy).await?)
}

/// Makes the handles.
///
/// # Errors
/// What is wrong, where, and what to change.
pub async fn app(config: Config, purpose: Purpose) -> Result<App, Failure> {
    app_with(config, purpose, Arc::new(SystemClock::new()), Arc::new(SystemEntropy)).await
}

/// As [`app`], with time and chance given.
///
/// # Errors
/// What is wrong, where, and what to change.
pub async fn app_with(
    config: Config,
    purpose: Purpose,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
) -> Result<App, Failure> {
    let store = open(&config, clock.clone(), entropy.clone()).await?;
    migrate(&config, &store).await?;
    store.recall_time().await?;
    let master = master_key(&config, &store, &*entropy).await?;
    mode(&config, &store).await?;
    let sealer = Sealer::new(master, entropy.clone());
    let passwords = PasswordGate::start(gate(&config, purpose), entropy.clone())
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let outbound = Outbound::new(&config.outbound).map_err(|error| Failure::Config(error.to_string()))?;
    Ok(App {
        keys: KeyRing::new(Arc::new(StoredKeys(store.clone())), sealer.clone()),
        config: Arc::new(config),
        clock,
        entropy,
        store,
        sealer,
        passwords,
        outbound: Arc::new(outbound),
        repeats: Arc::default(),
        client_keys: ClientKeys::new(),
        last_uses: LastUses::default(),
        request_uris: RequestUris::new(),
        pairwise_keys: PairwiseKeys::default(),
    })
}

/// Migrates an embedded database, or one that allows it; otherwise only looks.
async fn migrate(config: &Config, store: &Store) -> Result<(), Failure> {
    if config.database.is_embedded() || config.database.auto_migrate {
        for name in store.migrate().await? {
            tracing::info!(migration = name, "applied");
        }
        return Ok(());
    }
    let pending = store.migration_status().await?.into_iter().filter(|(_, applied)| !applied).count();
    if pending > 0 {
        return Err(Failure::Config(format!(
            "the database lacks {pending} schema migrations. Run `doorward migrate`, or set database.auto_migrate = true"
        )));
    }
    Ok(())
}

/// The master key that belongs to this database (`security-design` rule 16).
async fn master_key(config: &Config, store: &Store, entropy: &dyn Entropy) -> Result<MasterKey, Failure> {
    let source = store.read();
    let known = (repo::meta::get(&source, MASTER_ID).await?, repo::meta::get(&source, MASTER_CHECK).await?);
    let key = match &config.server.master_key {
        Some(text) => MasterKey::from_text(text).map_err(|error| Failure::Config(error.to_string()))?,
        None if config.database.is_embedded() => {
            let is_empty = known.0.is_none() && repo::realm::list(&source).await?.is_empty();
            seal::load_or_create(&config.server.data_dir, is_empty, entropy)
                .map_err(|error| Failure::Config(error.to_string()))?
        }
        None => {
            return Err(Failure::Config(
                "master_key is missing: PostgreSQL needs it given. Make one with `openssl rand -base64 32` and set DOORWARD_MASTER_KEY_FILE"
                    .to_owned(),
            ));
        }
    };
    match known {
        (Some(id), Some(check)) if key.verify(&id, &check) => Ok(key),
        (None, None) => {
            let mut tx = store.begin().await?;
            repo::meta::set(&mut tx, MASTER_ID, &key.id()).await?;
            repo::meta::set(&mut tx, MASTER_CHECK, &key.check_value()).await?;
            tx.commit().await?;
            Ok(key)
        }
        _ => Err(Failure::Config(
            "master_key is not the one that this database was made with. Give the right one, or another database"
                .to_owned(),
        )),
    }
}

/// A development database is marked, and production refuses it (`security-design` rule 29).
async fn mode(config: &Config, store: &Store) -> Result<(), Failure> {
    let (wanted, hint) = if config.dev { ("development", "leave out --dev") } else { ("production", "add --dev") };
    match repo::meta::get(&store.read(), MODE).await? {
        Some(mode) if mode == wanted => Ok(()),
        Some(mode) => Err(Failure::Config(format!(
            "this is a {mode} database, and {wanted} was asked for. Use another data_dir or database.url, or {hint}"
        ))),
        None => {
            let mut tx = store.begin().await?;
            repo::meta::set(&mut tx, MODE, wanted).await?;
            tx.commit().await?;
            Ok(())
        }
    }
}

fn gate(config: &Config, purpose: Purpose) -> GateSettings {
    let settings = GateSettings::from(&config.password);
    match purpose {
        Purpose::Serve => settings,
        Purpose::Command => GateSettings { workers: Some(1), ..settings },
    }
}

/// A realm's keys from the store's read model.
struct StoredKeys(Store);

#[async_trait]
impl KeySource for StoredKeys {
    async fn keys(&self, realm: RealmId) -> Result<Arc<Vec<SigningKey>>, String> {
        self.0.models().keys(realm).await.map_err(|error| error.to_string())
    }
}
