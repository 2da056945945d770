//! The sections `sysctl` and `sysctl_profile`.

use crate::types::num::kernel_integer as integer;
use crate::types::refusal;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// Kernel parameters by name, in either spelling of sysctl.d(5): `net.core.rmem_max`, `net/ipv4/conf/ib0.8001/rp_filter`
/// or `net.ipv4.conf.ib0/8001.rp_filter`. Each key keeps its spelling, so that a pointer leads back to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SysctlWant {
    entries: BTreeMap<SysctlKey, (String, SysctlValue)>,
    twice: Vec<(String, String)>,
}

impl SysctlWant {
    /// Key, its spelling in the document, and the wanted value, in order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&SysctlKey, &str, &SysctlValue)> {
        self.entries.iter().map(|(k, (text, v))| (k, text.as_str(), v))
    }

    /// Two spellings of one key, both in the document: the first and the one that is refused.
    pub fn twice(&self) -> &[(String, String)] {
        &self.twice
    }
}

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
    /// Larger socket buffers and backlog for TCP over IPoIB: rmem_max and wmem_max 134217728, tcp_rmem 4096 87380
    /// 134217728, tcp_wmem 4096 65536 134217728, netdev_max_backlog 250000. Does nothing for verbs traffic.
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
        let path = path_form(text);
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
        swap(&self.0)
    }

    /// The interface whose parameter it is, for `net/{ipv4,ipv6}/{conf,neigh}/LINK/…` and `net/mpls/conf/LINK/…`; `all` and
    /// `default` are no links.
    pub fn link(&self) -> Option<&str> {
        let words: Vec<&str> = self.0.split('/').collect();
        match words[..] {
            ["net", "ipv4" | "ipv6", "conf" | "neigh", link, _] | ["net", "mpls", "conf", link, _]
                if link != "all" && link != "default" =>
            {
                Some(link)
            }
            _ => None,
        }
    }
}

/// Dots for slashes and slashes for dots.
fn swap(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '/' => '.',
            '.' => '/',
            c => c,
        })
        .collect()
}

/// The path form of a key as a file spells it; globs are kept.
pub fn path_form(text: &str) -> String {
    match text.find(['.', '/']) {
        Some(at) if text.as_bytes()[at] == b'.' => swap(text),
        _ => text.to_owned(),
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

    /// The tokens as integers; `None` when one is not.
    pub fn integers(&self) -> Option<Vec<i128>> {
        self.0.iter().map(|t| integer(t)).collect()
    }

    /// Whether text says the same: token by token, numbers by value, since the kernel prints vectors with tabs and
    /// numbers in decimal.
    pub fn same(&self, text: &str) -> bool {
        let mut other = text.split_whitespace();
        self.0.iter().all(|mine| {
            other.next().is_some_and(|theirs| {
                mine == theirs || matches!((integer(mine), integer(theirs)), (Some(a), Some(b)) if a == b)
            })
        }) && other.next().is_none()
    }

    /// As the kernel will print it, but for its tabs: integers in decimal, tokens separated by blanks.
    pub fn kernel_text(&self) -> String {
        self.integers().map_or_else(
            || self.to_string(),
            |n| n.iter().map(i128::to_string).collect::<Vec<_>>().join(" "),
        )
    }
}

impl fmt::Display for SysctlValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl<'de> Deserialize<'de> for SysctlWant {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = SysctlWant;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("kernel parameters by name")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<SysctlWant, A::Error> {
                let mut want = SysctlWant::default();
                while let Some(text) = map.next_key::<String>()? {
                    // A bad key is refused while its value is read: so the error's path names the key.
                    let (key, value) = map.next_value_seed(Entry(&text))?;
                    if let Some((first, _)) = want.entries.get(&key) {
                        want.twice.push((first.clone(), text));
                    } else {
                        want.entries.insert(key, (text, value));
                    }
                }
                Ok(want)
            }
        }
        d.deserialize_map(V)
    }
}

struct Entry<'a>(&'a str);

impl<'de> de::DeserializeSeed<'de> for Entry<'_> {
    type Value = (SysctlKey, SysctlValue);

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        let key = SysctlKey::parse(self.0).map_err(de::Error::custom)?;
        Ok((key, SysctlValue::deserialize(d)?))
    }
}

/// One number of a vector given as a list; decimal text too, since templates give it.
struct Element(String);

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Element;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Element, E> {
                Ok(Element(v.to_string()))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Element, E> {
                Ok(Element(v.to_string()))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Element, E> {
                let digits = v.strip_prefix('-').unwrap_or(v);
                if (1..=20).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) {
                    Ok(Element(v.to_owned()))
                } else {
                    Err(E::custom(refusal(
                        format!("\"{}\" is not an integer", v.escape_debug()),
                        "give the numbers of the vector",
                    )))
                }
            }
        }
        d.deserialize_any(V)
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
                while let Some(Element(one)) = seq.next_element()? {
                    tokens.push(one);
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
impl schemars::JsonSchema for SysctlWant {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sysctl".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <BTreeMap<SysctlKey, SysctlValue>>::json_schema(generator)
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
            "pattern": "^(?=.{1,200}$)[A-Za-z0-9_:@+-]+((/(?!\\.{1,2}(/|$))[A-Za-z0-9_.:@+-]+)+|(\\.(?!/{1,2}(\\.|$))[A-Za-z0-9_/:@+-]+)+)$",
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
                { "type": "array", "minItems": 1, "items": { "anyOf": [
                    { "type": "integer" },
                    { "type": "string", "pattern": "^-?[0-9]{1,20}$" },
                ] } },
            ],
        })
    }
}
