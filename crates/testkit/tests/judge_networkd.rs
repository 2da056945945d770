//! systemd-networkd and udev themselves judge the files of the back ends networkd and netplan. networkd has no offline check; so
//! the daemon is started in network and mount namespaces of its own, with our files and nothing else, without D-Bus and without
//! systemd, and its log is read until it has looked at everything. Needs root, and the packages systemd, udev, iproute2,
//! util-linux, python3 and netplan.io.

mod links;

use ibplan_core::distro::Backend;
use ibplan_core::rooms::ipoib::model::{LinkKind, WantedLink};
use links::{bonds, children, ports, render, write};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A tap interface that calls itself InfiniBand (ARPHRD 32): networkd configures it for real. It lives as long as its starter.
const TAP: &str = r#"
import fcntl, os, struct, sys, time
fd = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH", sys.argv[1].encode(), 0x1002))  # TUNSETIFF, IFF_TAP | IFF_NO_PI
fcntl.ioctl(fd, 0x400454CD, 32)  # TUNSETLINK
print("ready", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(0.05)
"#;

/// /sys is mounted anew, so that it shows this network namespace, and read-only, so that networkd waits for no udev.
const ROOM: &str = r#"
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/network /run/systemd/netif
chown -R systemd-network: /run/systemd/netif
mount -t tmpfs tmpfs /etc/systemd/network
mount -t tmpfs tmpfs /etc/udev/rules.d
for pair in etc/systemd/network run/systemd/network etc/udev/rules.d; do
    if [ -d "$ROOT/$pair" ]; then cp -r "$ROOT/$pair/." "/$pair/"; fi
done
mount -t sysfs -o ro sysfs /sys
for name in $TAPS; do
    mkfifo "/run/$name"
    python3 -c "$TAP" "$name" > "/run/$name" &
    read -r ready < "/run/$name"
done
exec "$@" 2>&1
"#;

/// A program in the room, and what it says.
struct Room {
    child: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Room {
    fn start(root: &Path, taps: &[&str], program: &[&str]) -> Self {
        let mut child = Command::new("unshare")
            .args(["--mount", "--net", "sh", "-c", ROOM, "sh"])
            .args(program)
            .env("ROOT", root)
            .env("TAPS", taps.join(" "))
            .env("TAP", TAP)
            .env("SYSTEMD_LOG_LEVEL", "debug")
            .env("SYSTEMD_LOG_TARGET", "console")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|e| panic!("unshare: {e}; install the package util-linux"));
        let out = child.stdout.take().unwrap();
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            lines,
            said: Vec::new(),
        }
    }

    fn networkd(root: &Path, taps: &[&str]) -> Self {
        let program = [
            "/usr/lib/systemd/systemd-networkd",
            "/lib/systemd/systemd-networkd",
        ]
        .into_iter()
        .find(|p| Path::new(p).exists())
        .expect("no systemd-networkd: install the package systemd");
        Self::start(root, taps, &[program])
    }

    /// Reads on until a line holds the words; all of it so far. The limit only keeps a test from hanging.
    fn until(&mut self, words: &str) -> &[String] {
        loop {
            match self.lines.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => self.said.push(line),
                Err(e) => panic!("never said {words:?} ({e}):\n{}", self.said.join("\n")),
            }
            if self.said.last().is_some_and(|l| l.contains(words)) {
                return &self.said;
            }
        }
    }

    /// All that a program says that ends by itself.
    fn rest(&self) -> Vec<String> {
        let mut said = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(60)) {
            said.push(line);
        }
        said
    }

    /// What `ip -j ARGS` prints in the room.
    fn ip(&self, args: &[&str]) -> serde_json::Value {
        let out = Command::new("nsenter")
            .args(["--net", "--target", &self.child.id().to_string(), "ip", "-j"])
            .args(args)
            .output()
            .unwrap();
        serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("ip {args:?}: {e}: {}", String::from_utf8_lossy(&out.stderr)))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines with the place of a mistake in a file: `/etc/systemd/network/x.network:3: Unknown key …`.
fn complaints(said: &[String]) -> Vec<&String> {
    said.iter()
        .filter(|l| l.starts_with("/etc/systemd/network/") || l.starts_with("/run/systemd/network/"))
        .collect()
}

fn loads_netdevs(said: &[String], wanted: &[WantedLink], name: &str) {
    for link in wanted.iter().map(|w| &w.link) {
        let kind = match link.kind {
            LinkKind::Child { .. } => "ipoib",
            LinkKind::Bond { .. } => "bond",
            _ => continue,
        };
        let line = format!("{}: loaded \"{kind}\"", link.name);
        assert!(
            said.contains(&line),
            "{name}: no {line:?} in\n{}",
            said.join("\n")
        );
    }
}

#[test]
fn networkd_understands_every_line() {
    for (name, wanted) in [ports(), bonds(), children()].concat() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &render(Backend::Networkd, &wanted, None, None));
        let mut room = Room::networkd(root.path(), &[]);
        let said = room.until("Enumeration completed");
        assert_eq!(complaints(said), Vec::<&String>::new(), "{name}");
        loads_netdevs(said, &wanted, &name);
    }
}

/// The judge is awake, and the fact that the udev rule is there for still holds.
#[test]
fn networkd_names_what_it_does_not_understand() {
    for (file, text, words) in [
        (
            "a.network",
            "[Match]\nName=ib0\n[Network]\nAdress=10.0.0.1/24\n",
            "Unknown key",
        ),
        (
            "a.network",
            "[Match]\nName=ib0\n[Link]\nMTUBytes=many\n",
            "Failed to parse",
        ),
        ("a.network", "[Match]\nName=0x1f\n", "Interface name is not valid"),
        ("a.network", "[Match]\nName=0o7\n", "Interface name is not valid"),
        ("a.network", "[Match]\nName=0b1\n", "Interface name is not valid"),
        (
            "a.network",
            "[Match]\nName=ib0\n[IPoIB]\nMode=connected\n",
            "Unknown section 'IPoIB'. Ignoring.",
        ),
        (
            "a.netdev",
            "[NetDev]\nName=c\nKind=ipoib\n[IPoIB]\nPartitionKey=0x18010\n",
            "Failed to parse",
        ),
        (
            "a.netdev",
            "[NetDev]\nName=c\nKind=ipoib\n[IPoIB]\nMode=fast\n",
            "Failed to parse",
        ),
        (
            "a.netdev",
            "[NetDev]\nName=c\nKind=ipoib\nMACAddress=nothing\n",
            "Not a valid hardware address",
        ),
        (
            "a.netdev",
            "[NetDev]\nName=b\nKind=bond\n[Bond]\nFailOverMACPolicy=activ\n",
            "Failed to parse",
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("etc/systemd/network");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
        let mut room = Room::networkd(root.path(), &[]);
        let said = room.until("Enumeration completed");
        assert!(
            complaints(said).iter().any(|l| l.contains(words)),
            "{text}\n{}",
            said.join("\n")
        );
    }
}

/// On an interface of type 32 networkd sets what the file says: MTU, addresses, routes.
#[test]
fn networkd_configures_a_link() {
    let cases = ports();
    let (_, wanted) = cases
        .iter()
        .find(|(n, _)| n == "connected Some(65520) all")
        .unwrap();
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &render(Backend::Networkd, wanted, None, None));
    let mut room = Room::networkd(root.path(), &["ib0"]);
    room.until("ib0: Routes set");
    let link = &room.ip(&["address", "show", "ib0"])[0];
    assert_eq!(link["link_type"], "infiniband");
    assert_eq!(link["mtu"], 65520);
    let found: Vec<String> = link["addr_info"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| format!("{}/{}", a["local"].as_str().unwrap(), a["prefixlen"]))
        .collect();
    for address in &wanted[0].link.addresses {
        assert!(
            found.contains(&address.to_string()),
            "{address} is not among {found:?}"
        );
    }
    let routes = [room.ip(&["route"]), room.ip(&["-6", "route"])];
    let has = |to: &str, via: &str| {
        routes
            .iter()
            .filter_map(|r| r.as_array())
            .flatten()
            .any(|r| r["dst"] == to && r["gateway"] == via)
    };
    for (to, via) in [
        ("default", "192.168.10.254"),
        ("default", "fd00:10::fe"),
        ("10.20.0.0/16", "192.168.10.253"),
        ("fd00:20::/32", "fd00:10::fd"),
    ] {
        assert!(has(to, via), "{to} via {via} is not among {routes:?}");
    }
}

/// The parent asks for its child, under networkd alone and under netplan, where only a drop-in says so. The kernel of the test
/// need not have ib_ipoib: that networkd sets out to make the child is what counts here.
#[test]
fn a_parent_asks_for_its_child() {
    let cases = children();
    let (_, wanted) = cases.iter().find(|(n, _)| n == "children datagram v4").unwrap();
    for backend in [Backend::Networkd, Backend::Netplan] {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &render(backend, wanted, None, None));
        if backend == Backend::Netplan {
            let out = Command::new("netplan")
                .args(["generate", "--root-dir"])
                .arg(root.path())
                .output()
                .unwrap_or_else(|e| panic!("netplan: {e}; install the package netplan.io"));
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        }
        let mut room = Room::networkd(root.path(), &["ib0"]);
        let said = room.until("ib0: Requested stacked netdev 'ib0.8001'");
        // What netplan writes for the mode is the section that networkd does not know.
        let ours: Vec<&String> = complaints(said)
            .into_iter()
            .filter(|l| !(l.starts_with("/run/") && l.ends_with("Unknown section 'IPoIB'. Ignoring.")))
            .collect();
        assert_eq!(ours, Vec::<&String>::new(), "{backend}");
        room.until("ib0.8001: Creating");
    }
}

/// udev runs the command for the link of that name and type, on `add` and on the `move` that follows a rename, and for no other;
/// the command writes the word with the line break that the kernel demands.
#[test]
fn udev_runs_the_mode_rule() {
    let cases = ports();
    let (_, wanted) = cases.iter().find(|(n, _)| n == "connected None none").unwrap();
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &render(Backend::Networkd, wanted, None, None));
    let run = |action: &str, link: &str| -> Option<String> {
        let device = format!("/sys/class/net/{link}");
        let program = ["udevadm", "test", "--action", action, device.as_str()];
        let said = Room::start(root.path(), &["ib0", "ib1"], &program).rest();
        assert!(
            !said
                .iter()
                .any(|l| l.contains("70-ibplan-") && l.contains("nvalid")),
            "{said:#?}"
        );
        said.iter().find_map(|l| {
            Some(
                l.strip_prefix("run: '/bin/sh -c '")?
                    .strip_suffix("''")?
                    .to_owned(),
            )
        })
    };
    for (action, link, runs) in [
        ("add", "ib0", true),
        ("move", "ib0", true),
        ("change", "ib0", false),
        ("add", "ib1", false),
    ] {
        let command = run(action, link);
        assert_eq!(command.is_some(), runs, "{action} {link}");
        let Some(command) = command else { continue };
        let file = root.path().join("mode");
        let here = command.replace("/sys/class/net/ib0/mode", file.to_str().unwrap());
        assert_ne!(command, here);
        let status = Command::new("/bin/sh").args(["-c", &here]).status().unwrap();
        assert!(status.success());
        assert_eq!(fs::read_to_string(&file).unwrap(), "connected\n");
    }
}
