mod reading;

use super::super::ifupdown::strategy::{links as any_links, want};
use super::*;
use crate::facts::{Facts, Scope};
use crate::rooms::ipoib::model::{LinkKind, Mode, Route};
use crate::types::{Address, PKey};
use proptest::prelude::*;

fn path(text: &str) -> HostPath {
    HostPath::new(text).unwrap()
}

fn files(list: &[(&str, &str)]) -> Files {
    list.iter()
        .map(|(name, text)| (path(&format!("{FOLDER}/{name}")), (*text).to_owned()))
        .collect()
}

fn try_render(links: &[WantedLink], there: &Files) -> Result<Vec<Rendered>, Vec<Problem>> {
    Wicked.render(
        links,
        &Context {
            facts: &Facts::unknown(Scope::Live),
            row: None,
            files: there,
        },
    )
}

fn render(links: &[WantedLink]) -> Vec<(String, String)> {
    try_render(links, &Files::new())
        .unwrap()
        .into_iter()
        .map(|r| (r.path.name().to_owned(), r.text))
        .collect()
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

fn bond(name: &str, ports: &[&str]) -> Link {
    Link::new(
        name,
        LinkKind::Bond {
            ports: ports.iter().map(|p| (*p).to_owned()).collect(),
            primary: None,
            miimon: 100,
        },
    )
}

fn addresses(list: &[&str]) -> Vec<Address> {
    list.iter().map(|a| Address::parse(a).unwrap()).collect()
}

fn alone(link: Link) -> Vec<WantedLink> {
    vec![want("ipoib", 0, link)]
}

fn full() -> Link {
    Link {
        mtu: Some(2044),
        addresses: addresses(&["192.168.10.1/24", "fd00:10::1/64"]),
        gateway4: Some("192.168.10.254".parse().unwrap()),
        gateway6: Some("fd00:10::fe".parse().unwrap()),
        routes: vec![Route {
            to: "10.20.0.0/16".parse().unwrap(),
            via: "192.168.10.253".parse().unwrap(),
            metric: Some(7),
        }],
        ..parent("ib0")
    }
}

#[test]
fn a_full_link_is_these_files() {
    assert_eq!(
        render(&alone(full())),
        [
            (
                "ifcfg-ib0".to_owned(),
                "# Written by ibplan.\nSTARTMODE='auto'\nBOOTPROTO='static'\nIPADDR='192.168.10.1/24'\n\
                 IPADDR_1='fd00:10::1/64'\nMTU='2044'\nIPOIB_MODE='datagram'\n"
                    .to_owned()
            ),
            (
                "ifroute-ib0".to_owned(),
                "# Written by ibplan.\ndefault 192.168.10.254 - ib0\ndefault fd00:10::fe - ib0\n\
                 10.20.0.0/16 192.168.10.253 - ib0 metric 7\n"
                    .to_owned()
            ),
        ]
    );
}

#[test]
fn protocols() {
    for (dhcp4, dhcp6, list, wanted) in [
        (false, false, vec![], "static"),
        (true, false, vec!["10.0.0.1/24"], "dhcp4"),
        (false, true, vec![], "dhcp6"),
        (true, true, vec![], "dhcp"),
    ] {
        let link = Link {
            dhcp4,
            dhcp6,
            addresses: addresses(&list),
            ..parent("ib0")
        };
        let text = &render(&alone(link))[0].1;
        assert!(text.contains(&format!("\nBOOTPROTO='{wanted}'\n")), "{text}");
        assert_eq!(text.contains("IPADDR='10.0.0.1/24'"), !list.is_empty());
    }
}

#[test]
fn case_09_a_child_states_parent_and_full_key() {
    let out = render(&alone(child("ib0", 0x0001)));
    assert_eq!(out[0].0, "ifcfg-ib0.8001");
    assert!(
        out[0]
            .1
            .ends_with("IPOIB_MODE='datagram'\nIPOIB_DEVICE='ib0'\nIPOIB_PKEY='0x8001'\n")
    );
    // 0x8000 cannot even be said; 0xffff is the parent's own.
    assert!(PKey::new(0x8000).is_none());
    let problems = try_render(&alone(child("ib0", 0xffff)), &Files::new()).unwrap_err();
    assert!(problems[0].message.contains("0xffff"), "{problems:?}");
    // A name with a dot is no IPoIB link for that; a key says so.
    let kind = |name: &str, text: &str| {
        Wicked.read(&files(&[(&format!("ifcfg-{name}") as &str, text)]))[0]
            .1
            .kind
            .clone()
    };
    let storage = |key: u16| LinkKind::Child {
        parent: "ib0".to_owned(),
        pkey: PKey::new(key).unwrap(),
    };
    for (name, text, wanted) in [
        ("storage.ib", "BOOTPROTO='static'\n", LinkKind::Ethernet),
        (
            "storage.ib",
            "IPOIB='yes'\nIPOIB_DEVICE=ib0\nIPOIB_PKEY=8002\n",
            storage(2),
        ),
        (
            "storage",
            "IPOIB_MODE=datagram\nIPOIB_DEVICE=ib0\nIPOIB_PKEY=0x8002\n",
            storage(2),
        ),
        ("ib0.8001", "", storage(1)),
        ("ib0.8001", "IPOIB_PKEY=0x8003\n", storage(3)),
        ("ib0.8000", "", LinkKind::Parent),
        ("ib0.ffff", "", LinkKind::Parent),
        ("ib0.0001", "", LinkKind::Parent),
        ("ib0", "", LinkKind::Parent),
        ("ib0", "IPOIB='no'\n", LinkKind::Ethernet),
        ("ibp65s0", "", LinkKind::Ethernet),
        ("ibp65s0", "IPOIB_UMCAST='allowed'\n", LinkKind::Parent),
    ] {
        assert_eq!(kind(name, text), wanted, "{name} {text}");
    }
}

#[test]
fn case_18_a_bond_has_no_ipoib_variable_and_no_ipoib_name() {
    let port = |name: &str| Link {
        bond: Some("bond0".to_owned()),
        ..parent(name)
    };
    let links = vec![
        want("ipoib", 0, port("ib0")),
        want("ipoib", 1, port("ib1")),
        want(
            "bonds",
            0,
            Link {
                addresses: addresses(&["192.168.10.1/24"]),
                ..bond("bond0", &["ib0", "ib1"])
            },
        ),
    ];
    let out = render(&links);
    let port = "# Written by ibplan.\nSTARTMODE='hotplug'\nBOOTPROTO='none'\nIPOIB_MODE='datagram'\n";
    assert_eq!(out[0], ("ifcfg-ib0".to_owned(), port.to_owned()));
    assert_eq!(
        out[2].1,
        "# Written by ibplan.\nSTARTMODE='auto'\nBOOTPROTO='static'\nIPADDR='192.168.10.1/24'\nBONDING_MASTER='yes'\n\
         BONDING_SLAVE_0='ib0'\nBONDING_SLAVE_1='ib1'\n\
         BONDING_MODULE_OPTS='mode=active-backup miimon=100 fail_over_mac=active'\n"
    );
    for (name, fine) in [
        ("bond0", true),
        ("ibbond0", true),
        ("ib_bond", true),
        ("ib0", false),
        ("ib0bond", false),
    ] {
        let result = try_render(&[want("bonds", 0, bond(name, &["ib7"]))], &Files::new());
        assert_eq!(result.is_ok(), fine, "{name}");
        if let Err(problems) = result {
            assert!(
                problems[0].message.contains("wicked before 0.6.76"),
                "{problems:?}"
            );
        }
    }
}

#[test]
fn case_21_links_are_up_before_the_network_is_called_online() {
    for link in [full(), child("ib0", 1), bond("bond0", &["ib8"])] {
        assert!(render(&alone(link))[0].1.contains("\nSTARTMODE='auto'\n"));
    }
}

#[test]
fn refuses_what_old_versions_take_for_something_else() {
    let with_bond = Link {
        bond: Some("bond0".to_owned()),
        addresses: addresses(&["10.0.0.1/24"]),
        ..parent("ib0")
    };
    let mut cut = child("ibp129s0f0d1", 1);
    cut.name = "ibp129s0f0d1.80".to_owned();
    for (link, word) in [
        (parent("fabric.a"), "dot in its name"),
        (child("fabric.a", 1), "first dot"),
        (cut, "0x8001"),
        (with_bond, "no addresses on a port"),
    ] {
        let problems = try_render(&alone(link), &Files::new()).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].code.id(), "ipoib.backend_cannot");
        assert!(problems[0].message.contains(word), "{problems:?}");
    }
}
