use super::*;
use crate::fake::Fake;

fn files(host: Fake, folder: &str, files: &[(&str, &str)]) -> Fake {
    files.iter().fold(host, |h, (name, text)| {
        h.file(&format!("{folder}/{name}"), &format!("{text}\n"))
    })
}

fn only(host: &Fake) -> RdmaDevice {
    let mut all = devices(host).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn case_01_rate_texts() {
    let rate = |gbps, width, speed: Option<&str>| Rate {
        gbps,
        width,
        speed: speed.map(str::to_owned),
    };
    for (text, wanted) in [
        ("200 Gb/sec (4X HDR)", rate(200.0, Some(4), Some("HDR"))),
        ("2.5 Gb/sec (1X SDR)", rate(2.5, Some(1), Some("SDR"))),
        ("10 Gb/sec (4X)", rate(10.0, Some(4), None)),
        ("0 GB/sec", rate(0.0, None, None)),
        ("0 GB/sec (4X)", rate(0.0, Some(4), None)),
        ("800 Gb/sec (4X XDR)", rate(800.0, Some(4), Some("XDR"))),
        ("inf Gb/sec (4X HDR)", rate(0.0, Some(4), Some("HDR"))),
        ("-5 Gb/sec", rate(0.0, None, None)),
        ("100", rate(0.0, None, None)),
        ("fast", rate(0.0, None, None)),
        ("100 Gb/sec (4X HDR", rate(100.0, None, None)),
    ] {
        assert_eq!(parse_rate(text), wanted, "{text}");
    }
}

#[test]
fn case_02_devices_without_attributes_are_listed() {
    let host = files(
        Fake::new(),
        "/sys/class/infiniband/irdma0",
        &[("ports/1/link_layer", "Ethernet"), ("ports/1/state", "4: ACTIVE")],
    )
    .file("/sys/class/infiniband/irdma1/uevent", "");
    let all = devices(&host).unwrap();
    assert_eq!(
        all.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(),
        ["irdma0", "irdma1"]
    );
    assert_eq!(all[0].ports[0].link_layer, LinkLayer::Ethernet);
    assert_eq!((&all[0].board_id, all[0].ports[0].guid), (&None, None));
    assert!(all[1].ports.is_empty());
}

#[test]
fn case_03_port_guid_is_not_the_node_guid_and_init_is_a_state() {
    let folder = "/sys/class/infiniband/mlx4_0";
    let host = files(
        Fake::new(),
        folder,
        &[
            ("node_guid", "0002:c903:007b:e0e0"),
            ("ports/1/gids/0", "fe80:0000:0000:0000:0002:c903:007b:e0e1"),
            ("ports/1/state", "2: INIT"),
            ("ports/1/phys_state", "5: LinkUp"),
            ("ports/1/lid", "0x0"),
            ("ports/1/sm_lid", "0x0"),
            ("ports/2/gids/0", "fe80:0000:0000:0001:0002:c903:007b:e0e2"),
            ("ports/2/lid", "0xffff"),
            ("ports/2/sm_lid", "0x1"),
            ("ports/10/lid", "0xc"),
        ],
    );
    let device = only(&host);
    assert_eq!(device.node_guid.unwrap().to_string(), "0x0002c903007be0e0");
    let guids: Vec<Option<String>> = device
        .ports
        .iter()
        .map(|p| p.guid.map(|g| g.to_string()))
        .collect();
    assert_eq!(
        guids,
        [
            Some("0x0002c903007be0e1".to_owned()),
            Some("0x0002c903007be0e2".to_owned()),
            None
        ]
    );
    assert_eq!(
        device.ports.iter().map(|p| p.number).collect::<Vec<_>>(),
        [1, 2, 10]
    );
    let port = &device.ports[0];
    assert_eq!(
        (port.state, port.phys_state.as_deref()),
        (PortState::Init, Some("LinkUp"))
    );
    assert_eq!((port.lid, port.sm_lid), (None, None));
    assert_eq!((device.ports[1].lid, device.ports[1].sm_lid), (None, Some(1)));
    assert_eq!(device.ports[1].subnet_prefix, Some(0xfe80_0000_0000_0001));
    assert_eq!(device.ports[2].lid, Some(12));
}

#[test]
fn empty_gid_and_pkeys_with_gaps() {
    let host = files(
        Fake::new(),
        "/sys/class/infiniband/mlx5_0/ports/1",
        &[
            ("gids/0", "0000:0000:0000:0000:0000:0000:0000:0000"),
            ("pkeys/0", "0xffff"),
            ("pkeys/1", "0x0000"),
            ("pkeys/2", "0x0010"),
            ("pkeys/10", "0x8001"),
            ("pkeys/9", "0x0000"),
            ("smi_enabled", "0"),
            ("phys_state", "<unknown>"),
            ("state", "5: ACTIVE_DEFER"),
        ],
    );
    let device = only(&host);
    let port = &device.ports[0];
    assert_eq!((port.guid, port.subnet_prefix), (None, None));
    assert_eq!(port.pkeys, [0xffff, 0x0010, 0x8001]);
    assert_eq!(port.smi_enabled, Some(false));
    assert_eq!(port.phys_state.as_deref(), Some("<unknown>"));
    assert_eq!(port.state, PortState::Unknown);
    assert_eq!(parse_gid("fe80::1"), None);
}

fn on_pci(name: &str, ids: (&str, &str), driver: &str) -> Fake {
    let real = "/sys/devices/pci0000:40/0000:41:00.0";
    Fake::new()
        .file(&format!("{real}/vendor"), ids.0)
        .file(&format!("{real}/device"), ids.1)
        .symlink(
            &format!("{real}/driver"),
            &format!("../../../bus/pci/drivers/{driver}"),
        )
        .symlink(
            &format!("{real}/infiniband/{name}/device"),
            "../../../0000:41:00.0",
        )
        .symlink(
            &format!("/sys/class/infiniband/{name}"),
            &format!("../../devices/pci0000:40/0000:41:00.0/infiniband/{name}"),
        )
}

#[test]
fn case_22_a_renamed_device_is_known_by_pci_and_driver() {
    let device = only(&on_pci("opap129s0", ("0x8086", "0x24f0"), "hfi1"));
    assert!(device.omni_path && !device.vf);
    assert_eq!(device.pci.as_ref().map(PciAddress::as_str), Some("0000:41:00.0"));
    assert_eq!(device.driver.as_deref(), Some("hfi1"));
    let device = only(&on_pci("ibp65s0", ("0x15b3", "0x101c"), "mlx5_core"));
    assert!(device.vf && !device.omni_path);
    let physfn = on_pci("mlx5_0", ("0x15b3", "0x101b"), "mlx5_core")
        .symlink("/sys/devices/pci0000:40/0000:41:00.0/physfn", "../0000:40:00.0");
    assert!(only(&physfn).vf);
}

#[test]
fn software_devices() {
    let host = files(
        Fake::new(),
        "/sys/class/infiniband/rxe0",
        &[("parent", "eth0"), ("fw_ver", "")],
    );
    let device = only(&host);
    assert_eq!(
        (device.driver.as_deref(), &device.pci, &device.fw_ver),
        (Some("rxe"), &None, &None)
    );
    let host = files(
        Fake::new(),
        "/sys/class/infiniband/siw_eth0",
        &[("node_type", "4: RNIC")],
    );
    assert_eq!(only(&host).driver.as_deref(), Some("siw"));
    assert!(devices(&Fake::new()).unwrap().is_empty());
}
