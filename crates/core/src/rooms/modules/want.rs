//! The section `modules`.

use crate::types::{ModuleName, refusal};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// One kernel module, loaded at boot and now.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModuleWant {
    /// Name, such as ib_ipoib.
    pub name: ModuleName,
    /// Parameters, written to /etc/modprobe.d and effective when the module is next loaded. Default: none managed.
    #[serde(default)]
    pub parameters: BTreeMap<ParameterName, ParameterValue>,
}

/// A module parameter's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParameterName(String);

/// A module parameter's value, as modprobe.d(5) can carry it: a number, a boolean or a word without blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterValue(String);

impl ParameterName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ParameterValue {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for ParameterName {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let ok = !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if ok {
            Ok(Self(text))
        } else {
            Err(de::Error::custom(refusal(
                format!(
                    "\"{}\" is not the name of a module parameter",
                    text.escape_debug()
                ),
                "`modinfo -p MODULE` lists them",
            )))
        }
    }
}

impl<'de> Deserialize<'de> for ParameterValue {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = ParameterValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a boolean or a word")
            }

            fn visit_bool<E: de::Error>(self, v: bool) -> Result<ParameterValue, E> {
                Ok(ParameterValue(if v { "1" } else { "0" }.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<ParameterValue, E> {
                Ok(ParameterValue(v.to_string()))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<ParameterValue, E> {
                Ok(ParameterValue(v.to_string()))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<ParameterValue, E> {
                let ok = !v.is_empty()
                    && v.len() <= 256
                    && v.bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b"_.,:/+-@%".contains(&b));
                if ok {
                    Ok(ParameterValue(v.to_owned()))
                } else {
                    Err(E::custom(refusal(
                        format!("\"{}\" cannot be written as a module parameter", v.escape_debug()),
                        "give a number, or a word of letters, digits and _ . , : / + - @ %",
                    )))
                }
            }
        }
        d.deserialize_any(V)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ParameterName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ParameterName".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[A-Za-z0-9_]{1,64}$",
            "description": "Name of a module parameter; `modinfo -p MODULE` lists them.",
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ParameterValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ParameterValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Value of a module parameter: a number, a boolean or a word.",
            "anyOf": [
                { "type": "integer" },
                { "type": "boolean" },
                { "type": "string", "pattern": "^[A-Za-z0-9_.,:/+@%-]{1,256}$" },
            ],
        })
    }
}
