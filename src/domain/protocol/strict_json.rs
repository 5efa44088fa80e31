//! JSON of strangers that is to mean one thing only: a member twice is refused wherever it stands (RFC 8259
//! section 4 leaves open which one counts, so two readers could differ), and so is what nests too deep.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The text is no JSON, has a member twice, or nests too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// Reads one value that nests at most `depth` lists and objects.
pub fn read(bytes: &[u8], depth: usize) -> Result<Value, Unreadable> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth }.deserialize(&mut reader).map_err(|_| Unreadable)?;
    reader.end().map_err(|_| Unreadable)?;
    Ok(value)
}

/// Reads an object that nests at most `depth` lists and objects, itself counted.
pub fn read_object(bytes: &[u8], depth: usize) -> Result<Map<String, Value>, Unreadable> {
    match read(bytes, depth)? {
        Value::Object(members) => Ok(members),
        _ => Err(Unreadable),
    }
}

/// A value with so many levels left.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn inside<E: de::Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1).ok_or_else(|| E::custom("nested too deep"))?;
        Ok(Self { depth })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("no number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(inside)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut members = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            let value = object.next_value_seed(inside)?;
            if members.insert(name, value).is_some() {
                return Err(de::Error::custom("a member twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_json_is_read_as_ever() {
        let text = r#"{"a":[1,-2,1.5,true,null,"x"],"b":{"c":{}}}"#;
        assert_eq!(read(text.as_bytes(), 3), serde_json::from_str(text).map_err(|_| Unreadable));
    }

    #[test]
    fn a_member_twice_is_refused_at_every_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":2}"#, r#"{"b":[{"a":{"c":1,"c":2}}]}"#] {
            assert_eq!(read(text.as_bytes(), 9), Err(Unreadable), "{text}");
        }
        assert!(read(br#"{"a":{"a":{"a":1}}}"#, 9).is_ok());
    }

    #[test]
    fn what_nests_too_deep_or_is_not_whole_is_refused() {
        assert!(read(b"[[[]]]", 3).is_ok());
        assert_eq!(read(b"[[[]]]", 2), Err(Unreadable));
        let deep = "[".repeat(100_000);
        for text in ["", "{", "{} x", "nul", r#"{"a"}"#, deep.as_str()] {
            assert_eq!(read(text.as_bytes(), 9), Err(Unreadable));
        }
        assert_eq!(read_object(b"[]", 9), Err(Unreadable));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes, 4);
        }
    }
}
