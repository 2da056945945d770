//! Names of network interfaces.

use super::{refusal, string_newtype};
use std::fmt;

/// A network interface name: 1 to 15 bytes, no `/`, no blank, not `.` or `..` (linux: net/core/dev.c, dev_valid_name).
///
/// ibplan also refuses what no tool's configuration file can carry: a leading `-`, and anything but letters, digits,
/// `.`, `_`, `-`, `@` and `+`. Such a name becomes part of file names and of files in six dialects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IfName(String);

/// Longest name in bytes (IFNAMSIZ - 1).
pub const MAX_IFNAME: usize = 15;

impl IfName {
    /// Reads a name.
    ///
    /// # Errors
    /// A packed refusal.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shown = text.escape_debug();
        if text.len() > MAX_IFNAME {
            return Err(refusal(
                format!(
                    "interface name \"{shown}\" has {} characters, the kernel takes {MAX_IFNAME}",
                    text.len()
                ),
                "give a name of at most 15 characters",
            ));
        }
        let ok = !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-@+".contains(&b))
            && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if ok && text != "all" && text != "default" && text != "lo" {
            Ok(Self(text.to_owned()))
        } else {
            Err(refusal(
                format!("\"{shown}\" is not the name of a network interface"),
                "use letters, digits, '.', '_' and '-', beginning with a letter or digit; \"all\", \"default\" and \"lo\" are taken by the kernel",
            ))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IfName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

string_newtype!(
    IfName,
    "InterfaceName",
    "^(?!(all|default|lo)$)[A-Za-z0-9_][A-Za-z0-9._@+-]{0,14}$",
    "Network interface name, 1 to 15 characters: letters, digits, '.', '_', '-', '@', '+'."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_names_and_refuses_traps() {
        for name in ["ib0", "ib0.8001", "ibp129s0f0d1", "ibP1p65s0", "bond0"] {
            assert_eq!(IfName::parse(name).unwrap().as_str(), name);
        }
        for name in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "ib 0",
            "ib0;rm",
            "-ib0",
            "all",
            "default",
            "lo",
            "ibp129s0f0d1.80010",
            "ib\0",
            "ïb0",
            "$(x)",
        ] {
            assert!(IfName::parse(name).is_err(), "{name} was taken");
        }
    }
}
