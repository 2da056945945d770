//! The init system.

use super::folder::any;
use super::{Init, Scope};
use crate::distro::Row;
use crate::probe::{Output, Probe, ProbeError};
use crate::types::HostPath;

/// Which init system a host has.
///
/// Live, files tell: sd_booted(3) looks for /run/systemd/system. An image without an init program (a bare tree) is given the
/// init of its distribution, and every row of the table boots with systemd. In a capture, an answer of systemctl proves
/// that systemd ran.
///
/// # Errors
/// A folder on the way cannot be searched.
pub(super) fn init(
    probe: &dyn Probe,
    scope: Scope,
    row: Option<&'static Row>,
    units: Option<&Output>,
) -> Result<Init, ProbeError> {
    let booted = any(probe, &["/run/systemd/system"])?;
    let running = match scope {
        Scope::Live => booted,
        Scope::Image => false,
        Scope::Replay => booted || units.is_some(),
    };
    let program = any(
        probe,
        &[
            "/usr/lib/systemd/systemd",
            "/lib/systemd/systemd",
            "/bin/systemctl",
        ],
    )?;
    let bare = scope != Scope::Live && row.is_some() && !other_init(probe)?;
    Ok(if running || program || bare {
        Init::Systemd { running }
    } else {
        Init::Other
    })
}

/// An /sbin/init that is no link to systemd.
fn other_init(probe: &dyn Probe) -> Result<bool, ProbeError> {
    for path in ["/sbin/init", "/usr/sbin/init"] {
        let path = HostPath::fixed(path);
        if probe.exists(&path)? && !probe.link(&path)?.is_some_and(|to| to.ends_with("/systemd")) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Entry, Fake};

    #[test]
    fn systemd_installed_and_running_are_two_things() {
        let row = Row::find("debian", "12");
        let of = |host: &Fake, scope, row, units: Option<&Output>| init(host, scope, row, units).unwrap();
        let running = Fake::new().entry("/run/systemd/system", Entry::Folder(0o755));
        assert_eq!(
            of(&running, Scope::Live, row, None),
            Init::Systemd { running: true }
        );
        assert_eq!(
            of(&running, Scope::Image, row, None),
            Init::Systemd { running: false }
        );
        let container = Fake::new();
        assert_eq!(of(&container, Scope::Live, row, None), Init::Other);
        let program = Fake::new().file("/usr/lib/systemd/systemd", "");
        assert_eq!(
            of(&program, Scope::Live, None, None),
            Init::Systemd { running: false }
        );
        assert_eq!(
            of(&Fake::new(), Scope::Image, row, None),
            Init::Systemd { running: false }
        );
        assert_eq!(of(&Fake::new(), Scope::Image, None, None), Init::Other);
        let sysv = Fake::new().file("/sbin/init", "");
        assert_eq!(of(&sysv, Scope::Image, row, None), Init::Other);
        assert_eq!(
            of(&Fake::new(), Scope::Replay, row, Some(&Output::default())),
            Init::Systemd { running: true }
        );
    }
}
