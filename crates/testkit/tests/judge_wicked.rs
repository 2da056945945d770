//! A shell judges the files of the back end wicked. No wicked is to be had for these tests: its files are also sourced by
//! scripts, so quoting and names at least are held against the real thing.

use ibplan_core::distro::Backend;
use ibplan_core::facts::{Facts, Scope};
use ibplan_core::pointer::Pointer;
use ibplan_core::rooms::ipoib::backend::{Context, Files, dialect};
use ibplan_core::rooms::ipoib::model::{Link, LinkKind, Mode, WantedLink};
use ibplan_core::types::{Address, PKey};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Sources a file with unset variables and failures fatal, and prints what it has set.
fn source(text: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ifcfg");
    std::fs::write(&file, text).unwrap();
    let sh = |script: &str| {
        let output = Command::new("/bin/sh")
            .args(["-c", script, "sh", file.to_str().unwrap()])
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    sh("/bin/sh -n \"$1\"");
    sh("set -eua; . \"$1\"; /usr/bin/env")
        .lines()
        .filter_map(|l| l.split_once('='))
        .filter(|(name, _)| name.chars().next().is_some_and(|c| c.is_ascii_uppercase()))
        .filter(|(name, _)| !["PWD", "OLDPWD", "SHLVL", "PATH"].contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn render(links: Vec<Link>) -> BTreeMap<String, String> {
    let wanted: Vec<WantedLink> = links
        .into_iter()
        .map(|link| WantedLink {
            link,
            at: Pointer::of("ipoib"),
            section: "ipoib",
        })
        .collect();
    let facts = Facts::unknown(Scope::Live);
    let context = Context {
        facts: &facts,
        row: None,
        files: &Files::new(),
    };
    dialect(Backend::Wicked)
        .render(&wanted, &context)
        .unwrap()
        .into_iter()
        .map(|r| (r.path.name().to_owned(), r.text))
        .collect()
}

#[test]
fn a_shell_reads_every_file_as_it_was_meant() {
    let pkey = PKey::new(0x000a).unwrap();
    let list = ["192.168.10.1/24", "fd00:10::1/64"].map(|a| Address::parse(a).unwrap());
    let parent = Link {
        mode: Some(Mode::Connected),
        mtu: Some(65520),
        addresses: list.to_vec(),
        ..Link::new("ib0", LinkKind::Parent)
    };
    let child = Link {
        mode: Some(Mode::Datagram),
        dhcp4: true,
        dhcp6: true,
        ..Link::new(
            "ib0.800a",
            LinkKind::Child {
                parent: "ib0".to_owned(),
                pkey,
            },
        )
    };
    let port = Link {
        mode: Some(Mode::Datagram),
        bond: Some("bond0".to_owned()),
        ..Link::new("ib1", LinkKind::Parent)
    };
    let bond = Link::new(
        "bond0",
        LinkKind::Bond {
            ports: vec!["ib1".to_owned(), "ib2".to_owned()],
            primary: Some("ib1".to_owned()),
            miimon: 50,
        },
    );
    let files = render(vec![parent, child, port, bond]);
    for (name, wanted) in [
        (
            "ifcfg-ib0",
            "STARTMODE=auto|BOOTPROTO=static|IPADDR=192.168.10.1/24|IPADDR_1=fd00:10::1/64|MTU=65520|IPOIB_MODE=connected",
        ),
        (
            "ifcfg-ib0.800a",
            "STARTMODE=auto|BOOTPROTO=dhcp|IPOIB_MODE=datagram|IPOIB_DEVICE=ib0|IPOIB_PKEY=0x800a",
        ),
        (
            "ifcfg-ib1",
            "STARTMODE=hotplug|BOOTPROTO=none|IPOIB_MODE=datagram",
        ),
        (
            "ifcfg-bond0",
            "STARTMODE=auto|BOOTPROTO=static|BONDING_MASTER=yes|BONDING_SLAVE_0=ib1|BONDING_SLAVE_1=ib2|\
             BONDING_MODULE_OPTS=mode=active-backup miimon=50 fail_over_mac=active primary=ib1",
        ),
    ] {
        let wanted: BTreeMap<String, String> = wanted
            .split('|')
            .filter_map(|pair| pair.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        assert_eq!(source(&files[name]), wanted, "{name}");
    }
    assert_eq!(files.len(), 4);
}
