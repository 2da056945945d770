//! One model of a link, the same on every back end: the document is brought into it, and so is every foreign file.

use crate::pointer::Pointer;
use crate::types::{Address, HostPath, PKey};
use std::net::IpAddr;

/// IPoIB mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Unreliable datagram.
    Datagram,
    /// Reliable connected.
    Connected,
}

impl Mode {
    /// The word of the kernel, NetworkManager, netplan, networkd and wicked.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Datagram => "datagram",
            Self::Connected => "connected",
        }
    }
}

/// What kind of link it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The IPoIB interface of a port.
    Parent,
    /// A P_Key child.
    Child {
        /// Parent interface.
        parent: String,
        /// Partition.
        pkey: PKey,
    },
    /// A bond: always active-backup, fail_over_mac=active.
    Bond {
        /// Members, in the document's order.
        ports: Vec<String>,
        /// Preferred member.
        primary: Option<String>,
        /// Link monitoring interval in milliseconds.
        miimon: u32,
    },
    /// An Ethernet profile: never wanted, but found where somebody gave an IPoIB interface the wrong type (field case 14).
    Ethernet,
}

/// A static route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// Destination; never the default route (that is a gateway).
    pub to: ipnet::IpNet,
    /// Router.
    pub via: IpAddr,
    /// Metric, where one is given.
    pub metric: Option<u32>,
}

/// One link as configured. Order of addresses counts (the first is the primary one); order of routes does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Interface name.
    pub name: String,
    /// Parent, child or bond.
    pub kind: LinkKind,
    /// IPoIB mode. Wanted links always have one, except bonds; `None` in a file that does not say (then it is datagram).
    pub mode: Option<Mode>,
    /// MTU in bytes; `None`: left to the fabric, and then whatever a file says is removed only with the whole file.
    pub mtu: Option<u32>,
    /// Static addresses.
    pub addresses: Vec<Address>,
    /// IPv4 default route.
    pub gateway4: Option<IpAddr>,
    /// IPv6 default route.
    pub gateway6: Option<IpAddr>,
    /// DHCP for IPv4.
    pub dhcp4: bool,
    /// DHCP and router advertisements for IPv6.
    pub dhcp6: bool,
    /// Static routes, sorted.
    pub routes: Vec<Route>,
    /// The bond that it is a member of.
    pub bond: Option<String>,
}

impl Link {
    /// A link without any configuration.
    pub fn new(name: impl Into<String>, kind: LinkKind) -> Self {
        Self {
            name: name.into(),
            kind,
            mode: None,
            mtu: None,
            addresses: Vec::new(),
            gateway4: None,
            gateway6: None,
            dhcp4: false,
            dhcp6: false,
            routes: Vec::new(),
            bond: None,
        }
    }
}

/// A wanted link, with its place in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedLink {
    /// How it is to be.
    pub link: Link,
    /// `/ipoib/0`, `/ipoib/0/partitions/1`, `/bonds/0`; a bare member of a bond points at the bond's `ports`.
    pub at: Pointer,
    /// `ipoib` or `bonds`: who owns its files.
    pub section: &'static str,
}

/// A file that a back end wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// Where.
    pub path: HostPath,
    /// Its text.
    pub text: String,
    /// Permission bits: 0600 for keyfiles and netplan, 0644 else.
    pub mode: u32,
    /// The links that it configures (names), so that a change can be tied to the file that carries it.
    pub links: Vec<String>,
    /// `ipoib` or `bonds`.
    pub section: &'static str,
    /// How a file that is there is compared: by its bytes, or by what the back end would read from it.
    pub compare: Compare,
    /// An edit of a foreign file by keys (`source` line of ifupdown): what was there before for each key; `None`: an own file.
    pub keys: Option<std::collections::BTreeMap<String, Option<String>>>,
}

/// How an own file is compared with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Every byte counts.
    Bytes,
    /// The back end's `same` decides: comments, order, empty sections and generated ids do not count.
    Meaning,
}
