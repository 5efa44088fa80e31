//! Differences between what is stored and what shall be, field by field, in words for a person.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

use super::FieldChange;

/// Collects the fields that differ.
#[derive(Default)]
pub(super) struct Differences(pub(super) Vec<FieldChange>);

impl Differences {
    /// Two values of one field; `None` on both sides is no difference.
    pub(super) fn field<T: PartialEq + Display>(&mut self, field: &str, from: Option<&T>, to: Option<&T>) {
        if from != to {
            self.push(field, from.map(ToString::to_string), to.map(ToString::to_string));
        }
    }

    /// Two lists of one field.
    pub(super) fn list<T: PartialEq + Display>(&mut self, field: &str, from: &[T], to: &[T]) {
        let shown = |list: &[T]| (!list.is_empty()).then(|| bracket(list.iter().map(ToString::to_string)));
        if from != to {
            self.push(field, shown(from), shown(to));
        }
    }

    /// A secret that is set, without its value.
    pub(super) fn secret(&mut self, field: &str) {
        self.push(field, None, Some("(set)".to_owned()));
    }

    /// Every field of two mappings, nested ones with dots.
    pub(super) fn mapping<T: Serialize>(&mut self, prefix: &str, from: &T, to: &T) {
        let (from, to) = (flat(prefix, from), flat(prefix, to));
        let mut fields: Vec<&String> = from.keys().chain(to.keys()).collect();
        fields.sort();
        fields.dedup();
        for field in fields {
            if from.get(field) != to.get(field) {
                self.push(field, from.get(field).cloned(), to.get(field).cloned());
            }
        }
    }

    fn push(&mut self, field: &str, from: Option<String>, to: Option<String>) {
        self.0.push(FieldChange { field: field.to_owned(), from, to });
    }

    /// For a new object: only what it becomes.
    pub(super) fn without_before(mut self) -> Vec<FieldChange> {
        for change in &mut self.0 {
            change.from = None;
        }
        self.0
    }
}

fn bracket(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn flat<T: Serialize>(prefix: &str, value: &T) -> BTreeMap<String, String> {
    let mut into = BTreeMap::new();
    if let Ok(value) = serde_json::to_value(value) {
        flatten(prefix, &value, &mut into);
    }
    into
}

fn flatten(field: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    let shown = match value {
        Value::Null => return,
        Value::Object(map) => {
            for (name, value) in map {
                flatten(&crate::realm_file::fields::dotted(field, name), value, into);
            }
            return;
        }
        Value::Array(items) if items.is_empty() => return,
        Value::Array(items) => bracket(items.iter().map(scalar)),
        other => scalar(other),
    };
    into.insert(field.to_owned(), shown);
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
