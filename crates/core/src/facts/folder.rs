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

    /// What a link in it leads to (an entry of /sys/class), by its real path; what is no link is itself.
    pub(super) fn follow(&self, name: &str) -> Option<Self> {
        match self.real(name) {
            Some(path) => Some(Self::new(self.probe, path)),
            None => self.sub(name),
        }
    }

    /// The path behind a link, by its text: right where the folder's own path is real, as all of sysfs below /sys/devices is.
    fn real(&self, inside: &str) -> Option<HostPath> {
        let link = self.at(inside)?;
        let text = self.probe.link(&link).ok().flatten()?;
        let mut words: Vec<&str> = if text.starts_with('/') {
            Vec::new()
        } else {
            let mut folder: Vec<&str> = link.components().collect();
            folder.pop();
            folder
        };
        for word in text.split('/') {
            match word {
                "" | "." => {}
                ".." => drop(words.pop()),
                word => words.push(word),
            }
        }
        HostPath::new(&format!("/{}", words.join("/")))
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

    /// The name of what a link leads to: the driver, the PCI function, the bond.
    pub(super) fn target(&self, inside: &str) -> Option<String> {
        Some(self.real(inside)?.name().to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_link_has_the_name_of_what_it_leads_to_however_it_is_written() {
        let real = "/sys/devices/pci0000:40/0000:41:00.0/infiniband/mlx5_0";
        for text in [
            "../../../0000:41:00.0",
            "../..",
            "/sys/devices/pci0000:40/0000:41:00.0",
        ] {
            let host = Fake::new().symlink(&format!("{real}/device"), text).symlink(
                "/sys/class/infiniband/mlx5_0",
                "../../devices/pci0000:40/0000:41:00.0/infiniband/mlx5_0",
            );
            let class = Folder::new(&host, HostPath::fixed("/sys/class/infiniband"));
            let device = class.follow("mlx5_0").unwrap();
            assert_eq!(device.target("device").as_deref(), Some("0000:41:00.0"), "{text}");
            assert_eq!(device.target("driver"), None);
        }
        let plain = Fake::new().file("/sys/class/net/ib0/type", "32\n");
        let class = Folder::new(&plain, HostPath::fixed("/sys/class/net"));
        assert_eq!(class.follow("ib0").unwrap().number("type"), Some(32));
    }
}
