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
}

/// The command that says what an installation would do, without doing it.
pub(crate) fn simulate(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    command(host, Work::Simulate, names)
}

/// The command that installs packages and refuses to remove any.
pub(crate) fn install(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    command(host, Work::Install, names)
}

/// The command that removes packages which ibplan installed.
pub(crate) fn remove(host: &Host, names: &[String]) -> Option<(&'static str, Vec<String>)> {
    command(host, Work::Remove, names)
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
    }
}

/// dnf refuses a conflict on its own; with exit_on_lock it does not wait for ever (dnf.conf(5)).
fn dnf(work: Work) -> Vec<String> {
    match work {
        Work::Simulate => words(&["--assumeno", "--setopt=install_weak_deps=0", "install", "--"]),
        Work::Install => words(&[
            "-y",
            "-q",
            "--setopt=install_weak_deps=0",
            "--setopt=exit_on_lock=1",
            "install",
            "--",
        ]),
        Work::Remove => words(&["-y", "-q", "--setopt=exit_on_lock=1", "remove", "--"]),
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
        Work::Install => words(&["--non-interactive", "install", "--no-recommends", "--"]),
        Work::Remove => words(&["--non-interactive", "remove", "--"]),
    }
}

/// Whether a package is installed, read from its database and from nothing else.
pub(crate) fn installed(host: &Host, name: &str) -> bool {
    match host.manager {
        Some(PackageManager::Apt) => {
            let status = host
                .text(&HostPath::fixed("/var/lib/dpkg/status"))
                .ok()
                .flatten()
                .unwrap_or_default();
            status.split("\n\n").any(|stanza| {
                let mut lines = stanza.lines();
                lines.clone().any(|l| l.strip_prefix("Package: ") == Some(name))
                    && lines.any(|l| l == "Status: install ok installed")
            })
        }
        _ => {
            let answer = host
                .query(&Query::RpmPackages(vec![name.to_owned()]))
                .ok()
                .flatten()
                .unwrap_or_default();
            answer.stdout.lines().any(|l| l.split('\t').next() == Some(name))
        }
    }
}
