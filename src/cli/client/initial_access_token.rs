//! `doorward client initial-access-token`: tokens by which applications register themselves (RFC 7591).

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::{Failure, say};
use crate::domain::model::ids::InitialAccessTokenId;
use crate::domain::model::initial_access_token::InitialAccessToken;
use crate::domain::model::realm::Realm;
use crate::domain::model::span::{SPAN_FORM, Span};
use crate::domain::model::timestamp::Timestamp;
use crate::service::App;
use crate::service::admin::initial_access_token::{self, Wanted};

/// Options of `client initial-access-token`.
#[derive(Debug, Args)]
#[command(after_help = "The realm must allow it: settings.client_registration.enabled.

Examples:
  doorward client initial-access-token create --label \"build farm\"              one registration, within a week
  doorward client initial-access-token create --label partners --uses 50 --for 90d
  doorward client initial-access-token list
  doorward client initial-access-token revoke iat_0193e0b7a1c27d0f9d5a2b1c4e6f8a90   what registered with it stays")]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes one and prints it, once.
    Create {
        /// What it is for.
        #[arg(long)]
        label: String,
        /// Registrations that it is good for.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        uses: u32,
        /// How long it is good, such as 7d.
        #[arg(long = "for", value_name = "SPAN", default_value = "7d", value_parser = span)]
        lives_for: Span,
    },
    /// Lists them, oldest first.
    List,
    /// Revokes one; what registered with it stays.
    Revoke {
        /// Which, by its id in the list.
        id: String,
    },
}

fn span(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|_| format!("expected {SPAN_FORM}"))?;
    if (Span::mins(1)..=Span::days(365)).contains(&span) { Ok(span) } else { Err("1m to 365d".to_owned()) }
}

/// Looks after the tokens.
///
/// # Errors
/// When there is no such token, or the store cannot do it.
pub(super) async fn run(args: TokenArgs, app: &App, realm: &Realm, json: bool) -> Result<(), Failure> {
    match args.command {
        Command::Create { label, uses, lives_for } => {
            let wanted = Wanted { label, uses, lives_for: lives_for.get() };
            let (token, secret) = initial_access_token::create(app, realm, wanted).await?;
            if !realm.settings.client_registration.enabled {
                say::note("Nobody can use it yet: set settings.client_registration.enabled in the realm file.");
            }
            say::note(&format!(
                "{}, shown once. Registrations it is good for: {uses}, until {}.",
                token.id, token.expires_at
            ));
            // The one place where it is shown: to whoever asked for it.
            let text = secret.expose();
            let mut row = row(&token, app.clock.now());
            if let Some(fields) = row.as_object_mut() {
                fields.insert("initial_access_token".to_owned(), json!(text));
            }
            say::data(&if json { row.to_string() } else { text.to_owned() });
        }
        Command::List => {
            let (tokens, now) = (initial_access_token::list(app, realm).await?, app.clock.now());
            if json {
                say::data(&Value::from(tokens.iter().map(|token| row(token, now)).collect::<Vec<_>>()).to_string());
                return Ok(());
            }
            for token in &tokens {
                let state = if token.is_live(now) { "" } else { "  (over)" };
                let (id, left, until) = (token.id, token.uses_left, token.expires_at);
                say::data(&format!("{id}  {left:>4} left  until {until}  {}{state}", token.label));
            }
        }
        Command::Revoke { id } => {
            let there_was = match id.parse::<InitialAccessTokenId>() {
                Ok(id) => initial_access_token::revoke(app, realm, id).await?,
                Err(_) => false,
            };
            if !there_was {
                return Err(Failure::Other(format!("there is no token {id} in the realm {}", realm.name)));
            }
            say::note(&format!("{id} registers nobody any more. What registered with it stays."));
        }
    }
    Ok(())
}

fn row(token: &InitialAccessToken, now: Timestamp) -> Value {
    json!({
        "id": token.id.to_string(),
        "label": token.label,
        "uses_left": token.uses_left,
        "created_at": token.created_at.to_rfc3339(),
        "expires_at": token.expires_at.to_rfc3339(),
        "live": token.is_live(now),
    })
}
