//! `doorward apply`: makes the stored realms equal to the declared ones, all or nothing.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::pick::OnDatabase;
use super::{Failure, say};
use crate::domain::realm_file::{self, DeclaredRealm, FieldChange, MAX_FILE_BYTES, Plan, Verb};
use crate::service::App;
use crate::service::realm_file::{self as service, Input, LocalSecrets, Mode, Passphrase, Report};

/// Options of `apply`.
#[derive(Debug, Args)]
#[command(after_help = "A field that is left out keeps its stored value; null takes it back to its default.

Examples:
  doorward apply realm.yaml                        create and update what the file declares
  doorward apply realm.yaml --dry-run              only show what would change
  doorward apply main.yaml shop.yaml --prune       also delete what the files do not declare
  doorward export --realm main | doorward apply -  changes nothing
  DOORWARD_SECRET_WEB=… doorward apply realm.yaml  with secret_ref: env:DOORWARD_SECRET_WEB
  doorward apply realm.yaml --dev                  on the database of serve --dev")]
pub struct ApplyArgs {
    #[command(flatten)]
    pub(super) database: OnDatabase,
    /// Realm files, YAML or JSON; - is stdin.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show the plan and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Delete what is stored and not declared. Users only where the file has users.
    #[arg(long)]
    pub prune: bool,
    /// File with the passphrase of an export made --with-secrets.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Print the plan as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Applies realm files.
///
/// # Errors
/// Every fault of the files with its place, or why the store could not do it.
pub async fn run(args: ApplyArgs, app: &App) -> Result<(), Failure> {
    let mut realms = read_all(&args.files)?;
    let passphrase = match &args.passphrase_file {
        Some(path) => Some(
            Passphrase::read(path, &app.config.server.data_dir)
                .map_err(|fault| Failure::Config(format!("--passphrase-file {}: {fault}", path.display())))?,
        ),
        None => None,
    };
    let mut secrets = LocalSecrets::new(app, std::env::vars(), passphrase).await?;
    let mut faults = Vec::new();
    for realm in &mut realms {
        faults.extend(realm_file::resolve(realm, &mut secrets));
    }
    if !faults.is_empty() {
        return Err(service::Failure::Faults(faults).into());
    }
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Write };
    let report = service::apply(app, &Input { realms, prune: args.prune, mode }).await?;
    for warning in report.plans.iter().flat_map(|plan| &plan.warnings) {
        say::note(&format!("warning: {warning}"));
    }
    if args.json {
        say::data(&as_json(&report).to_string());
    } else {
        for plan in report.plans.iter().filter(|plan| !plan.acts.is_empty()) {
            say::data(as_text(plan).trim_end());
        }
        say::note(&summary(&report));
    }
    Ok(())
}

impl From<service::Failure> for Failure {
    fn from(failure: service::Failure) -> Self {
        match failure {
            service::Failure::Faults(_) => Self::Config(format!("nothing was changed:\n{failure}")),
            service::Failure::Service(error) => error.into(),
        }
    }
}

fn read_all(files: &[PathBuf]) -> Result<Vec<DeclaredRealm>, Failure> {
    let mut realms = Vec::new();
    let mut faults = Vec::new();
    for path in files {
        let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
        let text = read(path).map_err(|fault| Failure::Config(format!("{name}: {fault}")))?;
        match realm_file::parse(&name, &text) {
            Ok(more) => realms.extend(more),
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(realms) } else { Err(service::Failure::Faults(faults).into()) }
}

/// Reads one byte more than is allowed, so that the parser tells of it.
fn read(path: &Path) -> Result<String, String> {
    let most = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let done = if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        let file = std::fs::File::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
        file.take(most).read_to_end(&mut bytes)
    };
    done.map_err(|error| format!("cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 text: the byte at {} belongs to no character", error.utf8_error().valid_up_to())
    })
}

fn summary(report: &Report) -> String {
    if report.is_empty() {
        return "Nothing to do: stored and declared are equal.".to_owned();
    }
    let count = |verb| report.plans.iter().flat_map(|plan| &plan.acts).filter(|act| act.verb == verb).count();
    let (created, updated, deleted) = (count(Verb::Create), count(Verb::Update), count(Verb::Delete));
    match report.mode {
        Mode::Write => format!("{created} created, {updated} updated, {deleted} deleted."),
        Mode::DryRun => format!("Would create {created}, update {updated}, delete {deleted}. Nothing was written."),
    }
}

fn as_text(plan: &Plan) -> String {
    let mut text = format!("realm {}\n", plan.realm);
    for act in &plan.acts {
        let mark = match act.verb {
            Verb::Create => '+',
            Verb::Update => '~',
            Verb::Delete => '-',
        };
        let _ = writeln!(text, "  {mark} {} {} {}", act.verb.as_str(), act.object.as_str(), shown(&act.name));
        for FieldChange { field, from, to } in &act.fields {
            let word = |value: &Option<String>| value.as_deref().map_or_else(|| "(none)".to_owned(), shown);
            let _ = match from {
                Some(_) => writeln!(text, "      {field}: {} -> {}", word(from), word(to)),
                None => writeln!(text, "      {field}: {}", word(to)),
            };
        }
    }
    text
}

/// A value in one line, safe for a terminal.
fn shown(value: &str) -> String {
    let mut text = String::new();
    for c in value.chars().take(120) {
        if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
    }
    if value.chars().nth(120).is_some() {
        text.push('…');
    }
    text
}

fn as_json(report: &Report) -> serde_json::Value {
    let realms: Vec<_> = report
        .plans
        .iter()
        .map(|plan| {
            let acts: Vec<_> = plan
                .acts
                .iter()
                .map(|act| {
                    let fields: Vec<_> = act
                        .fields
                        .iter()
                        .map(|change| json!({ "field": change.field, "from": change.from, "to": change.to }))
                        .collect();
                    json!({
                        "verb": act.verb.as_str(),
                        "object": act.object.as_str(),
                        "name": act.name,
                        "fields": fields,
                    })
                })
                .collect();
            json!({
                "realm": plan.realm,
                "acts": acts,
                "warnings": plan.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "written": report.mode == Mode::Write && !report.is_empty(), "realms": realms })
}
