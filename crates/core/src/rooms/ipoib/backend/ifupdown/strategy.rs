//! Any wanted links that both file-per-link back ends can say, for property tests.

use crate::pointer::Pointer;
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, Route, WantedLink};
use crate::types::{Address, PKey};
use proptest::option;
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn address() -> impl Strategy<Value = Address> {
    let v4 = (any::<u8>(), any::<u8>(), 1_u8..255, 8_u8..=24)
        .prop_map(|(a, b, c, len)| format!("10.{a}.{b}.{c}/{len}"));
    let v6 = (any::<u16>(), 1_u16.., 1_u8..=128).prop_map(|(a, b, len)| format!("fd00:{a:x}::{b:x}/{len}"));
    prop_oneof![v4, v6].prop_map(|text| Address::parse(&text).unwrap())
}

fn route() -> impl Strategy<Value = Route> {
    let v4 = (any::<[u8; 2]>(), any::<u8>()).prop_map(|([a, b], host)| {
        (
            format!("172.{a}.{b}.0/24"),
            IpAddr::from(Ipv4Addr::new(10, 0, 0, host)),
        )
    });
    let v6 = (any::<u16>(), any::<u16>()).prop_map(|(a, host)| {
        (
            format!("fd11:{a:x}::/48"),
            IpAddr::from(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 1, host)),
        )
    });
    (prop_oneof![v4, v6], option::of(any::<u32>())).prop_map(|((to, via), metric)| Route {
        to: to.parse().unwrap(),
        via,
        metric,
    })
}

/// Everything but name and kind.
fn body() -> impl Strategy<Value = Link> {
    (
        prop_oneof![Just(Mode::Datagram), Just(Mode::Connected)],
        option::of(68_u32..=65520),
        prop::collection::vec(address(), 0..4),
        prop::collection::vec(route(), 0..4),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(|(mode, mtu, addresses, mut routes, (gw4, gw6, dhcp4, dhcp6))| {
            routes.sort();
            routes.dedup();
            Link {
                mode: Some(mode),
                mtu,
                dhcp4: dhcp4 && !addresses.iter().any(|a| a.is_v4()),
                dhcp6: dhcp6 && addresses.iter().all(|a| a.is_v4()),
                addresses,
                gateway4: gw4.then(|| IpAddr::from(Ipv4Addr::new(10, 0, 0, 254))),
                gateway6: gw6.then(|| IpAddr::from(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 254))),
                routes,
                ..Link::new("", LinkKind::Parent)
            }
        })
}

/// Wants a link.
pub(crate) fn want(section: &'static str, at: usize, link: Link) -> WantedLink {
    WantedLink {
        link,
        at: Pointer::of(section).index(at),
        section,
    }
}

/// A parent, a child of it, and a bond over a parent and a child.
pub(crate) fn links() -> impl Strategy<Value = Vec<WantedLink>> {
    (
        [body(), body(), body()],
        any::<[u16; 2]>(),
        any::<[bool; 2]>(),
        1_u32..10000,
    )
        .prop_map(|([parent, child, bond], keys, [first, primary], miimon)| {
            let key = |bits: u16| PKey::new(bits.clamp(1, 0x7ffe)).unwrap();
            let [a, b] = keys.map(|bits| key(bits & 0x7fff));
            let kid = |of: &str, pkey: PKey| LinkKind::Child {
                parent: of.to_owned(),
                pkey,
            };
            let port = |name: &str, kind: LinkKind| Link {
                mode: Some(Mode::Connected),
                bond: Some("bond0".to_owned()),
                ..Link::new(name, kind)
            };
            let ports = vec!["ib1".to_owned(), b.child_of("ib2")];
            let bond_kind = LinkKind::Bond {
                primary: primary.then(|| ports[usize::from(first)].clone()),
                ports: ports.clone(),
                miimon,
            };
            let named = |link: Link, name: &str, kind: LinkKind| Link {
                name: name.to_owned(),
                kind,
                ..link
            };
            vec![
                want("ipoib", 0, named(parent, "ib0", LinkKind::Parent)),
                want("ipoib", 1, named(child, &a.child_of("ib0"), kid("ib0", a))),
                want("ipoib", 2, port("ib1", LinkKind::Parent)),
                want("ipoib", 3, port(&ports[1], kid("ib2", b))),
                want(
                    "bonds",
                    0,
                    Link {
                        mode: None,
                        ..named(bond, "bond0", bond_kind)
                    },
                ),
            ]
        })
}
