//! What several commands need: the realm and the person that an argument names, how a session is
//! shown, and a secret from stdin or the terminal, never from the arguments, which every process on the
//! machine can read.

use std::io::{IsTerminal, Read};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::{Value, json};

use super::{Failure, say};
use crate::domain::model::client::Client;
use crate::domain::model::realm::{MAIN_REALM, Realm};
use crate::domain::model::secret::Secret;
use crate::domain::model::session::Session;
use crate::domain::model::user::User;
use crate::service::{App, admin};

/// On which database.
#[derive(Debug, Clone, Copy, Args)]
pub struct OnDatabase {
    /// On the database of `serve --dev`, which lies apart from production's.
    #[arg(long, global = true)]
    pub dev: bool,
}

/// In which realm.
#[derive(Debug, Clone, Args)]
pub struct InRealm {
    /// The realm.
    #[arg(long, value_name = "REALM", default_value = MAIN_REALM, global = true)]
    pub realm: String,
}

impl InRealm {
    /// The realm that was named.
    ///
    /// # Errors
    /// When there is none of this name; the text says which there are.
    pub async fn find(&self, app: &App) -> Result<Realm, Failure> {
        if let Some(realm) = admin::realm::find(app, &self.realm).await? {
            return Ok(realm);
        }
        let names: Vec<_> = admin::realm::list(app).await?.into_iter().map(|realm| realm.name).collect();
        Err(Failure::Other(if names.is_empty() {
            format!("there is no realm {} yet: doorward apply with a file that declares it", self.realm)
        } else {
            format!("there is no realm {}; there are {}", self.realm, names.join(", "))
        }))
    }
}

/// The person whom a name means.
///
/// # Errors
/// When it means nobody.
pub async fn user(app: &App, realm: &Realm, name: &str) -> Result<User, Failure> {
    admin::user::find(app, realm, name)
        .await?
        .ok_or_else(|| Failure::Other(format!("nobody in the realm {} is called {name}", realm.name)))
}

/// The client of this id.
///
/// # Errors
/// When there is none.
pub async fn client(app: &App, realm: &Realm, client_id: &str) -> Result<Client, Failure> {
    admin::client::find(app, realm, client_id)
        .await?
        .ok_or_else(|| Failure::Other(format!("there is no client {client_id} in the realm {}", realm.name)))
}

/// The longest secret that is read.
const MAX_BYTES: u64 = 4096;

/// A secret: asked for twice at a terminal, else all of stdin without the line end.
///
/// # Errors
/// When nothing came, or two different things.
pub fn secret(what: &str) -> Result<Secret, Failure> {
    if !std::io::stdin().is_terminal() {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(MAX_BYTES + 1).read_to_string(&mut text);
        read.map_err(|error| Failure::Usage(format!("stdin cannot be read: {error}")))?;
        let end = text.strip_suffix('\n').map_or(text.len(), |rest| rest.strip_suffix('\r').unwrap_or(rest).len());
        text.truncate(end);
        return if text.is_empty() {
            Err(Failure::Usage(format!("stdin holds no {what}: pipe it in, or run this at a terminal")))
        } else {
            Ok(Secret::new(text))
        };
    }
    let first = ask(&format!("New {what}, not shown while you type:"))?;
    let second = ask("Once more:")?;
    if first == second {
        Ok(first)
    } else {
        Err(Failure::Other("the two were not the same; nothing was changed".to_owned()))
    }
}

fn ask(question: &str) -> Result<Secret, Failure> {
    say::note(question);
    let quiet = echo("-echo");
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    if quiet {
        echo("echo");
    }
    read.map_err(|error| Failure::Other(format!("the terminal cannot be read: {error}")))?;
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(Secret::new(line))
}

/// Switches the terminal's echo; a terminal without `stty` shows what is typed.
fn echo(mode: &str) -> bool {
    Command::new("stty")
        .arg(mode)
        .stdin(Stdio::inherit())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|done| done.success())
}

/// A session for a script.
#[must_use]
pub fn session_row(session: &Session) -> Value {
    json!({
        "id": session.id.to_string(),
        "user": session.user.to_string(),
        "device": session.device.to_string(),
        "acr": session.acr.as_str(),
        "amr": session.amr.iter().map(|amr| amr.as_str()).collect::<Vec<_>>(),
        "auth_time": session.auth_time.to_rfc3339(),
        "created_at": session.created_at.to_rfc3339(),
        "last_seen_at": session.last_seen_at.to_rfc3339(),
        "expires_at": session.expires_at.to_rfc3339(),
        "remembered": session.remembered,
        "ended_at": session.ended.map(|ended| ended.at.to_rfc3339()),
        "ended": session.ended.map(|ended| ended.reason.as_str()),
    })
}

/// A session in one line, for a person.
#[must_use]
pub fn session_line(session: &Session) -> String {
    let state = match session.ended {
        Some(ended) => format!("ended {} ({})", ended.at, ended.reason.as_str()),
        None => format!("until {}", session.expires_at),
    };
    format!("{}  opened {}  seen {}  {state}", session.id, session.created_at, session.last_seen_at)
}
