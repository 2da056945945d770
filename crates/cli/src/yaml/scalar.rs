//! What a plain scalar means.

use serde_json::{Number, Value};

/// Why a scalar is refused: message and hint.
pub(super) type Refused = (String, &'static str);

/// Reads a plain scalar: YAML 1.2 core schema (chapter 10.3), without what YAML 1.1 reads otherwise.
///
/// A hexadecimal number of more than eight digits stays text: it is a GUID, a key or a subnet prefix, and every field
/// of the document that takes such a thing takes it as written.
pub(super) fn plain(text: &str) -> Result<Value, Refused> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    if ["yes", "no", "on", "off"].contains(&text.to_ascii_lowercase().as_str()) {
        return Err((
            format!("`{text}` is a boolean for some readers of YAML and a word for others"),
            "write true or false, or put the word in quotes",
        ));
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(hex) = text
        .strip_prefix("0x")
        .filter(|h| all(h, |b| b.is_ascii_hexdigit()))
    {
        return Ok(match (hex.len() <= 8, u32::from_str_radix(hex, 16)) {
            (true, Ok(n)) => n.into(),
            _ => text.into(),
        });
    }
    if let Some(octal) = text
        .strip_prefix("0o")
        .filter(|o| all(o, |b| (b'0'..=b'7').contains(&b)))
    {
        return u64::from_str_radix(octal, 8)
            .map(Value::from)
            .map_err(|_| too_large(text));
    }
    if all(digits, |b| b.is_ascii_digit()) {
        return integer(text, digits);
    }
    if digits.starts_with(|c: char| c.is_ascii_digit()) && all(digits, |b| b.is_ascii_digit() || b == b'_') {
        return Err((
            format!("`{text}` is a number for some readers of YAML and a word for others"),
            "write the digits without `_`, or put the word in quotes",
        ));
    }
    if matches!(digits.to_ascii_lowercase().as_str(), ".inf" | ".nan") {
        return Err((
            format!("`{text}` is not a number that JSON has"),
            "give a finite number",
        ));
    }
    if is_float(digits) {
        return float(text);
    }
    Ok(text.into())
}

fn all(text: &str, test: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(test)
}

fn integer(text: &str, digits: &str) -> Result<Value, Refused> {
    if digits.len() > 1 && digits.starts_with('0') {
        return Err((
            format!("`{text}` is octal for some readers of YAML and decimal for others"),
            "write the number without leading zeros, or put the text in quotes",
        ));
    }
    let plain = text.strip_prefix('+').unwrap_or(text);
    if let Ok(n) = plain.parse::<u64>() {
        return Ok(n.into());
    }
    plain
        .parse::<i64>()
        .map_or_else(|_| float(text), |n| Ok(n.into()))
}

/// `[0-9]+ . [0-9]*` or `. [0-9]+`, with an exponent or not, not only digits.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    mantissa_fits
        && exponent.is_none_or(|e| all(e.strip_prefix(['-', '+']).unwrap_or(e), |b| b.is_ascii_digit()))
}

fn float(text: &str) -> Result<Value, Refused> {
    text.parse()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
        .ok_or_else(|| too_large(text))
}

fn too_large(text: &str) -> Refused {
    (
        format!("the number `{text}` is out of range"),
        "give a number that 64 bits can hold",
    )
}
