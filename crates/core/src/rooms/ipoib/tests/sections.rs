//! Bonds and children, sections that are absent, images, and files of another dialect.

use super::{apply, changes, plan, rocky9};
use crate::distro::Row;
use crate::facts::{Facts, Scope};
use crate::fake::{Entry, Fake};
use serde_json::json;

#[test]
fn bonds_children_and_live_differences() {
    let facts = rocky9();
    let mut host = Fake::new();
    let desired = json!({
        "ipoib": [{ "interface": "ib0", "partitions": [{ "pkey": 16, "addresses": ["10.1.0.1/24"] }] }],
        "bonds": [{ "name": "bond0", "ports": ["ib0", "ib1"], "mtu": 2044, "addresses": ["10.0.0.1/24"] }],
    });
    let made = apply(&mut host, &facts, &desired);
    let sections: Vec<_> = made
        .changes
        .iter()
        .map(|c| (c.path.to_string(), c.section.clone()))
        .collect();
    let expect = [
        ("/ipoib/0", "ipoib"),
        ("/ipoib/0/partitions/0", "ipoib"),
        ("/bonds/0", "bonds"),
        ("/bonds/0/ports/1", "bonds"),
    ];
    assert_eq!(sections, expect.map(|(p, s)| (p.to_owned(), s.to_owned())));
    // Written, and none of it is in force: the child and the bond are not there, the members not enslaved.
    let waiting: Vec<String> = plan(&host, &facts, &desired).pending.links;
    let names: Vec<&str> = waiting.iter().filter_map(|l| l.split(':').next()).collect();
    assert_eq!(names, ["ib0", "ib0.8010", "bond0", "ib1"]);
    let mut up = facts.clone();
    up.links.extend(["bond0".to_owned(), "ib0.8010".to_owned()]);
    for link in &mut up.ipoib {
        link.bond = Some("bond0".to_owned());
    }
    let mut child = facts.ipoib[0].clone();
    (child.name, child.parent) = ("ib0.8010".to_owned(), Some("ib0".to_owned()));
    up.ipoib.push(child);
    assert_eq!(plan(&host, &up, &desired).pending.links, Vec::<String>::new());
    // The bond alone: what the other section says of a member stays.
    let connected = "[connection]\nid=ib1\nuuid=a98ab76a-9fbd-49f1-a144-c60eab852e31\ntype=infiniband\ninterface-name=ib1\nmaster=bond0\nslave-type=bond\n[infiniband]\ntransport-mode=connected\n";
    host = host.entry(
        "/etc/NetworkManager/system-connections/ib1.nmconnection",
        Entry::File {
            bytes: connected.as_bytes().to_vec(),
            mode: 0o600,
            owner: (0, 0),
        },
    );
    let alone = json!({ "bonds": desired["bonds"] });
    assert_eq!(plan(&host, &up, &alone).steps, []);
    // And the other way round.
    let rest = json!({ "ipoib": [{ "interface": "ib1", "mode": "connected" }] });
    assert_eq!(plan(&host, &up, &rest).steps, []);
    let dissolved = plan(&host, &up, &json!({ "ipoib": rest["ipoib"], "bonds": [] }));
    assert_eq!(
        changes(&dissolved)[0],
        (
            "/ipoib/0".to_owned(),
            json!({ "bond": "bond0" }),
            json!({ "bond": null })
        )
    );
}

#[test]
fn an_image_has_nothing_pending_and_obeys_a_named_back_end() {
    let mut facts = Facts::unknown(Scope::Image);
    facts.os.row = Row::find("rocky", "9.4");
    let mut host = Fake::new();
    let desired = json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24"] }], "network_backend": "ifcfg" });
    let made = apply(&mut host, &facts, &desired);
    assert!(made.pending.links.is_empty() && made.warnings.is_empty());
    assert!(
        host.get("/etc/sysconfig/network-scripts/ifcfg-ib0")
            .unwrap()
            .contains("TYPE=InfiniBand\n")
    );
}

#[test]
fn an_ifcfg_file_of_the_same_link_is_taken_over_by_a_keyfile() {
    let old = "/etc/sysconfig/network-scripts/ifcfg-ib0";
    let mut host = Fake::new().file(old, "TYPE=InfiniBand\nDEVICE=ib0\nCONNECTED_MODE=yes\nMTU=65520\nIPADDR=10.0.0.1\nNETMASK=255.255.255.0\n");
    let desired = json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24"] }] });
    let taken = apply(&mut host, &rocky9(), &desired);
    assert_eq!(host.get(old), None);
    let told = changes(&taken);
    assert_eq!(
        told[0],
        ("/ipoib/0/mode".to_owned(), json!("connected"), json!("datagram"))
    );
    assert_eq!(told[1], ("/ipoib/0/mtu".to_owned(), json!(65520), json!("auto")));
    // Where nobody reads ifcfg files, one is no rival.
    let mut el10 = rocky9();
    el10.os.row = Row::find("rocky", "10.0");
    let mut host = Fake::new().file(old, "DEVICE=ib0\n");
    apply(&mut host, &el10, &desired);
    assert!(host.get(old).is_some());
}
