//! How packages are kept.

use super::folder::any;
use super::{Packages, Scope};
use crate::distro::{PackageManager, Row};
use crate::probe::{Probe, ProbeError};

/// Where rpm keeps its database: EL and SLES 15 in /var/lib/rpm (Berkeley DB, ndb, sqlite by age), SLES 16 and newer
/// Fedora in /usr/lib/sysimage/rpm.
const RPM: &[&str] = &[
    "/var/lib/rpm/rpmdb.sqlite",
    "/var/lib/rpm/Packages",
    "/var/lib/rpm/Packages.db",
    "/usr/lib/sysimage/rpm/rpmdb.sqlite",
    "/usr/lib/sysimage/rpm/Packages.db",
    "/usr/lib/sysimage/rpm/Packages",
];
const RPM_RECORD: &[&str] = &["/.ibplan/queries/rpm-packages.txt"];
const DPKG: &[&str] = &["/var/lib/dpkg/status"];

/// Reads which package manager there is and whether it can be asked and used.
///
/// # Errors
/// A folder on the way cannot be searched.
pub(super) fn packages(
    probe: &dyn Probe,
    scope: Scope,
    row: Option<&'static Row>,
) -> Result<Packages, ProbeError> {
    let manager = row.map(|r| r.packages);
    let database = match manager {
        Some(PackageManager::Apt) => any(probe, DPKG)?,
        Some(PackageManager::Dnf | PackageManager::Zypper) => {
            any(probe, RPM)? || (scope == Scope::Replay && any(probe, RPM_RECORD)?)
        }
        None => false,
    };
    let program = match (manager, scope) {
        (_, Scope::Replay) | (None, _) => false,
        (Some(PackageManager::Apt), _) => any(probe, &["/usr/bin/apt-get"])?,
        (Some(PackageManager::Dnf), Scope::Live) => any(probe, &["/usr/bin/dnf", "/usr/bin/yum"])?,
        (Some(PackageManager::Zypper), Scope::Live) => any(probe, &["/usr/bin/zypper"])?,
        // dnf and zypper install into an image from outside: what is in the image does not tell whether they can.
        (Some(_), Scope::Image) => false,
    };
    Ok(Packages {
        manager,
        database,
        usable: database && program,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn database_and_program_make_it_usable() {
        let deb = Row::find("debian", "12");
        let el = Row::find("rocky", "9");
        let suse = Row::find("sles", "15.5");
        let of = |files: &[&str], scope, row| {
            let host = files.iter().fold(Fake::new(), |h, f| h.file(f, ""));
            let p = packages(&host, scope, row).unwrap();
            (p.database, p.usable)
        };
        let (dpkg, apt) = ("/var/lib/dpkg/status", "/usr/bin/apt-get");
        let (rpm, dnf) = ("/var/lib/rpm/rpmdb.sqlite", "/usr/bin/dnf");
        for (files, scope, row, wanted) in [
            (&[dpkg, apt][..], Scope::Live, deb, (true, true)),
            (&[dpkg, apt], Scope::Image, deb, (true, true)),
            (&[dpkg, apt], Scope::Replay, deb, (true, false)),
            (&[dpkg], Scope::Live, deb, (true, false)),
            (&[apt], Scope::Live, deb, (false, false)),
            (&[rpm, dnf], Scope::Live, el, (true, true)),
            (&[rpm, dnf], Scope::Image, el, (true, false)),
            (
                &["/usr/lib/sysimage/rpm/rpmdb.sqlite"],
                Scope::Live,
                suse,
                (true, false),
            ),
            (
                &["/.ibplan/queries/rpm-packages.txt"],
                Scope::Replay,
                el,
                (true, false),
            ),
            (
                &["/.ibplan/queries/rpm-packages.txt"],
                Scope::Image,
                el,
                (false, false),
            ),
            (&[dpkg, apt], Scope::Live, None, (false, false)),
            (&[dpkg, apt, "/usr/bin/rpm"], Scope::Live, el, (false, false)),
        ] {
            assert_eq!(of(files, scope, row), wanted, "{files:?} {scope:?}");
        }
    }
}
