//! Facts: what a host is, read once, before any room looks at its own part.
//!
//! Every reader here takes a [`Probe`](crate::probe::Probe) and fails on nothing that a healthy host may lack: a missing
//! attribute is `None`, an odd one is kept as text.
//!
//! | module | what |
//! | --- | --- |
//! | `os`, `init`, `packages` | distribution, kernel, init system, package manager |
//! | `pci`, `rdma`, `net` | HCAs, RDMA devices with their ports, IPoIB interfaces |
//! | `backends`, `netplan`, `owners` | network back ends, and whose each interface is |
//! | `choice` | what `network_backend: auto` means |
//! | `folder`, `text`, `shown` | how attributes and small formats are read, and facts written |

mod backends;
mod choice;
mod folder;
mod init;
mod net;
mod netplan;
mod os;
mod owners;
mod packages;
mod pci;
mod rdma;
mod shown;
mod text;

pub use choice::BackendChoice;

use crate::distro::{Backend, PackageManager, Row};
use crate::hca::HcaModel;
use crate::ledger::Ledger;
use crate::probe::{Probe, ProbeError, Query};
use crate::types::{Guid, PciAddress};
use serde::Serialize;

/// Which sides of a host count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The running host: both sides.
    Live,
    /// A folder: only the persistent side; its sys and proc are read as facts.
    Image,
    /// A captured host replayed: its recorded live side counts as live. Nothing is applied.
    Replay,
}

impl Scope {
    /// Whether live differences count.
    pub const fn live(self) -> bool {
        matches!(self, Self::Live | Self::Replay)
    }
}

/// All facts.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// Which sides count.
    pub scope: Scope,
    /// os-release and what the table says of it.
    pub os: Os,
    /// Kernel release (`uname -r`) of the host; of an image, its newest installed kernel, if one can be told.
    pub kernel: Option<String>,
    /// Machine hardware name (`uname -m`).
    pub arch: Option<String>,
    /// The init system.
    pub init: Init,
    /// How packages are kept.
    pub packages: Packages,
    /// HCAs on the PCI bus, by vendor and device id.
    pub hcas: Vec<PciHca>,
    /// RDMA devices with their ports.
    pub devices: Vec<RdmaDevice>,
    /// IPoIB interfaces, mapped to ports by GUID.
    pub ipoib: Vec<IpoibLink>,
    /// Names of all network interfaces.
    pub links: Vec<String>,
    /// Which network back ends are there.
    pub backends: BackendFacts,
    /// Machine id (machine-id(5)), if set.
    #[serde(skip)]
    pub machine_id: Option<String>,
    /// What ibplan owns here.
    #[serde(skip)]
    pub ledger: Ledger,
}

impl Facts {
    /// The row of the distribution table, if this one is known.
    pub const fn row(&self) -> Option<&'static Row> {
        self.os.row
    }

    /// All ports with their device, in order.
    pub fn ports(&self) -> impl Iterator<Item = (&RdmaDevice, &Port)> {
        self.devices
            .iter()
            .flat_map(|d| d.ports.iter().map(move |p| (d, p)))
    }

    /// The port with this GUID.
    pub fn port_by_guid(&self, guid: Guid) -> Option<(&RdmaDevice, &Port)> {
        self.ports().find(|(_, p)| p.guid == Some(guid))
    }

    /// The IPoIB interface of this name.
    pub fn ipoib_link(&self, name: &str) -> Option<&IpoibLink> {
        self.ipoib.iter().find(|l| l.name == name)
    }

    /// Whether any RDMA device was recorded. Where none is (a bare image), rules that need hardware become warnings.
    pub const fn hardware_known(&self) -> bool {
        !self.devices.is_empty()
    }
}

/// os-release(5).
#[derive(Clone, Debug, Default, Serialize)]
pub struct Os {
    /// `ID`, lower case.
    pub id: String,
    /// `VERSION_ID`.
    pub version: String,
    /// `PRETTY_NAME`.
    pub name: String,
    /// `ID_LIKE`.
    pub like: Vec<String>,
    /// The row of the distribution table; `None` when unknown.
    #[serde(serialize_with = "shown::row_name")]
    pub row: Option<&'static Row>,
}

/// The init system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// systemd is installed; `running` tells whether it is process 1 here.
    Systemd {
        /// `/run/systemd/system` is there.
        running: bool,
    },
    /// Something else, or nothing.
    Other,
}

/// How packages are kept.
#[derive(Clone, Debug, Serialize)]
pub struct Packages {
    /// The package manager of the distribution row.
    pub manager: Option<PackageManager>,
    /// A package database is there.
    pub database: bool,
    /// Packages can be installed: the database is there and so is the program that installs. apt is looked for in the root;
    /// dnf and zypper install into an image from outside, so there it is false for them. In a replay it is always false.
    pub usable: bool,
}

/// An RDMA-capable PCI function.
#[derive(Clone, Debug, Serialize)]
pub struct PciHca {
    /// Where.
    pub address: PciAddress,
    /// Vendor id, such as 0x15b3.
    #[serde(serialize_with = "shown::hex")]
    pub vendor: u16,
    /// Device id, such as 0x101b.
    #[serde(serialize_with = "shown::hex")]
    pub device: u16,
    /// What the table knows of it; `None` for an unknown device of a known vendor.
    #[serde(serialize_with = "shown::model_name")]
    pub model: Option<&'static HcaModel>,
    /// The bound driver.
    pub driver: Option<String>,
    /// A virtual function (it has a `physfn` link, or its id is one of a VF).
    pub vf: bool,
    /// NUMA node; `None` when unknown.
    pub numa_node: Option<u16>,
}

/// An RDMA device below /sys/class/infiniband.
#[derive(Clone, Debug, Serialize)]
pub struct RdmaDevice {
    /// Kernel name.
    pub name: String,
    /// Its PCI function, if it has one.
    pub pci: Option<PciAddress>,
    /// Kernel driver of the PCI function, or what the name tells of a software device (rxe, siw).
    pub driver: Option<String>,
    /// Node GUID.
    pub node_guid: Option<Guid>,
    /// Firmware version text.
    pub fw_ver: Option<String>,
    /// PSID.
    pub board_id: Option<String>,
    /// HCA type text.
    pub hca_type: Option<String>,
    /// A virtual function.
    pub vf: bool,
    /// An Omni-Path device (hfi1): never opensm.
    pub omni_path: bool,
    /// Its ports.
    pub ports: Vec<Port>,
}

/// Link layer of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkLayer {
    /// InfiniBand.
    Infiniband,
    /// Ethernet (RoCE, iWARP).
    Ethernet,
    /// Not said.
    Unknown,
}

/// Logical state of a port (linux: drivers/infiniband/core/sysfs.c, state_show).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PortState {
    /// No cable, or the far end is off.
    Down,
    /// The cable is good, no subnet manager has configured the port.
    Init,
    /// Nearly up.
    Armed,
    /// Up.
    Active,
    /// Something else.
    Unknown,
}

/// One port of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Port {
    /// Number, from 1.
    pub number: u8,
    /// Link layer.
    pub link_layer: LinkLayer,
    /// Logical state.
    pub state: PortState,
    /// Physical state word, such as `LinkUp` or `Polling`.
    pub phys_state: Option<String>,
    /// Rate.
    pub rate: Rate,
    /// LID; `None` for 0 and 0xffff.
    pub lid: Option<u16>,
    /// LID of the subnet manager; may be stale.
    pub sm_lid: Option<u16>,
    /// Port GUID: the low half of GID 0. Never computed from the node GUID.
    pub guid: Option<Guid>,
    /// Subnet prefix: the high half of GID 0.
    #[serde(serialize_with = "shown::prefix")]
    pub subnet_prefix: Option<u64>,
    /// P_Key table without its empty entries, in order, membership bit kept.
    #[serde(serialize_with = "shown::hex_list")]
    pub pkeys: Vec<u16>,
    /// Whether a subnet manager can run here: SMI of an mlx4 function; `None` where the file is not there.
    pub smi_enabled: Option<bool>,
}

/// Rate of a port. An empty cage reads `0 GB/sec`; an unknown speed falls back to SDR in old kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rate {
    /// Signalling rate in Gb/s; 0 when there is none or the text makes no sense.
    pub gbps: f64,
    /// Lanes, such as 4.
    pub width: Option<u8>,
    /// Generation, such as `HDR`.
    pub speed: Option<String>,
}

/// An IPoIB network interface (ARPHRD type 32).
#[derive(Clone, Debug, Serialize)]
pub struct IpoibLink {
    /// Name.
    pub name: String,
    /// 20-byte hardware address, as sysfs writes it.
    pub address: String,
    /// Port GUID: bytes 12 to 19 of the address.
    pub guid: Option<Guid>,
    /// RDMA device and port, found by the GUID, never by name.
    pub port: Option<(String, u8)>,
    /// Byte 0 of the address has bit 0x80: connected mode is possible (linux: ipoib_cm.c, IPOIB_FLAGS_RC).
    pub connected_capable: bool,
    /// `datagram` or `connected`; `None` where sysfs does not tell (children made over netlink).
    pub mode: Option<String>,
    /// Current MTU in bytes; means nothing before carrier.
    pub mtu: Option<u32>,
    /// Carrier.
    pub carrier: Option<bool>,
    /// P_Key, from `pkey` or from the broadcast address.
    #[serde(serialize_with = "shown::hex_or_null")]
    pub pkey: Option<u16>,
    /// Parent interface of a P_Key child.
    pub parent: Option<String>,
    /// The bond it is enslaved to.
    pub bond: Option<String>,
    /// The back end that owns it.
    pub owner: Option<Backend>,
    /// All back ends that claim it, when more than one does.
    pub owners: Vec<Backend>,
}

/// Which network back ends are on the host.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BackendFacts {
    /// Installed ones (program or unit file found), in the order of the distribution row.
    pub installed: Vec<Backend>,
    /// Running ones (live or recorded); netplan while its renderer runs, ifcfg while the reader of its files does.
    pub running: Vec<Backend>,
    /// netplan configuration exists, and on a running host netplan does too.
    pub netplan_used: bool,
    /// The renderer that netplan's files name, `networkd` when none does; `None` where netplan is not used.
    pub netplan_renderer: Option<String>,
}

impl Facts {
    /// Facts of a host of which nothing is known: where every test begins.
    pub fn unknown(scope: Scope) -> Self {
        Self {
            scope,
            os: Os::default(),
            kernel: None,
            arch: None,
            init: Init::Other,
            packages: Packages {
                manager: None,
                database: false,
                usable: false,
            },
            hcas: Vec::new(),
            devices: Vec::new(),
            ipoib: Vec::new(),
            links: Vec::new(),
            backends: BackendFacts::default(),
            machine_id: None,
            ledger: Ledger::default(),
        }
    }
}

/// Reads all facts of a host. No program is asked; in a replay, the recorded answer of systemctl is read.
///
/// # Errors
/// Something that must be known (os-release, the ledger, who configures a link) is there and cannot be read.
pub fn read(probe: &dyn Probe, scope: Scope) -> Result<Facts, ProbeError> {
    let mut facts = Facts::unknown(scope);
    facts.ledger = Ledger::read(probe)?;
    facts.os = os::os(probe)?;
    facts.kernel = os::kernel(probe, scope);
    facts.arch = os::arch(probe, scope, facts.kernel.as_deref())?;
    facts.machine_id = os::machine_id(probe);
    let row = facts.os.row;
    let units = match scope {
        Scope::Replay => probe.query(&Query::Units(backends::all_units()))?,
        Scope::Live | Scope::Image => None,
    };
    facts.init = init::init(probe, scope, row, units.as_ref())?;
    facts.packages = packages::packages(probe, scope, row)?;
    facts.hcas = pci::hcas(probe)?;
    facts.devices = rdma::devices(probe)?;
    let net = net::net(probe, &facts.devices)?;
    facts.links = net.links;
    facts.ipoib = net.ipoib;
    let eyes = backends::Eyes {
        probe,
        scope,
        row,
        netplan: &netplan::Netplan::read(probe)?,
        recorded: units.as_ref().map(backends::recorded),
    };
    facts.backends = eyes.facts()?;
    owners::assign(&mut facts.ipoib, &net.index, &eyes, &facts.backends)?;
    Ok(facts)
}
