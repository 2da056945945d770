//! Rules that need the facts of the host.

use super::{document, state, told};
use crate::distro::Backend;
use crate::facts::{Facts, IpoibLink, LinkLayer, PciHca, Port, PortState, Rate, RdmaDevice, Scope};
use crate::hca::HcaModel;
use crate::problem::Findings;
use crate::resource::Resource;
use crate::rooms::ipoib::Ipoib;
use crate::types::{Guid, PciAddress};
use serde_json::{Value, json};

fn host(desired: &Value, facts: &Facts) -> Findings {
    let want = Ipoib::wanted(&state(desired)).unwrap();
    let mut found = Findings::default();
    Ipoib::check_host(&want, facts, &mut found);
    found
}

fn guid(n: u64) -> Guid {
    Guid::new(0xb83f_d203_0000_0000 | n).unwrap()
}

/// A host with one adapter for each id: device mlx5_N, interface ibN where `links` is set.
fn machine(ids: &[u16], links: bool) -> Facts {
    let mut facts = Facts::unknown(Scope::Live);
    facts.os.row = crate::distro::Row::find("rocky", "9.4");
    facts.backends.installed = vec![Backend::NetworkManager];
    for (n, id) in (0u64..).zip(ids) {
        let pci = PciAddress::parse(&format!("0000:4{n}:00.0")).unwrap();
        let model = HcaModel::find(0x15b3, *id);
        facts.hcas.push(PciHca {
            address: pci.clone(),
            vendor: 0x15b3,
            device: *id,
            model,
            driver: None,
            vf: false,
            numa_node: None,
        });
        let device = format!("mlx5_{n}");
        facts.devices.push(RdmaDevice {
            name: device.clone(),
            pci: Some(pci),
            driver: None,
            node_guid: None,
            fw_ver: None,
            board_id: None,
            hca_type: None,
            vf: false,
            omni_path: false,
            ports: vec![port(n)],
        });
        if links {
            facts
                .ipoib
                .push(link(n, &device, model.is_some_and(|m| m.connected)));
            facts.links.push(format!("ib{n}"));
        }
    }
    facts
}

fn port(n: u64) -> Port {
    Port {
        number: 1,
        link_layer: LinkLayer::Infiniband,
        state: PortState::Active,
        phys_state: None,
        rate: Rate::default(),
        lid: None,
        sm_lid: None,
        guid: Some(guid(n)),
        subnet_prefix: None,
        pkeys: vec![0xffff],
        smi_enabled: None,
    }
}

fn link(n: u64, device: &str, connected_capable: bool) -> IpoibLink {
    IpoibLink {
        name: format!("ib{n}"),
        address: String::new(),
        guid: Some(guid(n)),
        port: Some((device.to_owned(), 1)),
        connected_capable,
        mode: Some("datagram".to_owned()),
        mtu: Some(2044),
        carrier: Some(true),
        pkey: Some(0xffff),
        parent: None,
        bond: None,
        owner: None,
        owners: Vec::new(),
    }
}

const CX3: u16 = 0x1003;
const CX6: u16 = 0x101b;
const CONNECT_IB: u16 = 0x1011;

#[test]
fn connected_mode_follows_the_hardware() {
    let one = json!({ "ipoib": [{ "interface": "ib0", "mode": "connected" }] });
    let impossible: &[&str] = &["ipoib.connected_impossible /ipoib/0/mode"];
    let mut unknown = machine(&[0x0001], false);
    unknown.hcas[0].model = None;
    for (what, facts, errors) in [
        ("ConnectX-6", machine(&[CX6], true), impossible),
        ("ConnectX-3", machine(&[CX3], true), &[][..]),
        ("Connect-IB", machine(&[CONNECT_IB], true), &[]),
        ("ConnectX-6, no interface yet", machine(&[CX6], false), impossible),
        ("ConnectX-3, no interface yet", machine(&[CX3], false), &[]),
        ("one of each, no interface yet", machine(&[CX3, CX6], false), &[]),
        ("unknown", unknown, &[]),
        (
            "an image",
            Facts {
                os: machine(&[], false).os,
                ..Facts::unknown(Scope::Image)
            },
            &[],
        ),
    ] {
        let found = host(&one, &facts);
        assert_eq!(told(&found.errors), errors, "{what}");
        let doubts = found
            .warnings
            .iter()
            .any(|w| w.code.id() == "ipoib.connected_unproven");
        let doubtful = ["one of each, no interface yet", "unknown", "an image"].contains(&what);
        assert_eq!(doubts, doubtful, "{what}: {:#?}", found.warnings);
    }
    let found = host(&one, &machine(&[CX6], true));
    assert!(
        found.errors[0].message.contains("ConnectX-6"),
        "{}",
        found.errors[0].message
    );
    let child =
        json!({ "ipoib": [{ "interface": "ib0", "partitions": [{ "pkey": 1, "mode": "connected" }] }] });
    assert_eq!(
        told(&host(&child, &machine(&[CX6], true)).errors),
        ["ipoib.connected_impossible /ipoib/0/partitions/0/mode"]
    );
    // Several adapters: the interface's own decides.
    let second = json!({ "ipoib": [{ "interface": "ib1", "mode": "connected" }] });
    assert_eq!(host(&second, &machine(&[CX6, CX3], true)).errors, []);
    assert_eq!(
        told(&host(&second, &machine(&[CX3, CX6], true)).errors),
        impossible
    );
}

#[test]
fn case_10_a_kernel_without_connected_mode_is_named() {
    let mut facts = machine(&[CX3], true);
    facts.ipoib[0].connected_capable = false;
    let desired = json!({ "ipoib": [{ "interface": "ib0", "mode": "connected", "mtu": 65520 }] });
    let found = host(&desired, &facts);
    assert_eq!(told(&found.errors), ["ipoib.connected_impossible /ipoib/0/mode"]);
    assert!(found.errors[0].message.contains("CONFIG_INFINIBAND_IPOIB_CM"));
}

#[test]
fn ports_become_names() {
    let facts = machine(&[CX6, CX6], true);
    let named = |port: Value| {
        let want = Ipoib::wanted(&state(&json!({ "ipoib": [{ "port": port }] }))).unwrap();
        crate::rooms::ipoib::resolve::names(&want, &facts).remove(0)
    };
    assert_eq!(named(json!({ "guid": guid(1) })).as_deref(), Some("ib1"));
    assert_eq!(named(json!({ "device": "mlx5_1" })).as_deref(), Some("ib1"));
    assert_eq!(
        named(json!({ "pci": "0000:40:00.0", "port": 1 })).as_deref(),
        Some("ib0")
    );
    let missing = host(&json!({ "ipoib": [{ "port": { "guid": "0x1234" } }] }), &facts);
    assert_eq!(told(&missing.errors), ["ipoib.port_unresolved /ipoib/0/port"]);
    assert!(missing.errors[0].message.contains(&guid(0).to_string()));
    let dark = host(
        &json!({ "ipoib": [{ "port": { "device": "mlx5_0" } }] }),
        &machine(&[CX6], false),
    );
    assert_eq!(told(&dark.errors), ["ipoib.port_unresolved /ipoib/0/port"]);
    let image = host(&json!({ "ipoib": [{ "port": { "guid": guid(0) } }] }), &{
        let mut facts = Facts::unknown(Scope::Image);
        facts.os.row = machine(&[], false).os.row;
        facts
    });
    assert_eq!(told(&image.errors), ["ipoib.port_unresolved /ipoib/0/port"]);
    assert_eq!(told(&image.warnings), ["ipoib.hardware_unknown /ipoib"]);
    // Names of ports are known only now: what the document could not show is shown.
    let twice = json!({ "ipoib": [{ "interface": "ib0" }, { "port": { "guid": guid(0) } }] });
    assert_eq!(document(&twice).errors, []);
    assert_eq!(
        told(&host(&twice, &facts).errors),
        ["ipoib.duplicate_name /ipoib/1"]
    );
}

#[test]
fn what_the_host_contradicts() {
    let mut facts = machine(&[CX6, CX6], true);
    facts.links.push("eno1".to_owned());
    facts.ipoib[1].bond = Some("bond7".to_owned());
    let found = host(
        &json!({ "ipoib": [{ "interface": "eno1" }, { "interface": "ib1", "dhcp4": true }, { "interface": "ib9" }, { "interface": "ib0", "mtu": 4092, "partitions": [{ "pkey": 5 }] }] }),
        &facts,
    );
    assert_eq!(
        told(&found.errors),
        ["ipoib.not_ipoib /ipoib/0", "ipoib.enslaved /ipoib/1"]
    );
    assert_eq!(
        told(&found.warnings),
        [
            "ipoib.interface_absent /ipoib/2",
            "ipoib.mtu_clamped_by_fabric /ipoib/3/mtu",
            "ipoib.pkey_not_in_table /ipoib/3/partitions/0/pkey"
        ]
    );
    let dissolved = host(&json!({ "ipoib": [{ "interface": "ib1" }], "bonds": [] }), &facts);
    assert_eq!(dissolved.errors, []);
}

#[test]
fn case_38_ethernet_cards_are_no_infiniband_host() {
    let mut facts = machine(&[0x101d], false);
    facts.devices[0].ports[0].link_layer = LinkLayer::Ethernet;
    let found = host(&json!({ "ipoib": [{ "interface": "ib0" }] }), &facts);
    assert_eq!(told(&found.errors), ["ipoib.no_infiniband_port /ipoib"]);
}

#[test]
fn back_ends_are_there_and_own_alone() {
    let link = |word: &str| json!({ "ipoib": [{ "interface": "ib0" }], "network_backend": word });
    let mut facts = machine(&[CX6], true);
    assert_eq!(
        told(&host(&link("wicked"), &facts).errors),
        ["network_backend.not_installed /network_backend"]
    );
    facts.scope = Scope::Image;
    assert_eq!(host(&link("wicked"), &facts).errors, []);
    facts.scope = Scope::Live;
    facts.ipoib[0].owner = Some(Backend::NetworkManager);
    facts.ipoib[0].owners = vec![Backend::NetworkManager, Backend::Ifcfg];
    let both = host(&link("auto"), &facts);
    assert_eq!(told(&both.errors), ["ipoib.two_owners /ipoib/0"]);
    assert!(both.errors[0].message.contains("networkmanager and ifcfg"));
    let warned = |facts: &Facts, word: &str| {
        let found = host(&link(word), facts);
        assert_eq!(found.errors, []);
        told(&found.warnings)
    };
    assert_eq!(
        warned(&facts, "networkmanager"),
        Vec::<String>::new(),
        "it takes over the ifcfg file"
    );
    facts.ipoib[0].owners = vec![Backend::NetworkManager, Backend::Ifupdown];
    assert_eq!(warned(&facts, "networkmanager"), ["ipoib.two_owners /ipoib/0"]);
    let mut strange = machine(&[CX6], true);
    strange.os.row = None;
    assert_eq!(
        told(&host(&link("auto"), &strange).errors),
        ["host.unsupported /network_backend"]
    );
    let mut el10 = machine(&[CX6], true);
    el10.os.row = crate::distro::Row::find("rocky", "10.0");
    el10.backends.installed.push(Backend::Ifcfg);
    assert_eq!(
        told(&host(&link("ifcfg"), &el10).errors),
        ["network_backend.not_read /network_backend"]
    );
}

#[test]
fn auto_is_the_owner_of_the_links() {
    let desired =
        json!({ "ipoib": [{ "interface": "ib0", "partitions": [{ "pkey": 1 }] }, { "interface": "ib1" }] });
    let chosen = |owners: &[(&str, Backend)]| {
        let mut facts = machine(&[CX6, CX6], true);
        let mut child = facts.ipoib[0].clone();
        (child.name, child.parent) = ("ib0.8001".to_owned(), Some("ib0".to_owned()));
        facts.ipoib.push(child);
        for link in &mut facts.ipoib {
            link.owner = owners.iter().find(|(n, _)| *n == link.name).map(|(_, b)| *b);
        }
        let want = Ipoib::wanted(&state(&desired)).unwrap();
        let all =
            crate::rooms::ipoib::entry::entries(&want, |_, l| l.interface.as_ref().map(ToString::to_string));
        crate::rooms::ipoib::choose::backend(&want, &all, &facts).map_err(|p| p.code.id())
    };
    use Backend::{Ifupdown, Netplan, NetworkManager, Networkd};
    assert_eq!(chosen(&[]), Ok(NetworkManager));
    assert_eq!(chosen(&[("ib1", Ifupdown)]), Ok(Ifupdown));
    assert_eq!(
        chosen(&[("ib0", Netplan), ("ib0.8001", Networkd), ("ib1", Networkd)]),
        Ok(Netplan)
    );
    assert_eq!(chosen(&[("ib0.8001", Networkd)]), Ok(Networkd));
    assert_eq!(
        chosen(&[("ib0", NetworkManager), ("ib1", Ifupdown)]),
        Err("ipoib.two_owners")
    );
}
