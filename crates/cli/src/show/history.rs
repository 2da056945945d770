//! Checks of `verify`, and transactions of `last`.

use super::change::words;
use super::style::{BAD, DIM, GOOD, HEAD, clean, count, table, wrap};
use ibplan_core::protocol::Check;
use serde_json::Value;
use std::fmt::Write;

/// The checks, what is wrong with its advice.
pub(super) fn checks(checks: &[Check]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let mut text = format!("{HEAD}checks{HEAD:#}\n");
    for check in checks {
        let (style, word) = if check.ok { (GOOD, "ok  ") } else { (BAD, "FAIL") };
        let _ = write!(
            text,
            "  {style}{word}{style:#} {} {}",
            check.level,
            clean(&check.name)
        );
        if check.ok {
            let _ = writeln!(text, ": {}", cell(&check.found));
        } else {
            let _ = writeln!(
                text,
                ": wanted {}, found {}",
                cell(&check.wanted),
                found(&check.found)
            );
            if !check.advice.is_empty() {
                let _ = write!(text, "       {}", wrap(&clean(&check.advice), 100, "       "));
            }
        }
    }
    text.push('\n');
    text
}

/// The transactions that are kept, and how to take one back.
pub(super) fn last(facts: &Value) -> String {
    let rows = match facts.get("transactions") {
        Some(Value::Array(rows)) if !rows.is_empty() => rows,
        _ => return "No transaction is kept on this host.\n".to_owned(),
    };
    let mut cells = vec![
        ["TRANSACTION", "BEGAN", "PHASE", "STEPS", "SECTIONS"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for row in rows {
        let at = |name: &str| row.get(name).map_or_else(|| "-".to_owned(), cell);
        let steps = row.get("steps").and_then(Value::as_array).map_or(0, Vec::len);
        cells.push(vec![
            at("transaction"),
            began(row),
            at("phase"),
            steps.to_string(),
            at("sections"),
        ]);
    }
    let mut text = table(&cells);
    if let [only] = rows.as_slice() {
        for step in only.get("steps").and_then(Value::as_array).into_iter().flatten() {
            let step = cell(step);
            let told = match step.split_once(' ') {
                Some((action, target)) => format!("{} {target}", words(action)),
                None => step,
            };
            let _ = writeln!(text, "    {told}");
        }
    }
    let _ = writeln!(
        text,
        "{DIM}Take one back, and those after it, with: ibplan rollback --transaction N{DIM:#}"
    );
    text
}

/// When a transaction began, in UTC.
fn began(row: &Value) -> String {
    match row.get("began").and_then(Value::as_u64) {
        Some(seconds) => utc(seconds),
        None => row.get("began").map_or_else(|| "-".to_owned(), cell),
    }
}

/// Seconds since 1970 as `2024-05-01 10:00:00 UTC`: the civil calendar, counted in eras of 400 years from a March.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 {
        (year, month + 3)
    } else {
        (year + 1, month - 9)
    };
    format!(
        "{:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        year + era * 400,
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
}

/// A list of differences is counted: they are shown as changes.
fn found(value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().all(Value::is_object) => count(items.len(), "difference"),
        other => cell(other),
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(word) => clean(word),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => clean(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn seconds_become_a_date() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_208_000, "2024-02-29 12:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(seconds), date);
        }
    }
}
