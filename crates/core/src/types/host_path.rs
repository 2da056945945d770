//! Absolute paths on the managed host.

use std::fmt;

/// An absolute, normal path below the host's root: no `..`, no `.`, no empty component, no NUL.
///
/// Paths are never joined with the root folder by text: the host crate walks them component by component, so that no
/// link leads out of the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPath(String);

impl HostPath {
    /// Checks a path; `None` when it is not absolute and normal.
    pub fn new(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('/')?;
        let normal = rest
            .split('/')
            .all(|c| !c.is_empty() && c != "." && c != ".." && c.len() <= 255);
        (normal && text.len() < 4096 && !text.contains('\0')).then(|| Self(text.to_owned()))
    }

    /// A path that the program itself spells out.
    ///
    /// # Panics
    /// When the text is not a normal absolute path: a bug that the first test run shows. Never call it with input.
    #[allow(clippy::panic)]
    pub fn fixed(text: &'static str) -> Self {
        match Self::new(text) {
            Some(path) => path,
            None => panic!("{text:?} is not an absolute normal path"),
        }
    }

    /// The path with one component more.
    ///
    /// # Errors
    /// When `name` is no single component.
    pub fn join(&self, name: &str) -> Result<Self, BadPath> {
        let text = format!("{}/{name}", self.0);
        match Self::new(&text) {
            Some(path) if !name.contains('/') => Ok(path),
            _ => Err(BadPath(text)),
        }
    }

    /// The folder that holds it; `None` for a path directly below the root.
    pub fn parent(&self) -> Option<Self> {
        match self.0.rfind('/') {
            Some(0) | None => None,
            Some(at) => Some(Self(self.0[..at].to_owned())),
        }
    }

    /// The last component.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or("")
    }

    /// Its components, in order.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0[1..].split('/')
    }

    /// The text, beginning with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not an absolute, normal path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{}\" is not an absolute path without '.', '..' and NUL", .0.escape_debug())]
pub struct BadPath(pub String);

impl TryFrom<String> for HostPath {
    type Error = BadPath;

    fn try_from(text: String) -> Result<Self, BadPath> {
        Self::new(&text).ok_or(BadPath(text))
    }
}

impl From<HostPath> for String {
    fn from(path: HostPath) -> String {
        path.0
    }
}

impl fmt::Display for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_normal_absolute_paths() {
        for ok in [
            "/etc",
            "/etc/sysctl.d/90-ibplan.conf",
            "/sys/bus/pci/devices/0000:65:00.0",
        ] {
            assert!(HostPath::new(ok).is_some(), "{ok}");
        }
        for wrong in ["", "/", "etc", "/etc/", "/etc//x", "/etc/../x", "/./x", "/a\0b"] {
            assert!(HostPath::new(wrong).is_none(), "{wrong}");
        }
        let p = HostPath::fixed("/etc/x");
        assert_eq!(p.join("y").unwrap().as_str(), "/etc/x/y");
        assert!(p.join("../y").is_err() && p.join("a/b").is_err() && p.join("").is_err());
        assert_eq!(p.parent().unwrap().as_str(), "/etc");
        assert_eq!(HostPath::fixed("/etc").parent(), None);
    }
}
