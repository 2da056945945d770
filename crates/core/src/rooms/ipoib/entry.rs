//! The document's links, flattened: interfaces, P_Key children, bonds and bare bond members side by side, each with its
//! place in the document, so that rules and the model are written once.

use super::model::{Link, LinkKind, Mode, Route, WantedLink};
use super::want::{BondWant, ChildWant, IpoibWant, ModeWant, RouteWant};
use crate::pointer::Pointer;
use crate::state::BackendWant;
use crate::types::{Address, Gateway, MtuWant, Network, PKey};
use std::net::IpAddr;

/// Milliseconds between two looks of a bond at its members, where the document does not say.
pub const DEFAULT_MIIMON: u32 = 100;

/// The sections that this room serves. A section that is absent is not managed, one that is empty is.
#[derive(Clone, Debug, PartialEq)]
pub struct Want {
    /// `ipoib`
    pub ipoib: Option<Vec<IpoibWant>>,
    /// `bonds`
    pub bonds: Option<Vec<BondWant>>,
    /// `network_backend`
    pub backend: BackendWant,
}

impl Want {
    /// The interfaces.
    pub fn interfaces(&self) -> &[IpoibWant] {
        self.ipoib.as_deref().unwrap_or_default()
    }

    /// The bonds.
    pub fn bond_list(&self) -> &[BondWant] {
        self.bonds.as_deref().unwrap_or_default()
    }
}

/// What a place of the document stands for.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// `/ipoib/N`
    Interface(&'a IpoibWant),
    /// `/ipoib/N/partitions/M`
    Child {
        /// The key.
        pkey: PKey,
        /// Index of the parent in `/ipoib`.
        parent: usize,
        /// It has a mode of its own, not its parent's.
        own_mode: bool,
    },
    /// `/bonds/N`
    Bond(&'a BondWant),
    /// `/bonds/N/ports/M`: a member that `ipoib` does not name.
    Member,
}

/// What interfaces, children and bonds have in common.
#[derive(Clone, Copy, Debug)]
pub struct Ip<'a> {
    /// MTU.
    pub mtu: MtuWant,
    /// Static addresses.
    pub addresses: &'a [Address],
    /// Default route.
    pub gateway: Option<Gateway>,
    /// DHCP for IPv4.
    pub dhcp4: bool,
    /// DHCP and router advertisement for IPv6.
    pub dhcp6: bool,
    /// Static routes.
    pub routes: &'a [RouteWant],
}

impl Ip<'_> {
    const NONE: Self = Self {
        mtu: MtuWant::WORD,
        addresses: &[],
        gateway: None,
        dhcp4: false,
        dhcp6: false,
        routes: &[],
    };

    /// The MTU in bytes, where one is given.
    pub fn mtu(&self) -> Option<u32> {
        self.mtu.number().and_then(|n| u32::try_from(n).ok())
    }

    /// The router of the default route of one family: `gateway`, else a route to `default`.
    pub fn default_router(&self, v4: bool) -> Option<IpAddr> {
        self.default_routers()
            .map(|(_, ip)| ip)
            .find(|ip| ip.is_ipv4() == v4)
    }

    /// All routers of default routes, each with its place below the link.
    pub fn default_routers(&self) -> impl Iterator<Item = (Vec<String>, IpAddr)> {
        let gateway = self.gateway.map(|g| (vec!["gateway".to_owned()], g.ip()));
        let routes = self
            .routes
            .iter()
            .enumerate()
            .filter(|(_, r)| r.to == Network::Default)
            .map(|(k, r)| (vec!["routes".to_owned(), k.to_string()], r.via.ip()));
        gateway.into_iter().chain(routes)
    }

    /// Whether a family gets its addresses by DHCP or router advertisement.
    pub const fn dynamic(&self, v4: bool) -> bool {
        if v4 { self.dhcp4 } else { self.dhcp6 }
    }

    /// Whether it has a static address of a family.
    pub fn has_address(&self, v4: bool) -> bool {
        self.addresses.iter().any(|a| a.is_v4() == v4)
    }

    /// The fields that give the link an IP configuration, as the document names them.
    pub fn fields(&self) -> Vec<&'static str> {
        [
            (!self.addresses.is_empty(), "addresses"),
            (self.gateway.is_some(), "gateway"),
            (self.dhcp4, "dhcp4"),
            (self.dhcp6, "dhcp6"),
            (!self.routes.is_empty(), "routes"),
        ]
        .into_iter()
        .filter_map(|(given, field)| given.then_some(field))
        .collect()
    }
}

macro_rules! ip_of {
    ($($type:ty),+) => {$(
        impl $type {
            /// Its MTU, addresses and routes.
            pub fn ip(&self) -> Ip<'_> {
                Ip {
                    mtu: self.mtu,
                    addresses: &self.addresses,
                    gateway: self.gateway,
                    dhcp4: self.dhcp4,
                    dhcp6: self.dhcp6,
                    routes: &self.routes,
                }
            }
        }
    )+};
}
ip_of!(IpoibWant, ChildWant, BondWant);

/// One link of the document.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Where it stands.
    pub at: Pointer,
    /// Its interface name; `None` while the port that names it is not resolved.
    pub name: Option<String>,
    /// Interface, child, bond or bare member.
    pub what: What<'a>,
    /// IPoIB mode; `None` for bonds.
    pub mode: Option<Mode>,
    /// MTU, addresses, routes.
    pub ip: Ip<'a>,
}

impl Entry<'_> {
    /// Whether it is an IPoIB link of its own: an interface or a bare member that is no child.
    pub const fn is_child(&self) -> bool {
        matches!(self.what, What::Child { .. })
    }
}

const fn mode_of(want: ModeWant) -> Mode {
    match want {
        ModeWant::Auto | ModeWant::Datagram => Mode::Datagram,
        ModeWant::Connected => Mode::Connected,
    }
}

/// All links of the document in its order; `name` tells the interface of an entry of `ipoib`, by its index.
pub fn entries(want: &Want, name: impl Fn(usize, &IpoibWant) -> Option<String>) -> Vec<Entry<'_>> {
    let mut out = Vec::new();
    for (n, link) in want.interfaces().iter().enumerate() {
        let at = Pointer::of("ipoib").index(n);
        let parent = name(n, link);
        let mode = mode_of(link.mode);
        out.push(Entry {
            at: at.clone(),
            name: parent.clone(),
            what: What::Interface(link),
            mode: Some(mode),
            ip: link.ip(),
        });
        for (m, child) in link.partitions.iter().enumerate() {
            out.push(Entry {
                at: at.key("partitions").index(m),
                name: parent.as_deref().map(|p| child.pkey.child_of(p)),
                what: What::Child {
                    pkey: child.pkey,
                    parent: n,
                    own_mode: child.mode.is_some(),
                },
                mode: Some(child.mode.map_or(mode, mode_of)),
                ip: child.ip(),
            });
        }
    }
    let named: Vec<String> = out.iter().filter_map(|e| e.name.clone()).collect();
    for (n, bond) in want.bond_list().iter().enumerate() {
        let at = Pointer::of("bonds").index(n);
        out.push(Entry {
            at: at.clone(),
            name: Some(bond.name.to_string()),
            what: What::Bond(bond),
            mode: None,
            ip: bond.ip(),
        });
        for (m, port) in bond.ports.iter().enumerate() {
            if !named.iter().any(|name| name == port.as_str()) {
                out.push(Entry {
                    at: at.key("ports").index(m),
                    name: Some(port.to_string()),
                    what: What::Member,
                    mode: Some(Mode::Datagram),
                    ip: Ip::NONE,
                });
            }
        }
    }
    out
}

/// The parent and the key that the name of a P_Key child tells: `ib0.8001`. The key has its membership bit set, since
/// ibplan names children by the full key.
pub fn child_name(name: &str) -> Option<(&str, PKey)> {
    let (parent, hex) = name.rsplit_once('.')?;
    let plain = hex.len() == 4
        && hex
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let key = u16::from_str_radix(hex, 16).ok()?;
    if plain && key & 0x8000 != 0 && !parent.is_empty() {
        Some((parent, PKey::new(key)?))
    } else {
        None
    }
}

/// The links in the model of the back ends. An entry without a name is left out: its refusal stands elsewhere.
pub fn wanted_links(want: &Want, entries: &[Entry<'_>]) -> Vec<WantedLink> {
    entries
        .iter()
        .filter_map(|entry| {
            let name = entry.name.clone()?;
            let mut link = Link::new(name, kind_of(entry, entries)?);
            link.mode = entry.mode;
            link.mtu = entry.ip.mtu();
            link.addresses = entry.ip.addresses.to_vec();
            link.gateway4 = entry.ip.default_router(true);
            link.gateway6 = entry.ip.default_router(false);
            link.dhcp4 = entry.ip.dhcp4;
            link.dhcp6 = entry.ip.dhcp6;
            link.routes = routes_of(entry.ip.routes);
            link.bond = bond_of(want, &link.name).map(|(n, _)| want.bond_list()[n].name.to_string());
            Some(WantedLink {
                link,
                at: entry.at.clone(),
                section: if entry.at.section() == "bonds" {
                    "bonds"
                } else {
                    "ipoib"
                },
            })
        })
        .collect()
}

fn kind_of(entry: &Entry<'_>, entries: &[Entry<'_>]) -> Option<LinkKind> {
    Some(match entry.what {
        What::Interface(_) => LinkKind::Parent,
        What::Child { pkey, parent, .. } => {
            let at = Pointer::of("ipoib").index(parent);
            let parent = entries.iter().find(|e| e.at == at)?.name.clone()?;
            LinkKind::Child { parent, pkey }
        }
        What::Member => match child_name(entry.name.as_deref()?) {
            Some((parent, pkey)) => LinkKind::Child {
                parent: parent.to_owned(),
                pkey,
            },
            None => LinkKind::Parent,
        },
        What::Bond(bond) => LinkKind::Bond {
            ports: bond.ports.iter().map(ToString::to_string).collect(),
            primary: bond.primary.as_ref().map(ToString::to_string),
            miimon: bond
                .miimon
                .and_then(|m| u32::try_from(m.get()).ok())
                .unwrap_or(DEFAULT_MIIMON),
        },
    })
}

fn routes_of(routes: &[RouteWant]) -> Vec<Route> {
    let mut out: Vec<Route> = routes
        .iter()
        .filter_map(|r| match r.to {
            Network::Default => None,
            Network::Net(to) => Some(Route {
                to,
                via: r.via.ip(),
                metric: r.metric.and_then(|m| u32::try_from(m.get()).ok()),
            }),
        })
        .collect();
    out.sort();
    out.dedup();
    out
}

/// The bond that a link is a member of, and its place among the ports.
pub fn bond_of(want: &Want, name: &str) -> Option<(usize, usize)> {
    want.bond_list()
        .iter()
        .enumerate()
        .find_map(|(n, b)| b.ports.iter().position(|p| p.as_str() == name).map(|m| (n, m)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_children_are_told_from_others() {
        assert_eq!(
            child_name("ib0.8001").map(|(p, k)| (p, k.number())),
            Some(("ib0", 1))
        );
        for other in [
            "ib0",
            "ib0.1",
            "ib0.0001",
            "ib0.80010",
            "eth0.1000",
            ".8001",
            "ib0.8000",
            "ib0.80AA",
        ] {
            assert_eq!(child_name(other), None, "{other}");
        }
    }
}
