//! Network interfaces, and which of them are IPoIB.

use super::folder::Folder;
use super::{IpoibLink, RdmaDevice};
use crate::probe::{Probe, ProbeError};
use crate::types::{Guid, HostPath};
use std::collections::BTreeMap;

/// ARPHRD_INFINIBAND (linux: include/uapi/linux/if_arp.h).
const IPOIB: u32 = 32;

/// The interfaces of a host.
#[derive(Default)]
pub(super) struct Net {
    /// All names.
    pub(super) links: Vec<String>,
    /// The IPoIB ones; their owners are not yet known.
    pub(super) ipoib: Vec<IpoibLink>,
    /// Kernel index of each IPoIB interface.
    pub(super) index: BTreeMap<String, u32>,
}

/// Reads /sys/class/net.
///
/// # Errors
/// The class is there and cannot be listed.
pub(super) fn net(probe: &dyn Probe, devices: &[RdmaDevice]) -> Result<Net, ProbeError> {
    let class = HostPath::fixed("/sys/class/net");
    let names = probe.list(&class)?;
    let class = Folder::new(probe, class);
    let mut net = Net::default();
    for name in names {
        // bonding_masters is a file among the folders: what has no type is no interface.
        let Some((folder, kind)) = class.follow(&name).and_then(|f| {
            let kind = f.number::<u32>("type")?;
            Some((f, kind))
        }) else {
            continue;
        };
        // A bond of IPoIB links takes over their type and the address of its active port.
        if kind == IPOIB && !folder.has("bonding") {
            if let Some(index) = folder.number("ifindex") {
                net.index.insert(name.clone(), index);
            }
            net.ipoib.push(link(name.clone(), &folder, &class, devices));
        }
        net.links.push(name);
    }
    for i in 0..net.ipoib.len() {
        if net.ipoib[i].parent.is_none() {
            net.ipoib[i].parent = parent_by_index(&net, &class, &net.ipoib[i].name);
        }
    }
    Ok(net)
}

fn link(name: String, folder: &Folder<'_>, class: &Folder<'_>, devices: &[RdmaDevice]) -> IpoibLink {
    let address = folder.attr("address").unwrap_or_default();
    let bytes = octets(&address);
    let guid = bytes.and_then(|b| Guid::new(b[12..].iter().fold(0, |n, b| (n << 8) | u64::from(*b))));
    let broadcast = || folder.attr("broadcast").as_deref().and_then(octets);
    let master = folder.target("master");
    IpoibLink {
        guid,
        port: guid.and_then(|g| port_of(g, devices)),
        connected_capable: bytes.is_some_and(|b| b[0] & 0x80 != 0),
        mode: folder
            .attr("mode")
            .filter(|m| m == "datagram" || m == "connected"),
        mtu: folder.number("mtu"),
        carrier: folder.attr("carrier").map(|c| c == "1"),
        pkey: folder
            .hex("pkey")
            .and_then(|key| u16::try_from(key).ok())
            .or_else(|| broadcast().map(|b| u16::from_be_bytes([b[8], b[9]])))
            .filter(|key| key & 0x7fff != 0),
        parent: folder.attr("parent"),
        // A VRF is a master too; only a bond has this folder.
        bond: master.filter(|m| class.has(&format!("{m}/bonding"))),
        owner: None,
        owners: Vec::new(),
        name,
        address,
    }
}

/// 20 bytes in hexadecimal with colons between (linux: Documentation/infiniband/ipoib.rst).
fn octets(text: &str) -> Option<[u8; 20]> {
    let bytes: Option<Vec<u8>> = text.split(':').map(|b| u8::from_str_radix(b, 16).ok()).collect();
    bytes?.try_into().ok()
}

/// The port with a GUID; `None` when there is none, or when two say that they have it.
fn port_of(guid: Guid, devices: &[RdmaDevice]) -> Option<(String, u8)> {
    let mut found = devices.iter().flat_map(|d| {
        d.ports
            .iter()
            .filter(|p| p.guid == Some(guid))
            .map(|p| (d.name.clone(), p.number))
    });
    found.next().filter(|_| found.next().is_none())
}

/// The parent of a child that was made over netlink: its `iflink` is the index of another IPoIB interface.
fn parent_by_index(net: &Net, class: &Folder<'_>, name: &str) -> Option<String> {
    let lower: u32 = class.sub(name)?.number("iflink")?;
    net.index
        .iter()
        .find(|(other, index)| **index == lower && other.as_str() != name)
        .map(|(other, _)| other.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::rdma;
    use crate::fake::Fake;

    const ADDRESS: &str = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:a1:b2:c1";

    fn link(host: Fake, name: &str, kind: &str, files: &[(&str, &str)]) -> Fake {
        let folder = format!("/sys/class/net/{name}");
        let host = host.file(&format!("{folder}/type"), &format!("{kind}\n"));
        files.iter().fold(host, |h, (file, text)| {
            h.file(&format!("{folder}/{file}"), &format!("{text}\n"))
        })
    }

    fn host() -> Fake {
        let host = Fake::new()
            .file(
                "/sys/class/infiniband/ib1/ports/1/gids/0",
                "fe80:0000:0000:0000:0002:c903:00a1:b2c1\n",
            )
            .file("/sys/class/net/bonding_masters", "bond0\n");
        let host = link(host, "lo", "772", &[]);
        let host = link(
            host,
            "ib0",
            "32",
            &[
                ("address", ADDRESS),
                ("ifindex", "3"),
                ("iflink", "3"),
                ("mode", "connected"),
                ("mtu", "65520"),
                ("carrier", "1"),
                ("pkey", "0xffff"),
            ],
        );
        let host = link(
            host,
            "storage",
            "32",
            &[
                ("address", ADDRESS),
                ("ifindex", "7"),
                ("iflink", "3"),
                (
                    "broadcast",
                    "00:ff:ff:ff:ff:12:40:1b:80:10:00:00:00:00:00:00:ff:ff:ff:ff",
                ),
            ],
        );
        link(
            host,
            "bond0",
            "32",
            &[("address", ADDRESS), ("bonding/mode", "active-backup 1")],
        )
        .symlink("/sys/class/net/ib0/master", "../bond0")
    }

    fn read(host: &Fake) -> Net {
        net(host, &rdma::devices(host).unwrap()).unwrap()
    }

    #[test]
    fn maps_by_guid_never_by_name() {
        let net = read(&host());
        assert_eq!(net.links, ["bond0", "ib0", "lo", "storage"]);
        assert_eq!(
            net.ipoib.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(),
            ["ib0", "storage"],
            "a bond of IPoIB links is none itself"
        );
        let ib0 = &net.ipoib[0];
        assert_eq!(ib0.port, Some(("ib1".to_owned(), 1)));
        assert_eq!(ib0.guid.unwrap().to_string(), "0x0002c90300a1b2c1");
        assert!(ib0.connected_capable);
        assert_eq!(
            (ib0.mode.as_deref(), ib0.mtu, ib0.carrier, ib0.pkey),
            (Some("connected"), Some(65520), Some(true), Some(0xffff))
        );
        assert_eq!(
            (ib0.parent.as_deref(), ib0.bond.as_deref()),
            (None, Some("bond0"))
        );
    }

    #[test]
    fn child_over_netlink_has_no_files() {
        let child = &read(&host()).ipoib[1];
        assert_eq!(
            (
                child.parent.as_deref(),
                child.pkey,
                child.mode.as_deref(),
                child.carrier
            ),
            (Some("ib0"), Some(0x8010), None, None)
        );
    }

    #[test]
    fn child_over_sysfs_names_its_parent() {
        let host = link(
            host(),
            "ib0.8001",
            "32",
            &[
                ("address", ADDRESS),
                ("parent", "ib0"),
                ("pkey", "0x8001"),
                ("ifindex", "9"),
            ],
        );
        let net = read(&host);
        let child = net.ipoib.iter().find(|l| l.name == "ib0.8001").unwrap();
        assert_eq!((child.parent.as_deref(), child.pkey), (Some("ib0"), Some(0x8001)));
    }

    #[test]
    fn odd_addresses_and_masters() {
        let host = link(
            Fake::new(),
            "ib0",
            "32",
            &[("address", "80:00:02"), ("mode", "odd")],
        )
        .symlink("/sys/class/net/ib0/master", "../vrf0");
        let host = link(
            host,
            "ib1",
            "32",
            &[(
                "address",
                "00:00:02:08:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:00:00",
            )],
        );
        let host = link(host, "ib2", "32", &[("address", ADDRESS)]);
        let net = read(&host);
        for link in &net.ipoib {
            assert_eq!(
                (&link.port, &link.bond, &link.mode),
                (&None, &None, &None),
                "{}",
                link.name
            );
        }
        assert_eq!((net.ipoib[0].guid, net.ipoib[1].guid), (None, None));
        assert!(net.ipoib[2].guid.is_some(), "no port has this GUID");
    }

    #[test]
    fn a_guid_that_two_ports_have_names_none() {
        let twice = host().file(
            "/sys/class/infiniband/mlx5_9/ports/1/gids/0",
            "fe80:0000:0000:0000:0002:c903:00a1:b2c1\n",
        );
        assert_eq!(read(&twice).ipoib[0].port, None);
    }
}
