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

    /// The object or list that holds this.
    #[must_use]
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or("", |(above, _)| above).to_owned())
    }

    /// Whether this is `other` or something in it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0
            .strip_prefix(&other.0)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether this looks like the element of a list.
    pub fn is_element(&self) -> bool {
        let last = self.0.rsplit('/').next().unwrap_or("");
        !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit())
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
        assert_eq!(p.parent().as_str(), "/sysctl/net~1ipv4~1conf~1ib0.8001~0x");
        assert!(p.is_element() && !p.parent().is_element() && !Pointer::root().is_element());
        assert!(p.is_within(&p) && p.is_within(&p.parent()) && p.is_within(&Pointer::root()));
        assert!(
            !p.parent().is_within(&p) && !Pointer::of("sysctl_profile").is_within(&Pointer::of("sysctl"))
        );
    }
}
