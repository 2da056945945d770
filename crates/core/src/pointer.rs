//! JSON pointers (RFC 6901): where in a document something is.

use serde::Serialize;
use std::fmt;

/// A JSON pointer such as `/ipoib/0/mtu`; the empty pointer is the whole document.
///
/// Pointers of problems and changes count from `desired`; faults of the request itself begin with `/request`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// A section of the document, or `request`.
    pub fn of(section: &str) -> Self {
        Self::root().key(section)
    }

    /// The member `key` below this one; `~` and `/` are escaped as RFC 6901 asks.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!(
            "{}/{}",
            self.0,
            key.replace('~', "~0").replace('/', "~1")
        ))
    }

    /// The array element `index` below this one.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// A pointer from text that is one already.
    pub(crate) fn raw(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first word: the section.
    pub fn section(&self) -> &str {
        self.0.split('/').nth(1).unwrap_or("")
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_rfc_6901_asks() {
        let p = Pointer::of("sysctl").key("net/ipv4/conf/ib0.8001~x").index(3);
        assert_eq!(p.as_str(), "/sysctl/net~1ipv4~1conf~1ib0.8001~0x/3");
        assert_eq!(p.section(), "sysctl");
        assert_eq!(Pointer::root().section(), "");
    }
}
