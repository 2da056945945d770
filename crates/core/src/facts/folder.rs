//! A folder of the host as the readers of facts see it: attributes, links and names, missing things being `None`.

use crate::probe::Probe;
use crate::types::HostPath;

/// A folder below /sys, /proc or /run. Nothing in it is certain: files there come and go.
#[derive(Clone)]
pub(super) struct Folder<'a> {
    probe: &'a dyn Probe,
    path: HostPath,
}

impl<'a> Folder<'a> {
    /// The folder at a path, whether it is there or not.
    pub(super) const fn new(probe: &'a dyn Probe, path: HostPath) -> Self {
        Self { probe, path }
    }

    /// What is below it; `None` where `inside` is no path (a name with `..`).
    pub(super) fn sub(&self, inside: &str) -> Option<Self> {
        Some(Self::new(self.probe, self.at(inside)?))
    }

    fn at(&self, inside: &str) -> Option<HostPath> {
        HostPath::new(&format!("{}/{inside}", self.path))
    }

    /// An attribute without the blanks around it; `None` when it is missing, unreadable or empty.
    pub(super) fn attr(&self, inside: &str) -> Option<String> {
        self.probe
            .attribute(&self.at(inside)?)
            .filter(|text| !text.is_empty())
    }

    /// An attribute that is a number, decimal.
    pub(super) fn number<N: std::str::FromStr>(&self, inside: &str) -> Option<N> {
        self.attr(inside)?.parse().ok()
    }

    /// An attribute that is a number, `0x` and hexadecimal digits.
    pub(super) fn hex(&self, inside: &str) -> Option<u32> {
        hex(&self.attr(inside)?)
    }

    /// The last component of a link's target: the driver, the PCI function, the bond.
    pub(super) fn target(&self, inside: &str) -> Option<String> {
        let text = self.probe.link(&self.at(inside)?).ok().flatten()?;
        text.rsplit('/')
            .next()
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    }

    /// Whether something is there.
    pub(super) fn has(&self, inside: &str) -> bool {
        self.at(inside)
            .is_some_and(|path| self.probe.exists(&path).unwrap_or(false))
    }

    /// The names in it that are numbers, in the order of the numbers (`pkeys`, `ports`).
    pub(super) fn numbers<N: std::str::FromStr + Ord>(&self) -> Vec<N> {
        let names = self.probe.list(&self.path).unwrap_or_default();
        let mut numbers: Vec<N> = names.iter().filter_map(|n| n.parse().ok()).collect();
        numbers.sort();
        numbers
    }
}

/// `0x` and hexadecimal digits.
pub(super) fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Whether one of these paths is there. They are spelled out in the program.
///
/// # Errors
/// A folder on the way cannot be searched.
pub(super) fn any(probe: &dyn Probe, paths: &[&'static str]) -> Result<bool, crate::probe::ProbeError> {
    for path in paths {
        if probe.exists(&HostPath::fixed(path))? {
            return Ok(true);
        }
    }
    Ok(false)
}
