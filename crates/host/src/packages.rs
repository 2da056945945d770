//! Package managers: the command lines, and what to make of their answers.

use crate::host::Host;
use ibplan_core::distro::PackageManager;
use ibplan_core::facts::Scope;
use ibplan_core::probe::{Probe, Query};
use ibplan_core::types::HostPath;

/// What is done with packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Simulate,
    Install,
    Remove,
    SimulateRemoval,
}

/// The command that says what an installation would do, without doing it.
pub(crate) fn simulate(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    command(host, Work::Simulate, names)
}

/// The command that installs packages and refuses to remove any.
pub(crate) fn install(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    command(host, Work::Install, names)
}

/// The command that removes packages which ibplan installed. rpm refuses where others need them by now (rpm(8), `-e`);
/// for apt see [`would_remove`].
pub(crate) fn remove(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    if host.manager? == PackageManager::Apt {
        return command(host, Work::Remove, names);
    }
    let place = match host.scope() {
        Scope::Live => Vec::new(),
        _ => vec![
            "--root".to_owned(),
            host.root.path().to_string_lossy().into_owned(),
        ],
    };
    Some(("rpm", [place, words(&["-e", "--"]), names.to_vec()].concat()))
}

/// Where removing takes what needs the packages along (apt): the command that says what would go, without doing it.
pub(crate) fn simulate_removal(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    (host.manager? == PackageManager::Apt)
        .then(|| command(host, Work::SimulateRemoval, names))
        .flatten()
}

/// What removes packages where apt does not: after an installation that was cut short apt does nothing until dpkg has been
/// run by hand, and dpkg itself can remove them. It refuses where others need them.
pub(crate) fn remove_by_dpkg(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    if host.manager? != PackageManager::Apt {
        return None;
    }
    let arguments = [words(&["--remove", "--"]), names.to_vec()].concat();
    Some(match host.scope() {
        Scope::Live => ("dpkg", arguments),
        _ => {
            let root = host.root.path().to_string_lossy().into_owned();
            ("chroot", [vec![root, "dpkg".to_owned()], arguments].concat())
        }
    })
}

/// The packages that a simulation of apt would remove (`Remv NAME [VERSION]`).
pub(crate) fn would_remove(simulation: &str) -> Vec<String> {
    simulation
        .lines()
        .filter_map(|l| l.strip_prefix("Remv ")?.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn command(host: &Host, work: Work, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    let root = host.root.path().to_string_lossy().into_owned();
    let image = host.scope() != Scope::Live;
    let (program, mut arguments) = match host.manager? {
        PackageManager::Apt if image => ("chroot", [vec![root, "apt-get".to_owned()], apt(work)].concat()),
        PackageManager::Apt => ("apt-get", apt(work)),
        PackageManager::Dnf => {
            let program = if crate::commands::find("dnf").is_some() {
                "dnf"
            } else {
                "yum"
            };
            let place = if image {
                vec![format!("--installroot={root}")]
            } else {
                Vec::new()
            };
            (program, [place, dnf(work)].concat())
        }
        PackageManager::Zypper => {
            let place = if image {
                vec!["--root".to_owned(), root]
            } else {
                Vec::new()
            };
            ("zypper", [place, zypper(work)].concat())
        }
    };
    arguments.extend(names.iter().cloned());
    Some((program, arguments))
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|w| (*w).to_owned()).collect()
}

/// `--no-remove`: apt would otherwise remove conflicting packages and exit 0 (apt-get(8)). The lock is waited for, since an
/// unattended upgrade holds it now and then.
fn apt(work: Work) -> Vec<String> {
    match work {
        Work::Simulate => words(&["-s", "-q", "--no-install-recommends", "install", "--"]),
        Work::Install => words(&[
            "-y",
            "-q",
            "--no-remove",
            "--no-install-recommends",
            "-o",
            "DPkg::Lock::Timeout=60",
            "-o",
            "Dpkg::Options::=--force-confold",
            "install",
            "--",
        ]),
        Work::Remove => words(&["-y", "-q", "-o", "DPkg::Lock::Timeout=60", "remove", "--"]),
        Work::SimulateRemoval => words(&["-s", "-q", "remove", "--"]),
    }
}

/// dnf refuses a conflict on its own; with exit_on_lock it does not wait for ever (dnf.conf(5)).
fn dnf(work: Work) -> Vec<String> {
    match work {
        Work::Simulate => words(&["--assumeno", "--setopt=install_weak_deps=0", "install", "--"]),
        _ => words(&[
            "-y",
            "-q",
            "--setopt=install_weak_deps=0",
            "--setopt=exit_on_lock=1",
            "install",
            "--",
        ]),
    }
}

fn zypper(work: Work) -> Vec<String> {
    match work {
        Work::Simulate => words(&[
            "--non-interactive",
            "install",
            "--no-recommends",
            "--dry-run",
            "--",
        ]),
        _ => words(&["--non-interactive", "install", "--no-recommends", "--"]),
    }
}

/// Whether nothing of a package is left but its configuration. One whose installation was cut short is neither installed nor
/// gone (dpkg-query(1): `half-installed`, `unpacked`, `half-configured` and the triggers).
pub(crate) fn gone(host: &Host, name: &str) -> bool {
    state_is(host, name, &["config-files", "not-installed"], true)
}

/// Whether a package is installed, read from its database and from nothing else.
pub(crate) fn installed(host: &Host, name: &str) -> bool {
    state_is(host, name, &["installed"], false)
}

/// Whether dpkg has the package in one of these states; `absent` where it has none. rpm knows only one.
fn state_is(host: &Host, name: &str, states: &[&str], absent: bool) -> bool {
    match host.manager {
        Some(PackageManager::Apt) => {
            let status = host
                .text(&HostPath::fixed("/var/lib/dpkg/status"))
                .ok()
                .flatten()
                .unwrap_or_default();
            // The third word: a package on hold ("hold ok installed") is installed too.
            let mut found = status
                .split("\n\n")
                .filter(|stanza| stanza.lines().any(|l| l.strip_prefix("Package: ") == Some(name)))
                .filter_map(|stanza| {
                    stanza
                        .lines()
                        .find_map(|l| l.strip_prefix("Status:")?.split_whitespace().nth(2))
                })
                .peekable();
            if found.peek().is_none() {
                return absent;
            }
            // One architecture that is installed is enough; all must be gone.
            if absent {
                found.all(|state| states.contains(&state))
            } else {
                found.any(|state| states.contains(&state))
            }
        }
        _ => {
            let answer = host
                .query(&Query::RpmPackages(vec![name.to_owned()]))
                .ok()
                .flatten()
                .unwrap_or_default();
            let installed = answer.stdout.lines().any(|l| l.split('\t').next() == Some(name));
            installed != absent
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::time::Duration;

    type Command = Option<(&'static str, Vec<String>)>;

    fn line(command: Command) -> String {
        let (program, arguments) = command.unwrap();
        format!("{program} {}", arguments.join(" "))
    }

    fn lines(root: &Path, manager: PackageManager) -> [String; 3] {
        let mut host = Host::at(root, false).unwrap();
        host.prepare(Some(manager), Duration::from_secs(1));
        let names = ["opensm".to_owned()];
        [
            line(simulate(&host, &names)),
            line(install(&host, &names)),
            line(remove(&host, &names)),
        ]
    }

    #[test]
    fn no_command_may_ask_or_take_others_along() {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().display().to_string();
        for (root, apt_place, rpm_place) in [
            ("/", String::new(), String::new()),
            (
                image.as_str(),
                format!("chroot {image} "),
                format!("--root {image} "),
            ),
        ] {
            let [look, install, remove] = lines(Path::new(root), PackageManager::Apt);
            assert_eq!(
                look,
                format!("{apt_place}apt-get -s -q --no-install-recommends install -- opensm")
            );
            assert!(
                install.starts_with(&format!("{apt_place}apt-get -y ")),
                "{install}"
            );
            assert!(
                install.contains(" --no-remove ") && install.ends_with(" install -- opensm"),
                "{install}"
            );
            assert!(remove.ends_with(" remove -- opensm"), "{remove}");
            let [look, install, remove] = lines(Path::new(root), PackageManager::Dnf);
            assert!(
                look.contains(" --assumeno ") && install.contains(" -y "),
                "{look}; {install}"
            );
            assert!(!install.contains("--allowerasing"), "{install}");
            assert_eq!(install.contains("--installroot="), root != "/", "{install}");
            assert_eq!(remove, format!("rpm {rpm_place}-e -- opensm"));
            let [look, install, remove] = lines(Path::new(root), PackageManager::Zypper);
            assert!(
                look.contains(" --dry-run ") && install.contains("--non-interactive"),
                "{look}; {install}"
            );
            assert_eq!(remove, format!("rpm {rpm_place}-e -- opensm"));
        }
    }

    #[test]
    fn what_a_removal_takes_along_is_read_from_its_simulation() {
        let text = "Reading package lists...\nThe following packages will be REMOVED:\n  a b\nRemv b [1]\nRemv a [1.0-2]\n";
        assert_eq!(would_remove(text), ["b", "a"]);
        assert!(would_remove("0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n").is_empty());
    }

    #[test]
    fn held_is_installed_and_removed_with_its_configuration_left_is_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("var/lib/dpkg")).unwrap();
        let status = "Package: a\nStatus: hold ok installed\n\nPackage: b\nStatus: deinstall ok config-files\n\nPackage: c\nStatus: install ok half-configured\n\nPackage: d\nStatus: install ok installed\n";
        std::fs::write(dir.path().join("var/lib/dpkg/status"), status).unwrap();
        let mut host = Host::at(dir.path(), false).unwrap();
        host.prepare(Some(PackageManager::Apt), Duration::from_secs(1));
        let found: Vec<bool> = ["a", "b", "c", "d", "e"]
            .iter()
            .map(|n| installed(&host, n))
            .collect();
        assert_eq!(found, [true, false, false, true, false]);
        let left: Vec<bool> = ["a", "b", "c", "d", "e"].iter().map(|n| gone(&host, n)).collect();
        assert_eq!(left, [false, true, false, false, true]);
    }
}
