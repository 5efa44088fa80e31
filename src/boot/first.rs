//! The first start: a database without realms gets its main realm; with `--dev` the development one.

use crate::cli::Failure;
use crate::domain::realm_file;
use crate::service::realm_file::{self as files, Input, Mode};
use crate::service::{App, replay};
use crate::store::repo;

const DEVELOPMENT: &str = include_str!("development.yaml");
const MAIN: &str = "realm: main\n";

/// Makes what a server needs to answer at all. Changes nothing once there is a realm, except that the
/// development realm follows `public_url`.
///
/// # Errors
/// When the store cannot do it.
pub async fn prepare(app: &App) -> Result<(), Failure> {
    let realms = repo::realm::list(&app.store.read()).await?;
    // Realms of a release that did not remember yet; new ones begin when they are made.
    for realm in &realms {
        replay::prepare(app, realm.id, app.clock.now()).await?;
    }
    if !realms.is_empty() && !app.config.dev {
        return Ok(());
    }
    let text = if app.config.dev {
        DEVELOPMENT.replace("{public_url}", app.config.server.public_url.as_str())
    } else {
        MAIN.to_owned()
    };
    let declared = realm_file::parse("built-in realm", &text)
        .map_err(|faults| Failure::Internal(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    let input = Input { realms: declared, prune: false, mode: Mode::Write };
    files::apply(app, &input).await.map_err(|failure| Failure::Internal(failure.to_string()))?;
    Ok(())
}
