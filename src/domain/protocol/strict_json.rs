//! JSON of strangers, read without a choice: an object whose members stand once at every level (RFC 8259
//! section 4 leaves open which of two counts, and two readers choose differently), not nested deeper than
//! anything that is asked for.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Characters of a name that a fault repeats.
const NAME_SHOWN: usize = 64;

/// Reads an object with at most `depth` objects and lists within each other, itself counted.
///
/// # Errors
/// What is wrong with it, to go on from its name: `must be` or `is not`.
pub fn object(bytes: &[u8], depth: usize) -> Result<Map<String, Value>, String> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict(depth).deserialize(&mut reader).map_err(|error| told(&error))?;
    reader.end().map_err(|error| told(&error))?;
    match value {
        Value::Object(members) => Ok(members),
        _ => Err("must be a JSON object".to_owned()),
    }
}

fn told(error: &serde_json::Error) -> String {
    format!("is not JSON that can be taken: {error}")
}

/// Reads one value with so many levels left.
struct Strict(usize);

impl Strict {
    fn below<E: Error>(&self) -> Result<Self, E> {
        match self.0.checked_sub(1) {
            Some(left) => Ok(Self(left)),
            None => Err(E::custom("nested too deep")),
        }
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

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that JSON does not have"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.below()?)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if map.contains_key(&name) {
                let name: String = name.chars().take(NAME_SHOWN).collect();
                return Err(A::Error::custom(format!("the member {name} stands twice")));
            }
            let value = members.next_value_seed(self.below()?)?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_read_as_it_stands() {
        let read = object(br#" {"a":[1,-2,0.5,null,true,"x"],"b":{"c":{}}} "#, 3);
        assert_eq!(Value::Object(read.unwrap()), json!({ "a": [1, -2, 0.5, null, true, "x"], "b": { "c": {} } }));
    }

    #[test]
    fn what_two_readers_could_take_differently_is_refused() {
        let nested = format!("{}1{}", r#"{"a":"#.repeat(9), "}".repeat(9));
        let lists = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        for (text, told) in [
            (r#"{"a":1,"a":1}"#, "the member a stands twice"),
            (r#"{"a":1,"\u0061":2}"#, "the member a stands twice"),
            (r#"{"x":{"a":1,"a":2}}"#, "the member a stands twice"),
            (r#"{"x":[{"a":1,"a":2}]}"#, "the member a stands twice"),
            (nested.as_str(), "nested too deep"),
            (lists.as_str(), "nested too deep"),
            ("", "not JSON"),
            ("{", "not JSON"),
            ("{} {}", "not JSON"),
            (r#"{"a":1,}"#, "not JSON"),
            (r#"{"a":1e999}"#, "not JSON"),
            ("[]", "must be a JSON object"),
            ("7", "must be a JSON object"),
            ("null", "must be a JSON object"),
        ] {
            let fault = object(text.as_bytes(), 8).unwrap_err();
            assert!(fault.contains(told), "{text}: {fault}");
        }
        assert!(object(b"{\"a\":\"\xff\"}", 8).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = object(&bytes, 4);
        }

        #[test]
        fn what_it_reads_serde_reads_alike(text in r#"\{("[ab]":([0-9]|"x"|\[\]|\{\})(,"[cd]":[0-9])?)?\}"#) {
            let read = object(text.as_bytes(), 8).unwrap();
            prop_assert_eq!(Value::Object(read), serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}
