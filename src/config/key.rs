//! What a setting is: declared once, read, checked and documented from the same words.

/// The shape of a value in `doorward.toml`; an environment variable is always text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `"text"`
    Text,
    /// `42`
    Integer,
    /// `42` or `"auto"`
    IntegerOrAuto,
    /// `true` or `false`
    Boolean,
    /// `["a", "b"]`, in an environment variable `a,b`
    List,
}

impl Kind {
    /// How a message calls it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "a text in quotes",
            Self::Integer => "a whole number",
            Self::IntegerOrAuto => "a whole number or \"auto\"",
            Self::Boolean => "true or false",
            Self::List => "a list of texts",
        }
    }
}

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// Its dotted name in the file.
    pub name: &'static str,
    /// The shape of its value.
    pub kind: Kind,
    /// The default as an environment variable would hold it; empty = none.
    pub default: &'static str,
    /// What may be written, for messages and the reference.
    pub allowed: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Its value is never shown, and may come from a file named by `…_FILE`.
    pub secret: bool,
}

impl Key {
    /// The environment variable: `database.pool.max` is `DOORWARD_DATABASE__POOL__MAX`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_ascii_uppercase().replace('.', "__"))
    }
}

/// What all our environment variables begin with.
pub(super) const PREFIX: &str = "DOORWARD_";

/// Every setting of every section, in the order of the reference.
pub(super) const SECTIONS: &[(&str, &[&Key])] = &[
    ("Server", super::server::KEYS),
    ("TLS", super::tls::KEYS),
    ("Database", super::database::KEYS),
    ("Passwords", super::password::KEYS),
    ("Outbound requests", super::outbound::KEYS),
    ("Limits", super::limits::KEYS),
    ("Log", super::log::KEYS),
    ("Not built in this version", super::absent::KEYS),
];

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|(_, keys)| keys.iter().copied())
}

/// The one with this name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    all().find(|key| key.name == name)
}

/// The name that `wrong` was probably meant to be.
pub(super) fn nearest(wrong: &str) -> Option<&'static str> {
    all().map(|key| (distance(wrong, key.name), key.name)).min().filter(|(far, _)| *far <= 3).map(|(_, name)| name)
}

/// The Levenshtein distance, over bytes: names are ASCII.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut last = i + 1;
        let mut next = vec![last];
        for ((y, diagonal), above) in b.bytes().zip(&row).zip(row.iter().skip(1)) {
            last = (diagonal + usize::from(x != y)).min(above + 1).min(last + 1);
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

/// The reference of all settings as Markdown; `docs/configuration.md` is this text.
#[must_use]
pub fn reference() -> String {
    let mut text = String::from(HEAD);
    for (title, keys) in SECTIONS {
        text.push_str(&format!("\n## {title}\n\n| key | environment variable | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n"));
        for key in *keys {
            let file = if key.secret { ", or `…_FILE` with a path" } else { "" };
            let default = match (key.default, key.kind) {
                ("", Kind::List) => "`[]`".to_owned(),
                ("", _) => "none".to_owned(),
                (default, Kind::List) => format!("`[\"{}\"]`", default.replace(',', "\", \"")),
                (default, _) => format!("`{default}`"),
            };
            text.push_str(&format!(
                "| `{}` | `{}`{file} | {default} | {} | {} |\n",
                key.name,
                key.variable(),
                key.allowed,
                key.meaning
            ));
        }
    }
    text
}

const HEAD: &str = "\
<!-- Generated from src/config: change it there. -->
# Configuration

Settings come from `doorward.toml` (`--config`, else `DOORWARD_CONFIG`, else `./doorward.toml` if present) and from
environment variables, which win. Lists are comma-separated in a variable. Unknown names and bad values stop the start
with exit status 78 and a message that names the key, where it came from, what is wrong, and what is allowed. Variables
that begin with `DOORWARD_SECRET_` are yours: realm files refer to them.
";
