//! The real ifupdown and ifenslave judge the files of the back end ifupdown.
//!
//! `ifup --no-act` prints what it would do; the runs at the end do it, in a mount namespace of their own where
//! `/sys/class/net` is a plain folder and `ip` is a script that notes what the kernel would have been in at each call.

mod ifupdown {
    pub(crate) mod bench;
    pub(crate) mod matrix;
}

use ibplan_core::rooms::ipoib::model::{LinkKind, Mode};
use ifupdown::bench::{Bench, find, position};
use ifupdown::matrix::{Document, bond, documents};

/// The options that `ifquery` must find, and the commands of `ifup --no-act`, for every document of the matrix.
#[test]
fn every_document_of_the_matrix_is_understood() {
    let documents = documents();
    assert!(documents.len() >= 40, "{}", documents.len());
    for document in &documents {
        let bench = Bench::new(&document.links(), "");
        for wanted in document.links() {
            bench.run("ifquery", &["-i", &bench.main(), &wanted.link.name]);
        }
        let said = bench.run(
            "ifup",
            &["--no-act", "-v", "-i", &bench.main(), &document.link.name],
        );
        judge(document, &said);
    }
}

fn judge(document: &Document, said: &str) {
    let link = &document.link;
    let name = &link.name;
    let word = link.mode.unwrap().word();
    let lines: Vec<&str> = said.lines().collect();
    let mine = find(&lines, &format!("configuring interface {name}={name} "));
    let mode = find(
        &lines[mine..],
        &format!("echo {word} > /sys/class/net/$IFACE/mode"),
    ) + mine;
    let up = lines[mine..]
        .iter()
        .position(|l| {
            // The DHCP client brings up what nothing else does; without one there is a message in its place.
            (l.starts_with(&format!("ip link set dev {name}")) && l.contains(" up")) || calls_dhcp(l)
        })
        .unwrap_or_else(|| panic!("{name} is never up:\n{said}"))
        + mine;
    assert!(mode < up, "mode after up:\n{said}");
    let times = |text: &str| lines[mine..].iter().filter(|l| l.contains(text)).count();
    assert_eq!(times("/mode"), 1, "{said}");
    match link.mtu {
        Some(mtu) => {
            let at = find(&lines, &format!("ip link set dev {name} mtu {mtu}"));
            assert!(mode < at && at <= up, "mode, mtu, up:\n{said}");
            assert_eq!(times(" mtu "), 1, "{said}");
        }
        None => assert_eq!(times(" mtu "), 0, "{said}"),
    }
    let mut last = mode;
    for command in &document.commands {
        let at = find(&lines, command);
        assert!(at > last, "{command} comes too early:\n{said}");
        last = at;
    }
    if link.dhcp4 || link.dhcp6 {
        assert!(
            lines.iter().any(|l| calls_dhcp(l)),
            "no DHCP client is called:\n{said}"
        );
    }
    if let LinkKind::Child { parent, pkey } = &link.kind {
        let create = find(
            &lines,
            &format!("echo {:#06x} > /sys/class/net/{parent}/create_child", pkey.full()),
        );
        let parent = find(&lines, &format!("configuring interface {parent}={parent} "));
        assert!(
            parent < create && create < mine,
            "parent, child, its settings:\n{said}"
        );
    }
}

/// Any of the clients that ifupdown knows, or its complaint that there is none.
fn calls_dhcp(line: &str) -> bool {
    [
        "dhclient",
        "dhcpcd",
        "udhcpc",
        "pump ",
        "DHCP client",
        "DHCPv6 client",
    ]
    .iter()
    .any(|word| line.contains(word))
}

#[test]
fn ifquery_finds_the_bond_and_brings_it_up_at_boot_with_its_ports() {
    for child in [false, true] {
        let links = bond(child, Mode::Connected, Some(65520));
        let bench = Bench::new(&links, "");
        let said = bench.run("ifquery", &["-i", &bench.main(), "bond0"]);
        let ports = if child { "ib0 ib1.c001" } else { "ib0 ib1" };
        for line in [
            "bond-mode: active-backup",
            "bond-miimon: 100",
            "bond-fail-over-mac: active",
            "bond-primary: ib0",
            &format!("bond-slaves: {ports}"),
            "mtu: 65520",
            "address: 192.168.10.1",
        ] {
            assert!(said.lines().any(|l| l == line), "{line}:\n{said}");
        }
        let boot = bench.run("ifquery", &["-i", &bench.main(), "-l"]);
        assert!(
            boot.lines().any(|l| l == "bond0") && !boot.lines().any(|l| l == "ib0"),
            "{boot}"
        );
        let class = bench.run("ifquery", &["-i", &bench.main(), "-l", "--allow=bond0"]);
        assert!(ports.split(' ').all(|p| class.lines().any(|l| l == p)), "{class}");
    }
}

/// The include line is taken by ifupdown, whatever was there, and no stanza is read twice.
#[test]
fn files_with_dots_are_read_once_whatever_the_main_file_includes() {
    let document = documents()
        .into_iter()
        .find(|d| matches!(d.link.kind, LinkKind::Child { .. }))
        .unwrap();
    for main in [
        "",
        "source /etc/network/interfaces.d/*\n",
        "source interfaces.d/*\n",
        "source-directory /etc/network/interfaces.d\n",
        "source-directory interfaces.d\n",
        "source /etc/network/interfaces.d/*.cfg\n",
        "source /etc/network/interfaces.d/ibplan-ib0\n",
    ] {
        let bench = Bench::new(&document.links(), main);
        let said = bench.run("ifup", &["--no-act", "-v", "-a", "-i", &bench.main()]);
        for name in ["ib0", &document.link.name] {
            let parsed = format!("/interfaces.d/ibplan-{name}\n");
            assert_eq!(said.matches(&parsed).count(), 1, "{main:?}:\n{said}");
            let configured = format!("configuring interface {name}={name} ");
            assert!(said.contains(&configured), "{main:?}:\n{said}");
        }
    }
}

/// The judge can say no: a file with the faults that the renderer avoids.
#[test]
fn the_judge_refuses_what_is_wrong() {
    for text in [
        "iface ib0 inet static\n    mtu 2044\n",
        "iface ib0 inet statik\n    address 10.0.0.1/24\n",
        "    address 10.0.0.1/24\niface ib0 inet manual\n",
    ] {
        let bench = Bench::new(&[], text);
        assert!(
            bench
                .try_run("ifup", &["--no-act", "-v", "-i", &bench.main(), "ib0"])
                .is_err(),
            "{text}"
        );
    }
}

#[test]
fn a_real_ifup_sets_the_mode_before_the_mtu_and_creates_the_child() {
    let document = documents()
        .into_iter()
        .find(|d| {
            matches!(d.link.kind, LinkKind::Child { .. })
                && d.link.mtu == Some(65520)
                && !d.link.addresses.is_empty()
        })
        .unwrap();
    let name = &document.link.name;
    let log = Bench::new(&document.links(), "").really_up();
    let lines: Vec<&str> = log.lines().collect();
    let at = position(&lines, |l| {
        l.starts_with(&format!("ip link set dev {name} mtu 65520"))
    });
    assert!(lines[at].contains(&format!(" {name}=connected")), "{log}");
    assert!(lines[at].contains("ib0/create_child=0x8010"), "{log}");
    let parent = position(&lines, |l| l.starts_with("ip link set dev ib0 "));
    assert!(parent < at && lines[parent].contains(" ib0=connected"), "{log}");
}

#[test]
fn a_real_ifup_enslaves_the_ports_before_the_bond_has_its_mtu() {
    for child in [false, true] {
        let log = Bench::new(&bond(child, Mode::Connected, Some(65520)), "").really_up();
        let lines: Vec<&str> = log.lines().collect();
        let (second, port) = if child {
            ("ib1.c001", "ib1.c001")
        } else {
            ("ib1", "ib1")
        };
        let first_port = position(&lines, |l| l.contains("slaves=ib0"));
        assert!(
            lines[first_port].contains("fail_over_mac=active")
                && lines[first_port].contains(" mode=active-backup"),
            "set before a port is there:\n{log}"
        );
        let up = position(&lines, |l| l.starts_with("ip link set dev bond0 mtu 65520"));
        for fact in [
            format!("slaves=ib0,{second}"),
            "ib0=connected".to_owned(),
            format!("{port}=connected"),
            "primary=ib0".to_owned(),
        ] {
            assert!(lines[up].contains(&fact), "{fact}:\n{log}");
        }
        if child {
            assert!(lines[first_port].contains("ib1/create_child=0xc001"), "{log}");
        }
    }
}
