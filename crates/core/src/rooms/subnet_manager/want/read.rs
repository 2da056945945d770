//! How the types that are written as a word or a number read themselves.

use super::{
    GroupMtu, GroupRate, MEMBER_WORDS, MTUS, Member, OptionValue, PartitionName, RATES, SubnetPrefix,
};
use crate::types::{Guid, Num, refusal};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        if let Some((_, member)) = MEMBER_WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(*member);
        }
        Guid::parse(&text).map(Self::Guid).map_err(|_| {
            de::Error::custom(refusal(
                format!("\"{}\" is no member of a partition", text.escape_debug()),
                "give a port GUID such as 0xb83fd20300aa10c4, or ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF",
            ))
        })
    }
}

impl<'de> Deserialize<'de> for PartitionName {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let ok = (1..=32).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
            && text.starts_with(|c: char| c.is_ascii_alphabetic());
        if ok {
            Ok(Self(text))
        } else {
            Err(de::Error::custom(refusal(
                format!("\"{}\" is not the name of a partition", text.escape_debug()),
                "use 1 to 32 letters, digits, '_', '-' and '.', beginning with a letter",
            )))
        }
    }
}

impl<'de> Deserialize<'de> for SubnetPrefix {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let digits = match text.strip_prefix("0x") {
            Some(hex) if hex.len() == 16 => Some(hex.to_owned()),
            _ => {
                let groups: Vec<&str> = text.split(':').collect();
                (groups.len() == 4 && groups.iter().all(|g| g.len() == 4)).then(|| groups.concat())
            }
        };
        digits
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|hex| u64::from_str_radix(&hex, 16).ok())
            .filter(|n| *n != 0)
            .map(Self)
            .ok_or_else(|| {
                de::Error::custom(refusal(
                    format!("\"{}\" is not a subnet prefix", text.escape_debug()),
                    "give four groups such as fe80:0000:0000:0000, or 0x and 16 hexadecimal digits; not zero",
                ))
            })
    }
}

impl<'de> Deserialize<'de> for GroupMtu {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let n = Num::<0, 65535>::deserialize(d)?.get();
        MTUS.iter()
            .find(|(bytes, _)| i64::from(*bytes) == n)
            .map(|(bytes, _)| Self(*bytes))
            .ok_or_else(|| {
                de::Error::custom(refusal(
                    format!("{n} is not an InfiniBand MTU"),
                    "give 256, 512, 1024, 2048 or 4096 bytes; the IP MTU is 4 less",
                ))
            })
    }
}

impl<'de> Deserialize<'de> for GroupRate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl V {
            fn tenths<E: de::Error>(tenths: u64, shown: impl fmt::Display) -> Result<GroupRate, E> {
                RATES.iter().find(|(t, _)| u64::from(*t) == tenths).map(|(t, _)| GroupRate(*t)).ok_or_else(|| {
                    E::custom(refusal(
                        format!("{shown} Gb/s is not a rate of InfiniBand"),
                        "give one of 2.5, 5, 10, 14, 20, 25, 28, 30, 40, 50, 56, 60, 80, 100, 112, 120, 168, 200, 300, 400, 600, 800",
                    ))
                })
            }
        }
        impl Visitor<'_> for V {
            type Value = GroupRate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate in Gb/s")
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<GroupRate, E> {
                Self::tenths(v.saturating_mul(10), v)
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<GroupRate, E> {
                Self::tenths(u64::try_from(v).unwrap_or(0).saturating_mul(10), v)
            }

            #[allow(clippy::float_cmp)]
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<GroupRate, E> {
                if v == 2.5 {
                    Ok(GroupRate(25))
                } else {
                    Self::tenths(0, v)
                }
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<GroupRate, E> {
                match v {
                    "2.5" => Ok(GroupRate(25)),
                    _ if !v.is_empty() && !v.starts_with('0') && v.bytes().all(|b| b.is_ascii_digit()) => {
                        Self::tenths(v.parse::<u64>().unwrap_or(0).saturating_mul(10), v)
                    }
                    _ => Self::tenths(0, format!("\"{}\"", v.escape_debug())),
                }
            }
        }
        d.deserialize_any(V)
    }
}

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl V {
            fn word<E: de::Error>(v: &str) -> Result<String, E> {
                // '#' begins a comment even inside quotes, and one pair of quotes is stripped (opensm: osm_subnet.c).
                let ok = v.len() <= 512
                    && !v
                        .chars()
                        .any(|c| c.is_control() || c.is_whitespace() || "#\"'".contains(c));
                if ok && !v.is_empty() {
                    return Ok(v.to_owned());
                }
                Err(E::custom(refusal(
                    format!("\"{}\" cannot be written to opensm.conf", v.escape_debug()),
                    "give a word without blanks, quotes and '#'",
                )))
            }
        }
        impl<'de> Visitor<'de> for V {
            type Value = OptionValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean, a number, a word or a list of words")
            }

            fn visit_bool<E: de::Error>(self, v: bool) -> Result<OptionValue, E> {
                Ok(OptionValue::Bool(v))
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<OptionValue, E> {
                Ok(OptionValue::Number(v))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<OptionValue, E> {
                Ok(i64::try_from(v).map_or_else(|_| OptionValue::Text(v.to_string()), OptionValue::Number))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<OptionValue, E> {
                Self::word(v).map(OptionValue::Text)
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<OptionValue, A::Error> {
                let mut words = Vec::new();
                while let Some(one) = seq.next_element::<String>()? {
                    words.push(Self::word(&one)?);
                }
                if words.is_empty() {
                    return Err(de::Error::custom(refusal(
                        "an empty list is no value",
                        "leave the option out, or name something",
                    )));
                }
                Ok(OptionValue::List(words))
            }
        }
        d.deserialize_any(V)
    }
}
