//! Writes YAML that reads back to the very same values: block style, short lists in one line, text
//! quoted wherever it could be taken for something else.

use std::fmt::Write;

use serde_json::Value;

/// A value to be written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Out {
    Text(String),
    /// A number or truth value.
    Raw(String),
    /// Texts in one line.
    Flow(Vec<Out>),
    List(Vec<Out>),
    Map(Vec<(String, Out)>),
}

impl From<&str> for Out {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Out {
    /// A JSON value; `null` is left out by the caller.
    pub(super) fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::Raw("null".to_owned()),
            Value::Bool(truth) => Self::Raw(truth.to_string()),
            Value::Number(number) => Self::Raw(number.to_string()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                Self::List(items.iter().map(Self::from_json).collect())
            }
            Value::Array(items) => Self::Flow(items.iter().map(Self::from_json).collect()),
            Value::Object(map) => {
                Self::Map(map.iter().map(|(name, value)| (name.clone(), Self::from_json(value))).collect())
            }
        }
    }

    fn is_inline(&self) -> bool {
        match self {
            Self::Text(_) | Self::Raw(_) => true,
            Self::Flow(items) => items.iter().map(Self::width).sum::<usize>() <= 90,
            Self::List(items) => items.is_empty(),
            Self::Map(fields) => fields.is_empty(),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Text(text) | Self::Raw(text) => text.len() + 2,
            Self::Flow(_) | Self::List(_) | Self::Map(_) => 1_000,
        }
    }

    fn inline(&self, into: &mut String) {
        match self {
            Self::Text(text) => quoted(text, into),
            Self::Raw(text) => into.push_str(text),
            Self::Flow(items) => {
                into.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        into.push_str(", ");
                    }
                    item.inline(into);
                }
                into.push(']');
            }
            Self::List(_) => into.push_str("[]"),
            Self::Map(_) => into.push_str("{}"),
        }
    }

    /// Writes the value in block style at an indentation.
    pub(super) fn block(&self, indent: usize, into: &mut String) {
        let pad = " ".repeat(indent);
        match self {
            Self::Map(fields) => {
                for (name, value) in fields {
                    into.push_str(&pad);
                    field(name, value, indent, into);
                }
            }
            Self::List(items) | Self::Flow(items) => {
                for item in items {
                    into.push_str(&pad);
                    into.push_str("- ");
                    match item {
                        Self::Map(fields) if !fields.is_empty() => {
                            for (place, (name, value)) in fields.iter().enumerate() {
                                if place > 0 {
                                    into.push_str(&" ".repeat(indent + 2));
                                }
                                field(name, value, indent + 2, into);
                            }
                        }
                        other => {
                            other.inline(into);
                            into.push('\n');
                        }
                    }
                }
            }
            other => {
                into.push_str(&pad);
                other.inline(into);
                into.push('\n');
            }
        }
    }
}

fn field(name: &str, value: &Out, indent: usize, into: &mut String) {
    into.push_str(name);
    into.push(':');
    if value.is_inline() {
        into.push(' ');
        value.inline(into);
        into.push('\n');
    } else {
        into.push('\n');
        value.block(indent + 2, into);
    }
}

/// Plain where nothing could be mistaken, otherwise in double quotes with escapes.
fn quoted(text: &str, into: &mut String) {
    let plain = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'/')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'/' | b'@' | b'+' | b'-'))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if plain {
        into.push_str(text);
        return;
    }
    into.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' => into.write_str("\\\""),
            '\\' => into.write_str("\\\\"),
            '\n' => into.write_str("\\n"),
            '\t' => into.write_str("\\t"),
            ' '..='~' => into.write_char(c),
            c if c.is_alphanumeric() && u32::from(c) <= 0xffff => into.write_char(c),
            c if u32::from(c) <= 0xff => write!(into, "\\x{:02X}", u32::from(c)),
            c if u32::from(c) <= 0xffff => write!(into, "\\u{:04X}", u32::from(c)),
            c => write!(into, "\\U{:08X}", u32::from(c)),
        };
    }
    into.push('"');
}
