//! Client metadata that comes as JSON and not in a file (RFC 7591 section 3.1): each member by its row of the
//! table of `clients:`, so that the two ways to register know the same members and the same rules.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::clients::{TABLE, crossed};
use super::fault::Faults;
use super::fields::{Form, overlay};
use super::node::{Entry, Kind, Node};
use crate::model::client::ClientMetadata;

/// Lays the members over `base` and judges them one by one, then together. Each member must have a row in the
/// table of `clients:`.
///
/// # Errors
/// Every fault: the member and what is wrong with it.
pub fn client_metadata(
    members: &Map<String, Value>,
    base: &ClientMetadata,
) -> Result<ClientMetadata, Vec<(String, String)>> {
    let mut faults = Faults::new("");
    let mut entries = Vec::new();
    for (name, value) in members {
        match TABLE.iter().find(|row| row.name == name) {
            Some(row) if fits(&row.form, value) => {
                entries.push(Entry { key: name.clone(), line: 0, value: node(value) });
            }
            Some(row) => faults.add(0, name, format!("must be {}", wanted(&row.form))),
            None => faults.add(0, name, "is not known"),
        }
    }
    let found: BTreeMap<&str, &Entry> = entries.iter().map(|entry| (entry.key.as_str(), entry)).collect();
    let overlay = overlay(&found, TABLE, "", &mut faults);
    if faults.is_empty() {
        let Some(metadata) = overlay.over(base) else {
            return Err(vec![(String::new(), "a fault of this program: a checked value does not fit".to_owned())]);
        };
        for crossed in crossed(&metadata) {
            crossed.report(&overlay, 0, &mut faults);
        }
        if faults.is_empty() {
            return Ok(metadata);
        }
    }
    Err(faults.into_list().into_iter().map(|fault| (fault.field, fault.message)).collect())
}

/// Whether JSON has the type that the form reads. A text that looks like a number is a text here.
fn fits(form: &Form, value: &Value) -> bool {
    match form {
        Form::Text(_) | Form::Lines(_) | Form::Span(..) | Form::Word(_) | Form::Checked(_) => value.is_string(),
        Form::Bool => value.is_boolean(),
        Form::Whole(..) | Form::Number(_) => value.is_u64(),
        Form::Each(..) => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        Form::Json(_) | Form::Map(_) => value.is_object(),
        Form::Own | Form::Not(_) => false,
    }
}

fn wanted(form: &Form) -> &'static str {
    match form {
        Form::Text(_) | Form::Lines(_) | Form::Span(..) | Form::Word(_) | Form::Checked(_) => "a string",
        Form::Bool => "true or false",
        Form::Whole(..) | Form::Number(_) => "a whole number",
        Form::Each(..) => "an array of strings",
        Form::Json(_) | Form::Map(_) => "an object",
        Form::Own | Form::Not(_) => "left out",
    }
}

fn node(value: &Value) -> Node {
    let kind = match value {
        Value::Null => Kind::Null,
        Value::String(text) => Kind::Text { text: text.clone(), plain: false },
        Value::Bool(_) | Value::Number(_) => Kind::Text { text: value.to_string(), plain: true },
        Value::Array(items) => Kind::List(items.iter().map(node).collect()),
        Value::Object(members) => {
            let entry = |(key, value): (&String, &Value)| Entry { key: key.clone(), line: 0, value: node(value) };
            Kind::Map(members.iter().map(entry).collect())
        }
    };
    Node { line: 0, kind }
}
