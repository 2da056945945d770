//! Documents: every mode, MTU and way of addressing, on a parent and on a child.

use ibplan_core::pointer::Pointer;
use ibplan_core::rooms::ipoib::model::{Link, LinkKind, Mode, Route, WantedLink};
use ibplan_core::types::{Address, PKey};

/// A link, and the commands that ifup must print for it, in this order.
pub(crate) struct Document {
    pub(crate) link: Link,
    pub(crate) commands: Vec<String>,
}

impl Document {
    /// The link, and the parent of a child.
    pub(crate) fn links(&self) -> Vec<WantedLink> {
        let mut out = Vec::new();
        if let LinkKind::Child { parent, .. } = &self.link.kind {
            out.push(Link {
                mode: self.link.mode,
                ..Link::new(parent.clone(), LinkKind::Parent)
            });
        }
        out.push(self.link.clone());
        wanted(out)
    }
}

fn wanted(links: Vec<Link>) -> Vec<WantedLink> {
    links
        .into_iter()
        .enumerate()
        .map(|(at, link)| WantedLink {
            link,
            at: Pointer::of("ipoib").index(at),
            section: "ipoib",
        })
        .collect()
}

fn addresses(list: &[&str]) -> Vec<Address> {
    list.iter().map(|a| Address::parse(a).unwrap()).collect()
}

fn route(to: &str, via: &str, metric: Option<u32>) -> Route {
    Route {
        to: to.parse().unwrap(),
        via: via.parse().unwrap(),
        metric,
    }
}

/// Ways of addressing, and what they make ifup do on the link `NAME`.
fn ways() -> Vec<(Link, Vec<&'static str>)> {
    let link = || Link::new("", LinkKind::Parent);
    let v4 = "ip addr add 192.168.10.1/255.255.255.0 broadcast 192.168.10.255 \t  dev NAME";
    let v6 = "ip -6 addr add fd00:10::1/64  dev NAME";
    let with = |list: &[&str]| Link {
        addresses: addresses(list),
        ..link()
    };
    vec![
        (link(), vec![]),
        (with(&["192.168.10.1/24"]), vec![v4]),
        (with(&["fd00:10::1/64"]), vec![v6]),
        (
            with(&["192.168.10.1/24", "10.9.0.1/31", "10.8.0.1/32"]),
            vec![
                v4,
                "ip addr add 10.9.0.1/255.255.255.254",
                "ip addr add 10.8.0.1/255.255.255.255",
            ],
        ),
        (with(&["fd00:10::1/64", "192.168.10.1/24"]), vec![v6, v4]),
        (
            Link {
                gateway4: Some("192.168.10.254".parse().unwrap()),
                gateway6: Some("fd00:10::fe".parse().unwrap()),
                routes: vec![
                    route("10.20.0.0/16", "192.168.10.253", Some(5)),
                    route("fd00:20::/48", "fd00:10::fd", None),
                ],
                ..with(&["192.168.10.1/24", "fd00:10::1/64"])
            },
            vec![
                v4,
                "ip route add default via 192.168.10.254  dev NAME onlink",
                "ip route replace 10.20.0.0/16 via 192.168.10.253 dev $IFACE metric 5",
                v6,
                "ip -6 route replace default via fd00:10::fe  dev NAME onlink",
                "ip -6 route replace fd00:20::/48 via fd00:10::fd dev $IFACE",
            ],
        ),
        (
            Link {
                dhcp4: true,
                routes: vec![route("10.20.0.0/16", "192.168.10.253", None)],
                ..link()
            },
            vec!["ip route replace 10.20.0.0/16 via 192.168.10.253 dev $IFACE"],
        ),
        (
            Link {
                dhcp6: true,
                ..with(&["192.168.10.1/24"])
            },
            vec![
                v4,
                "sysctl -q -e -w net.ipv6.conf.NAME.accept_ra=1",
                "sysctl -q -e -w net.ipv6.conf.NAME.autoconf=1",
            ],
        ),
    ]
}

/// The matrix.
pub(crate) fn documents() -> Vec<Document> {
    let mut out = Vec::new();
    let pkey = PKey::new(0x0010).unwrap();
    for kind in [
        LinkKind::Parent,
        LinkKind::Child {
            parent: "ib0".to_owned(),
            pkey,
        },
    ] {
        for (mode, mtu) in [
            (Mode::Datagram, None),
            (Mode::Datagram, Some(2044)),
            (Mode::Connected, None),
            (Mode::Connected, Some(65520)),
        ] {
            for (way, commands) in ways() {
                let name = match &kind {
                    LinkKind::Child { parent, pkey } => pkey.child_of(parent),
                    _ => "ib0".to_owned(),
                };
                // A dot in a sysctl name is written as a slash.
                let sysctl = name.replace('.', "/");
                let commands = commands.iter().map(|c| {
                    c.replace("conf.NAME", &format!("conf.{sysctl}"))
                        .replace("NAME", &name)
                });
                out.push(Document {
                    commands: commands.collect(),
                    link: Link {
                        name,
                        kind: kind.clone(),
                        mode: Some(mode),
                        mtu,
                        ..way
                    },
                });
            }
        }
    }
    out
}

/// A bond over ib0 and ib1, or over ib0 and a child of ib1.
pub(crate) fn bond(child: bool, mode: Mode, mtu: Option<u32>) -> Vec<WantedLink> {
    let pkey = PKey::new(0x4001).unwrap();
    let second = if child {
        Link::new(
            "ib1.c001",
            LinkKind::Child {
                parent: "ib1".to_owned(),
                pkey,
            },
        )
    } else {
        Link::new("ib1", LinkKind::Parent)
    };
    let port = |link: Link| Link {
        mode: Some(mode),
        bond: Some("bond0".to_owned()),
        ..link
    };
    let bond = LinkKind::Bond {
        ports: vec!["ib0".to_owned(), second.name.clone()],
        primary: Some("ib0".to_owned()),
        miimon: 100,
    };
    wanted(vec![
        port(Link::new("ib0", LinkKind::Parent)),
        port(second),
        Link {
            mtu,
            addresses: addresses(&["192.168.10.1/24"]),
            ..Link::new("bond0", bond)
        },
    ])
}
