//! The service settings: `KEY="value"` lines that a launch script sources (/etc/sysconfig/opensm) or that systemd reads
//! as an EnvironmentFile (/etc/default/opensm; no expansion, no comment behind a value: systemd.exec(5)).

use super::conf::{octets, unoctets};

/// The lines of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    lines: Vec<String>,
}

/// The variable that a line sets, and its value without quotes.
fn parse(line: &str) -> Option<(&str, String)> {
    let text = line.trim();
    if text.starts_with(['#', ';']) {
        return None;
    }
    let (name, value) = text.strip_prefix("export ").unwrap_or(text).split_once('=')?;
    let word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !word || name.is_empty() {
        return None;
    }
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or("").to_owned(),
        _ => value.to_owned(),
    };
    Some((name, value.replace("\\\n", " ").trim().to_owned()))
}

impl Settings {
    /// Reads a file, or begins an empty one. A line that ends with a backslash goes on in the next.
    pub fn read(bytes: Option<&[u8]>) -> Self {
        let text = octets(bytes.unwrap_or_default());
        let mut lines: Vec<String> = Vec::new();
        let mut goes_on = false;
        for line in text.split_inclusive('\n') {
            match lines.last_mut() {
                Some(last) if goes_on => last.push_str(line),
                _ => lines.push(line.to_owned()),
            }
            goes_on = line.trim_end_matches(['\r', '\n']).ends_with('\\') && !line.trim().starts_with('#');
        }
        Self { lines }
    }

    /// The value that counts: the last.
    pub fn get(&self, key: &str) -> Option<String> {
        self.lines
            .iter()
            .rev()
            .find_map(|l| parse(l).filter(|(k, _)| *k == key).map(|(_, v)| v))
    }

    /// Sets a variable on the line that counts, else on a new line at the end.
    pub fn set(&mut self, key: &str, value: &str) {
        let new = format!("{key}=\"{value}\"\n");
        let at = self
            .lines
            .iter()
            .rposition(|l| parse(l).is_some_and(|(k, _)| k == key));
        if let Some(line) = at.and_then(|at| self.lines.get_mut(at)) {
            *line = new;
            return;
        }
        if let Some(last) = self.lines.last_mut()
            && !last.ends_with('\n')
        {
            last.push('\n');
        }
        self.lines.push(new);
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        unoctets(&self.lines.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Settings {
        Settings::read(Some(text.as_bytes()))
    }

    fn text(settings: &Settings) -> String {
        String::from_utf8(settings.bytes()).unwrap()
    }

    #[test]
    fn edits_the_line_that_counts_and_keeps_the_rest() {
        let debian = "# ALL: start opensm on all ports\n\n#PORTS=\"0x1 0x2\"\n\nPORTS=ALL\n\n";
        let mut debian_file = file(debian);
        assert_eq!(debian_file.get("PORTS").as_deref(), Some("ALL"));
        debian_file.set("PORTS", "0x1");
        assert_eq!(text(&debian_file), debian.replace("PORTS=ALL", "PORTS=\"0x1\""));
        let mut el = file("#GUIDS=\"0x1\"\n#PRIORITY=15");
        assert_eq!(el.get("GUIDS"), None);
        el.set("PRIORITY", "");
        assert_eq!(text(&el), "#GUIDS=\"0x1\"\n#PRIORITY=15\nPRIORITY=\"\"\n");
    }

    #[test]
    fn reads_quotes_exports_and_long_lines() {
        for (line, value) in [
            ("GUIDS='0x1 0x2' # two\n", "0x1 0x2"),
            ("export GUIDS=\"0x1\"\n", "0x1"),
            ("GUIDS=\"0x1 \\\n0x2\"\n", "0x1  0x2"),
            ("GUIDS=\nGUIDS=0x3\n", "0x3"),
        ] {
            assert_eq!(file(line).get("GUIDS").as_deref(), Some(value), "{line}");
        }
        let mut long = file("GUIDS=\"0x1 \\\n0x2\"\nX=1\n");
        long.set("GUIDS", "");
        assert_eq!(text(&long), "GUIDS=\"\"\nX=1\n");
        assert_eq!(Settings::read(None).get("GUIDS"), None);
    }
}
