//! `doorward client`: clients, and their secrets.

mod initial_access_token;

use std::collections::HashMap;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::pick::{self, InRealm, OnDatabase};
use super::{Failure, say};
use crate::domain::model::backchannel_logout::LogoutNotice;
use crate::domain::model::client::{Client, ClientOrigin};
use crate::domain::model::ids::ClientKey;
use crate::domain::model::realm::Realm;
use crate::domain::model::span::{SPAN_FORM, Span};
use crate::domain::model::timestamp::Timestamp;
use crate::service::App;
use crate::service::admin::client;
use crate::store::repo::backchannel_logout::NoticeFilter;

/// Options of `client`.
#[derive(Debug, Args)]
#[command(after_help = "Clients are made and changed by doorward apply.

Examples:
  doorward client list
  doorward client list --origin self_registered  what registered itself
  doorward client show web --json
  doorward client rotate-secret web              the old secret is void at once
  doorward client rotate-secret web --keep 24h   the old one works for another day
  doorward client logouts --pending              who was not told yet that a session has ended
  doorward client initial-access-token create --label \"build farm\" --uses 10
                                                 lets ten applications register themselves")]
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
    List {
        /// Only those of this origin: operator, or self_registered for those that registered themselves.
        #[arg(long, value_parser = origin)]
        origin: Option<ClientOrigin>,
    },
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
    /// Makes, lists and revokes tokens by which applications register themselves.
    InitialAccessToken(initial_access_token::TokenArgs),
    /// Lists what clients were told of sessions that ended, newest first, and what they are still to be told.
    Logouts {
        /// Only this client's.
        client_id: Option<String>,
        /// Only what is not over.
        #[arg(long)]
        pending: bool,
    },
}

fn origin(text: &str) -> Result<ClientOrigin, String> {
    ClientOrigin::from_name(text).ok_or_else(|| "one of operator, self_registered".to_owned())
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
        Command::List { origin } => list(app, &realm, origin, args.json).await,
        Command::Show { client_id } => {
            let value = row(&pick::client(app, &realm, &client_id).await?);
            let pretty = || serde_json::to_string_pretty(&value).unwrap_or_default();
            say::data(&if args.json { value.to_string() } else { pretty() });
            Ok(())
        }
        Command::RotateSecret { client_id, keep } => {
            let found = pick::client(app, &realm, &client_id).await?;
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
        Command::InitialAccessToken(tokens) => initial_access_token::run(tokens, app, &realm, args.json).await,
        Command::Logouts { client_id, pending } => logouts(app, &realm, (client_id, pending), args.json).await,
    }
}

async fn logouts(
    app: &App,
    realm: &Realm,
    (client_id, pending): (Option<String>, bool),
    json: bool,
) -> Result<(), Failure> {
    let client = match &client_id {
        Some(client_id) => Some(pick::client(app, realm, client_id).await?.key),
        None => None,
    };
    let notices = client::logouts(app, realm, NoticeFilter { client, pending }, 1000).await?;
    let names = names(app, realm).await?;
    let name = |notice: &LogoutNotice| names.get(&notice.client).map_or("(deleted)", String::as_str);
    if json {
        let rows: Vec<_> = notices.iter().map(|notice| notice_row(notice, name(notice))).collect();
        say::data(&Value::from(rows).to_string());
        return Ok(());
    }
    for notice in &notices {
        let state = match notice.done {
            Some(done) => format!("{} {}", done.outcome.as_str(), done.at),
            None => format!("again from {}", notice.due_at),
        };
        let failure = notice.failure.as_deref().map(|failure| format!(": {failure}")).unwrap_or_default();
        let (session, at, tries) = (notice.session, notice.queued_at, notice.attempts);
        say::data(&format!("{:<32}  {session}  ended {at}  {tries} attempts  {state}{failure}", name(notice)));
    }
    Ok(())
}

fn notice_row(notice: &LogoutNotice, client_id: &str) -> Value {
    json!({
        "client_id": client_id,
        "session": notice.session.to_string(),
        "user": notice.user.to_string(),
        "queued_at": notice.queued_at.to_rfc3339(),
        "attempts": notice.attempts,
        "failure": notice.failure,
        "state": notice.done.map_or("pending", |done| done.outcome.as_str()),
        "next_attempt_at": notice.done.is_none().then(|| notice.due_at.to_rfc3339()),
        "done_at": notice.done.map(|done| done.at.to_rfc3339()),
    })
}

/// What the realm's clients are called.
async fn names(app: &App, realm: &Realm) -> Result<HashMap<ClientKey, String>, Failure> {
    Ok(all(app, realm).await?.into_iter().map(|client| (client.key, client.client_id)).collect())
}

async fn all(app: &App, realm: &Realm) -> Result<Vec<Client>, Failure> {
    const PAGE: u64 = 500;
    let mut clients: Vec<Client> = Vec::new();
    loop {
        let after = clients.last().map(|last| last.key);
        let page = client::list(app, realm, after, PAGE).await?;
        if page.is_empty() {
            return Ok(clients);
        }
        clients.extend(page);
    }
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
        fields.insert("origin".to_owned(), json!(client.origin.as_str()));
        fields.insert("created_at".to_owned(), json!(client.created_at.to_rfc3339()));
        fields.insert("secrets".to_owned(), json!(secrets));
    }
    value
}

async fn list(app: &App, realm: &Realm, origin: Option<ClientOrigin>, json: bool) -> Result<(), Failure> {
    let mut clients = all(app, realm).await?;
    clients.retain(|client| origin.is_none_or(|origin| origin == client.origin));
    if json {
        say::data(&Value::from(clients.iter().map(row).collect::<Vec<_>>()).to_string());
        return Ok(());
    }
    for client in &clients {
        let state = match (client.enabled, client.is_self_registered()) {
            (false, _) => "  (disabled)",
            (true, true) => "  (registered itself)",
            (true, false) => "",
        };
        let method = client.metadata.token_endpoint_auth_method.as_str();
        say::data(&format!("{:<32}  {method:<20}  {}{state}", client.client_id, client.title()));
    }
    Ok(())
}
