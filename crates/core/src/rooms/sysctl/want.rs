//! The sections `sysctl` and `sysctl_profile`.

use crate::types::refusal;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// Kernel parameters by name, in either spelling of sysctl.d(5): `net.core.rmem_max`, `net/ipv4/conf/ib0.8001/rp_filter`
/// or `net.ipv4.conf.ib0/8001.rp_filter`.
pub type SysctlWant = BTreeMap<SysctlKey, SysctlValue>;

/// A key, kept in its path form below /proc/sys: `net/core/rmem_max`.
///
/// The first `.` or `/` decides: after a `/` the rest is literal, after a `.` dots and slashes swap (sysctl.d(5)).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SysctlKey(String);

/// A value: a number, or text; a vector is a list of numbers or text separated by blanks. Kept as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysctlValue(Vec<String>);

/// A named set of kernel parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Larger socket buffers and backlog for TCP over IPoIB. Does nothing for verbs traffic.
    IpoibThroughput,
}

impl SysctlKey {
    /// Reads either spelling.
    ///
    /// # Errors
    /// A packed refusal.
    pub fn parse(text: &str) -> Result<Self, String> {
        let hint = "write it as sysctl.d(5) does: net.core.rmem_max, or net/ipv4/conf/ib0.8001/rp_filter where a name has a dot";
        let shown = text.escape_debug();
        let slash_first = text
            .find(['.', '/'])
            .is_some_and(|at| text.as_bytes()[at] == b'/');
        let path: String = if slash_first {
            text.to_owned()
        } else {
            text.chars()
                .map(|c| match c {
                    '.' => '/',
                    '/' => '.',
                    c => c,
                })
                .collect()
        };
        let words: Vec<&str> = path.split('/').collect();
        let ok = words.len() >= 2
            && path.len() <= 200
            && words.iter().all(|w| {
                !w.is_empty()
                    && *w != "."
                    && *w != ".."
                    && w.bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b"_-.:@+".contains(&b))
            });
        if ok {
            Ok(Self(path))
        } else {
            Err(refusal(format!("\"{shown}\" is not a kernel parameter"), hint))
        }
    }

    /// The path below /proc/sys.
    pub fn path(&self) -> &str {
        &self.0
    }

    /// As a drop-in file spells it: dots, with `/` for a dot inside a name.
    pub fn dotted(&self) -> String {
        self.0
            .chars()
            .map(|c| match c {
                '/' => '.',
                '.' => '/',
                c => c,
            })
            .collect()
    }
}

impl fmt::Display for SysctlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.dotted())
    }
}

impl SysctlValue {
    /// The tokens, in order.
    pub fn tokens(&self) -> &[String] {
        &self.0
    }

    /// From text as the kernel or a file has it; blanks and tabs separate. `None` when it is empty or has other control characters.
    pub fn from_text(text: &str) -> Option<Self> {
        let tokens: Vec<String> = text
            .split([' ', '\t'])
            .filter(|t| !t.is_empty())
            .map(str::to_owned)
            .collect();
        let ok =
            !tokens.is_empty() && text.len() <= 1024 && !text.chars().any(|c| c.is_control() && c != '\t');
        ok.then_some(Self(tokens))
    }
}

impl fmt::Display for SysctlValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl<'de> Deserialize<'de> for SysctlKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(d)?).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for SysctlValue {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = SysctlValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer, text, or a list of integers")
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<SysctlValue, E> {
                Ok(SysctlValue(vec![v.to_string()]))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<SysctlValue, E> {
                Ok(SysctlValue(vec![v.to_string()]))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<SysctlValue, E> {
                SysctlValue::from_text(v).ok_or_else(|| {
                    E::custom(refusal(
                        format!("\"{}\" is no value of a kernel parameter", v.escape_debug()),
                        "give a number, a word, or numbers separated by blanks",
                    ))
                })
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<SysctlValue, A::Error> {
                let mut tokens = Vec::new();
                while let Some(one) = seq.next_element::<i64>()? {
                    tokens.push(one.to_string());
                }
                if tokens.is_empty() {
                    return Err(de::Error::custom(refusal(
                        "an empty list is no value",
                        "give the numbers of the vector",
                    )));
                }
                Ok(SysctlValue(tokens))
            }
        }
        d.deserialize_any(V)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SysctlKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SysctlKey".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": 200,
            "pattern": "^(?!\\.\\.?/)(?!.*/\\.\\.?(/|$))(?!.*//)([A-Za-z0-9_:@+-]+/[A-Za-z0-9_.:@+/-]*[A-Za-z0-9_.:@+-]|(?!.*\\.\\.)(?!.*\\.//?(\\.|$))[A-Za-z0-9_:@+-]+\\.[A-Za-z0-9_.:@+/-]*[A-Za-z0-9_:@+/-])$",
            "description": "Kernel parameter: net.core.rmem_max, or net/ipv4/conf/ib0.8001/rp_filter where a name has a dot.",
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SysctlValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SysctlValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number, text, or a vector as a list of numbers or as text separated by blanks.",
            "anyOf": [
                { "type": "integer" },
                { "type": "string", "maxLength": 1024, "pattern": "^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u0020\\u007f-\\u009f][^\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]*$" },
                { "type": "array", "minItems": 1, "items": { "type": "integer" } },
            ],
        })
    }
}
