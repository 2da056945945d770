//! Partition keys.

use super::refusal;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A partition: the low 15 bits of a P_Key, 0x0001 to 0x7fff (0x7fff is the default partition).
///
/// The membership bit (0x8000) is no part of the identity of a partition: 10, `0x000a` and `0x800a` name the same one,
/// so it is dropped while parsing and set again where a file or the kernel wants it ([`PKey::full`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PKey(u16);

impl PKey {
    /// The default partition, seen as 0xffff (full member) or 0x7fff (limited).
    pub const DEFAULT: Self = Self(0x7fff);

    /// From 16 bits, membership bit ignored; `None` for partition 0 (0 and 0x8000: refused by the kernel and by opensm).
    pub const fn new(value: u16) -> Option<Self> {
        if value & 0x7fff == 0 {
            None
        } else {
            Some(Self(value & 0x7fff))
        }
    }

    /// The 15-bit number.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The 16-bit key of a full member: what names, `create_child` and profiles use.
    pub const fn full(self) -> u16 {
        self.0 | 0x8000
    }

    /// The name of the IPoIB child of `parent` for this partition, as the kernel names it from the full key.
    pub fn child_of(self, parent: &str) -> String {
        format!("{parent}.{:04x}", self.full())
    }

    /// Reads decimal digits or `0x…`.
    ///
    /// # Errors
    /// A packed refusal.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = match text.strip_prefix("0x") {
            Some(hex) if !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
                u64::from_str_radix(hex, 16).ok()
            }
            Some(_) => None,
            None if !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_digit())
                && (text == "0" || !text.starts_with('0')) =>
            {
                text.parse().ok()
            }
            None => None,
        };
        match number {
            Some(n) => Self::from_number(n),
            None => Err(refusal(
                format!("\"{}\" is not a P_Key", text.escape_debug()),
                HINT,
            )),
        }
    }

    fn from_number(n: u64) -> Result<Self, String> {
        let shown = format!("{n:#06x}");
        let Ok(bits) = u16::try_from(n) else {
            return Err(refusal(format!("P_Key {shown} has more than 16 bits"), HINT));
        };
        Self::new(bits).ok_or_else(|| {
            refusal(
                format!("P_Key {shown} names partition 0, which does not exist"),
                HINT,
            )
        })
    }
}

const HINT: &str =
    "give a partition from 0x0001 to 0x7fff; the membership bit 0x8000 may be set and is ignored";

impl fmt::Display for PKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

impl Serialize for PKey {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = PKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a P_Key: a number or a 0x string")
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<PKey, E> {
                PKey::from_number(v).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<PKey, E> {
                u64::try_from(v)
                    .map_err(|_| refusal(format!("P_Key {v} is negative"), HINT))
                    .and_then(PKey::from_number)
                    .map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<PKey, E> {
                PKey::parse(v).map_err(E::custom)
            }
        }
        d.deserialize_any(V)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PKey".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let decimal = super::num::range_pattern(1, 65535);
        schemars::json_schema!({
            "description": "Partition key: 0x0001 to 0x7fff. The membership bit 0x8000 may be set and is ignored; partition 0 is refused.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": 65535, "not": { "const": 32768 } },
                { "type": "string", "pattern": decimal, "not": { "const": "32768" } },
                { "type": "string", "pattern": "^0x0*(?!8000$)[1-9a-fA-F][0-9a-fA-F]{0,3}$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_partition_has_many_spellings() {
        for json in ["10", "\"10\"", "\"0x000a\"", "\"0x800a\"", "32778", "\"0xA\""] {
            let key: PKey = serde_json::from_str(json).unwrap();
            assert_eq!((key.number(), key.full()), (0x000a, 0x800a), "{json}");
            assert_eq!(key.child_of("ib0"), "ib0.800a");
        }
        assert_eq!(PKey::parse("0xffff").unwrap(), PKey::DEFAULT);
    }

    #[test]
    fn refuses_partition_zero_and_long_keys() {
        for json in [
            "0",
            "32768",
            "\"0x8000\"",
            "\"0x0\"",
            "65536",
            "\"0x18010\"",
            "-1",
            "1.5",
            "\"000a\"",
            "\"0x\"",
            "\"\"",
            "true",
        ] {
            assert!(serde_json::from_str::<PKey>(json).is_err(), "{json} was taken");
        }
    }
}
