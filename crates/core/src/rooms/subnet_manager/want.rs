//! The section `subnet_manager`.

mod read;
#[cfg(feature = "schema")]
mod schema;

use crate::types::{DeviceName, Guid, Num, PKey, PciAddress};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The subnet manager on this host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SubnetManagerWant {
    /// Whether opensm runs here. `running` implies that ib_umad is loaded at boot. Default: running.
    #[serde(default)]
    pub state: SmState,
    /// May it become master where another subnet manager is master? Default: false.
    #[serde(default)]
    pub take_over: bool,
    /// One for each subnet that this host serves. Default: the only eligible InfiniBand port.
    #[serde(default)]
    pub instances: Vec<InstanceWant>,
    /// Partitions, the same on every subnet manager of a subnet. Default: partitions.conf is not managed.
    pub partitions: Option<Vec<PartitionWant>>,
}

/// Whether opensm runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SmState {
    /// Installed, configured, enabled, running.
    #[default]
    Running,
    /// Configured; disabled and not running.
    Stopped,
    /// Not enabled, not running, and what ibplan wrote for it is taken back. The package stays.
    Absent,
}

/// One opensm, bound to one port.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InstanceWant {
    /// The port to bind. Default: the only eligible InfiniBand port.
    pub port: Option<PortSelector>,
    /// SM priority, 0 to 15; the highest is master, a tie goes to the lower GUID. Default: opensm's own, 0.
    pub priority: Option<Num<0, 15>>,
    /// Subnet prefix, 64 bits as four groups or 0x and 16 digits. Default: fe80:0000:0000:0000.
    pub subnet_prefix: Option<SubnetPrefix>,
    /// Keys of opensm.conf, checked against the table of its keys. Default: none managed.
    #[serde(default)]
    pub options: BTreeMap<String, OptionValue>,
}

/// A port: exactly one way of naming it is filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PortSelector {
    /// RDMA device name, such as mlx5_0.
    pub device: Option<DeviceName>,
    /// Port number on `device` or `pci`, from 1. Default: 1.
    pub port: Option<Num<1, 254>>,
    /// Port GUID (not the node GUID).
    pub guid: Option<Guid>,
    /// PCI address of the adapter function.
    pub pci: Option<PciAddress>,
}

/// A subnet prefix: the upper 64 bits of every GID of a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubnetPrefix(u64);

impl SubnetPrefix {
    /// fe80::/64
    pub const DEFAULT: Self = Self(0xfe80_0000_0000_0000);

    /// The 64 bits.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for SubnetPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

/// A value of opensm.conf: a boolean, a number, a word, or a list that is joined with commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// TRUE or FALSE.
    Bool(bool),
    /// A number.
    Number(i64),
    /// A word.
    Text(String),
    /// Words, joined with commas.
    List(Vec<String>),
}

/// One partition.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PartitionWant {
    /// Name in partitions.conf: letters, digits, `_`, `-`, `.`; `Default` is the default partition.
    pub name: PartitionName,
    /// P_Key, 0x0001 to 0x7fff.
    pub pkey: PKey,
    /// Makes the IPoIB broadcast group of this partition, with these parameters. Default: no group, so no IPoIB in it.
    pub ipoib: Option<GroupWant>,
    /// Membership of members that do not say. Default: limited, as in opensm.
    pub default_membership: Option<Membership>,
    /// Members: a port GUID, or ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF; each with its membership.
    pub members: BTreeMap<Member, Membership>,
}

/// A partition's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartitionName(String);

impl PartitionName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Parameters of a partition's IPoIB broadcast group, in human units. Ports below them cannot join.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupWant {
    /// InfiniBand MTU in bytes: 256, 512, 1024, 2048 or 4096; the IP MTU is 4 less. Default: opensm's, 2048.
    pub mtu: Option<GroupMtu>,
    /// Rate in Gb/s, such as 10, 40, 56 or 100: not above the slowest member. Default: opensm's, 10.
    pub rate: Option<GroupRate>,
    /// Service level, 0 to 15; without QoS opensm ignores it. Default: 0.
    pub sl: Option<Num<0, 15>>,
    /// Multicast scope, 1 to 14. Default: 2, link-local.
    pub scope: Option<Num<1, 14>>,
}

/// An InfiniBand MTU in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMtu(u16);

/// A rate in tenths of Gb/s (2.5 Gb/s is 25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRate(u16);

/// InfiniBand MTUs and their number in partitions.conf (InfiniBand specification; opensm: partition-config.txt).
pub const MTUS: &[(u16, u8)] = &[(256, 1), (512, 2), (1024, 3), (2048, 4), (4096, 5)];

/// Rates in tenths of Gb/s and their number in partitions.conf (opensm: partition-config.txt, ib_types.h).
pub const RATES: &[(u16, u8)] = &[
    (25, 2),
    (50, 5),
    (100, 3),
    (140, 11),
    (200, 6),
    (250, 15),
    (280, 19),
    (300, 4),
    (400, 7),
    (500, 20),
    (560, 12),
    (600, 8),
    (800, 9),
    (1000, 16),
    (1120, 13),
    (1200, 10),
    (1680, 14),
    (2000, 17),
    (3000, 18),
    (4000, 21),
    (6000, 22),
    (8000, 23),
];

impl GroupMtu {
    /// Bytes.
    pub const fn bytes(self) -> u16 {
        self.0
    }

    /// The number that partitions.conf wants.
    pub fn number(self) -> u8 {
        MTUS.iter()
            .find(|(bytes, _)| *bytes == self.0)
            .map_or(4, |(_, n)| *n)
    }
}

impl GroupRate {
    /// Tenths of Gb/s.
    pub const fn tenths(self) -> u16 {
        self.0
    }

    /// Gb/s.
    pub fn gbps(self) -> f64 {
        f64::from(self.0) / 10.0
    }

    /// The number that partitions.conf wants.
    pub fn number(self) -> u8 {
        RATES
            .iter()
            .find(|(tenths, _)| *tenths == self.0)
            .map_or(3, |(_, n)| *n)
    }
}

/// Membership of a port in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Membership {
    /// Talks to every member.
    Full,
    /// Talks to full members only.
    Limited,
    /// Both keys; needs `allow_both_pkeys`.
    Both,
}

impl Membership {
    /// As partitions.conf has it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Limited => "limited",
            Self::Both => "both",
        }
    }
}

/// Who is a member. The order is the order of writing: groups first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Member {
    /// Every port of the fabric.
    All,
    /// Every channel adapter.
    AllCas,
    /// Every switch.
    AllSwitches,
    /// Every router.
    AllRouters,
    /// The port of the subnet manager.
    SelfPort,
    /// One port.
    Guid(Guid),
}

/// The words for members that are not GUIDs.
pub const MEMBER_WORDS: &[(&str, Member)] = &[
    ("ALL", Member::All),
    ("ALL_CAS", Member::AllCas),
    ("ALL_SWITCHES", Member::AllSwitches),
    ("ALL_ROUTERS", Member::AllRouters),
    ("SELF", Member::SelfPort),
];

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guid(guid) => fmt::Display::fmt(guid, f),
            word => f.write_str(
                MEMBER_WORDS
                    .iter()
                    .find(|(_, m)| m == word)
                    .map_or("", |(w, _)| w),
            ),
        }
    }
}
