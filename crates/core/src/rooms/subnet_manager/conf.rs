//! opensm.conf: read and edited key by key.
//!
//! The syntax is that of opensm's own reader (opensm: osm_subnet.c, `osm_subn_parse_conf_file`, `clean_val`): a key and a
//! value separated by blanks; `#` begins a comment anywhere, even inside quotes; one pair of quotes around the value is
//! stripped; the last of several lines with the same key wins. Comments, order and foreign keys survive an edit.

use super::options::{HIDDEN, SECRETS};

/// The head of a file that was not there before.
const HEAD: &str = "# Keys that ibplan keeps. Others may be added: they are left alone. See opensm(8).\n";

/// The lines of a file, each with its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conf {
    lines: Vec<String>,
}

/// Key and value of a line; `None` for a comment or an empty line.
fn parse(line: &str) -> Option<(&str, &str)> {
    let text = line.split('#').next().unwrap_or("");
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let (key, value) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let value = value.trim();
    let quoted = value.len() >= 2
        && ((value.starts_with('"') && value.ends_with('"'))
            || (value.starts_with('\'') && value.ends_with('\'')));
    let value = if quoted { &value[1..value.len() - 1] } else { value };
    (!key.is_empty()).then_some((key, value))
}

impl Conf {
    /// Reads a file; a missing one begins with a line that says whose keys it holds.
    pub fn read(bytes: Option<&[u8]>) -> Self {
        let text = bytes.map_or_else(|| HEAD.to_owned(), octets);
        Self {
            lines: text.split_inclusive('\n').map(str::to_owned).collect(),
        }
    }

    /// The value that counts: that of the last line with this key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.lines
            .iter()
            .rev()
            .find_map(|l| parse(l).filter(|(k, _)| *k == key).map(|(_, v)| v))
    }

    /// Sets a key on the line that counts, else on a new line at the end. A comment behind the value stays.
    pub fn set(&mut self, key: &str, value: &str) {
        let at = self
            .lines
            .iter()
            .rposition(|l| parse(l).is_some_and(|(k, _)| k == key));
        match at {
            Some(at) => {
                let comment = self.lines[at].find('#').map(|from| {
                    let end = self.lines[at].trim_end_matches(['\r', '\n']).len();
                    self.lines[at][from..end].to_owned()
                });
                let tail = comment.map(|c| format!(" {c}")).unwrap_or_default();
                self.lines[at] = format!("{key} {value}{tail}\n");
            }
            None => {
                if let Some(last) = self.lines.last_mut()
                    && !last.ends_with('\n')
                {
                    last.push('\n');
                }
                self.lines.push(format!("{key} {value}\n"));
            }
        }
    }

    /// Takes a key back to what it was before ibplan set it: a value, or no line.
    pub fn restore(&mut self, key: &str, former: Option<&str>) {
        match former {
            Some(value) => self.set(key, value),
            None => self.lines.retain(|l| parse(l).is_none_or(|(k, _)| k != key)),
        }
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        unoctets(&self.lines.concat())
    }
}

/// Bytes as text, one character for each, so that comments in any encoding survive an edit.
pub(super) fn octets(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

/// Back to bytes; what an edit put in is ASCII.
pub(super) fn unoctets(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()
}

/// The text of a file with its secrets hidden.
pub fn mask(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match parse(line) {
            Some((key, _)) if SECRETS.contains(&key) => format!("{key} {HIDDEN}\n"),
            _ => line.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(conf: &Conf) -> String {
        String::from_utf8(conf.bytes()).unwrap()
    }

    const SHIPPED: &str = "# The port\nguid 0x0000000000000000\n\n# priority\nsm_priority 0\nlog_file '/var/log/x.log' # here\nsm_priority 3 # set by hand\nqos TRUE";

    #[test]
    fn the_last_line_counts_and_is_edited_in_place() {
        let mut conf = Conf::read(Some(SHIPPED.as_bytes()));
        assert_eq!(conf.get("sm_priority"), Some("3"));
        assert_eq!(conf.get("log_file"), Some("/var/log/x.log"));
        assert_eq!(conf.get("nothing"), None);
        conf.set("sm_priority", "14");
        conf.set("sweep_interval", "5");
        assert_eq!(
            text(&conf),
            SHIPPED.replace("sm_priority 3", "sm_priority 14") + "\nsweep_interval 5\n"
        );
        assert_eq!(conf.get("sm_priority"), Some("14"));
    }

    #[test]
    fn restoring_gives_the_former_file_back() {
        let shipped = format!("{SHIPPED}\n");
        let mut conf = Conf::read(Some(shipped.as_bytes()));
        conf.set("sm_priority", "14");
        conf.set("sweep_interval", "5");
        conf.restore("sm_priority", Some("3"));
        conf.restore("sweep_interval", None);
        assert_eq!(text(&conf), shipped);
    }

    #[test]
    fn reads_as_opensm_does() {
        for (line, want) in [
            ("key value\n", Some(("key", "value"))),
            ("\t key\tvalue more \n", Some(("key", "value more"))),
            ("key \"a b\"\n", Some(("key", "a b"))),
            ("key \"a # b\"\n", Some(("key", "\"a"))),
            ("key\n", Some(("key", ""))),
            ("#key value\n", None),
            ("   \n", None),
            ("key '\n", Some(("key", "'"))),
        ] {
            assert_eq!(parse(line), want, "{line:?}");
        }
    }

    #[test]
    fn secrets_are_hidden_and_nothing_else() {
        let shown = mask("m_key 0x12 # x\nsm_key 0x34\nsm_priority 3\n# m_key 0x0\n");
        assert_eq!(
            shown,
            "m_key (hidden)\nsm_key (hidden)\nsm_priority 3\n# m_key 0x0\n"
        );
    }

    #[test]
    fn any_text_survives_set_and_restore_of_a_new_key() {
        for bytes in [
            &b""[..],
            b"\n",
            b"a b\n",
            b"a b\r\nc d\r\n",
            b"# only a comment\n\n\n",
            b"# caf\xe9 \xff\n",
        ] {
            let mut conf = Conf::read(Some(bytes));
            conf.set("zz", "1");
            assert_eq!(conf.get("zz"), Some("1"));
            conf.restore("zz", None);
            assert_eq!(conf.bytes(), bytes);
        }
    }
}
