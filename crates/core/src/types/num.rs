//! Integers of the document: a range, and decimal strings taken too, since templates give them.

use super::refusal;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// An integer from `MIN` to `MAX`. In a document it may be a JSON integer or a string of decimal digits
/// (`"2044"`); a fraction, an exponent, a sign without need or blanks are refused, never guessed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Num<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Num<MIN, MAX> {
    /// The value, if it is in range.
    pub fn new(value: i64) -> Option<Self> {
        (MIN..=MAX).contains(&value).then_some(Self(value))
    }

    /// The value.
    pub const fn get(self) -> i64 {
        self.0
    }

    fn out_of_range(shown: impl fmt::Display) -> String {
        refusal(
            format!("{shown} is outside {MIN} to {MAX}"),
            format!("give an integer from {MIN} to {MAX}"),
        )
    }

    fn parse(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'))
            && text != "-0";
        if !plain {
            return Err(refusal(
                format!("\"{}\" is not an integer", text.escape_debug()),
                format!("give an integer from {MIN} to {MAX}, plain decimal digits"),
            ));
        }
        text.parse()
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| Self::out_of_range(text))
    }
}

impl<const MIN: i64, const MAX: i64> fmt::Display for Num<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Num<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V<const MIN: i64, const MAX: i64>;
        impl<const MIN: i64, const MAX: i64> Visitor<'_> for V<MIN, MAX> {
            type Value = Num<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an integer from {MIN} to {MAX}")
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
                Num::new(v).ok_or_else(|| E::custom(Num::<MIN, MAX>::out_of_range(v)))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
                i64::try_from(v)
                    .ok()
                    .and_then(Num::new)
                    .ok_or_else(|| E::custom(Num::<MIN, MAX>::out_of_range(v)))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
                Num::parse(v).map_err(E::custom)
            }
        }
        d.deserialize_any(V::<MIN, MAX>)
    }
}

#[cfg(feature = "schema")]
impl<const MIN: i64, const MAX: i64> schemars::JsonSchema for Num<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Integer_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "integer", "minimum": MIN, "maximum": MAX },
            { "type": "string", "pattern": super::num::range_pattern(MIN, MAX) },
        ] })
    }
}

/// An integer as the kernel reads one: decimal, `0x` for hexadecimal, a leading 0 for octal (linux: kernel/sysctl.c,
/// proc_get_long; lib/kstrtox.c).
pub fn kernel_integer(token: &str) -> Option<i128> {
    let (negative, digits) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let (base, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(rest) => (16, rest),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(digits, base).ok()?;
    Some(if negative { -value } else { value })
}

/// A regular expression that matches exactly the decimal forms of `min..=max`, so that a validator and serde agree.
#[cfg(any(feature = "schema", test))]
pub fn range_pattern(min: i64, max: i64) -> String {
    let mut parts = Vec::new();
    if min < 0 {
        let top = if max < 0 { max.unsigned_abs() } else { 1 };
        parts.extend(
            positive(top, min.unsigned_abs())
                .into_iter()
                .map(|p| format!("-{p}")),
        );
    }
    if max >= 0 {
        parts.extend(positive(min.max(0).unsigned_abs(), max.unsigned_abs()));
    }
    format!("^({})$", parts.join("|"))
}

/// The alternatives for `min..=max`, both at least 0: cut at each power of ten, then digit by digit.
#[cfg(any(feature = "schema", test))]
fn positive(min: u64, max: u64) -> Vec<String> {
    let mut parts = Vec::new();
    let mut low = min;
    while low <= max {
        let digits = low.to_string().len();
        let high = 10u64
            .checked_pow(u32::try_from(digits).unwrap_or(19))
            .map_or(u64::MAX, |p| p - 1)
            .min(max);
        same_length(&low.to_string(), &high.to_string(), "", &mut parts);
        if high == u64::MAX {
            break;
        }
        low = high + 1;
    }
    parts
}

#[cfg(any(feature = "schema", test))]
fn same_length(low: &str, high: &str, prefix: &str, parts: &mut Vec<String>) {
    let (l, h) = (low.as_bytes(), high.as_bytes());
    let rest = l.len().saturating_sub(1);
    if l.is_empty() {
        parts.push(prefix.to_owned());
        return;
    }
    let (full_low, full_high) = (
        low[1..].bytes().all(|b| b == b'0'),
        high[1..].bytes().all(|b| b == b'9'),
    );
    if l[0] == h[0] && !(full_low && full_high) {
        same_length(&low[1..], &high[1..], &format!("{prefix}{}", l[0] as char), parts);
        return;
    }
    let (mut first, mut last) = (l[0], h[0]);
    if !full_low {
        same_length(
            &low[1..],
            &"9".repeat(rest),
            &format!("{prefix}{}", first as char),
            parts,
        );
        first += 1;
    }
    let tail = if full_high {
        None
    } else {
        last -= 1;
        Some(&high[1..])
    };
    if first <= last {
        let class = if first == last {
            format!("{}", first as char)
        } else {
            format!("[{}-{}]", first as char, last as char)
        };
        let digits = match rest {
            0 => String::new(),
            1 => "[0-9]".to_owned(),
            n => format!("[0-9]{{{n}}}"),
        };
        parts.push(format!("{prefix}{class}{digits}"));
    }
    if let Some(tail) = tail {
        same_length(
            &"0".repeat(rest),
            tail,
            &format!("{prefix}{}", h[0] as char),
            parts,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<i64, String> {
        serde_json::from_str::<Num<0, 15>>(json)
            .map(Num::get)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn takes_integers_and_plain_decimal_strings_only() {
        assert_eq!(parse("14"), Ok(14));
        assert_eq!(parse("\"14\""), Ok(14));
        for wrong in [
            "16", "-1", "\"16\"", "\"014\"", "\" 14\"", "\"+4\"", "\"-0\"", "\"0x4\"", "1.0", "true", "null",
            "\"\"",
        ] {
            assert!(parse(wrong).is_err(), "{wrong} was taken");
        }
    }

    #[test]
    fn patterns_match_exactly_their_range() {
        for (min, max) in [
            (0, 15),
            (1, 8192),
            (68, 65520),
            (-1, 1),
            (-120, 7),
            (0, 9),
            (100, 100),
            (1, 0x7fff),
            (999, 1001),
        ] {
            let pattern = range_pattern(min, max);
            let regex = Simple::new(&pattern);
            for value in (min - 300)..=(max + 300) {
                assert_eq!(
                    regex.matches(&value.to_string()),
                    (min..=max).contains(&value),
                    "{value} against {pattern}"
                );
            }
        }
    }

    /// Just enough of a matcher for what `range_pattern` writes: alternatives of literals, `[a-b]` and `{n}`.
    struct Simple(Vec<Vec<(u8, u8)>>);

    impl Simple {
        fn new(pattern: &str) -> Self {
            let inner = &pattern[2..pattern.len() - 2];
            Self(inner.split('|').map(Self::alternative).collect())
        }

        fn alternative(text: &str) -> Vec<(u8, u8)> {
            let (b, mut i, mut out) = (text.as_bytes(), 0, Vec::new());
            while i < b.len() {
                match b[i] {
                    b'[' => {
                        out.push((b[i + 1], b[i + 3]));
                        i += 5;
                    }
                    b'{' => {
                        let end = text[i..].find('}').unwrap() + i;
                        let times: usize = text[i + 1..end].parse().unwrap();
                        let last = *out.last().unwrap();
                        out.extend(std::iter::repeat_n(last, times - 1));
                        i = end + 1;
                    }
                    c => {
                        out.push((c, c));
                        i += 1;
                    }
                }
            }
            out
        }

        fn matches(&self, text: &str) -> bool {
            self.0.iter().any(|alt| {
                alt.len() == text.len()
                    && alt
                        .iter()
                        .zip(text.bytes())
                        .all(|((lo, hi), b)| (*lo..=*hi).contains(&b))
            })
        }
    }
}
