//! The rows. A source stands by each value that a reader might doubt; versions are those that the release ships.

use super::{Backend, IfcfgReader, OpensmRow, PackageManager, Purpose, Row, ServiceSettings};

const EL_IDS: &[&str] = &["rhel", "centos", "rocky", "almalinux", "ol", "scientific"];
const EL_NAMES: &[(Purpose, &[&str])] = &[
    (Purpose::Opensm, &["opensm"]),
    (Purpose::RdmaCore, &["rdma-core"]),
    (Purpose::Diagnostics, &["infiniband-diags"]),
];
const DEB_NAMES: &[(Purpose, &[&str])] = &[
    (Purpose::Opensm, &["opensm"]),
    (Purpose::RdmaCore, &["rdma-core"]),
    (Purpose::Diagnostics, &["infiniband-diags"]),
    (Purpose::IfupdownBonding, &["ifenslave"]),
];

/// /etc/rdma, not /etc/opensm: opensm is configured with --with-opensm-conf-sub-dir=rdma there (EL opensm.spec). The
/// launch script takes GUIDS from /etc/sysconfig/opensm, else /etc/rdma/opensm.conf.[0-9]*, else one default instance.
const EL_OPENSM: OpensmRow = OpensmRow {
    conf: "/etc/rdma/opensm.conf",
    partitions: "/etc/rdma/partitions.conf",
    settings: ("/etc/sysconfig/opensm", ServiceSettings::Guids),
    unit: "opensm.service",
    wanted_by: "multi-user.target",
    starts_on_install: false,
    conf_shipped: true,
    instance_unit: None,
    numbered_conf: Some("/etc/rdma/opensm.conf."),
};

/// The folder /etc/opensm is not even made by the package; `opensm.service` is a oneshot that starts `opensm@GUID`
/// for each of PORTS, `ALL` by default, and is wanted by network-online.target (deb12: opensm.service).
const DEB_OPENSM: OpensmRow = OpensmRow {
    conf: "/etc/opensm/opensm.conf",
    partitions: "/etc/opensm/partitions.conf",
    settings: ("/etc/default/opensm", ServiceSettings::Ports),
    unit: "opensm.service",
    wanted_by: "network-online.target",
    starts_on_install: true,
    conf_shipped: false,
    instance_unit: Some("opensm@%s.service"),
    numbered_conf: None,
};

/// opensm's own folder is /etc/opensm; the launch script, taken from EL, looks for /etc/rdma/opensm.conf.N.
const SUSE_OPENSM: OpensmRow = OpensmRow {
    conf: "/etc/opensm/opensm.conf",
    partitions: "/etc/opensm/partitions.conf",
    conf_shipped: false,
    ..EL_OPENSM
};

const EL9: Row = Row {
    name: "EL 9",
    ids: EL_IDS,
    // CloudLinux, MIRACLE LINUX and others count as RHEL does.
    rebuilds: &["rhel"],
    versions: &["9"],
    packages: PackageManager::Dnf,
    systemd: 252,
    networkmanager: Some((1, 36)),
    netplan: None,
    backends: &[Backend::NetworkManager, Backend::Networkd],
    ifcfg: IfcfgReader::NetworkManager,
    unit_folder: "/usr/lib/systemd/system",
    opensm: EL_OPENSM,
    names: EL_NAMES,
    sysctl_conf_at_boot: true,
    predictable_names: true,
    renames_rdma: false,
};

const DEBIAN12: Row = Row {
    name: "Debian 12",
    ids: &["debian"],
    // Derivatives number by their own releases: one of them has an 11.0 that is no Debian.
    rebuilds: &[],
    versions: &["12"],
    packages: PackageManager::Apt,
    systemd: 252,
    networkmanager: Some((1, 42)),
    netplan: Some((0, 106)),
    backends: &[
        Backend::Ifupdown,
        Backend::NetworkManager,
        Backend::Networkd,
        Backend::Netplan,
    ],
    ifcfg: IfcfgReader::Nobody,
    unit_folder: "/lib/systemd/system",
    opensm: DEB_OPENSM,
    names: DEB_NAMES,
    sysctl_conf_at_boot: true,
    predictable_names: true,
    renames_rdma: true,
};

const UBUNTU2204: Row = Row {
    name: "Ubuntu 22.04",
    ids: &["ubuntu"],
    // Flavours that keep the year and month keep the archive too.
    rebuilds: &["ubuntu"],
    versions: &["22.04"],
    systemd: 249,
    networkmanager: Some((1, 36)),
    netplan: Some((0, 106)),
    backends: &[
        Backend::Netplan,
        Backend::NetworkManager,
        Backend::Networkd,
        Backend::Ifupdown,
    ],
    ..DEBIAN12
};

const SLES15: Row = Row {
    name: "SLES 15",
    ids: &["sles", "sled", "opensuse-leap"],
    // SLE HPC has its own ID and the numbers of SLES; Tumbleweed and the micro systems number otherwise.
    rebuilds: &["suse"],
    versions: &["15"],
    packages: PackageManager::Zypper,
    systemd: 249,
    networkmanager: Some((1, 38)),
    netplan: None,
    backends: &[Backend::Wicked, Backend::NetworkManager],
    ifcfg: IfcfgReader::Nobody,
    unit_folder: "/usr/lib/systemd/system",
    opensm: SUSE_OPENSM,
    names: EL_NAMES,
    sysctl_conf_at_boot: true,
    predictable_names: true,
    renames_rdma: true,
};

/// Every distribution line that ibplan knows.
pub const ROWS: &[Row] = &[
    // initscripts' network.service and NetworkManager both read ifcfg; systemd 219 has no predictable IPoIB names.
    Row {
        name: "EL 7",
        versions: &["7"],
        systemd: 219,
        networkmanager: Some((1, 18)),
        backends: &[Backend::Ifcfg],
        ifcfg: IfcfgReader::Initscripts,
        predictable_names: false,
        ..EL9
    },
    // NetworkManager writes ifcfg by default and reads keyfiles too; systemd 239 is one short of predictable names.
    Row {
        name: "EL 8",
        versions: &["8"],
        systemd: 239,
        networkmanager: Some((1, 14)),
        backends: &[Backend::NetworkManager, Backend::Ifcfg],
        predictable_names: false,
        ..EL9
    },
    Row {
        backends: &[Backend::NetworkManager, Backend::Ifcfg, Backend::Networkd],
        ..EL9
    },
    // The ifcfg-rh plugin is gone: an ifcfg file is read by nobody.
    Row {
        name: "EL 10",
        versions: &["10"],
        systemd: 257,
        networkmanager: Some((1, 52)),
        ifcfg: IfcfgReader::Nobody,
        ..EL9
    },
    Row {
        name: "Debian 11",
        versions: &["11"],
        systemd: 247,
        networkmanager: Some((1, 30)),
        netplan: Some((0, 101)),
        ..DEBIAN12
    },
    DEBIAN12,
    // procps ships neither /etc/sysctl.conf nor the 99-sysctl.conf link; units moved to /usr/lib.
    Row {
        name: "Debian 13",
        versions: &["13"],
        systemd: 257,
        networkmanager: Some((1, 52)),
        netplan: Some((1, 1)),
        unit_folder: "/usr/lib/systemd/system",
        sysctl_conf_at_boot: false,
        ..DEBIAN12
    },
    // netplan 0.104 knows no infiniband-mode; systemd 245 knows no [IPoIB].
    Row {
        name: "Ubuntu 20.04",
        versions: &["20.04"],
        systemd: 245,
        networkmanager: Some((1, 22)),
        netplan: Some((0, 104)),
        ..UBUNTU2204
    },
    UBUNTU2204,
    Row {
        name: "Ubuntu 24.04",
        versions: &["24.04"],
        systemd: 255,
        networkmanager: Some((1, 46)),
        netplan: Some((1, 0)),
        unit_folder: "/usr/lib/systemd/system",
        ..UBUNTU2204
    },
    SLES15,
    // wicked is gone.
    Row {
        name: "SLES 16",
        versions: &["16"],
        systemd: 254,
        networkmanager: Some((1, 42)),
        backends: &[Backend::NetworkManager],
        ..SLES15
    },
];
