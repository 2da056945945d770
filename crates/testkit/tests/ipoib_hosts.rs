//! The room `ipoib` through the whole agent, on captured hosts: what is written where, what is refused, and the laws.

use ibplan_core::protocol::{Exit, Response};
use ibplan_testkit::{hosts, laws};
use serde_json::{Value, json};

/// The laws on a copy of a captured host, as an image.
fn image(host: &str, desired: &Value) -> (Response, Exit) {
    let root = hosts::copied(host);
    laws::on_root(root.path(), desired, &json!({ "prune": true }))
}

/// A plan of a captured host with its recorded live side.
fn replay(host: &str, desired: &Value) -> (Response, Exit) {
    let root = hosts::copied(host);
    laws::serve("plan", root.path(), desired, &json!({ "replay": true }))
}

fn paths(response: &Response) -> Vec<String> {
    response.changes.iter().map(|c| c.path.to_string()).collect()
}

fn codes(response: &Response) -> Vec<String> {
    response
        .errors
        .iter()
        .map(|e| format!("{} {}", e.code, e.path))
        .collect()
}

fn one(interface: &str) -> Value {
    json!({ "ipoib": [{ "interface": interface, "mtu": 2044, "addresses": ["192.168.10.8/24"] }] })
}

#[test]
fn each_host_in_its_own_language() {
    for (host, interface, file) in [
        (
            "rocky9-cx6",
            "ibp65s0",
            "/etc/NetworkManager/system-connections/ibp65s0.nmconnection",
        ),
        (
            "rocky10-cx7",
            "ibs4",
            "/etc/NetworkManager/system-connections/ibs4.nmconnection",
        ),
        ("centos7-cx3", "ib1", "/etc/sysconfig/network-scripts/ifcfg-ib1"),
        (
            "debian12-cx6",
            "ibp65s0",
            "/etc/network/interfaces.d/ibplan-ibp65s0",
        ),
        ("sles15-cx5", "ib0", "/etc/sysconfig/network/ifcfg-ib0"),
        ("ubuntu2404-cx7", "ibp129s0", "/etc/netplan/90-ibplan.yaml"),
        (
            "bare-rocky9-image",
            "ib0",
            "/etc/NetworkManager/system-connections/ib0.nmconnection",
        ),
    ] {
        let (response, exit) = image(host, &one(interface));
        assert_eq!(exit, Exit::Done, "{host}: {:#?}", response.errors);
        let wrote = response
            .steps
            .iter()
            .any(|s| s.action == "write_file" && s.target == file);
        assert!(wrote, "{host}: {:#?}", response.steps);
    }
}

#[test]
fn case_07_a_file_that_says_so_already_is_no_change() {
    let (response, exit) = image("alma8-cx5", &one("ib0"));
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    assert!(!response.changed, "{:#?}", response.changes);
    let (response, _) = image(
        "alma8-cx5",
        &json!({ "ipoib": [{ "interface": "ib0", "addresses": ["192.168.10.8/24"] }] }),
    );
    assert_eq!(paths(&response), ["/ipoib/0/mtu"]);
    assert_eq!(
        (&response.changes[0].before, &response.changes[0].after),
        (&json!(2044), &json!("auto"))
    );
}

#[test]
fn case_14_a_profile_of_type_ethernet() {
    let desired = json!({ "ipoib": [{ "interface": "ibp161s0", "addresses": ["192.168.20.32/24"] }] });
    let (response, exit) = image("two-hca-two-subnets", &desired);
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    assert_eq!(paths(&response), ["/ipoib/0"]);
    assert_eq!(response.changes[0].before, json!({ "type": "ethernet" }));
    assert_eq!(response.changes[0].after, json!({ "type": "infiniband" }));
}

#[test]
fn connected_mode_by_the_adapter_of_the_host() {
    let desired =
        |interface: &str| json!({ "ipoib": [{ "interface": interface, "mode": "connected", "mtu": 65520 }] });
    for (host, interface) in [
        ("rocky9-cx6", "ibp65s0"),
        ("alma8-cx5", "ib0"),
        ("sles15-cx5", "ib0"),
    ] {
        let (response, exit) = replay(host, &desired(interface));
        assert_eq!(
            (exit, codes(&response)),
            (
                Exit::HostRefused,
                vec!["ipoib.connected_impossible /ipoib/0/mode".to_owned()]
            ),
            "{host}"
        );
    }
    let (response, exit) = replay("centos7-cx3", &desired("ib0"));
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
}

#[test]
fn refusals_of_hosts() {
    for (host, desired, code) in [
        ("ethernet-only-cx6dx", one("ib0"), "ipoib.no_infiniband_port"),
        ("deb12-rxe", one("ib0"), "ipoib.no_infiniband_port"),
        ("rocky9-cx6", one("eno1"), "ipoib.not_ipoib"),
        (
            "rocky9-cx6",
            json!({ "ipoib": [{ "port": { "guid": "0x1234" } }] }),
            "ipoib.port_unresolved",
        ),
        (
            "bare-rocky9-image",
            json!({ "ipoib": [{ "port": { "guid": "0x1234" } }] }),
            "ipoib.port_unresolved",
        ),
        (
            "rocky9-cx6",
            json!({ "ipoib": [{ "interface": "ibp65s0" }], "network_backend": "wicked" }),
            "network_backend.not_installed",
        ),
    ] {
        let (response, exit) = replay(host, &desired);
        assert_eq!(exit, Exit::HostRefused, "{host} {desired}");
        assert!(
            response.errors.iter().any(|e| e.code.id() == code),
            "{host}: {:#?}",
            response.errors
        );
    }
}

#[test]
fn a_bond_with_its_children_on_two_cards() {
    let desired = json!({
        "ipoib": [
            { "interface": "ibp65s0", "partitions": [{ "pkey": 16 }] },
            { "interface": "ibp161s0", "partitions": [{ "pkey": 16 }] },
        ],
        "bonds": [
            { "name": "bond0", "ports": ["ibp65s0", "ibp161s0"], "primary": "ibp65s0", "mtu": 2044, "addresses": ["10.0.0.1/24"] },
            { "name": "bond1", "ports": ["ibp65s0.8010", "ibp161s0.8010"], "mtu": 2044, "addresses": ["10.0.1.1/24"] },
        ],
    });
    let (response, exit) = image("bond-rocky9", &desired);
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    assert_eq!(
        response.steps.iter().filter(|s| s.action == "write_file").count(),
        6
    );
}

#[test]
fn what_leaves_the_document_goes_and_what_was_there_comes_back() {
    let root = hosts::copied("two-hca-two-subnets");
    let folder = root.path().join("etc/NetworkManager/system-connections");
    let wrong = folder.join("ibp161s0.nmconnection");
    let rival = folder.join("Wired connection 1");
    std::fs::rename(&wrong, &rival).expect("a profile");
    let original = std::fs::read(&rival).expect("a profile");
    let apply = |desired: &Value| {
        let (response, exit) = laws::serve("apply", root.path(), desired, &json!({ "prune": true }));
        assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
        response
    };
    let desired = json!({ "ipoib": [{ "interface": "ibp161s0" }] });
    apply(&desired);
    assert!(wrong.exists() && !rival.exists());
    assert!(!apply(&desired).changed, "the rival stays away");
    apply(&json!({ "ipoib": [] }));
    assert!(!wrong.exists());
    assert_eq!(std::fs::read(&rival).expect("the profile is back"), original);
}

fn with_file(host: &str, path: &str, text: &str) -> tempfile::TempDir {
    let root = hosts::copied(host);
    let file = root.path().join(path);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(&file, text).expect("written");
    root
}

/// A profile that knows its port by the hardware address alone is an owner too: two profiles would fight for the link.
#[test]
fn a_file_that_names_its_port_by_address_is_taken_over() {
    let nm = "etc/NetworkManager/system-connections/site.nmconnection";
    let guid = "B8:3F:D2:03:00:AA:10:C4";
    // The first 12 bytes are those of an earlier boot.
    let profile = format!(
        "[connection]\nid=site\ntype=infiniband\ninterface-name=\n\n[infiniband]\nmac-address=80:00:00:48:FE:80:00:00:00:00:00:00:{guid}\n\n[ipv4]\nmethod=auto\n"
    );
    let other = profile.replace("10:C4", "10:C5");
    let alma = "80:00:01:48:fe:80:00:00:00:00:00:00:50:6b:4b:03:00:b2:4d:10";
    let ifcfg = format!("TYPE=InfiniBand\nHWADDR={alma}\nONBOOT=yes\nBOOTPROTO=dhcp\n");
    for (host, interface, path, text, taken) in [
        ("rocky9-cx6", "ibp65s0", nm, &profile, true),
        ("rocky9-cx6", "ibp65s0", nm, &other, false),
        (
            "alma8-cx5",
            "ib0",
            "etc/sysconfig/network-scripts/ifcfg-site",
            &ifcfg,
            true,
        ),
    ] {
        let root = with_file(host, path, text);
        let desired = one(interface);
        let (planned, exit) = laws::serve("plan", root.path(), &desired, &json!({}));
        assert_eq!(exit, Exit::Done, "{:#?}", planned.errors);
        let gone = planned
            .steps
            .iter()
            .any(|s| s.action == "remove_file" && s.target == format!("/{path}"));
        assert_eq!(gone, taken, "{host}: {:#?}", planned.steps);
        laws::on_root(root.path(), &desired, &json!({ "prune": true }));
    }
}

#[test]
fn a_profile_that_fits_every_interface_is_told() {
    let path = "etc/NetworkManager/system-connections/any.nmconnection";
    let any = "[connection]\nid=any\ntype=infiniband\n\n[ipv4]\nmethod=auto\n";
    for (text, told) in [
        (any.to_owned(), true),
        (any.replace("id=any\n", "id=any\nautoconnect=false\n"), false),
        (any.replace("id=any\n", "id=any\ninterface-name=ib9\n"), false),
    ] {
        let root = with_file("rocky9-cx6", path, &text);
        let (planned, _) = laws::serve("plan", root.path(), &one("ibp65s0"), &json!({}));
        let found = planned
            .warnings
            .iter()
            .any(|w| w.code.id() == "ipoib.profile_for_all");
        assert_eq!(found, told, "{text}");
    }
}

/// Another back end is named: what ibplan wrote for the former one goes with the same apply, or the links have two owners.
#[test]
fn a_link_that_changes_its_back_end_has_one_owner() {
    let words = [
        "networkmanager",
        "ifcfg",
        "netplan",
        "networkd",
        "ifupdown",
        "wicked",
    ];
    let document = |backend: &str| {
        json!({
            "network_backend": backend,
            "ipoib": [{
                "interface": "ib0",
                "addresses": ["10.0.0.1/24"],
                "routes": [{ "to": "10.9.0.0/16", "via": "10.0.0.9" }],
                "partitions": [{ "pkey": 16, "addresses": ["10.1.0.1/24"] }],
            }],
            "bonds": [{ "name": "bond0", "ports": ["ib1", "ib2"], "mtu": 2044, "addresses": ["10.2.0.1/24"] }],
        })
    };
    let files = |host: &str, backends: &[&str]| {
        let root = hosts::copied(host);
        for backend in backends {
            let (applied, exit) = laws::serve("apply", root.path(), &document(backend), &json!({}));
            assert_eq!(exit, Exit::Done, "{backend}: {:#?}", applied.errors);
        }
        let names = hosts::picture(root.path()).into_keys();
        let own: Vec<String> = names
            .filter(|n| n.contains("ib0") || n.contains("bond0") || n.contains("90-ibplan"))
            .filter(|n| root.path().join(n.trim_start_matches('/')).is_file())
            .collect();
        own
    };
    for host in ["bare-debian12-image", "bare-rocky9-image"] {
        for to in words {
            let straight = files(host, &[to]);
            assert!(!straight.is_empty());
            for from in words.into_iter().filter(|w| *w != to) {
                assert_eq!(files(host, &[from, to]), straight, "{host}: {from} to {to}");
            }
        }
        let root = hosts::copied(host);
        let (_, exit) = laws::serve("apply", root.path(), &document("networkmanager"), &json!({}));
        assert_eq!(exit, Exit::Done);
        laws::on_root(root.path(), &document("wicked"), &json!({}));
        laws::on_root(root.path(), &document("netplan"), &json!({ "prune": true }));
    }
}
