//! Gathers raw values from the file and the environment. Strict on purpose: a mistyped name that is
//! silently ignored is how a server ends up with the setting its operator believed to have changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::error::{Origin, Problem};
use super::key::{self, Key, Kind, PREFIX};

/// Larger files are not a configuration.
const MAX_FILE: u64 = 1024 * 1024;
/// Larger files are not a secret.
const MAX_SECRET: u64 = 64 * 1024;

/// Group or others may write.
const OTHERS_WRITE: u32 = 0o022;
/// Everybody may read. Containers mount secrets so unless they are told otherwise, so it is said, not refused.
const OTHERS_READ: u32 = 0o004;

/// Variables with our prefix that are no settings.
const RESERVED: [&str; 1] = ["DOORWARD_CONFIG"];
const RESERVED_PREFIX: &str = "DOORWARD_SECRET_";

/// A value before it is understood.
pub(super) struct Raw {
    /// One text, or the items of a list.
    pub(super) texts: Vec<String>,
    pub(super) origin: Origin,
}

/// Raw values by name, and what is wrong already.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) values: BTreeMap<&'static str, Raw>,
    pub(super) problems: Vec<Problem>,
    /// What works, and should not stay so.
    pub(super) remarks: Vec<Problem>,
}

impl Gathered {
    fn problem(&mut self, key: &str, origin: Origin, fault: impl Into<String>, allowed: &str) {
        self.problems.push(Problem { key: key.to_owned(), origin, fault: fault.into(), allowed: allowed.to_owned() });
    }

    fn unknown(&mut self, name: &str, origin: Origin) {
        let hint = match key::nearest(name) {
            Some(near) => format!("is unknown; did you mean {near}?"),
            None if name.starts_with("service") || name.starts_with("port") => {
                "is unknown; Kubernetes sets such variables for a service of this name: enableServiceLinks: false"
                    .to_owned()
            }
            None => "is unknown".to_owned(),
        };
        self.problem(name, origin, hint, "");
    }

    /// Reads the file, if there is one.
    pub(super) fn file(&mut self, path: &Path) {
        let origin = |line| Origin::File { path: path.to_owned(), line };
        let text = match read_limited(path, MAX_FILE) {
            Ok(text) => text,
            Err(fault) => return self.problem("configuration", origin(0), fault, "a readable TOML file"),
        };
        match DeTable::parse(&text) {
            Ok(table) => self.table("", table.get_ref(), &|at| origin(line_of(&text, at))),
            // Only the message: the error's own text quotes the line, which may hold a secret.
            Err(error) => {
                let at = error.span().map_or(0, |span| line_of(&text, span.start));
                self.problem("configuration", origin(at), error.message().to_owned(), "TOML (https://toml.io)");
            }
        }
    }

    fn table(&mut self, above: &str, table: &DeTable<'_>, origin: &dyn Fn(usize) -> Origin) {
        for (name, value) in table {
            let full =
                if above.is_empty() { name.get_ref().to_string() } else { format!("{above}.{}", name.get_ref()) };
            let origin_here = origin(name.span().start);
            match (key::find(&full), value.get_ref()) {
                (Some(key), value) => match texts(key.kind, value) {
                    Some(texts) => drop(self.values.insert(key.name, Raw { texts, origin: origin_here })),
                    None => {
                        let fault = format!("is {}, not {}", shape(value), key.kind.as_str());
                        self.problem(&full, origin_here, fault, key.allowed);
                    }
                },
                (None, DeValue::Table(inner)) => self.table(&full, inner, origin),
                (None, _) => self.unknown(&full, origin_here),
            }
        }
    }

    /// Reads the environment.
    pub(super) fn environment(&mut self, variables: &[(String, String)]) {
        for (variable, value) in variables {
            let Some(rest) = variable.strip_prefix(PREFIX) else { continue };
            if RESERVED.contains(&variable.as_str()) || variable.starts_with(RESERVED_PREFIX) {
                continue;
            }
            let name = rest.to_ascii_lowercase().replace("__", ".");
            let origin = Origin::Variable(variable.clone());
            // Upper case only: two spellings of one setting would be two values of it.
            if rest.bytes().any(|byte| byte.is_ascii_lowercase()) {
                self.unknown(&name, origin);
            } else if let Some(key) = key::find(&name) {
                self.variable(key, value, origin);
            } else if let Some(key) = name.strip_suffix("_file").and_then(key::find).filter(|key| key.secret) {
                self.variable_file(key, variable, Path::new(value), variables);
            } else {
                self.unknown(&name, origin);
            }
        }
    }

    fn variable(&mut self, key: &'static Key, value: &str, origin: Origin) {
        let texts = match key.kind {
            Kind::List if value.trim().is_empty() => Vec::new(),
            Kind::List => value.split(',').map(|item| item.trim().to_owned()).collect(),
            _ if value.is_empty() => return self.problem(key.name, origin, "is empty; unset it instead", key.allowed),
            _ => vec![value.to_owned()],
        };
        self.values.insert(key.name, Raw { texts, origin });
    }

    fn variable_file(&mut self, key: &'static Key, variable: &str, path: &Path, all: &[(String, String)]) {
        let direct = key.variable();
        if all.iter().any(|(name, _)| *name == direct) {
            let origin = Origin::Variable(variable.to_owned());
            return self.problem(key.name, origin, format!("is given twice, also by {direct}"), "one of the two");
        }
        let origin = Origin::VariableFile { variable: variable.to_owned(), path: path.to_owned() };
        let text = match read_limited(path, MAX_SECRET) {
            Ok(text) => text,
            Err(fault) => return self.problem(key.name, origin, fault, "a readable file of at most 64 KiB"),
        };
        let mode = fs::metadata(path).map_or(0, |about| about.permissions().mode() & 0o777);
        if mode & OTHERS_WRITE != 0 {
            let fault = format!("may be written by others (mode {mode:03o}): then it is theirs to choose");
            return self.problem(key.name, origin, fault, "a file that only its owner writes: chmod 600");
        }
        if mode & OTHERS_READ != 0 {
            self.remarks.push(Problem {
                key: key.name.to_owned(),
                origin: origin.clone(),
                fault: format!("may be read by everybody on this machine (mode {mode:03o})"),
                allowed:
                    "chmod 600, or 640 with the server's group; secrets of Docker and Kubernetes take a mode of 0440"
                        .to_owned(),
            });
        }
        self.variable(key, text.trim_end_matches(['\n', '\r']), origin);
    }
}

/// The file to read: the one named, else the one in the environment, else `doorward.toml` if it is there.
pub(super) fn choose(named: Option<&Path>, variables: &[(String, String)], folder: &Path) -> Option<PathBuf> {
    let variable =
        || variables.iter().find(|(name, _)| name == "DOORWARD_CONFIG").map(|(_, value)| PathBuf::from(value));
    let usual = || Some(folder.join("doorward.toml")).filter(|path| path.exists());
    named.map(Path::to_owned).or_else(variable).or_else(usual)
}

fn read_limited(path: &Path, max: u64) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !about.is_file() {
        return Err("is not a plain file".to_owned());
    }
    if about.len() > max {
        return Err(format!("is larger than {} KiB", max / 1024));
    }
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(max).read_to_string(&mut text));
    read.map(|_| text).map_err(|error| format!("cannot be read: {error}"))
}

fn texts(kind: Kind, value: &DeValue<'_>) -> Option<Vec<String>> {
    Some(match (kind, value) {
        (Kind::Text | Kind::IntegerOrAuto, DeValue::String(text)) => vec![text.to_string()],
        (Kind::Integer | Kind::IntegerOrAuto, DeValue::Integer(number)) => {
            vec![i64::from_str_radix(number.as_str(), number.radix()).ok()?.to_string()]
        }
        (Kind::Boolean, DeValue::Boolean(value)) => vec![value.to_string()],
        (Kind::List, DeValue::Array(items)) => {
            items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        _ => return None,
    })
}

fn shape(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "another kind of list",
        DeValue::Table(_) => "a table",
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
