//! The file format of systemd (systemd.syntax(7)), as far as networkd's files need it.

/// One file: its sections in order; the same name may stand more than once, and for `[Route]` that counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ini {
    sections: Vec<(String, Vec<(String, String)>)>,
}

impl Ini {
    /// Reads a file. Comments and lines that are neither section nor assignment are skipped, as systemd skips them.
    pub(crate) fn parse(text: &str) -> Self {
        let mut out = Self::default();
        let mut carried = String::new();
        for line in text.lines() {
            let line = line.trim();
            // Comment lines may stand between continued lines (systemd.syntax(7)).
            if line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(part) = line.strip_suffix('\\') {
                carried.push_str(part);
                carried.push(' ');
                continue;
            }
            let whole = std::mem::take(&mut carried) + line;
            out.line(whole.trim());
        }
        out
    }

    fn line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            self.sections.push((name.to_owned(), Vec::new()));
        } else if let (Some((key, value)), Some((_, keys))) = (line.split_once('='), self.sections.last_mut())
        {
            keys.push((key.trim_end().to_owned(), value.trim_start().to_owned()));
        }
    }

    /// Puts a drop-in behind this file.
    pub(crate) fn extend(&mut self, other: Self) {
        self.sections.extend(other.sections);
    }

    /// Every value of a key in every section of that name; an empty assignment takes back those before it.
    pub(crate) fn all(&self, section: &str, key: &str) -> Vec<&str> {
        let mut out = Vec::new();
        for keys in self.each(section) {
            values(keys, key, &mut out);
        }
        out
    }

    /// The words of a key whose value is a list.
    pub(crate) fn words(&self, section: &str, key: &str) -> Vec<&str> {
        self.all(section, key)
            .into_iter()
            .flat_map(str::split_whitespace)
            .collect()
    }

    /// The value of a key that has one: the last.
    pub(crate) fn last(&self, section: &str, key: &str) -> Option<&str> {
        self.all(section, key).last().copied()
    }

    /// The sections of one name, each by itself.
    pub(crate) fn each(&self, section: &str) -> impl Iterator<Item = &[(String, String)]> {
        self.sections
            .iter()
            .filter(move |(name, _)| name == section)
            .map(|(_, keys)| keys.as_slice())
    }
}

/// The value of a key in one section: the last.
pub(crate) fn value<'a>(keys: &'a [(String, String)], key: &str) -> Option<&'a str> {
    let mut out = Vec::new();
    values(keys, key, &mut out);
    out.last().copied()
}

fn values<'a>(keys: &'a [(String, String)], key: &str, out: &mut Vec<&'a str>) {
    for (_, value) in keys.iter().filter(|(k, _)| k == key) {
        if value.is_empty() {
            out.clear();
        } else {
            out.push(value);
        }
    }
}

/// A boolean of systemd.
pub(crate) fn is_true(word: &str) -> bool {
    ["1", "yes", "y", "true", "t", "on"]
        .iter()
        .any(|t| word.eq_ignore_ascii_case(t))
}

/// Writes a file of this format.
#[derive(Debug)]
pub(crate) struct Writer(String);

impl Writer {
    /// Begins with a comment line.
    pub(crate) fn new(comment: &str) -> Self {
        Self(format!("# {comment}\n"))
    }

    /// One more comment line.
    pub(crate) fn comment(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&format!("# {text}\n"));
        self
    }

    /// A section.
    pub(crate) fn section(&mut self, name: &str) -> &mut Self {
        self.0.push_str(&format!("\n[{name}]\n"));
        self
    }

    /// An assignment.
    pub(crate) fn key(&mut self, key: &str, value: impl std::fmt::Display) -> &mut Self {
        self.0.push_str(&format!("{key}={value}\n"));
        self
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_systemd_does() {
        let ini = Ini::parse(
            "; c\nstray\n[Match]\nName=ib0 \\\n# inside\n ib1\n[Network]\nAddress = 10.0.0.1/24\nAddress=\nAddress=10.0.0.2/24\n[Route]\nGateway=a\n[Route]\nGateway=b\n[Empty]\n",
        );
        assert_eq!(ini.words("Match", "Name"), ["ib0", "ib1"]);
        assert_eq!(ini.all("Network", "Address"), ["10.0.0.2/24"]);
        assert_eq!(ini.each("Route").count(), 2);
        assert_eq!(ini.last("Route", "Gateway"), Some("b"));
        assert!(is_true("Yes") && !is_true("no"));
    }
}
