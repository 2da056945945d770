//! Colours, and text that fits.

use anstyle::{AnsiColor, Style};

/// A heading.
pub(crate) const HEAD: Style = Style::new().bold();
/// Something of less weight.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Added, or good.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Removed, or bad.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Worth a second look: warnings, and what a step disturbs.
pub(crate) const LOUD: Style = AnsiColor::Yellow.on_default().bold();
/// An added line.
pub(crate) const PLUS: Style = AnsiColor::Green.on_default();
/// A removed line.
pub(crate) const MINUS: Style = AnsiColor::Red.on_default();
/// Places and hunks.
pub(crate) const PLACE: Style = AnsiColor::Cyan.on_default();

/// Text from a document or host without anything that a terminal would obey: control characters are escaped, tabs
/// become one space.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let harmless = !c.is_control() && !is_direction(c);
            let shown = match (c, harmless) {
                ('\t', _) => " ".to_owned(),
                (_, true) => c.to_string(),
                _ => c.escape_unicode().to_string(),
            };
            shown.chars().collect::<Vec<_>>()
        })
        .collect()
}

/// Characters that turn the direction of what follows: a line would read otherwise than it is.
const fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `1 change`, `2 changes`.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}

/// Breaks at blanks; every line but the first begins with `indent`, and the text ends with a newline.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut column = indent.chars().count();
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !out.is_empty() && column + 1 + length > width {
            out.push('\n');
            out.push_str(indent);
            column = indent.chars().count();
        } else if !out.is_empty() {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

/// A table: columns as wide as their widest cell, two blanks between, no blanks at the end.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| {
            rows.iter()
                .filter_map(|r| r.get(c))
                .map(|s| s.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::from("  ");
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(
                ' ',
                width.saturating_sub(cell.chars().count()) + 2,
            ));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
