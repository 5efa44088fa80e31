//! How claims are written that are not plain JSON values: lists that shrink to a string, scopes, ids.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `aud` is one string or a list (RFC 7519 section 4.1.3).
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Vec<String> {
    fn from(value: OneOrMany) -> Self {
        match value {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

/// Reads a member that may be missing and may not be `null`; to be used with `default`.
pub(super) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Writes a list of one as a string.
pub(super) fn one_or_many<S: Serializer>(values: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match values {
        [one] => serializer.serialize_str(one),
        many => many.serialize(serializer),
    }
}

/// Writes scopes as one space-separated string (RFC 6749 section 3.3).
pub(super) fn spaced<S: Serializer>(values: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&values.join(" "))
}

/// Writes an id in its outer form.
pub(super) fn shown<S: Serializer, T: std::fmt::Display>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Writes an id in its outer form where there is one.
#[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
pub(super) fn maybe_shown<S: Serializer, T: std::fmt::Display>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
