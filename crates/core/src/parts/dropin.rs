//! Drop-in folders: a file in an earlier folder masks one of the same name in a later one (sysctl.d(5), modprobe.d(5)).

use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;
use std::collections::BTreeMap;

/// The `*.conf` files of some folders, those that are masked left out, by name: the order in which they are read.
/// `folders` go from the highest precedence to the lowest.
///
/// # Errors
/// A folder is there and cannot be listed.
pub fn files(probe: &dyn Probe, folders: &[&'static str]) -> Result<BTreeMap<String, HostPath>, ProbeError> {
    let mut files = BTreeMap::new();
    for folder in folders {
        let folder = HostPath::fixed(folder);
        for name in probe.list(&folder)?.into_iter().filter(|n| n.ends_with(".conf")) {
            if let Ok(path) = folder.join(&name) {
                files.entry(name).or_insert(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn the_first_folder_masks_and_names_decide_the_order() {
        let host = Fake::new()
            .file("/usr/lib/x.d/10-a.conf", "")
            .file("/usr/lib/x.d/90-z.conf", "")
            .file("/etc/x.d/50-m.conf", "")
            .file("/etc/x.d/10-a.conf", "")
            .file("/etc/x.d/README", "");
        let found = files(&host, &["/etc/x.d", "/run/x.d", "/usr/lib/x.d"]).unwrap();
        let paths: Vec<&str> = found.values().map(HostPath::as_str).collect();
        assert_eq!(
            paths,
            [
                "/etc/x.d/10-a.conf",
                "/etc/x.d/50-m.conf",
                "/usr/lib/x.d/90-z.conf"
            ]
        );
    }
}
