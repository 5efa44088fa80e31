//! `doorward key`: signing keys.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::pick::{InRealm, OnDatabase};
use super::{Failure, say};
use crate::domain::model::key::{Algorithm, KeyPhase, SigningKey};
use crate::domain::model::realm::Realm;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::key_schedule::Rotation;
use crate::service::{App, admin, rotate_keys};

/// Options of `key`.
#[derive(Debug, Args)]
#[command(after_help = "Keys rotate by themselves, by the realm's settings.keys.

Examples:
  doorward key list
  doorward key rotate                     each algorithm: announced now, takes over in about a quarter of an hour
  doorward key rotate --alg ES256
  doorward key rotate --now               a key is known to somebody: every old key and all it signed is void

An ordered rotation waits until no application may still keep the old key set (the max-age of jwks.json, and a
little more), so nothing fails. With --now applications that keep the old set refuse new tokens until they
fetch it again; people stay signed in.")]
pub struct KeyArgs {
    #[command(flatten)]
    pub(super) database: OnDatabase,
    #[command(flatten)]
    realm: InRealm,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists keys with their phases.
    List,
    /// Makes new keys that take over once every application can know them.
    Rotate {
        /// One algorithm only.
        #[arg(long, value_parser = algorithm)]
        alg: Option<Algorithm>,
        /// At once, because a key may be known to somebody: old keys are destroyed, what they signed is void.
        #[arg(long)]
        now: bool,
    },
}

fn algorithm(text: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(text).ok_or_else(|| format!("one of {}", Algorithm::ALL.map(Algorithm::as_str).join(", ")))
}

/// Looks after signing keys.
///
/// # Errors
/// When a key cannot be made or the store cannot do it.
pub async fn run(args: KeyArgs, app: &App) -> Result<(), Failure> {
    let realm = args.realm.find(app).await?;
    match args.command {
        Command::List => list(app, &realm, args.json).await,
        Command::Rotate { alg, now } => {
            let configured = &realm.settings.keys.algorithms;
            if let Some(alg) = alg.filter(|alg| !configured.contains(alg)) {
                return Err(Failure::Usage(format!("the realm {} does not sign with {}", realm.name, alg.as_str())));
            }
            let algorithms = alg.map_or_else(|| configured.clone(), |alg| vec![alg]);
            let rotation = if now { Rotation::Emergency } else { Rotation::Orderly };
            rotate_keys::rotate(app, &realm, &algorithms, rotation, app.clock.now()).await?;
            list(app, &realm, args.json).await
        }
    }
}

const fn phase(phase: KeyPhase) -> &'static str {
    match phase {
        KeyPhase::Announced => "announced",
        KeyPhase::Active => "active",
        KeyPhase::Retired => "retired",
        KeyPhase::Gone => "gone",
    }
}

fn row(key: &SigningKey, now: Timestamp) -> Value {
    json!({
        "kid": key.kid,
        "alg": key.alg.as_str(),
        "phase": phase(key.phase(now)),
        "announced_at": key.announced_at.to_rfc3339(),
        "active_at": key.active_at.to_rfc3339(),
        "retired_at": key.retired_at.map(Timestamp::to_rfc3339),
        "gone_at": key.gone_at.map(Timestamp::to_rfc3339),
    })
}

async fn list(app: &App, realm: &Realm, json: bool) -> Result<(), Failure> {
    let now = app.clock.now();
    let mut keys = admin::key::list(app, realm.id).await?;
    keys.sort_by_key(|key| (key.alg, key.announced_at, key.id));
    if json {
        say::data(&Value::from(keys.iter().map(|key| row(key, now)).collect::<Vec<_>>()).to_string());
        return Ok(());
    }
    for key in &keys {
        let (alg, phase) = (key.alg.as_str(), phase(key.phase(now)));
        say::data(&format!("{alg:<6}  {phase:<9}  signs from {}  {}", key.active_at, key.kid));
    }
    Ok(())
}
