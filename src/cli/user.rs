//! `doorward user`: people's accounts, for whoever sits at the machine.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::pick::{self, InRealm, OnDatabase};
use super::{Failure, say};
use crate::domain::model::client::Client;
use crate::domain::model::power::Power;
use crate::domain::model::realm::Realm;
use crate::domain::model::user::{StandardClaims, User};
use crate::service::admin::user::NewUser;
use crate::service::admin::{session, user};
use crate::service::{App, subject};

/// Options of `user`.
#[derive(Debug, Args)]
#[command(
    after_help = "NAME is a user name, a verified e-mail address, a sub or an id (usr_…). Passwords come from stdin
or are asked for, never from the arguments.

Examples:
  doorward user list --realm main
  doorward user list --client shop | grep SUB        who a pairwise sub is
  doorward user create alice --email alice@example.com --email-verified --password-stdin
  doorward user set-password alice                   asks at a terminal
  pass show alice | doorward user set-password alice
  doorward user show alice@example.com --json
  doorward user disable alice                        ends every session and grant at once
  doorward user enable alice                         what was ended stays ended
  doorward user make-admin alice                     everything, in every realm
  doorward user sessions alice --json"
)]
pub struct UserArgs {
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
    /// Lists accounts, oldest first.
    List {
        /// At most so many.
        #[arg(long, default_value_t = 1000)]
        limit: u64,
        /// With the sub by which this client knows each account.
        #[arg(long, value_name = "CLIENT_ID")]
        client: Option<String>,
    },
    /// Shows one account with roles, groups and powers.
    Show {
        /// Whom.
        name: String,
    },
    /// Makes an account.
    Create(CreateArgs),
    /// Sets a password; ends every session and grant of the account.
    SetPassword {
        /// Whose.
        name: String,
    },
    /// Disables an account; ends all its sessions and grants.
    Disable {
        /// Whom.
        name: String,
    },
    /// Enables an account again.
    Enable {
        /// Whom.
        name: String,
    },
    /// Gives an administrative power.
    MakeAdmin {
        /// Whom.
        name: String,
        /// Over what: everything, or the account's own realm.
        #[arg(long, value_enum, default_value_t = Over::Instance)]
        power: Over,
    },
    /// Lists an account's sessions, newest first.
    Sessions {
        /// Whose.
        name: String,
    },
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// Name to sign in with.
    username: String,
    /// E-mail address.
    #[arg(long)]
    email: Option<String>,
    /// The address is known to be the person's: it signs in too.
    #[arg(long, requires = "email")]
    email_verified: bool,
    /// Full name.
    #[arg(long)]
    name: Option<String>,
    /// Given name.
    #[arg(long)]
    given_name: Option<String>,
    /// Family name.
    #[arg(long)]
    family_name: Option<String>,
    /// Read a password from stdin, or ask for it at a terminal.
    #[arg(long)]
    password_stdin: bool,
}

/// What an administrator may do.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Over {
    /// Everything, in every realm.
    Instance,
    /// Everything within the realm.
    Realm,
}

/// Looks after accounts.
///
/// # Errors
/// When there is no such account, or the store cannot do it.
pub async fn run(args: UserArgs, app: &App) -> Result<(), Failure> {
    let realm = args.realm.find(app).await?;
    let person = async |name: &str| pick::user(app, &realm, name).await;
    match args.command {
        Command::List { limit, client } => {
            let client = match client {
                Some(client_id) => Some(pick::client(app, &realm, &client_id).await?),
                None => None,
            };
            list(app, &realm, Listing { limit, client, json: args.json }).await
        }
        Command::Show { name } => show(app, person(&name).await?, args.json).await,
        Command::Create(new) => {
            let password = if new.password_stdin { Some(pick::secret("password")?) } else { None };
            let made = user::create(app, &realm, account(new), password.as_ref()).await?;
            say::note(&format!("created {}", made.username));
            say::data(&if args.json { row(&made).to_string() } else { made.id.to_string() });
            Ok(())
        }
        Command::SetPassword { name } => {
            let found = person(&name).await?;
            user::set_password(app, &realm, &found, &pick::secret("password")?).await?;
            done(args.json, &format!("the password of {} is set; its sessions and grants have ended", found.username));
            Ok(())
        }
        Command::Disable { name } => switch(app, &person(&name).await?, false, args.json).await,
        Command::Enable { name } => switch(app, &person(&name).await?, true, args.json).await,
        Command::MakeAdmin { name, power } => {
            let found = person(&name).await?;
            let power = match power {
                Over::Instance => Power::Instance,
                Over::Realm => Power::Realm,
            };
            let new = user::make_admin(app, &realm, &found, power).await?;
            let word = if new { "has now" } else { "had already" };
            done(args.json, &format!("{} {word} the power {}", found.username, power.as_str()));
            Ok(())
        }
        Command::Sessions { name } => sessions(app, &person(&name).await?, args.json).await,
    }
}

fn done(json: bool, text: &str) {
    if json {
        say::data(&json!({ "done": text }).to_string());
    } else {
        say::note(text);
    }
}

fn account(new: CreateArgs) -> NewUser {
    NewUser {
        username: new.username,
        sub: None,
        enabled: true,
        claims: StandardClaims {
            email: new.email,
            email_verified: new.email_verified,
            name: new.name,
            given_name: new.given_name,
            family_name: new.family_name,
            ..StandardClaims::default()
        },
    }
}

fn row(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "sub": user.sub,
        "username": user.username,
        "email": user.claims.email,
        "email_verified": user.claims.email_verified,
        "enabled": user.enabled,
        "created_at": user.created_at.to_rfc3339(),
    })
}

/// What of the accounts is listed, and how.
struct Listing {
    limit: u64,
    client: Option<Client>,
    json: bool,
}

async fn list(app: &App, realm: &Realm, wanted: Listing) -> Result<(), Failure> {
    let users = user::list(app, realm, None, wanted.limit).await?;
    let mut rows = Vec::with_capacity(users.len());
    for user in &users {
        let seen = match &wanted.client {
            Some(client) => Some(subject::seen_by(app, realm, client, &user.sub).await?),
            None => None,
        };
        if wanted.json {
            let mut row = row(user);
            if let (Value::Object(fields), Some(seen)) = (&mut row, seen) {
                fields.insert("sub_at_client".to_owned(), json!(seen));
            }
            rows.push(row);
            continue;
        }
        let state = if user.enabled { "" } else { "  (disabled)" };
        let email = user.claims.email.as_deref().unwrap_or("-");
        let seen = seen.map(|seen| format!("  {seen}")).unwrap_or_default();
        say::data(&format!("{}  {:<24}  {email}{seen}{state}", user.id, user.username));
    }
    if wanted.json {
        say::data(&Value::from(rows).to_string());
    } else {
        say::note(&format!("{} accounts in the realm {}", users.len(), realm.name));
    }
    Ok(())
}

async fn show(app: &App, found: User, json: bool) -> Result<(), Failure> {
    let details = user::details(app, found).await?;
    let mut value = row(&details.user);
    if let Value::Object(fields) = &mut value {
        let powers: Vec<_> = details.powers.iter().map(|power| power.as_str()).collect();
        fields.insert("roles".to_owned(), json!(details.roles));
        fields.insert("groups".to_owned(), json!(details.groups));
        fields.insert("powers".to_owned(), json!(powers));
        fields.insert("has_password".to_owned(), json!(details.has_password));
        fields.insert("claims".to_owned(), serde_json::to_value(&details.user.claims).unwrap_or_default());
    }
    if json {
        say::data(&value.to_string());
    } else {
        say::data(&serde_json::to_string_pretty(&value).unwrap_or_default());
    }
    Ok(())
}

async fn switch(app: &App, found: &User, enabled: bool, json: bool) -> Result<(), Failure> {
    let changed = user::switch(app, found, enabled).await?;
    let word = if enabled { "enabled" } else { "disabled" };
    let text = if changed {
        format!("{} is {word}", found.username)
    } else {
        format!("{} was {word} already", found.username)
    };
    done(json, &text);
    Ok(())
}

async fn sessions(app: &App, found: &User, json: bool) -> Result<(), Failure> {
    let sessions = session::list(app, found, 1000).await?;
    let rows: Vec<_> = sessions.iter().map(pick::session_row).collect();
    if json {
        say::data(&Value::from(rows).to_string());
    } else {
        for session in &sessions {
            say::data(&pick::session_line(session));
        }
    }
    Ok(())
}
