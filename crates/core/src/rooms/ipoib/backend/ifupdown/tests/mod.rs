mod includes;
mod reading;

use super::strategy::{links as any_links, want};
use super::*;
use crate::action::digest;
use crate::distro::ROWS;
use crate::facts::{Facts, Scope};
use crate::ledger::{Original, Owned};
use crate::rooms::ipoib::model::{Mode, Route};
use crate::types::{Address, PKey};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn path(text: &str) -> HostPath {
    HostPath::new(text).unwrap()
}

fn files(list: &[(&str, &str)]) -> Files {
    list.iter().map(|(p, t)| (path(p), (*t).to_owned())).collect()
}

fn render_with(facts: &Facts, links: &[WantedLink], there: &Files) -> Result<Vec<Rendered>, Vec<Problem>> {
    Ifupdown.render(
        links,
        &Context {
            facts,
            row: None,
            files: there,
        },
    )
}

fn render(links: &[WantedLink], there: &Files) -> Vec<Rendered> {
    render_with(&Facts::unknown(Scope::Live), links, there).unwrap()
}

fn refuse(links: &[WantedLink], there: &Files) -> Vec<Problem> {
    render_with(&Facts::unknown(Scope::Live), links, there).unwrap_err()
}

fn parent(name: &str) -> Link {
    Link {
        mode: Some(Mode::Datagram),
        ..Link::new(name, LinkKind::Parent)
    }
}

fn child(of: &str, key: u16) -> Link {
    let pkey = PKey::new(key).unwrap();
    Link {
        mode: Some(Mode::Datagram),
        ..Link::new(
            pkey.child_of(of),
            LinkKind::Child {
                parent: of.to_owned(),
                pkey,
            },
        )
    }
}

fn addresses(list: &[&str]) -> Vec<Address> {
    list.iter().map(|a| Address::parse(a).unwrap()).collect()
}

fn alone(link: Link) -> Vec<WantedLink> {
    vec![want("ipoib", 0, link)]
}

/// The own file of the only link, with the main file in order.
fn text(link: Link) -> String {
    let there = files(&[(MAIN, "source /etc/network/interfaces.d/*\n")]);
    let out = render(&alone(link), &there);
    assert_eq!(out.len(), 1);
    out[0].text.clone()
}

fn full() -> Link {
    Link {
        mtu: Some(2044),
        addresses: addresses(&["192.168.10.1/24", "fd00:10::1/64", "10.9.0.1/16"]),
        gateway4: Some("192.168.10.254".parse().unwrap()),
        gateway6: Some("fd00:10::fe".parse().unwrap()),
        routes: vec![
            Route {
                to: "10.20.0.0/16".parse().unwrap(),
                via: "192.168.10.254".parse().unwrap(),
                metric: Some(5),
            },
            Route {
                to: "fd00:20::/48".parse().unwrap(),
                via: "fd00:10::fe".parse().unwrap(),
                metric: None,
            },
        ],
        ..parent("ib0")
    }
}

#[test]
fn a_full_link_is_this_file() {
    assert_eq!(
        text(full()),
        "# Written by ibplan.\n\
         auto ib0\n\
         iface ib0 inet static\n    address 192.168.10.1/24\n    gateway 192.168.10.254\n    \
         pre-up echo datagram > /sys/class/net/$IFACE/mode\n    mtu 2044\n\n\
         iface ib0 inet6 static\n    address fd00:10::1/64\n    gateway fd00:10::fe\n    \
         up ip -6 route replace fd00:20::/48 via fd00:10::fe dev $IFACE\n\n\
         iface ib0 inet static\n    address 10.9.0.1/16\n    \
         up ip route replace 10.20.0.0/16 via 192.168.10.254 dev $IFACE metric 5\n"
    );
}

#[test]
fn the_first_stanza_carries_mode_and_mtu() {
    let dhcp = Link {
        dhcp4: true,
        ..parent("ib0")
    };
    let dhcp6_mtu = Link {
        dhcp6: true,
        mtu: Some(2044),
        ..parent("ib0")
    };
    for (link, wanted) in [
        (
            dhcp,
            "iface ib0 inet dhcp\n    pre-up echo datagram > /sys/class/net/$IFACE/mode\n",
        ),
        (
            dhcp6_mtu,
            "iface ib0 inet manual\n    pre-up echo datagram > /sys/class/net/$IFACE/mode\n    mtu 2044\n\n\
             iface ib0 inet6 dhcp\n    accept_ra 1\n    autoconf 1\n",
        ),
        (
            parent("ib0"),
            "iface ib0 inet manual\n    pre-up echo datagram > /sys/class/net/$IFACE/mode\n",
        ),
    ] {
        assert_eq!(text(link), format!("# Written by ibplan.\nauto ib0\n{wanted}"));
    }
}

fn bonded() -> Vec<WantedLink> {
    let port = |link: Link| Link {
        bond: Some("bond0".to_owned()),
        mode: Some(Mode::Connected),
        ..link
    };
    let bond = Link {
        mtu: Some(65520),
        addresses: addresses(&["192.168.10.1/24"]),
        ..Link::new(
            "bond0",
            LinkKind::Bond {
                ports: vec!["ib0".to_owned(), "ib1.c001".to_owned()],
                primary: Some("ib0".to_owned()),
                miimon: 100,
            },
        )
    };
    vec![
        want("ipoib", 0, port(parent("ib0"))),
        want("ipoib", 1, port(child("ib1", 0x4001))),
        want("bonds", 0, bond),
    ]
}

#[test]
fn a_bond_brings_up_its_ports_itself() {
    let out = render(&bonded(), &Files::new());
    let text = |name: &str| &out.iter().find(|r| r.path.name() == name).unwrap().text;
    assert_eq!(
        text("ibplan-bond0"),
        "# Written by ibplan.\n\
         auto bond0\n\
         iface bond0 inet static\n    address 192.168.10.1/24\n    \
         pre-up ip link show dev ib1.c001 > /dev/null 2>&1 || echo 0xc001 > /sys/class/net/ib1/create_child\n    \
         mtu 65520\n    bond-mode active-backup\n    bond-miimon 100\n    bond-fail-over-mac active\n    \
         bond-primary ib0\n    bond-slaves ib0 ib1.c001\n"
    );
    assert_eq!(
        text("ibplan-ib0"),
        "# Written by ibplan.\n\
         allow-bond0 ib0\n\
         iface ib0 inet manual\n    pre-up echo connected > /sys/class/net/$IFACE/mode\n    bond-master bond0\n"
    );
    let debian = ROWS.iter().find(|r| r.backends.contains(&Backend::Ifupdown));
    assert_eq!(packages(&bonded(), debian), ["ifenslave"]);
    assert!(packages(&alone(parent("ib0")), debian).is_empty() && packages(&bonded(), None).is_empty());
}

#[test]
fn case_21_every_link_is_up_before_the_network_is_called_online() {
    let links = bonded();
    for rendered in render(&links, &Files::new()) {
        if rendered.keys.is_none() {
            // ifup -a is what network-online.target waits for: it brings up `auto` links, and a bond its ports.
            let name = &rendered.links[0];
            let class = if name == "bond0" { "auto" } else { "allow-bond0" };
            assert!(rendered.text.contains(&format!("\n{class} {name}\n")), "{name}");
        }
    }
    assert!(text(child("ib0", 1)).contains("\nauto ib0.8001\n"));
}

#[test]
fn what_ifupdown_cannot_say_is_refused_all_at_once() {
    let dhcp = Link {
        dhcp4: true,
        dhcp6: true,
        addresses: addresses(&["10.0.0.1/24", "fd00::1/64"]),
        ..parent("ib0")
    };
    let mut cut = child("ibp129s0f0d1", 0x0001);
    cut.name = "ibp129s0f0d1.80".to_owned();
    let problems = refuse(&[want("ipoib", 0, dhcp), want("ipoib", 1, cut)], &Files::new());
    let shown: Vec<(&str, &str)> = problems.iter().map(|p| (p.code.id(), p.path.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("ipoib.backend_cannot", "/ipoib/0"),
            ("ipoib.backend_cannot", "/ipoib/0"),
            ("ipoib.backend_cannot", "/ipoib/1")
        ]
    );
    assert!(problems[2].message.contains("ibp129s0f0d1.8001"));
}

fn read_one(text: &str) -> Link {
    let all = Ifupdown.read(&files(&[(MAIN, text)]));
    assert_eq!(all.len(), 1, "{text}: {all:?}");
    all.into_iter().next().unwrap().1
}
