//! `doorward session`: who is signed in where, and out with whom.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::pick::{self, InRealm, OnDatabase};
use super::{Failure, say};
use crate::domain::model::ids::SessionId;
use crate::service::App;
use crate::service::admin::session::{self, Offline};

/// Options of `session`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  doorward session list --user alice
  doorward session end ses_0123456789abcdef0123456789abcdef
  doorward session end-all --user alice             grants for offline use go on
  doorward session end-all --user alice --offline   nothing goes on")]
pub struct SessionArgs {
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
    /// Lists a person's sessions, newest first, ended ones with their reason.
    List {
        /// Whose.
        #[arg(long, value_name = "NAME")]
        user: String,
    },
    /// Ends one session.
    End {
        /// Which: ses_…
        id: String,
    },
    /// Ends every session of a person.
    EndAll {
        /// Whose.
        #[arg(long, value_name = "NAME")]
        user: String,
        /// Also grants for offline use.
        #[arg(long)]
        offline: bool,
    },
}

/// Looks after sessions.
///
/// # Errors
/// When there is no such session or person, or the store cannot do it.
pub async fn run(args: SessionArgs, app: &App) -> Result<(), Failure> {
    let realm = args.realm.find(app).await?;
    match args.command {
        Command::List { user } => {
            let found = pick::user(app, &realm, &user).await?;
            let sessions = session::list(app, &found, 1000).await?;
            if args.json {
                say::data(&Value::from(sessions.iter().map(pick::session_row).collect::<Vec<_>>()).to_string());
            } else {
                for session in &sessions {
                    say::data(&pick::session_line(session));
                }
            }
            Ok(())
        }
        Command::End { id } => {
            let parsed: SessionId =
                id.parse().map_err(|_| Failure::Usage(format!("{id} is not a session's id (ses_ and 32 digits)")))?;
            let ended = session::end(app, &realm, parsed).await.map_err(|error| match error {
                crate::service::Error::NotFound => Failure::Other(format!("there is no session {id}")),
                other => other.into(),
            })?;
            done(
                args.json,
                if ended { "the session has ended" } else { "the session had ended before" },
                usize::from(ended),
            );
            Ok(())
        }
        Command::EndAll { user, offline } => {
            let found = pick::user(app, &realm, &user).await?;
            let offline = if offline { Offline::End } else { Offline::Keep };
            let count = session::end_all(app, &found, offline).await?;
            done(args.json, &format!("{count} sessions of {} have ended", found.username), count);
            Ok(())
        }
    }
}

fn done(json: bool, text: &str, ended: usize) {
    if json {
        say::data(&json!({ "ended": ended }).to_string());
    } else {
        say::note(text);
    }
}
