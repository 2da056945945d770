//! The host document, version 1: what a host should be.

use crate::distro::Backend;
use crate::rooms::ipoib::want::{BondWant, IpoibWant};
use crate::rooms::limits::want::LimitsWant;
use crate::rooms::modules::want::ModuleWant;
use crate::rooms::subnet_manager::want::SubnetManagerWant;
use crate::rooms::sysctl::want::{Profile, SysctlWant};
use serde::Deserialize;

/// Version 1 of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Api {
    /// The only one so far.
    #[serde(rename = "ibplan/v1")]
    V1,
}

/// What an InfiniBand host should be. Every section is optional; an absent section is not managed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostState {
    /// The version of the contract: `ibplan/v1`. Required in files, optional inside a request's `desired`.
    pub api: Option<Api>,
    /// Kernel modules loaded at boot, with parameters. ibplan never unloads a module.
    pub modules: Option<Vec<ModuleWant>>,
    /// The subnet manager (opensm) and its partitions on this host.
    pub subnet_manager: Option<SubnetManagerWant>,
    /// IPoIB interfaces with their P_Key children.
    pub ipoib: Option<Vec<IpoibWant>>,
    /// Bonds over IPoIB interfaces: active-backup with fail_over_mac=active, the only kind the kernel allows.
    pub bonds: Option<Vec<BondWant>>,
    /// The network back end that configures `ipoib` and `bonds`; `auto` (the default) takes the one that owns the links,
    /// else the distribution's own.
    pub network_backend: Option<BackendWant>,
    /// Kernel parameters below /proc/sys.
    pub sysctl: Option<SysctlWant>,
    /// A named, documented set of kernel parameters; keys given in `sysctl` win.
    pub sysctl_profile: Option<Profile>,
    /// Locked memory for users and services.
    pub limits: Option<LimitsWant>,
}

/// The sections that this version manages, in the order in which they are worked.
pub const SECTIONS: &[&str] = &[
    "modules",
    "subnet_manager",
    "ipoib",
    "bonds",
    "network_backend",
    "sysctl",
    "sysctl_profile",
    "limits",
];

/// Which network back end to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BackendWant {
    /// The one that owns the links, else the distribution's own.
    #[default]
    Auto,
    /// NetworkManager keyfiles.
    NetworkManager,
    /// ifcfg files.
    Ifcfg,
    /// netplan YAML.
    Netplan,
    /// systemd-networkd files.
    Networkd,
    /// /etc/network/interfaces.d.
    Ifupdown,
    /// wicked's ifcfg files.
    Wicked,
}

impl BackendWant {
    /// The back end named; `None` for `auto`.
    pub const fn named(self) -> Option<Backend> {
        match self {
            Self::Auto => None,
            Self::NetworkManager => Some(Backend::NetworkManager),
            Self::Ifcfg => Some(Backend::Ifcfg),
            Self::Netplan => Some(Backend::Netplan),
            Self::Networkd => Some(Backend::Networkd),
            Self::Ifupdown => Some(Backend::Ifupdown),
            Self::Wicked => Some(Backend::Wicked),
        }
    }
}
