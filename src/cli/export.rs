//! `doorward export`: writes realms in the format that `apply` reads.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;

use super::pick::OnDatabase;
use super::{Failure, say};
use crate::domain::model::realm::Realm;
use crate::service::realm_file::{self, Passphrase, Secrets};
use crate::service::{App, admin};

/// Options of `export`.
#[derive(Debug, Args)]
#[command(after_help = "Passwords are never written. Signing keys are not either: they move with a backup of the
database. Client secrets stay valid only in this realm under this master key.

Examples:
  doorward export                              every realm, to stdout
  doorward export --realm main --output main.yaml
  doorward export --realm main --with-secrets --passphrase-file pass.txt --output main-secret.yaml")]
pub struct ExportArgs {
    #[command(flatten)]
    pub(super) database: OnDatabase,
    /// One realm only.
    #[arg(long, value_name = "REALM")]
    pub realm: Option<String>,
    /// Also password hashes and client secrets, encrypted; into a new file that only you can read.
    #[arg(long, requires_all = ["passphrase_file", "output"])]
    pub with_secrets: bool,
    /// File with the passphrase, 12 characters at least.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Write here instead of to stdout.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Exports realms.
///
/// # Errors
/// When there is no such realm, the file cannot be made, or the store not be read.
pub async fn run(args: ExportArgs, app: &App) -> Result<(), Failure> {
    let mut realms = admin::realm::list(app).await?;
    if let Some(name) = &args.realm {
        let names: Vec<_> = realms.iter().map(|realm| realm.name.clone()).collect();
        realms.retain(|realm| realm.name == *name);
        if realms.is_empty() {
            return Err(Failure::Other(format!("there is no realm {name}; there are: {}", names.join(", "))));
        }
    }
    if !args.with_secrets && realms.iter().any(|realm| realm.pairwise_key.is_some()) {
        say::note(
            "Left out: the key of pairwise subs. To move to another installation without changing them, export \
             --with-secrets.",
        );
    }
    let Some(path) = &args.output else {
        say::data(text(&args, app, &realms).await?.trim_end());
        return Ok(());
    };
    // Made before anything is read, so that a path that cannot be written costs nothing.
    let mut file = open(path, args.with_secrets)?;
    let written = match text(&args, app, &realms).await {
        Ok(text) => file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|error| Failure::Other(format!("{}: {error}", path.display()))),
        Err(failure) => Err(failure),
    };
    if written.is_err() && args.with_secrets {
        let _ = std::fs::remove_file(path);
    }
    written?;
    let count = realms.len();
    say::note(&format!("{count} realm{} written to {}", if count == 1 { "" } else { "s" }, path.display()));
    Ok(())
}

fn open(path: &Path, secret: bool) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).mode(if secret { 0o600 } else { 0o644 });
    if secret {
        options.create_new(true);
    } else {
        options.create(true).truncate(true);
    }
    options.open(path).map_err(|error| {
        let hint =
            if error.kind() == std::io::ErrorKind::AlreadyExists { "; name a file that does not exist" } else { "" };
        Failure::Other(format!("{} cannot be made: {error}{hint}", path.display()))
    })
}

async fn text(args: &ExportArgs, app: &App, realms: &[Realm]) -> Result<String, Failure> {
    let mut documents = Vec::with_capacity(realms.len());
    for realm in realms {
        let secrets = match &args.passphrase_file {
            Some(path) if args.with_secrets => {
                let passphrase = Passphrase::read(path, &app.config.server.data_dir);
                Secrets::Encrypted(
                    passphrase
                        .map_err(|fault| Failure::Config(format!("--passphrase-file {}: {fault}", path.display())))?,
                )
            }
            _ => Secrets::Left,
        };
        documents.push(realm_file::export(app, realm, secrets).await?);
    }
    Ok(documents.join("---\n"))
}
