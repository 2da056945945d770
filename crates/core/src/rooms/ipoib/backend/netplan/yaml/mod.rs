//! As much of YAML as netplan files are written in: block and flow maps and lists, plain and quoted scalars, comments.
//!
//! It never fails: a value in a form beyond that (anchors, block scalars, tags) is [`Node::Unknown`], and reading goes on
//! behind it, so that the interfaces of a foreign file are known even where some of its settings are not.

mod flow;
#[cfg(test)]
mod tests;

use flow::Flow;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A scalar, its quotes taken off. The empty plain scalar is null.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in order.
    Map(Vec<(String, Node)>),
    /// A form that is not understood.
    Unknown,
}

impl Node {
    /// The value of a key of a map. Of a key that stands twice, the last.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(pairs) => pairs.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The pairs of a map; none of anything else.
    pub(crate) fn pairs(&self) -> &[(String, Self)] {
        match self {
            Self::Map(pairs) => pairs,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// A boolean, in the spellings that netplan takes (netplan: src/parse.c, handle_generic_bool).
    pub(crate) fn is_true(&self) -> bool {
        self.text().is_some_and(|t| {
            ["true", "on", "yes", "y"]
                .iter()
                .any(|w| t.eq_ignore_ascii_case(w))
        })
    }
}

/// Deeper than any netplan file; bounds the stack.
const DEEPEST: usize = 32;

struct Line {
    indent: usize,
    text: String,
}

/// Reads the first document of a text.
pub(crate) fn parse(text: &str) -> Node {
    let mut lines = Vec::new();
    for raw in text.lines() {
        let line = without_comment(raw);
        let body = line.trim_start();
        match body.trim_end() {
            "" | "---" => continue,
            "..." => break,
            other if other.starts_with('%') && lines.is_empty() => continue,
            other => lines.push(Line {
                indent: line.len() - body.len(),
                text: other.to_owned(),
            }),
        }
    }
    Blocks { lines, at: 0 }.block(0, 0)
}

/// A `#` begins a comment at the begin of a line and behind a blank, outside of quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = b' ';
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let c = bytes[at];
        match quote {
            Some(b'"') if c == b'\\' => at += 1,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == b'#' && matches!(before, b' ' | b'\t') => return &line[..at],
            // A quote opens a scalar only where a scalar begins.
            None if matches!(c, b'"' | b'\'') && matches!(before, b' ' | b'\t' | b'[' | b'{' | b',') => {
                quote = Some(c);
            }
            None => {}
        }
        before = c;
        at += 1;
    }
    line
}

struct Blocks {
    lines: Vec<Line>,
    at: usize,
}

impl Blocks {
    /// The block that begins at the current line, if it is indented by at least `least`.
    fn block(&mut self, least: usize, depth: usize) -> Node {
        let Some(first) = self.lines.get(self.at).filter(|l| l.indent >= least) else {
            return Node::Scalar(String::new());
        };
        let indent = first.indent;
        if depth > DEEPEST {
            self.skip(least);
            return Node::Unknown;
        }
        if is_item(&first.text) {
            self.list(indent, depth)
        } else if split_key(&first.text).is_some() {
            self.map(indent, depth)
        } else {
            let text = first.text.clone();
            self.at += 1;
            self.inline(&text, least, depth)
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Node {
        let mut items = Vec::new();
        while let Some(line) = self.lines.get_mut(self.at).filter(|l| l.indent >= indent) {
            if line.indent > indent || !is_item(&line.text) {
                if line.indent == indent {
                    break;
                }
                self.at += 1;
                continue;
            }
            let rest = line.text[1..].trim_start().to_owned();
            if rest.is_empty() {
                self.at += 1;
                items.push(self.block(indent + 1, depth + 1));
                continue;
            }
            // What stands behind the dash is a block of its own, indented by where it begins.
            line.indent = indent + (line.text.len() - rest.len());
            line.text = rest;
            items.push(self.block(indent + 1, depth + 1));
        }
        Node::List(items)
    }

    fn map(&mut self, indent: usize, depth: usize) -> Node {
        let mut pairs = Vec::new();
        while let Some(line) = self.lines.get(self.at).filter(|l| l.indent >= indent) {
            let Some((key, rest)) = split_key(&line.text).filter(|_| line.indent == indent) else {
                if line.indent == indent && is_item(&line.text) {
                    break;
                }
                self.at += 1;
                continue;
            };
            self.at += 1;
            let value = if rest.is_empty() {
                // A list may stand as deep as its key.
                let list = self
                    .lines
                    .get(self.at)
                    .is_some_and(|l| l.indent == indent && is_item(&l.text));
                if list {
                    self.list(indent, depth + 1)
                } else {
                    self.block(indent + 1, depth + 1)
                }
            } else {
                self.inline(&rest, indent + 1, depth + 1)
            };
            pairs.push((key, value));
        }
        Node::Map(pairs)
    }

    /// A value that begins on the line of its key; lines at `least` and deeper go on with it.
    fn inline(&mut self, text: &str, least: usize, depth: usize) -> Node {
        let mut whole = text.to_owned();
        if text.starts_with(['&', '*', '!', '|', '>', '@', '`']) {
            self.skip(least);
            return Node::Unknown;
        }
        while let Some(line) = self.lines.get(self.at).filter(|l| l.indent >= least) {
            whole.push(' ');
            whole.push_str(&line.text);
            self.at += 1;
        }
        let mut flow = Flow::new(&whole);
        let value = if whole.starts_with(['[', '{', '"', '\'']) {
            flow.value(depth)
        } else {
            return Node::Scalar(whole);
        };
        if flow.rest().trim().is_empty() {
            value
        } else {
            Node::Unknown
        }
    }

    fn skip(&mut self, least: usize) {
        while self.lines.get(self.at).is_some_and(|l| l.indent >= least) {
            self.at += 1;
        }
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// `key: value`, `key:`, `"key": value`.
fn split_key(text: &str) -> Option<(String, String)> {
    if text.starts_with(['"', '\'']) {
        let mut flow = Flow::new(text);
        let key = flow.quoted()?;
        let rest = flow.rest().trim_start().strip_prefix(':')?;
        return (rest.is_empty() || rest.starts_with(' ')).then(|| (key, rest.trim().to_owned()));
    }
    if text.starts_with(['[', '{']) {
        return None;
    }
    if let Some((key, rest)) = text.split_once(": ") {
        return Some((key.trim_end().to_owned(), rest.trim().to_owned()));
    }
    text.strip_suffix(':').map(|key| (key.to_owned(), String::new()))
}

/// A scalar as it can stand anywhere: plain where no reader can take it for anything but text, else in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    let reserved = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        .iter()
        .any(|w| text.eq_ignore_ascii_case(w));
    if word && !reserved {
        return text.to_owned();
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
