//! The flow style of YAML: `[a, b]`, `{a: b}`, quoted scalars.

use super::{DEEPEST, Node};

/// A reader over the text of one value, which may be joined from several lines.
pub(super) struct Flow<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Flow<'a> {
    /// At the begin of a text.
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, c: char) -> bool {
        self.blanks();
        let hit = self.rest().starts_with(c);
        self.at += if hit { c.len_utf8() } else { 0 };
        hit
    }

    /// The next value.
    pub(super) fn value(&mut self, depth: usize) -> Node {
        self.blanks();
        if depth > DEEPEST {
            self.at = self.text.len();
            return Node::Unknown;
        }
        match self.rest().chars().next() {
            Some('[') => self.list(depth),
            Some('{') => self.map(depth),
            Some('"' | '\'') => self.quoted().map_or(Node::Unknown, Node::Scalar),
            Some('&' | '*' | '!' | '|' | '>') => {
                self.plain();
                Node::Unknown
            }
            _ => Node::Scalar(self.plain().to_owned()),
        }
    }

    fn list(&mut self, depth: usize) -> Node {
        self.take('[');
        let mut items = Vec::new();
        loop {
            if self.take(']') {
                return Node::List(items);
            }
            let before = self.at;
            items.push(self.value(depth + 1));
            if !self.take(',') && !self.rest().starts_with(']') && self.at == before {
                return Node::Unknown;
            }
            if self.rest().is_empty() {
                return Node::Unknown;
            }
        }
    }

    fn map(&mut self, depth: usize) -> Node {
        self.take('{');
        let mut pairs = Vec::new();
        loop {
            if self.take('}') {
                return Node::Map(pairs);
            }
            let before = self.at;
            let key = match self.rest().chars().next() {
                Some('"' | '\'') => self.quoted(),
                _ => Some(self.plain().to_owned()),
            };
            let value = if self.take(':') {
                self.blanks();
                if self.rest().starts_with([',', '}']) {
                    Node::Scalar(String::new())
                } else {
                    self.value(depth + 1)
                }
            } else {
                Node::Scalar(String::new())
            };
            pairs.extend(key.map(|k| (k, value)));
            if !self.take(',') && !self.rest().starts_with('}') && self.at == before {
                return Node::Unknown;
            }
            if self.rest().is_empty() {
                return Node::Unknown;
            }
        }
    }

    /// A plain scalar ends at a mark of the flow around it; a colon ends it only before a blank or such a mark.
    fn plain(&mut self) -> &'a str {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let end = (0..bytes.len())
            .find(|&at| match bytes[at] {
                b',' | b']' | b'}' | b'[' | b'{' => true,
                b':' => matches!(bytes.get(at + 1), None | Some(b' ' | b',' | b'}' | b']')),
                _ => false,
            })
            .unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim()
    }

    /// A scalar in quotes; `None` where the closing one is missing.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let rest = self.rest();
        let quote = rest.chars().next()?;
        let mut out = String::new();
        let mut chars = rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                if quote == '\'' && chars.next_if(|(_, n)| *n == '\'').is_some() {
                    out.push('\'');
                    continue;
                }
                self.at += at + c.len_utf8();
                return Some(out);
            }
            if c == '\\' && quote == '"' {
                let (_, escaped) = chars.next()?;
                out.push(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
            } else {
                out.push(c);
            }
        }
        self.at = self.text.len();
        None
    }
}
