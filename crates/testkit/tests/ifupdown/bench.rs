//! A folder with rendered files, and the real tools run on it.

use ibplan_core::distro::Backend;
use ibplan_core::facts::{Facts, Scope};
use ibplan_core::rooms::ipoib::backend::{Context, Files, dialect};
use ibplan_core::rooms::ipoib::model::{LinkKind, WantedLink};
use ibplan_core::types::HostPath;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const MAIN: &str = "/etc/network/interfaces";

/// `ip` for the real runs: it notes the state of the pretended kernel at each call, and makes what it is told to make.
const IP: &str = r#"#!/bin/sh
net=/sys/class/net
bonding=$net/bond0/bonding
new=$(cat $bonding/slaves 2>/dev/null)
case $new in
+*) list="$(cat /run/network/slaves 2>/dev/null) ${new#+}"; list=${list# }
    echo "$list" > /run/network/slaves; echo "$list" > $bonding/slaves;;
esac
state=
for f in fail_over_mac mode primary; do state="$state $f=$(cat $bonding/$f 2>/dev/null)"; done
state="$state slaves=$(cat $bonding/slaves 2>/dev/null | tr ' ' ,)"
for l in $net/ib*; do state="$state ${l##*/}=$(cat $l/mode 2>/dev/null)"; done
for l in $net/*/create_child; do state="$state ${l#$net/}=$(cat $l)"; done
echo "ip $* |$state" >> /run/network/log
for last; do :; done
case "$*" in
"link add dev bond0 type bond") mkdir -p $bonding && for f in slaves mode miimon fail_over_mac primary; do : > $bonding/$f; done;;
"link show"*.*) test "$(cat $net/${last%.*}/create_child)" = "0x${last##*.}";;
esac
"#;

/// Runs in its own mount and network namespace; what it prints at the end is the log of `ip`.
const REALLY: &str = r#"set -e
mount --make-rprivate /
mount -t tmpfs none /sys/class/net
mkdir -p /run/network
mount -t tmpfs none /run/network
for l in $LINKS; do mkdir /sys/class/net/$l; echo 32 > /sys/class/net/$l/type; : > /sys/class/net/$l/mode; : > /sys/class/net/$l/create_child; done
mount --bind "$BENCH/ip" "$(readlink -f "$(command -v ip)")"
mount --bind "$BENCH/real" /etc/network/interfaces
mount --bind "$BENCH/interfaces.d" /etc/network/interfaces.d
ifup -a >&2
cat /run/network/log
"#;

/// Files of some links in a folder of their own.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    links: Vec<String>,
}

impl Bench {
    /// Renders the links beside this main file. With no links the main file alone is there.
    pub(crate) fn new(links: &[WantedLink], main: &str) -> Self {
        let there = Files::from([(HostPath::fixed(MAIN), main.to_owned())]);
        let facts = Facts::unknown(Scope::Live);
        let context = Context {
            facts: &facts,
            row: None,
            files: &there,
        };
        let rendered = dialect(Backend::Ifupdown).render(links, &context).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("interfaces.d")).unwrap();
        let mut text = main.to_owned();
        for file in rendered {
            if file.path.as_str() == MAIN {
                text = file.text;
            } else {
                std::fs::write(at("interfaces.d").join(file.path.name()), file.text).unwrap();
            }
        }
        std::fs::write(at("real"), &text).unwrap();
        let here = text.replace("/etc/network", folder.path().to_str().unwrap());
        std::fs::write(at("interfaces"), here).unwrap();
        let mut names: Vec<String> = Vec::new();
        for wanted in links {
            match &wanted.link.kind {
                LinkKind::Bond { .. } => {}
                LinkKind::Child { parent, .. } => names.extend([parent.clone(), wanted.link.name.clone()]),
                _ => names.push(wanted.link.name.clone()),
            }
        }
        names.sort();
        names.dedup();
        Self { folder, links: names }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The main file, its includes pointing into the folder.
    pub(crate) fn main(&self) -> String {
        self.at("interfaces").to_str().unwrap().to_owned()
    }

    /// Runs a tool of ifupdown that must succeed; both its outputs.
    pub(crate) fn run(&self, tool: &str, arguments: &[&str]) -> String {
        match self.try_run(tool, arguments) {
            Ok(said) => said,
            Err(said) => panic!("{tool} {arguments:?} failed:\n{said}"),
        }
    }

    /// Runs a tool of ifupdown; both its outputs.
    pub(crate) fn try_run(&self, tool: &str, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(tool)
            .args(arguments)
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|e| panic!("{tool}: {e}; install the package ifupdown"));
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        if output.status.success() {
            Ok(said)
        } else {
            Err(said)
        }
    }

    /// `ifup -a` for real, on a pretended kernel: what `ip` was called with, and in which state.
    pub(crate) fn really_up(&self) -> String {
        let hook = std::path::Path::new("/etc/network/if-pre-up.d/ifenslave");
        assert!(hook.exists(), "install the package ifenslave");
        std::fs::write(self.at("ip"), IP).unwrap();
        let mut mode = std::fs::metadata(self.at("ip")).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        std::fs::set_permissions(self.at("ip"), mode).unwrap();
        let mut command = Command::new("unshare");
        if !rustix::process::geteuid().is_root() {
            command.arg("--map-root-user");
        }
        let output = command
            .args(["--mount", "--net", "sh", "-c", REALLY])
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("BENCH", self.folder.path())
            .env("LINKS", self.links.join(" "))
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|e| panic!("unshare: {e}; install the package util-linux"));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The first line with this text.
pub(crate) fn find(lines: &[&str], text: &str) -> usize {
    lines
        .iter()
        .position(|l| l.contains(text))
        .unwrap_or_else(|| panic!("{text:?} is not among\n{}", lines.join("\n")))
}

/// The first line that passes.
pub(crate) fn position(lines: &[&str], test: impl Fn(&str) -> bool) -> usize {
    lines
        .iter()
        .position(|l| test(l))
        .unwrap_or_else(|| panic!("no such line among\n{}", lines.join("\n")))
}
