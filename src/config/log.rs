//! What the server writes about its work.

use super::key::{Key, Kind};
use super::reader::Reader;

const FORMAT: Key = Key {
    name: "log.format",
    kind: Kind::Text,
    default: "json",
    allowed: "`json` or `text`",
    meaning: "One JSON object a line, or lines for people; with `--dev` text unless set",
    secret: false,
};
const LEVEL: Key = Key {
    name: "log.level",
    kind: Kind::Text,
    default: "info",
    allowed: "`error`, `warn`, `info`, `debug` or `trace`",
    meaning: "The least serious entry that is written",
    secret: false,
};

pub(super) const KEYS: &[&Key] = &[&FORMAT, &LEVEL];

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

/// The least serious entry that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Faults of ours.
    Error,
    /// What an operator should look at.
    Warn,
    /// What happens.
    Info,
    /// Why it happens.
    Debug,
    /// Everything.
    Trace,
}

/// The settings of this section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Log {
    /// How lines look.
    pub format: Format,
    /// What is written.
    pub level: Level,
}

impl Log {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        let people = reader.dev && !reader.is_set(&FORMAT);
        let format = reader.parse(&FORMAT, |text| match text {
            "json" => Ok(Format::Json),
            "text" => Ok(Format::Text),
            _ => Err("is not a format".to_owned()),
        });
        let level = reader.parse(&LEVEL, |text| match text {
            "error" => Ok(Level::Error),
            "warn" => Ok(Level::Warn),
            "info" => Ok(Level::Info),
            "debug" => Ok(Level::Debug),
            "trace" => Ok(Level::Trace),
            _ => Err("is not a level".to_owned()),
        });
        Some(Self { format: if people { Format::Text } else { format? }, level: level? })
    }
}
