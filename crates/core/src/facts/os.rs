//! os-release(5), kernel, machine, machine-id(5).

use super::folder::{Folder, any};
use super::{Os, Scope};
use crate::distro::Row;
use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What `capture` writes down of a host.
const RECORD: &str = "/.ibplan/host.json";

/// Reads os-release: /etc first, then /usr/lib (os-release(5)).
///
/// # Errors
/// It is there and cannot be read.
pub(super) fn os(probe: &dyn Probe) -> Result<Os, ProbeError> {
    for path in ["/etc/os-release", "/usr/lib/os-release"] {
        if let Some(text) = probe.text(&HostPath::fixed(path))? {
            return Ok(parse(&text));
        }
    }
    Ok(Os::default())
}

/// The meaning of an os-release file.
fn parse(text: &str) -> Os {
    let mut fields: BTreeMap<&str, String> = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some((key, value)) = line.split_once('=')
            && !line.starts_with('#')
        {
            fields.insert(key, unquote(value));
        }
    }
    let mut take = |key: &str| fields.remove(key).unwrap_or_default();
    let id = take("ID").to_ascii_lowercase();
    let version = take("VERSION_ID");
    let like: Vec<String> = take("ID_LIKE")
        .split_whitespace()
        .map(str::to_ascii_lowercase)
        .collect();
    let pretty = take("PRETTY_NAME");
    Os {
        row: Row::find(&id, &version).or_else(|| Row::find_rebuild(&id, &like, &version)),
        name: if pretty.is_empty() { take("NAME") } else { pretty },
        id,
        version,
        like,
    }
}

/// A value of a shell-compatible assignment: quotes and backslashes taken off (os-release(5)).
pub(super) fn unquote(value: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(q), _) if q == c => quote = None,
            (None, c) if c.is_whitespace() => break,
            (Some('"'), '\\') => match chars.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => out.push(next),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            (None, '\\') => out.extend(chars.next()),
            (_, c) => out.push(c),
        }
    }
    out
}

/// What a capture has written down of its host; `None` on a host that is no capture.
fn record(probe: &dyn Probe, key: &str) -> Option<String> {
    let text = probe.text(&HostPath::fixed(RECORD)).ok().flatten()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    value
        .get(key)?
        .as_str()
        .filter(|v| !v.is_empty())
        .map(str::to_owned)
}

/// The kernel release. An image may have the /proc of the machine that builds it: its own newest kernel comes first there.
pub(super) fn kernel(probe: &dyn Probe, scope: Scope) -> Option<String> {
    let running = || probe.attribute(&HostPath::fixed("/proc/sys/kernel/osrelease"));
    let recorded = || record(probe, "kernel");
    if scope.live() {
        running().or_else(recorded).or_else(|| newest(probe))
    } else {
        newest(probe).or_else(running).or_else(recorded)
    }
}

/// The newest kernel in /lib/modules. A folder without `modules.dep` is what a removed kernel left.
fn newest(probe: &dyn Probe) -> Option<String> {
    ["/lib/modules", "/usr/lib/modules"]
        .into_iter()
        .find_map(|folder| {
            let folder = HostPath::fixed(folder);
            let names = probe.list(&folder).unwrap_or_default();
            let there = Folder::new(probe, folder);
            names
                .into_iter()
                .filter(|name| there.has(&format!("{name}/modules.dep")))
                .max_by(|a, b| by_version(a, b))
        })
}

/// Compares two version texts as rpm does: runs of digits are numbers, and a number is newer than a word.
fn by_version(a: &str, b: &str) -> Ordering {
    let (a, b) = (runs(a), runs(b));
    for (x, y) in a.iter().zip(&b) {
        let order = match (x.parse::<u64>(), y.parse::<u64>()) {
            (Ok(x), Ok(y)) => x.cmp(&y),
            (Ok(_), Err(_)) => Ordering::Greater,
            (Err(_), Ok(_)) => Ordering::Less,
            _ => x.cmp(y),
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// The runs of digits and of letters in a version text.
fn runs(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .flat_map(|word| {
            word.as_bytes()
                .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
                .filter_map(|run| std::str::from_utf8(run).ok())
        })
        .collect()
}

/// Machine names as `uname -m` gives them, with the dynamic loader that each has by its ABI.
const MACHINES: &[(&str, &str)] = &[
    ("x86_64", "/lib64/ld-linux-x86-64.so.2"),
    ("aarch64", "/lib/ld-linux-aarch64.so.1"),
    ("ppc64le", "/lib64/ld64.so.2"),
    ("s390x", "/lib/ld64.so.1"),
    ("riscv64", "/lib/ld-linux-riscv64-lp64d.so.1"),
];

/// The machine hardware name: from the kernel (6.1 and later), from the capture, from the end of the kernel release (RPM
/// kernels), from the dynamic loader.
///
/// # Errors
/// A folder on the way to a loader cannot be searched.
pub(super) fn arch(
    probe: &dyn Probe,
    scope: Scope,
    kernel: Option<&str>,
) -> Result<Option<String>, ProbeError> {
    let said = || probe.attribute(&HostPath::fixed("/proc/sys/kernel/arch"));
    let told = if scope.live() {
        said().or_else(|| record(probe, "arch"))
    } else {
        record(probe, "arch")
    };
    if told.is_some() {
        return Ok(told);
    }
    let by_kernel = MACHINES
        .iter()
        .find(|(name, _)| kernel.is_some_and(|k| k.ends_with(&format!(".{name}"))));
    if let Some((name, _)) = by_kernel {
        return Ok(Some((*name).to_owned()));
    }
    for (name, loader) in MACHINES {
        if any(probe, &[loader])? {
            return Ok(Some((*name).to_owned()));
        }
    }
    Ok(if scope.live() { None } else { said() })
}

/// The machine id: 32 hexadecimal digits, or none where the first boot is yet to come (machine-id(5)).
pub(super) fn machine_id(probe: &dyn Probe) -> Option<String> {
    probe
        .attribute(&HostPath::fixed("/etc/machine-id"))
        .filter(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn os_release_quotes_and_comments() {
        let os = parse(
            "# ID=wrong\nNAME='Rocky Linux'\nID=\"Rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.4\"\n\
             PRETTY_NAME=\"A \\\"quoted\\\" \\$name \\n\"\nBROKEN\n",
        );
        assert_eq!(
            (os.id.as_str(), os.version.as_str(), os.name.as_str()),
            ("rocky", "9.4", "A \"quoted\" $name \\n")
        );
        assert_eq!(os.like, ["rhel", "centos", "fedora"]);
        assert_eq!(os.row.map(|r| r.name), Some("EL 9"));
        for (text, value) in [
            ("a", "a"),
            ("", ""),
            ("'a b'", "a b"),
            ("a b", "a"),
            ("\"a'b\"", "a'b"),
            ("a\\ b", "a b"),
            ("'a\\b'", "a\\b"),
            ("\"open", "open"),
        ] {
            assert_eq!(unquote(text), value, "{text}");
        }
    }

    #[test]
    fn etc_wins_over_usr_and_unknown_has_no_row() {
        let host = Fake::new()
            .file("/etc/os-release", "ID=debian\nVERSION_ID=12\n")
            .file("/usr/lib/os-release", "ID=debian\nVERSION_ID=13\n");
        assert_eq!(os(&host).unwrap().row.map(|r| r.name), Some("Debian 12"));
        let host = Fake::new()
            .file("/usr/lib/os-release", "ID=debian\nVERSION_ID=13\n")
            .symlink("/etc/os-release", "../usr/lib/os-release");
        assert_eq!(os(&host).unwrap().row.map(|r| r.name), Some("Debian 13"));
        assert!(os(&Fake::new()).unwrap().row.is_none());
        assert!(os(&Fake::new().unreadable("/etc/os-release")).is_err());
    }

    #[test]
    fn a_rebuild_is_taken_for_its_line_only_where_the_numbers_agree() {
        for (text, row) in [
            (
                "ID=cloudlinux\nID_LIKE=\"rhel fedora\"\nVERSION_ID=9.4",
                Some("EL 9"),
            ),
            (
                "ID=sle_hpc\nID_LIKE=\"suse\"\nVERSION_ID=\"15.5\"",
                Some("SLES 15"),
            ),
            (
                "ID=pop\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"22.04\"",
                Some("Ubuntu 22.04"),
            ),
            ("ID=linuxmint\nID_LIKE=ubuntu\nVERSION_ID=\"21.3\"", None),
            ("ID=trisquel\nID_LIKE=debian\nVERSION_ID=\"11.0\"", None),
            (
                "ID=opensuse-tumbleweed\nID_LIKE=\"opensuse suse\"\nVERSION_ID=20240101",
                None,
            ),
            ("ID=amzn\nID_LIKE=\"centos rhel fedora\"\nVERSION_ID=2", None),
            ("ID=rocky\nID_LIKE=rhel\nVERSION_ID=99", None),
        ] {
            assert_eq!(parse(text).row.map(|r| r.name), row, "{text}");
        }
    }

    #[test]
    fn kernel_of_a_host_and_of_an_image() {
        let host = Fake::new()
            .file("/proc/sys/kernel/osrelease", "6.1.0-9-amd64\n")
            .file("/usr/lib/modules/6.1.0-9-amd64/modules.dep", "")
            .file("/usr/lib/modules/6.1.0-57-amd64/modules.dep", "")
            .file("/usr/lib/modules/6.12.0-1-amd64/updates/left.ko", "")
            .symlink("/lib", "usr/lib");
        assert_eq!(kernel(&host, Scope::Live).as_deref(), Some("6.1.0-9-amd64"));
        assert_eq!(kernel(&host, Scope::Image).as_deref(), Some("6.1.0-57-amd64"));
        assert_eq!(kernel(&Fake::new(), Scope::Image), None);
        let captured = Fake::new().file("/.ibplan/host.json", "{\"kernel\": \"\", \"arch\": \"aarch64\"}");
        assert_eq!(kernel(&captured, Scope::Replay), None);
        assert_eq!(
            arch(&captured, Scope::Replay, None).unwrap().as_deref(),
            Some("aarch64")
        );
    }

    #[test]
    fn versions_are_numbers() {
        for (older, newer) in [
            ("6.1.0-9-amd64", "6.1.0-57-amd64"),
            ("5.14.0-427.el9", "5.14.0-427.13.1.el9"),
            ("4.18.0-553.el8", "4.18.0-553.el9"),
            ("6.12.0-55.el9", "6.12.0-55.el10"),
            ("6.1.0-rc1", "6.1.0-1"),
            ("6.1", "6.1.1"),
        ] {
            assert_eq!(by_version(older, newer), Ordering::Less, "{older} {newer}");
            assert_eq!(by_version(newer, older), Ordering::Greater, "{older} {newer}");
        }
    }

    #[test]
    fn machine_from_kernel_release_or_loader() {
        let none = Fake::new();
        let of = |host: &Fake, kernel| arch(host, Scope::Live, kernel).unwrap();
        assert_eq!(
            of(&none, Some("4.18.0-553.el8_10.aarch64")).as_deref(),
            Some("aarch64")
        );
        assert_eq!(of(&none, Some("6.1.0-57-amd64")), None);
        let host = Fake::new()
            .file("/usr/lib64/ld-linux-x86-64.so.2", "")
            .symlink("/lib64", "usr/lib64");
        assert_eq!(of(&host, None).as_deref(), Some("x86_64"));
        let host = Fake::new().file("/proc/sys/kernel/arch", "riscv64\n");
        assert_eq!(of(&host, None).as_deref(), Some("riscv64"));
    }

    #[test]
    fn machine_id_before_the_first_boot_is_none() {
        let of = |text: &str| machine_id(&Fake::new().file("/etc/machine-id", text));
        assert_eq!(of("uninitialized\n"), None);
        assert_eq!(of(""), None);
        assert_eq!(
            of("0123456789abcdef0123456789abcdef\n").map(|i| i.len()),
            Some(32)
        );
    }
}
