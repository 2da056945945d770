//! Untyped JSON as serde reads it into types, minus two liberties of serde: a list is no object whose fields come in order,
//! and `{"word": null}` is no word. A JSON Schema refuses both, and so would a person.

use crate::types::refusal;
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// A value to be read strictly.
#[derive(Clone, Copy)]
pub(super) struct Strict<'de>(pub(super) &'de Value);

impl<'de> IntoDeserializer<'de, Error> for Strict<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter().map(Strict));
                let read = visitor.visit_seq(&mut items)?;
                items.end().map(|()| read)
            }
            Value::Object(members) => {
                let mut members = MapDeserializer::new(members.iter().map(|(k, v)| (k.as_str(), Strict(v))));
                let read = visitor.visit_map(&mut members)?;
                members.end().map(|()| read)
            }
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.0.is_object() {
            return self.deserialize_any(visitor);
        }
        Err(de::Error::custom(refusal(
            format!("{} stands where an object belongs", kind(self.0)),
            format!("the fields here are {}", fields.join(", ")),
        )))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Value::String(word) = self.0 else {
            return Err(de::Error::custom(refusal(
                format!("{} is not one of the choices", kind(self.0)),
                format!("give one of {}", words.join(", ")),
            )));
        };
        visitor.visit_enum(StrDeserializer::new(word))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// What a value is, in a person's words.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Number(n) => format!("the number {n}"),
        Value::String(s) => format!("the text \"{}\"", s.escape_debug()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::HostState;
    use serde::Deserialize;
    use serde_json::json;

    fn refused(value: &Value) -> String {
        HostState::deserialize(Strict(value)).unwrap_err().to_string()
    }

    #[test]
    fn a_list_is_no_object_and_an_object_no_word() {
        let list = json!({"modules": [["ib_umad"]]});
        assert!(refused(&list).contains("a list stands where an object belongs"));
        assert!(refused(&list).contains("name, parameters"));
        assert!(refused(&json!({"network_backend": {"netplan": null}})).contains("an object is not one of"));
        assert!(refused(&json!({"limits": "unlimited"})).contains("the text \"unlimited\" stands where"));
        assert!(refused(&json!(["ibplan/v1"])).contains("a list stands"));
    }

    #[test]
    fn the_rest_is_read_as_ever() {
        let document = json!({"api": "ibplan/v1", "ipoib": null, "limits": {"memlock": "64"}, "network_backend": "auto"});
        let strict = HostState::deserialize(Strict(&document)).unwrap();
        assert_eq!(strict, serde_json::from_value(document).unwrap());
    }
}
