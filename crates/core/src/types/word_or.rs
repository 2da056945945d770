//! Fields that hold a word or a number.

use super::{Num, refusal};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The one word that a [`WordOr`] field takes beside numbers.
pub trait Word {
    /// The word as written.
    const WORD: &'static str;
    /// What it means, for the schema.
    const MEANS: &'static str;
}

/// A word, or an integer from `MIN` to `MAX` (as an integer or as a decimal string).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordOr<W, const MIN: i64, const MAX: i64> {
    /// The word.
    Word(PhantomData<W>),
    /// The number.
    Number(i64),
}

impl<W, const MIN: i64, const MAX: i64> WordOr<W, MIN, MAX> {
    /// The word.
    pub const WORD: Self = Self::Word(PhantomData);

    /// The number, if it is one.
    pub const fn number(self) -> Option<i64>
    where
        W: Copy,
    {
        match self {
            Self::Word(_) => None,
            Self::Number(n) => Some(n),
        }
    }
}

impl<W: Word, const MIN: i64, const MAX: i64> fmt::Display for WordOr<W, MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(_) => f.write_str(W::WORD),
            Self::Number(n) => write!(f, "{n}"),
        }
    }
}

impl<W: Word, const MIN: i64, const MAX: i64> Serialize for WordOr<W, MIN, MAX> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(_) => s.serialize_str(W::WORD),
            Self::Number(n) => s.serialize_i64(*n),
        }
    }
}

impl<'de, W: Word, const MIN: i64, const MAX: i64> Deserialize<'de> for WordOr<W, MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V<W, const MIN: i64, const MAX: i64>(PhantomData<W>);
        impl<W: Word, const MIN: i64, const MAX: i64> V<W, MIN, MAX> {
            fn number<E: de::Error>(value: serde_json::Value) -> Result<WordOr<W, MIN, MAX>, E> {
                serde_json::from_value::<Num<MIN, MAX>>(value)
                    .map(|n| WordOr::Number(n.get()))
                    .map_err(|_| {
                        E::custom(refusal(
                            format!("not \"{}\" and not an integer from {MIN} to {MAX}", W::WORD),
                            format!(
                                "give \"{}\" ({}) or an integer from {MIN} to {MAX}",
                                W::WORD,
                                W::MEANS
                            ),
                        ))
                    })
            }
        }
        impl<W: Word, const MIN: i64, const MAX: i64> Visitor<'_> for V<W, MIN, MAX> {
            type Value = WordOr<W, MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "\"{}\" or an integer from {MIN} to {MAX}", W::WORD)
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
                Self::number(v.into())
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
                Self::number(v.into())
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
                if v == W::WORD {
                    Ok(WordOr::WORD)
                } else {
                    Self::number(v.into())
                }
            }
        }
        d.deserialize_any(V(PhantomData))
    }
}

#[cfg(feature = "schema")]
impl<W: Word, const MIN: i64, const MAX: i64> schemars::JsonSchema for WordOr<W, MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}_or_{MIN}_{MAX}", W::WORD).into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "const": W::WORD, "description": W::MEANS },
            { "type": "integer", "minimum": MIN, "maximum": MAX },
            { "type": "string", "pattern": super::num::range_pattern(MIN, MAX) },
        ] })
    }
}

/// `auto`: ibplan leaves it to the fabric or the distribution and never calls that a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auto;

impl Word for Auto {
    const WORD: &'static str = "auto";
    const MEANS: &'static str = "left to the fabric, never a change";
}

/// `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlimited;

impl Word for Unlimited {
    const WORD: &'static str = "unlimited";
    const MEANS: &'static str = "no limit";
}

/// MTU of an IPoIB link in bytes: `auto` or 68 to 65520 (65520 is the largest in connected mode; linux: ipoib.h, IPOIB_CM_MTU).
pub type MtuWant = WordOr<Auto, 68, 65520>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_number_or_refusal() {
        let read = |json: &str| serde_json::from_str::<MtuWant>(json).map_err(|e| e.to_string());
        assert_eq!(read("\"auto\""), Ok(MtuWant::WORD));
        assert_eq!(read("2044"), Ok(MtuWant::Number(2044)));
        assert_eq!(read("\"2044\""), Ok(MtuWant::Number(2044)));
        for wrong in [
            "\"Auto\"",
            "67",
            "65521",
            "\"65521\"",
            "1.5",
            "null",
            "true",
            "\"\"",
        ] {
            assert!(read(wrong).is_err(), "{wrong} was taken");
        }
    }
}
