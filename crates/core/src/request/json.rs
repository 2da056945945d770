//! JSON, read strictly: size and depth bounded, no key twice.

use crate::codes;
use crate::pointer::Pointer;
use crate::problem::Problem;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Largest request in bytes.
pub const MAX_BYTES: usize = 16 << 20;
/// Deepest nesting.
pub const MAX_DEPTH: usize = 64;
/// Most values in a text: every mistake costs one more reading of all of them.
pub(super) const MAX_VALUES: usize = 100_000;
/// Longest key in bytes: every mistake below a key is told with it.
const MAX_KEY: usize = 4096;

/// Reads JSON text.
///
/// # Errors
/// `request.too_large`, `request.syntax`, `request.too_deep`, `request.duplicate_key`; the pointer counts from the text's own root.
pub fn parse_strict(bytes: &[u8]) -> Result<Value, Problem> {
    if bytes.len() > MAX_BYTES {
        return Err(codes::REQUEST_TOO_LARGE.at(
            Pointer::root(),
            format!("the request has more than {} MiB", MAX_BYTES >> 20),
            "a host document needs a few kilobytes; check what was sent",
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        codes::REQUEST_SYNTAX.at(
            Pointer::root(),
            format!("the text is not UTF-8: byte {} is wrong", e.valid_up_to() + 1),
            "save the file as UTF-8",
        )
    })?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut trouble = None;
    let mut values = 0;
    let seed = Strict {
        at: Pointer::root(),
        depth: 0,
        values: &mut values,
        trouble: &mut trouble,
    };
    let read = seed
        .deserialize(&mut reader)
        .and_then(|v| reader.end().map(|()| v));
    match (read, trouble) {
        (Ok(value), _) => Ok(value),
        (Err(_), Some(problem)) => Err(problem),
        (Err(e), None) => Err(codes::REQUEST_SYNTAX.at(
            Pointer::root(),
            format!("not well-formed JSON: {e}"),
            "mend the text at that place",
        )),
    }
}

/// One value at a known place.
struct Strict<'a> {
    at: Pointer,
    depth: usize,
    /// How many values there were so far in the whole text.
    values: &'a mut usize,
    trouble: &'a mut Option<Problem>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, d: D) -> Result<Value, D::Error> {
        if self.depth > MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            *self.trouble =
                Some(codes::REQUEST_TOO_DEEP.at(self.at, &message, "a host document needs about 6 levels"));
            return Err(de::Error::custom(message));
        }
        *self.values += 1;
        if *self.values > MAX_VALUES {
            let message = format!("the request has more than {MAX_VALUES} values");
            *self.trouble = Some(codes::REQUEST_TOO_LARGE.at(
                self.at,
                &message,
                "a host document needs some hundreds; check what was sent",
            ));
            return Err(de::Error::custom(message));
        }
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
        Number::from_f64(v)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }

    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let seed = Strict {
                at: self.at.index(items.len()),
                depth: self.depth + 1,
                values: &mut *self.values,
                trouble: &mut *self.trouble,
            };
            match seq.next_element_seed(seed)? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if key.len() > MAX_KEY {
                let message = format!("a key has more than {MAX_KEY} bytes");
                *self.trouble = Some(codes::REQUEST_TOO_LARGE.at(
                    self.at,
                    &message,
                    "check what was sent; no field and no name is that long",
                ));
                return Err(de::Error::custom(message));
            }
            let at = self.at.key(&key);
            if members.contains_key(&key) {
                let message = format!("the key \"{}\" stands twice", key.escape_debug());
                *self.trouble = Some(codes::REQUEST_DUPLICATE_KEY.at(at, &message, "remove one of the two"));
                return Err(de::Error::custom(message));
            }
            let seed = Strict {
                at,
                depth: self.depth + 1,
                values: &mut *self.values,
                trouble: &mut *self.trouble,
            };
            members.insert(key, map.next_value_seed(seed)?);
        }
        Ok(Value::Object(members))
    }
}

impl Problem {
    /// The same problem, its pointer counted as one of the request: `desired` keeps its own pointers, the rest begins with `/request`.
    #[must_use]
    pub fn below_request(mut self) -> Self {
        let path = self.path.as_str().to_owned();
        self.path = match path.strip_prefix("/desired") {
            Some("") => Pointer::root(),
            Some(rest) if rest.starts_with('/') => Pointer::raw(rest),
            _ => Pointer::raw(&format!("/request{path}")),
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &[u8]) -> (&'static str, String) {
        let problem = parse_strict(text).unwrap_err();
        (problem.code.id(), problem.path.as_str().to_owned())
    }

    #[test]
    fn refuses_each_kind_of_bad_text() {
        assert_eq!(refusal(b"{\"a\":1,}").0, "request.syntax");
        assert_eq!(refusal(b"{\"a\":\xff}").0, "request.syntax");
        assert_eq!(refusal(b"{} {}").0, "request.syntax");
        assert_eq!(refusal(b"").0, "request.syntax");
        assert_eq!(refusal(b"1e999").0, "request.syntax");
        assert_eq!(
            refusal(br#"{"a":[{"b":1},{"b":1,"b":2}]}"#),
            ("request.duplicate_key", "/a/1/b".into())
        );
        let deep = "[".repeat(100_000);
        assert_eq!(refusal(deep.as_bytes()).0, "request.too_deep");
        assert_eq!(refusal(&vec![b' '; MAX_BYTES + 1]).0, "request.too_large");
        let many = |n: usize| format!("[{}7]", "7,".repeat(n - 2));
        assert!(parse_strict(many(MAX_VALUES).as_bytes()).is_ok());
        assert_eq!(refusal(many(MAX_VALUES + 1).as_bytes()).0, "request.too_large");
        let key = format!("{{\"a\":{{\"{}\":1}}}}", "k".repeat(MAX_KEY + 1));
        assert_eq!(refusal(key.as_bytes()), ("request.too_large", "/a".into()));
    }

    #[test]
    fn keeps_values() {
        let text = r#"{"a":[1,-2,2.5,"x",null,true,{"b":{}}]}"#;
        assert_eq!(parse_strict(text.as_bytes()).unwrap().to_string(), text);
    }
}
