//! As much of YAML as netplan files are written in: block and flow maps and lists, plain and quoted scalars, comments.
//!
//! It never fails: a value in a form beyond that (anchors, block scalars, tags) is [`Node::Unknown`], and reading goes on
//! behind it, so that the interfaces of a foreign file are known even where some of its settings are not.

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
        let mut flow = Flow { text: &whole, at: 0 };
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
        let mut flow = Flow { text, at: 0 };
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

struct Flow<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Flow<'a> {
    fn rest(&self) -> &'a str {
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

    fn value(&mut self, depth: usize) -> Node {
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

    fn quoted(&mut self) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Node {
        Node::Scalar(text.to_owned())
    }

    #[test]
    fn reads_block_and_flow() {
        let doc = parse(
            "# c\n---\nnetwork:\n  version: 2 # two\n  ethernets:\n    ib0: {mtu: 2044, addresses: [10.0.0.1/24, \"fd00::1/64\"], on:}\n    'ib 1':\n      addresses:\n      - 10.0.0.2/24\n      - fd00::2/64: {lifetime: 0}\n      routes:\n        - to: default\n          via: 10.0.0.254\n        -\n          to: 10.1.0.0/16\n      nameservers: {addresses: [1.1.1.1,\n         2.2.2.2]}\n    ib2: &x\n      mtu: 5\n    ib3: *x\n    ib4:\n    \"ib5\": \"a \\\"#\\\" 'b'\"\n  renderer: |\n    networkd\n  x: y\n",
        );
        let net = doc.get("network").unwrap();
        let ethernets = net.get("ethernets").unwrap();
        let names: Vec<&str> = ethernets.pairs().iter().map(|(k, _)| k.as_str()).collect();
        assert_eq!(names, ["ib0", "ib 1", "ib2", "ib3", "ib4", "ib5"]);
        let ib0 = ethernets.get("ib0").unwrap();
        assert_eq!(ib0.get("mtu"), Some(&s("2044")));
        assert_eq!(
            ib0.get("addresses").unwrap().items(),
            [s("10.0.0.1/24"), s("fd00::1/64")]
        );
        assert_eq!(ib0.get("on"), Some(&s("")));
        let ib1 = ethernets.get("ib 1").unwrap();
        assert_eq!(
            ib1.get("addresses").unwrap().items()[1].pairs()[0].0,
            "fd00::2/64"
        );
        assert_eq!(
            ib1.get("routes").unwrap().items()[0].get("via"),
            Some(&s("10.0.0.254"))
        );
        assert_eq!(
            ib1.get("routes").unwrap().items()[1].get("to"),
            Some(&s("10.1.0.0/16"))
        );
        assert_eq!(
            ib1.get("nameservers").unwrap().get("addresses").unwrap().items(),
            [s("1.1.1.1"), s("2.2.2.2")]
        );
        assert_eq!(ethernets.get("ib2"), Some(&Node::Unknown));
        assert_eq!(ethernets.get("ib3"), Some(&Node::Unknown));
        assert_eq!(ethernets.get("ib4"), Some(&s("")));
        assert_eq!(ethernets.get("ib5"), Some(&s("a \"#\" 'b'")));
        assert_eq!(net.get("version"), Some(&s("2")));
        assert_eq!(
            (net.get("renderer"), net.get("x")),
            (Some(&Node::Unknown), Some(&s("y")))
        );
    }

    #[test]
    fn scalars_come_back() {
        for text in [
            "ib0",
            "0x1",
            "on",
            "1e5",
            "a: b",
            "it's",
            "a\"b\\c",
            "x#y",
            "- z",
            "",
            "fd00::1/64",
            "ib0.8001",
            "a@1+x",
        ] {
            let doc = parse(&format!("k: {}\nl: [{}]\n", scalar(text), scalar(text)));
            assert_eq!(doc.get("k"), Some(&s(text)), "{text}");
            assert_eq!(doc.get("l"), Some(&Node::List(vec![s(text)])), "{text}");
        }
    }

    proptest::proptest! {
        /// Whatever a foreign file holds, reading ends and nothing breaks.
        #[test]
        fn never_fails(text in "([ \\t]{0,4}(- ?|[a-c]{1,2}:? ?|[\\[\\]{}\"',:#&|é]|\\n){0,6}\\n?){0,12}") {
            let _ = parse(&text);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let _ = parse(&"- ".repeat(100_000));
        let _ = parse(&"[".repeat(100_000));
        let _ = parse(&"{a: ".repeat(50_000));
        let deep: String = (0..3000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        let _ = parse(&deep);
    }
}
