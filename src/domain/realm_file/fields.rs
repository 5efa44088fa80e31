//! Tables of fields: a row names a field and the form of its value. One reader goes through a mapping
//! with a table, so that unknown fields, repeated fields, typos and wrong forms are told alike
//! everywhere, and a new field is one new row.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::declared::{Listed, Overlay};
use super::fault::{Faults, nearest, shown};
use super::node::{Entry, Kind, Node};
use crate::model::span::{SPAN_FORM, Span};

/// A check of one text: its normal form, or what is allowed.
pub(super) type Check = fn(&str) -> Result<String, String>;

/// A row of a table.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) form: Form,
}

/// What a field's value may be.
pub(super) enum Form {
    /// Text of 1 to so many characters without control characters.
    Text(usize),
    /// The same, with line breaks allowed.
    Lines(usize),
    /// `true` or `false`.
    Bool,
    /// A span of time between two bounds.
    Span(Span, Span),
    /// A whole number between two bounds.
    Whole(u64, u64),
    /// A number of a short list.
    Number(&'static [u64]),
    /// A word of a closed list.
    Word(&'static [&'static str]),
    /// Text with a check of its own.
    Checked(Check),
    /// A list of at most so many different texts, each checked.
    Each(Check, usize),
    /// A document of JSON with a check of its own: its normal form, or what is allowed.
    Json(fn(&Value) -> Result<Value, String>),
    /// A mapping with a table of its own.
    Map(&'static [Field]),
    /// Read by the object's own file.
    Own,
    /// Known, and not to be had: why.
    Not(&'static str),
}

impl Field {
    pub(super) const fn new(name: &'static str, form: Form) -> Self {
        Self { name, form }
    }
}

/// The entries of an object's mapping by name, each known and once. `None` when it is no mapping.
pub(super) fn entries<'a>(
    node: &'a Node,
    table: &[Field],
    prefix: &str,
    faults: &mut Faults,
) -> Option<BTreeMap<&'a str, &'a Entry>> {
    let Kind::Map(list) = &node.kind else {
        faults.add(node.line, prefix, format!("expected a mapping of fields, found {}", node.what()));
        return None;
    };
    let mut found: BTreeMap<&str, &Entry> = BTreeMap::new();
    for entry in list {
        let field = dotted(prefix, &entry.key);
        match table.iter().find(|row| row.name == entry.key) {
            None => faults.add(entry.line, &shown(&field), unknown(&entry.key, table)),
            Some(Field { form: Form::Not(why), .. }) => faults.add(entry.line, &field, *why),
            Some(_) => match found.get(entry.key.as_str()) {
                Some(first) => {
                    faults.add(entry.line, &field, format!("written twice, first on line {}", first.line));
                }
                None => {
                    found.insert(&entry.key, entry);
                }
            },
        }
    }
    Some(found)
}

fn unknown(key: &str, table: &[Field]) -> String {
    let known = || table.iter().filter(|row| !matches!(row.form, Form::Not(_))).map(|row| row.name);
    match nearest(key, known()) {
        Some(name) => format!("unknown field; did you mean {name}?"),
        None => format!("unknown field; allowed are {}", known().collect::<Vec<_>>().join(", ")),
    }
}

/// The name of a nested field.
pub(super) fn dotted(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// Reads every field of a table that has a form into an overlay.
pub(super) fn overlay(found: &BTreeMap<&str, &Entry>, table: &[Field], prefix: &str, faults: &mut Faults) -> Overlay {
    let mut overlay = Overlay::default();
    for row in table {
        let Some(entry) = found.get(row.name) else { continue };
        if matches!(row.form, Form::Own | Form::Not(_)) {
            continue;
        }
        let field = dotted(prefix, row.name);
        if let Form::Map(inner) = row.form
            && !matches!(entry.value.kind, Kind::Null)
        {
            let Some(found) = entries(&entry.value, inner, &field, faults) else { continue };
            let below = self::overlay(&found, inner, &field, faults);
            overlay.lines.insert(field, entry.line);
            overlay.lines.extend(below.lines);
            overlay.values.insert(row.name.to_owned(), Value::Object(below.values));
            continue;
        }
        if let Some(value) = value(&entry.value, &row.form, &field, faults) {
            overlay.lines.insert(field, entry.line);
            overlay.values.insert(row.name.to_owned(), value);
        }
    }
    overlay
}

/// One value in its form; `null` is always allowed here and means the default.
fn value(node: &Node, form: &Form, field: &str, faults: &mut Faults) -> Option<Value> {
    let (text, plain) = match &node.kind {
        Kind::Null => return Some(Value::Null),
        Kind::Text { text, plain } => (text.as_str(), *plain),
        Kind::List(_) if matches!(form, Form::Each(..)) => {
            let Form::Each(check, most) = *form else { return None };
            return texts(node, check, most, field, faults).map(|list| list.items.into());
        }
        Kind::Map(_) if matches!(form, Form::Json(_)) => {
            let Form::Json(check) = *form else { return None };
            return check(&json(node)).map_err(|message| faults.add(node.line, field, message)).ok();
        }
        Kind::List(_) | Kind::Map(_) => {
            faults.add(node.line, field, format!("expected {}, found {}", expected(form), node.what()));
            return None;
        }
    };
    let read = match form {
        Form::Text(most) => line_of_text(text, *most).map(Value::from),
        Form::Lines(most) => lines_of_text(text, *most).map(Value::from),
        Form::Checked(check) => check(text).map(Value::from),
        Form::Bool => truth(text, plain).map(Value::from),
        Form::Span(least, most) => span(text, *least, *most).map(|span| Value::from(span.to_string())),
        Form::Whole(least, most) => whole(text, plain, *least, *most).map(Value::from),
        Form::Number(allowed) => number(text, allowed).map(Value::from),
        Form::Word(words) => word(text, words).map(Value::from),
        Form::Each(..) | Form::Json(_) | Form::Map(_) | Form::Own | Form::Not(_) => {
            Err(format!("expected {}, found a single value", expected(form)))
        }
    };
    read.map_err(|message| faults.add(node.line, field, message)).ok()
}

fn expected(form: &Form) -> String {
    match form {
        Form::Text(_) | Form::Lines(_) | Form::Checked(_) => "a text".to_owned(),
        Form::Bool => "true or false".to_owned(),
        Form::Span(..) => SPAN_FORM.to_owned(),
        Form::Whole(least, most) => format!("a whole number from {least} to {most}"),
        Form::Number(allowed) => format!("one of {}", list(allowed)),
        Form::Word(words) => format!("one of {}", words.join(", ")),
        Form::Each(..) => "a list such as [a, b]".to_owned(),
        Form::Json(_) | Form::Map(_) | Form::Own | Form::Not(_) => "a mapping of fields".to_owned(),
    }
}

/// A tree as JSON. Scalars stay the text that was written: what is read here is made of texts.
fn json(node: &Node) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Text { text, .. } => Value::from(text.as_str()),
        Kind::List(nodes) => nodes.iter().map(json).collect(),
        Kind::Map(entries) => {
            Value::Object(entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect())
        }
    }
}

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// A list of different texts.
pub(super) fn texts(
    node: &Node,
    check: Check,
    most: usize,
    field: &str,
    faults: &mut Faults,
) -> Option<Listed<String>> {
    let Kind::List(nodes) = &node.kind else {
        faults.add(node.line, field, format!("expected a list such as [a, b], found {}", node.what()));
        return None;
    };
    if nodes.len() > most {
        faults.add(node.line, field, format!("{} entries; at most {most} are allowed", nodes.len()));
        return None;
    }
    let mut items = Vec::with_capacity(nodes.len());
    let mut seen = BTreeSet::new();
    let mut whole = true;
    for node in nodes {
        let Some(item) = text(node, check, field, faults) else {
            whole = false;
            continue;
        };
        if seen.insert(item.clone()) {
            items.push(item);
        } else {
            faults.add(node.line, field, format!("{} stands in the list twice", shown(&item)));
            whole = false;
        }
    }
    whole.then_some(Listed { line: node.line, items })
}

/// One text with its check.
pub(super) fn text(node: &Node, check: Check, field: &str, faults: &mut Faults) -> Option<String> {
    let Kind::Text { text, .. } = &node.kind else {
        faults.add(node.line, field, format!("expected a text, found {}", node.what()));
        return None;
    };
    check(text).map_err(|message| faults.add(node.line, field, message)).ok()
}

/// One truth value.
pub(super) fn boolean(node: &Node, field: &str, faults: &mut Faults) -> Option<bool> {
    let read = match &node.kind {
        Kind::Text { text, plain } => truth(text, *plain),
        _ => Err(format!("expected true or false, found {}", node.what())),
    };
    read.map_err(|message| faults.add(node.line, field, message)).ok()
}

/// Text of one line.
pub(super) fn line_of_text(text: &str, most: usize) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("control characters and line breaks are not allowed here".to_owned());
    }
    lines_of_text(text, most)
}

fn lines_of_text(text: &str, most: usize) -> Result<String, String> {
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err("control characters are not allowed here".to_owned());
    }
    match text.chars().count() {
        0 => Err("empty; leave the field out, or write null to unset it".to_owned()),
        count if count > most => Err(format!("{count} characters; at most {most} are allowed")),
        _ => Ok(text.to_owned()),
    }
}

fn truth(text: &str, plain: bool) -> Result<bool, String> {
    match text {
        "true" if plain => Ok(true),
        "false" if plain => Ok(false),
        _ => Err(format!("{} is neither true nor false (written without quotes)", shown(text))),
    }
}

fn span(text: &str, least: Span, most: Span) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|_| format!("{} is not a span of time; write {SPAN_FORM}", shown(text)))?;
    if span < least || span > most {
        return Err(format!("{span} is out of range; allowed is {least} to {most}"));
    }
    Ok(span)
}

fn whole(text: &str, plain: bool, least: u64, most: u64) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|number| plain && (least..=most).contains(number))
        .ok_or_else(|| format!("{} is not a whole number from {least} to {most}", shown(text)))
}

fn number(text: &str, allowed: &[u64]) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|number| allowed.contains(number))
        .ok_or_else(|| format!("{} is not allowed; one of {}", shown(text), list(allowed)))
}

fn word(text: &str, words: &[&str]) -> Result<String, String> {
    if words.contains(&text) {
        return Ok(text.to_owned());
    }
    let hint = nearest(text, words.iter().copied()).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(format!("{} is not allowed; one of {}{hint}", shown(text), words.join(", ")))
}
