//! The sections `ipoib` and `bonds`.

use crate::rooms::subnet_manager::want::PortSelector;
use crate::types::{Address, Gateway, IfName, MtuWant, Network, Num, PKey, refusal};
use serde::{Deserialize, Deserializer, de};

/// One IPoIB interface with its P_Key children. `interface` or `port` names it, not both.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IpoibWant {
    /// Interface name, such as ib0 or ibp65s0.
    pub interface: Option<IfName>,
    /// The port whose IPoIB interface is meant, by GUID, PCI address or RDMA device.
    pub port: Option<PortSelector>,
    /// IPoIB mode. Default: auto, which means datagram.
    #[serde(default)]
    pub mode: ModeWant,
    /// MTU in bytes: `auto` leaves it to the fabric (never a change), else 68 to 4092 in datagram mode, to 65520 in connected mode. Default: auto.
    #[serde(default = "auto_mtu")]
    pub mtu: MtuWant,
    /// Addresses with prefix length. Default: none.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// Router of the default route through this interface; one IPv4 and one IPv6 at most on a host. Default: none.
    pub gateway: Option<Gateway>,
    /// Take an IPv4 configuration by DHCP. Default: false.
    #[serde(default)]
    pub dhcp4: bool,
    /// Take an IPv6 configuration by DHCP and router advertisement. Default: false.
    #[serde(default)]
    pub dhcp6: bool,
    /// Static routes through this interface. Default: none.
    #[serde(default)]
    pub routes: Vec<RouteWant>,
    /// P_Key children. Default: none.
    #[serde(default)]
    pub partitions: Vec<ChildWant>,
}

/// IPoIB mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModeWant {
    /// Datagram: what every adapter can do.
    #[default]
    Auto,
    /// Unreliable datagram, MTU to 4092.
    Datagram,
    /// Reliable connected, MTU to 65520; refused by adapters with enhanced IPoIB (ConnectX-4 and later).
    Connected,
}

/// A static route.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RouteWant {
    /// Destination network.
    pub to: Network,
    /// Router; its family must be that of `to`.
    pub via: Gateway,
    /// Metric, 0 to 2^32-1. Default: the back end's.
    pub metric: Option<Num<0, 4_294_967_295>>,
}

/// A P_Key child of an interface: named `PARENT.XXXX`, the key with its membership bit in four hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChildWant {
    /// P_Key, 0x0001 to 0x7ffe; the membership bit is always set in files and names.
    pub pkey: PKey,
    /// IPoIB mode. Default: the parent's.
    pub mode: Option<ModeWant>,
    /// MTU in bytes. Default: auto.
    #[serde(default = "auto_mtu")]
    pub mtu: MtuWant,
    /// Addresses with prefix length. Default: none.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// Router of the default route through this interface. Default: none.
    pub gateway: Option<Gateway>,
    /// Take an IPv4 configuration by DHCP. Default: false.
    #[serde(default)]
    pub dhcp4: bool,
    /// Take an IPv6 configuration by DHCP and router advertisement. Default: false.
    #[serde(default)]
    pub dhcp6: bool,
    /// Static routes through this interface. Default: none.
    #[serde(default)]
    pub routes: Vec<RouteWant>,
}

/// A bond over IPoIB interfaces.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BondWant {
    /// Name, such as bond0.
    pub name: IfName,
    /// Member interfaces: IPoIB interfaces or P_Key children, at least one.
    #[serde(deserialize_with = "at_least_one")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub ports: Vec<IfName>,
    /// Bonding mode; the kernel refuses any other over IPoIB. Default: active-backup.
    #[serde(default)]
    pub mode: BondMode,
    /// The member that is active when it can be. Default: none.
    pub primary: Option<IfName>,
    /// Link monitoring interval in milliseconds, 1 to 10000. Default: 100.
    pub miimon: Option<Num<1, 10000>>,
    /// MTU in bytes. Default: auto.
    #[serde(default = "auto_mtu")]
    pub mtu: MtuWant,
    /// Addresses with prefix length. Default: none.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// Router of the default route through this interface. Default: none.
    pub gateway: Option<Gateway>,
    /// Take an IPv4 configuration by DHCP. Default: false.
    #[serde(default)]
    pub dhcp4: bool,
    /// Take an IPv6 configuration by DHCP and router advertisement. Default: false.
    #[serde(default)]
    pub dhcp6: bool,
    /// Static routes through this interface. Default: none.
    #[serde(default)]
    pub routes: Vec<RouteWant>,
}

/// Bonding modes: one is legal over IPoIB, the rest are named so that their refusal can say why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BondMode {
    /// The only one that the kernel allows over IPoIB (linux: bond_main.c).
    #[default]
    #[serde(rename = "active-backup")]
    ActiveBackup,
    /// Refused: needs Ethernet.
    #[serde(rename = "balance-rr")]
    BalanceRr,
    /// Refused: needs Ethernet.
    #[serde(rename = "balance-xor")]
    BalanceXor,
    /// Refused: needs Ethernet.
    #[serde(rename = "broadcast")]
    Broadcast,
    /// Refused: needs Ethernet.
    #[serde(rename = "802.3ad")]
    Lacp,
    /// Refused: needs Ethernet.
    #[serde(rename = "balance-tlb")]
    BalanceTlb,
    /// Refused: needs Ethernet.
    #[serde(rename = "balance-alb")]
    BalanceAlb,
}

fn at_least_one<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<IfName>, D::Error> {
    let ports = Vec::deserialize(d)?;
    if ports.is_empty() {
        return Err(de::Error::custom(refusal(
            "a bond without members carries nothing",
            "name the IPoIB interfaces that it joins, such as [ib0, ib1]",
        )));
    }
    Ok(ports)
}

const fn auto_mtu() -> MtuWant {
    MtuWant::WORD
}
