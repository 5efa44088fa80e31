//! A mistake in a realm file, told so that it can be mended without a manual: where, what, and what
//! is allowed instead.

use std::fmt;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1; 0 when the fault belongs to no line.
    pub line: usize,
    /// The object, such as `user alice`.
    pub object: String,
    /// The field, such as `settings.tokens.access`; empty when the whole object is meant.
    pub field: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        for part in [&self.object, &self.field] {
            if !part.is_empty() {
                write!(f, ": {part}")?;
            }
        }
        write!(f, ": {}", self.message)
    }
}

/// More faults than a person reads: the rest is only counted.
const MAX_FAULTS: usize = 500;

/// Collects the faults of one file; knows which object is being read.
#[derive(Debug)]
pub(super) struct Faults {
    file: String,
    object: String,
    list: Vec<Fault>,
    more: usize,
}

impl Faults {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), object: String::new(), list: Vec::new(), more: 0 }
    }

    /// Names the object that following faults belong to.
    pub(super) fn object(&mut self, kind: &str, name: &str) {
        self.object = if name.is_empty() { kind.to_owned() } else { format!("{kind} {}", shown(name)) };
    }

    pub(super) fn add(&mut self, line: usize, field: &str, message: impl Into<String>) {
        if self.list.len() >= MAX_FAULTS {
            self.more += 1;
            return;
        }
        self.list.push(Fault {
            file: self.file.clone(),
            line,
            object: self.object.clone(),
            field: field.to_owned(),
            message: message.into(),
        });
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The faults in the order of the file.
    pub(super) fn into_list(mut self) -> Vec<Fault> {
        self.list.sort_by_key(|fault| fault.line);
        if self.more > 0 {
            self.list.push(Fault {
                file: self.file,
                line: 0,
                object: String::new(),
                field: String::new(),
                message: format!("and {} more faults", self.more),
            });
        }
        self.list
    }
}

/// A stranger's text for a message: quoted marks and control characters escaped, cut to 80 characters.
pub(super) fn shown(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(80)
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}

/// The nearest of `known` to what was written, when it is near enough to be a typo.
pub(super) fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if written.len() > 64 {
        return None;
    }
    let far = ((written.chars().count() + 1) / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (distance(&written.to_lowercase(), name), name))
        .filter(|(distance, _)| *distance <= far)
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein distance, two rows.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(&b) {
            let changed = diagonal + usize::from(left != *right);
            diagonal = *cell;
            *cell = changed.min(diagonal + 1).min(before + 1);
            before = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_field() {
        let known = ["redirect_uris", "client_name", "scope", "enabled"];
        assert_eq!(nearest("redirect_uri", known), Some("redirect_uris"));
        assert_eq!(nearest("Scopes", known), Some("scope"));
        assert_eq!(nearest("clientname", known), Some("client_name"));
        assert_eq!(nearest("zoneinfo", known), None);
        assert_eq!(nearest("emial", ["email"]), Some("email"));
    }

    #[test]
    fn a_fault_reads_from_left_to_right() {
        let mut faults = Faults::new("a.yaml");
        faults.object("user", "alice\u{7}");
        faults.add(3, "email", "not an address");
        let list = faults.into_list();
        assert_eq!(list[0].to_string(), "a.yaml:3: user alice\\u{7}: email: not an address");
    }
}
