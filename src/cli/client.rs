//! `doorward client`: clients, and their secrets.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::pick::{InRealm, OnDatabase};
use super::{Failure, say};
use crate::domain::model::client::Client;
use crate::domain::model::realm::Realm;
use crate::domain::model::span::{SPAN_FORM, Span};
use crate::domain::model::timestamp::Timestamp;
use crate::service::App;
use crate::service::admin::client;

/// Options of `client`.
#[derive(Debug, Args)]
#[command(after_help = "Clients are made and changed by doorward apply.

Examples:
  doorward client list
  doorward client show web --json
  doorward client rotate-secret web              the old secret is void at once
  doorward client rotate-secret web --keep 24h   the old one works for another day")]
pub struct ClientArgs {
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
    /// Lists clients.
    List,
    /// Shows what is registered for one.
    Show {
        /// Which.
        client_id: String,
    },
    /// Makes a new secret and prints it, once.
    RotateSecret {
        /// Whose.
        client_id: String,
        /// How long the old secret still works, such as 24h.
        #[arg(long, value_name = "SPAN", value_parser = span)]
        keep: Option<Span>,
    },
}

fn span(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|_| format!("expected {SPAN_FORM}"))?;
    if span > Span::days(30) { Err("at most 30d".to_owned()) } else { Ok(span) }
}

/// Looks after clients.
///
/// # Errors
/// When there is no such client, or the store cannot do it.
pub async fn run(args: ClientArgs, app: &App) -> Result<(), Failure> {
    let realm = args.realm.find(app).await?;
    match args.command {
        Command::List => list(app, &realm, args.json).await,
        Command::Show { client_id } => {
            let value = row(&find(app, &realm, &client_id).await?);
            let pretty = || serde_json::to_string_pretty(&value).unwrap_or_default();
            say::data(&if args.json { value.to_string() } else { pretty() });
            Ok(())
        }
        Command::RotateSecret { client_id, keep } => {
            let found = find(app, &realm, &client_id).await?;
            let secret = client::rotate_secret(app, &realm, &found, keep.map(Span::get)).await?;
            say::note(&match keep {
                Some(keep) => {
                    format!("The new secret of {client_id}, shown once. The old one works for another {keep}.")
                }
                None => format!("The new secret of {client_id}, shown once. The old one is void."),
            });
            // The one place where it is shown: to whoever asked for it.
            let text = secret.expose();
            say::data(&if args.json {
                json!({ "client_id": client_id, "client_secret": text }).to_string()
            } else {
                text.to_owned()
            });
            Ok(())
        }
    }
}

async fn find(app: &App, realm: &Realm, client_id: &str) -> Result<Client, Failure> {
    client::find(app, realm, client_id)
        .await?
        .ok_or_else(|| Failure::Other(format!("there is no client {client_id} in the realm {}", realm.name)))
}

fn row(client: &Client) -> Value {
    let mut value = serde_json::to_value(&client.metadata).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        let secrets: Vec<_> = client
            .secrets
            .iter()
            .map(|secret| {
                json!({
                    "created_at": secret.created_at.to_rfc3339(),
                    "expires_at": secret.expires_at.map(Timestamp::to_rfc3339),
                })
            })
            .collect();
        fields.insert("client_id".to_owned(), json!(client.client_id));
        fields.insert("enabled".to_owned(), json!(client.enabled));
        fields.insert("created_at".to_owned(), json!(client.created_at.to_rfc3339()));
        fields.insert("secrets".to_owned(), json!(secrets));
    }
    value
}

async fn list(app: &App, realm: &Realm, json: bool) -> Result<(), Failure> {
    const PAGE: u64 = 500;
    let mut rows = Vec::new();
    let mut after = None;
    loop {
        let page = client::list(app, realm, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        for client in &page {
            if json {
                rows.push(row(client));
            } else {
                let state = if client.enabled { "" } else { "  (disabled)" };
                let method = client.metadata.token_endpoint_auth_method.as_str();
                say::data(&format!("{:<32}  {method:<20}  {}{state}", client.client_id, client.title()));
            }
        }
    }
    if json {
        say::data(&Value::from(rows).to_string());
    }
    Ok(())
}
