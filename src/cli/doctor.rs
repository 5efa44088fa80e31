//! `doorward doctor`: looks at configuration, database, keys, clock and addresses, and says how to
//! mend what is wrong.

use std::net::ToSocketAddrs;

use clap::Args;
use serde_json::{Value, json};

use super::pick::OnDatabase;
use super::{Failure, say};
use crate::boot::build::{self, Purpose};
use crate::boot::tls;
use crate::config::{Config, Tls};
use crate::service::admin::doctor::{Check, Found, examine};

/// Options of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Exit status 0 when everything works, 1 when something does not.

Examples:
  doorward doctor
  doorward doctor --config /etc/doorward.toml --json")]
pub struct DoctorArgs {
    #[command(flatten)]
    pub(super) database: OnDatabase,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Examines.
///
/// # Errors
/// When something does not work, after all was examined.
pub async fn run(args: DoctorArgs, config: Config) -> Result<(), Failure> {
    let mut checks = vec![Check::well("configuration", "read and understood"), address(&config)];
    checks.push(resolves(&config).await);
    checks.extend(config.tls.as_ref().map(|settings| certificate(settings, config.server.public_url.host())));
    for remark in &config.remarks {
        checks.push(Check::odd(
            &format!("{}'s file", remark.key),
            format!("{}: {}", remark.origin, remark.fault),
            &remark.allowed,
        ));
    }
    checks.extend(opened(config).await);
    if args.json {
        say::data(&Value::from(checks.iter().map(row).collect::<Vec<_>>()).to_string());
    } else {
        for check in &checks {
            print(check);
        }
    }
    match checks.iter().filter(|check| matches!(check.found, Found::Bad { .. })).count() {
        0 => Ok(()),
        count => Err(Failure::Other(format!("{count} of {} checks failed", checks.len()))),
    }
}

/// The database and all that needs it.
async fn opened(config: Config) -> Vec<Check> {
    const DATABASE: &str = "database";
    let mut checks = Vec::new();
    if let Err(failure) = build::check_exists(&config) {
        checks.push(Check::bad(
            DATABASE,
            failure.to_string(),
            "mend data_dir or database.url, or start the server once",
        ));
        return checks;
    }
    match build::open_store(&config).await {
        Ok(store) => {
            checks.push(match store.migration_status().await {
                Ok(status) => match status.iter().filter(|(_, applied)| !applied).count() {
                    0 => Check::well(DATABASE, format!("answers, {} migrations applied", status.len())),
                    count if config.database.is_embedded() || config.database.auto_migrate => {
                        Check::well(DATABASE, format!("answers; {count} migrations will be applied at the next start"))
                    }
                    count => Check::bad(DATABASE, format!("{count} migrations are pending"), "doorward migrate"),
                },
                Err(error) => Check::bad(DATABASE, error.to_string(), "check database.url and the account's rights"),
            });
            store.close().await;
        }
        Err(failure) => {
            checks.push(broken(DATABASE, &failure, "start the database, check database.url and data_dir"));
            return checks;
        }
    }
    match build::app(config, Purpose::Command).await {
        Ok(app) => {
            checks.push(Check::well("master key", "fits the database"));
            checks.extend(examine(&app).await);
            app.store.close().await;
        }
        Err(failure) => {
            checks.push(broken("master key and handles", &failure, "as it says; then run doctor again"));
        }
    }
    checks
}

/// A failure's last sentence is its remedy, where it has one.
fn broken(name: &str, failure: &Failure, otherwise: &str) -> Check {
    let text = failure.to_string();
    match text.rsplit_once(". ") {
        Some((what, remedy)) => Check::bad(name, what, remedy),
        None => Check::bad(name, text, otherwise),
    }
}

fn address(config: &Config) -> Check {
    const NAME: &str = "public_url";
    let url = &config.server.public_url;
    if url.is_https() {
        Check::well(NAME, url.as_str())
    } else if url.is_loopback() {
        Check::odd(
            NAME,
            format!("{} serves this machine only", url.as_str()),
            "set public_url to the https address that people use",
        )
    } else {
        Check::bad(NAME, format!("{} is not https", url.as_str()), "set public_url to an https address")
    }
}

fn certificate(settings: &Tls, host: &str) -> Check {
    const NAME: &str = "TLS certificate";
    match tls::acceptor(settings) {
        Ok((_, certificate)) if certificate.covers(host) => Check::well(NAME, format!("readable, made out for {host}")),
        Ok(_) => Check::bad(
            NAME,
            format!("{} is not made out for {host}", settings.certificate.display()),
            "get a certificate whose subject alternative names hold public_url's host",
        ),
        Err(fault) => Check::bad(NAME, fault, "mend the files that tls.certificate and tls.key name"),
    }
}

async fn resolves(config: &Config) -> Check {
    const NAME: &str = "public_url's host";
    let host = config.server.public_url.host().trim_matches(['[', ']']).to_owned();
    let asked = host.clone();
    let found = tokio::task::spawn_blocking(move || (asked.as_str(), 443).to_socket_addrs().map(Iterator::count)).await;
    match found {
        Ok(Ok(1)) => Check::well(NAME, format!("{host} has an address")),
        Ok(Ok(count)) if count > 1 => Check::well(NAME, format!("{host} has {count} addresses")),
        _ => Check::odd(NAME, format!("{host} has no address as seen from here"), "add it to the name service"),
    }
}

fn row(check: &Check) -> Value {
    match &check.found {
        Found::Well(what) => json!({ "check": check.name, "found": "well", "what": what }),
        Found::Odd { what, remedy } => json!({ "check": check.name, "found": "odd", "what": what, "remedy": remedy }),
        Found::Bad { what, remedy } => json!({ "check": check.name, "found": "bad", "what": what, "remedy": remedy }),
    }
}

fn print(check: &Check) {
    let (word, what, remedy) = match &check.found {
        Found::Well(what) => ("ok ", what, None),
        Found::Odd { what, remedy } => ("odd", what, Some(remedy)),
        Found::Bad { what, remedy } => ("BAD", what, Some(remedy)),
    };
    say::data(&format!("{word}  {}: {what}", check.name));
    if let Some(remedy) = remedy {
        say::data(&format!("     mend: {remedy}"));
    }
}
