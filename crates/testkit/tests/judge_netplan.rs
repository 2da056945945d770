//! netplan itself judges the files of the back end netplan: it accepts them, what it makes of them says what was wanted, and
//! what it reads from them is what was written. Needs the packages netplan.io and network-manager.

mod links;

use ibplan_core::distro::{Backend, ROWS};
use ibplan_core::rooms::ipoib::backend::{Files, dialect};
use ibplan_core::rooms::ipoib::model::{Link, LinkKind};
use ibplan_core::types::HostPath;
use links::{bonds, children, ports, render, write};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(command: &mut Command) -> Output {
    let program = command.get_program().to_owned();
    command.output().unwrap_or_else(|e| {
        panic!(
            "{}: {e}; install the packages netplan.io and network-manager",
            program.display()
        )
    })
}

/// The program behind `netplan generate`, without the start of Python; its folder differs between releases.
fn generate(root: &Path) -> Output {
    let program = ["/usr/libexec/netplan/generate", "/usr/lib/netplan/generate"]
        .into_iter()
        .find(|p| Path::new(p).exists())
        .expect("no netplan generator: install the package netplan.io");
    run(Command::new(program).arg("--root-dir").arg(root))
}

fn accepted(root: &Path, name: &str) {
    let out = generate(root);
    let said = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.is_empty(), "{name}: {said}");
}

/// Reads all files below a folder, two levels deep, as the host would name them.
fn read(root: &Path, folder: &str) -> Files {
    let mut out = Files::new();
    let Ok(entries) = fs::read_dir(root.join(&folder[1..])) else {
        return out;
    };
    for entry in entries {
        let name = format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap());
        let path = root.join(&name[1..]);
        if path.is_dir() {
            out.extend(read(root, &name));
        } else {
            out.insert(HostPath::new(&name).unwrap(), fs::read_to_string(path).unwrap());
        }
    }
    out
}

/// Links by name, without what files of networkd and netplan do not carry: the order of a bond's members, and the order of
/// addresses between families (netplan puts IPv4 first; within a family the order stays, and the first is the primary one).
fn plain(links: impl IntoIterator<Item = Link>) -> Vec<Link> {
    let mut out: Vec<Link> = links
        .into_iter()
        .map(|mut link| {
            if let LinkKind::Bond { ports, .. } = &mut link.kind {
                ports.sort();
            }
            link.addresses.sort_by_key(|a| !a.is_v4());
            link
        })
        .collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out.dedup();
    out
}

/// netplan's own networkd files, with ours beside them, read back: the wanted links.
#[test]
fn networkd_files_that_netplan_makes_say_what_was_wanted() {
    let cases: Vec<links::Case> = [ports(), bonds(), children()].concat();
    assert!(cases.len() >= 40, "{}", cases.len());
    for (name, wanted) in cases {
        let root = tempfile::tempdir().unwrap();
        let rendered = render(Backend::Netplan, &wanted, Some("networkd"), None);
        write(root.path(), &rendered);
        accepted(root.path(), &name);
        let generated = read(root.path(), "/run/systemd/network");
        let text: String = generated.values().map(String::as_str).collect();
        for word in wanted
            .iter()
            .filter(|w| w.link.kind == LinkKind::Parent)
            .filter_map(|w| w.link.mode)
        {
            assert!(text.contains(&format!("Mode={}", word.word())), "{name}: {text}");
        }
        let mut files: Files = generated;
        files.extend(read(root.path(), "/etc/systemd/network"));
        files.extend(read(root.path(), "/etc/udev/rules.d"));
        let got = dialect(Backend::Networkd)
            .read(&files)
            .into_iter()
            .map(|(_, l)| l);
        assert_eq!(plain(got), plain(wanted.into_iter().map(|w| w.link)), "{name}");
    }
}

/// What is written for a netplan without `infiniband-mode` and `to: default` means the same to a later one, which only warns
/// that the spelling is old.
#[test]
fn the_old_spelling_of_gateways_is_understood() {
    let row = ROWS
        .iter()
        .find(|r| r.netplan.is_some_and(|v| v < (0, 103)))
        .unwrap();
    for (name, wanted) in ports() {
        let root = tempfile::tempdir().unwrap();
        let rendered = render(Backend::Netplan, &wanted, Some("networkd"), Some(row));
        write(root.path(), &rendered);
        let out = generate(root.path());
        assert!(
            out.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        let mut files = read(root.path(), "/run/systemd/network");
        files.extend(read(root.path(), "/etc/udev/rules.d"));
        let got = dialect(Backend::Networkd)
            .read(&files)
            .into_iter()
            .map(|(_, l)| l);
        assert_eq!(plain(got), plain(wanted.into_iter().map(|w| w.link)), "{name}");
    }
}

/// `netplan get` prints what netplan understood; read again it is what we wrote.
#[test]
fn netplan_reads_what_we_wrote() {
    let cases: Vec<links::Case> = [ports(), bonds(), children()].concat();
    for (name, wanted) in cases.into_iter().step_by(3) {
        let root = tempfile::tempdir().unwrap();
        let rendered = render(Backend::Netplan, &wanted, Some("networkd"), None);
        write(root.path(), &rendered);
        let out = run(Command::new("netplan")
            .args(["get", "--root-dir"])
            .arg(root.path()));
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && said.is_empty(), "{name}: {said}");
        let own = HostPath::new("/etc/netplan/90-ibplan.yaml").unwrap();
        let only = |text: String| {
            let files: Files = [(own.clone(), text)].into_iter().collect();
            plain(dialect(Backend::Netplan).read(&files).into_iter().map(|(_, l)| l))
        };
        let ours = rendered.iter().find(|r| r.path == own).unwrap().text.clone();
        assert_eq!(only(String::from_utf8(out.stdout).unwrap()), only(ours), "{name}");
    }
}

/// With the renderer NetworkManager the profiles are of the type infiniband, with mode and MTU in their place (case 17), and
/// NetworkManager takes them.
#[test]
fn case_17_profiles_that_netplan_makes_are_infiniband() {
    for (name, wanted) in [ports(), bonds()].concat() {
        let root = tempfile::tempdir().unwrap();
        let rendered = render(Backend::Netplan, &wanted, Some("NetworkManager"), None);
        assert_eq!(rendered.len(), 1, "{name}: NetworkManager sets the mode itself");
        write(root.path(), &rendered);
        let foreign = root.path().join("etc/netplan/01-all.yaml");
        fs::write(&foreign, "network: {version: 2, renderer: NetworkManager}\n").unwrap();
        fs::set_permissions(&foreign, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        accepted(root.path(), &name);
        let profiles = read(root.path(), "/run/NetworkManager/system-connections");
        assert_eq!(profiles.len(), wanted.len(), "{name}");
        for w in &wanted {
            let (_, text) = profiles
                .iter()
                .find(|(_, t)| t.lines().any(|l| l == format!("interface-name={}", w.link.name)))
                .unwrap_or_else(|| panic!("{name}: no profile for {}", w.link.name));
            profile_says(&w.link, text, &name);
        }
    }
}

fn profile_says(link: &Link, text: &str, name: &str) {
    let has = |line: String| text.lines().any(|l| l == line);
    if let Some(mode) = link.mode {
        assert!(has("type=infiniband".to_owned()), "{name}: {text}");
        assert!(has(format!("transport-mode={}", mode.word())), "{name}: {text}");
        let section = text
            .split("[infiniband]")
            .nth(1)
            .unwrap()
            .split("\n[")
            .next()
            .unwrap();
        let mtu = section
            .lines()
            .find_map(|l| l.strip_prefix("mtu="))
            .map(str::to_owned);
        assert_eq!(mtu, link.mtu.map(|m| m.to_string()), "{name}: {text}");
    } else {
        for line in [
            "type=bond",
            "mode=active-backup",
            "miimon=100",
            "fail_over_mac=active",
        ] {
            assert!(has(line.to_owned()), "{name}: {text}");
        }
    }
    for address in &link.addresses {
        assert!(text.contains(&format!("={address}")), "{name}: {text}");
    }
    let out = offline(text);
    assert!(
        out.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}

/// NetworkManager's parser, without its daemon.
fn offline(text: &str) -> Output {
    let mut child = Command::new("nmcli")
        .args([
            "--offline",
            "connection",
            "modify",
            "connection.autoconnect",
            "yes",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("nmcli: {e}; install the package network-manager"));
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The judge is awake: it refuses what is wrong.
#[test]
fn netplan_refuses_what_is_wrong() {
    for text in [
        "network:\n  version: 2\n  ethernets:\n    ib0:\n      infiniband-mode: fast\n",
        "network:\n  version: 2\n  ethernets:\n    ib0:\n      adresses: []\n",
        "network:\n  version: 2\n  bonds:\n    bond0:\n      interfaces: [ib0]\n",
    ] {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("etc/netplan")).unwrap();
        fs::write(root.path().join("etc/netplan/90-ibplan.yaml"), text).unwrap();
        assert!(!generate(root.path()).status.success(), "{text}");
    }
}
