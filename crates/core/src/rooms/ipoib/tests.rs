//! The room on hosts in memory.

mod sections;

use super::Ipoib;
use crate::action::{Action, digest};
use crate::distro::{Backend, Row};
use crate::facts::{Facts, IpoibLink, LinkLayer, Port, PortState, Rate, RdmaDevice, Scope};
use crate::fake::Fake;
use crate::ledger::{Original, Owned};
use crate::parts::prune::prune;
use crate::plan::{Plan, When};
use crate::resource::{Of, Resource, Stage};
use crate::state::HostState;
use crate::types::HostPath;
use serde_json::{Value, json};

const IB0: &str = "/etc/NetworkManager/system-connections/ib0.nmconnection";

fn rocky9() -> Facts {
    let mut facts = Facts::unknown(Scope::Live);
    facts.os.row = Row::find("rocky", "9.4");
    facts.machine_id = Some("0123456789abcdef0123456789abcdef".to_owned());
    facts.backends.installed = vec![Backend::NetworkManager];
    facts.backends.running = vec![Backend::NetworkManager];
    for name in ["ib0", "ib1"] {
        facts.links.push(name.to_owned());
        facts.ipoib.push(IpoibLink {
            name: name.to_owned(),
            address: String::new(),
            guid: None,
            port: None,
            connected_capable: true,
            mode: Some("datagram".to_owned()),
            mtu: Some(2044),
            carrier: Some(true),
            pkey: None,
            parent: None,
            bond: None,
            owner: None,
            owners: Vec::new(),
        });
    }
    facts.devices.push(RdmaDevice {
        name: "mlx5_0".to_owned(),
        pci: None,
        driver: None,
        node_guid: None,
        fw_ver: None,
        board_id: None,
        hca_type: None,
        vf: false,
        omni_path: false,
        ports: vec![Port {
            number: 1,
            link_layer: LinkLayer::Infiniband,
            state: PortState::Active,
            phys_state: None,
            rate: Rate::default(),
            lid: None,
            sm_lid: None,
            guid: None,
            subnet_prefix: None,
            pkeys: Vec::new(),
            smi_enabled: None,
        }],
    });
    facts
}

fn plan(host: &Fake, facts: &Facts, desired: &Value) -> Plan {
    let state: HostState = serde_json::from_value(desired.clone()).unwrap();
    let want = Ipoib::wanted(&state).unwrap();
    let mut found = crate::problem::Findings::default();
    Ipoib::check(&want, &state, &mut found);
    Ipoib::check_host(&want, facts, &mut found);
    assert_eq!(found.errors, [], "{desired}");
    let plan = Of::<Ipoib>::new().plan(&state, facts, host).unwrap();
    assert_eq!(plan.errors, []);
    for step in &plan.steps {
        assert!(
            !step.because.is_empty()
                && step
                    .because
                    .iter()
                    .all(|p| plan.changes.iter().any(|c| c.path == *p)),
            "{step:?}"
        );
    }
    plan
}

/// Applies, and demands that nothing is left to do and that the undo brings all back.
fn apply(host: &mut Fake, facts: &Facts, desired: &Value) -> Plan {
    let before = host.clone();
    let first = plan(host, facts, desired);
    for step in &first.steps {
        host.perform(&step.action);
    }
    let again = plan(host, facts, desired);
    assert_eq!(
        (again.changes, again.steps),
        (vec![], vec![]),
        "not still: {desired}"
    );
    let mut back = host.clone();
    for at in crate::plan::undo_order(first.steps.iter().map(|s| s.undo.as_ref())) {
        if let Some(undo) = &first.steps[at].undo {
            back.perform(undo);
        }
    }
    assert!(back.same_as(&before), "{:#?}", back.differences(&before));
    first
}

fn changes(plan: &Plan) -> Vec<(String, Value, Value)> {
    plan.changes
        .iter()
        .map(|c| {
            assert_eq!(c.when, When::LinkUp);
            (c.path.to_string(), c.before.clone(), c.after.clone())
        })
        .collect()
}

#[test]
fn case_15_created_when_missing_modified_when_present() {
    let facts = rocky9();
    let mut host = Fake::new();
    let desired = json!({ "ipoib": [{ "interface": "ib0", "addresses": ["192.168.10.1/24"] }] });
    let made = apply(&mut host, &facts, &desired);
    assert_eq!(
        changes(&made),
        [(
            "/ipoib/0".to_owned(),
            Value::Null,
            json!({ "interface": "ib0", "type": "infiniband", "mode": "datagram", "mtu": "auto", "addresses": ["192.168.10.1/24"] })
        )]
    );
    assert!(matches!(
        made.steps.last().map(|s| &s.action),
        Some(Action::WriteFile { mode: 0o600, .. })
    ));
    assert_eq!(
        made.pending.links,
        [format!(
            "ib0: nmcli connection load {IB0} && nmcli connection up ib0"
        )]
    );
    assert_eq!(
        made.warnings.iter().map(|w| w.code.id()).collect::<Vec<_>>(),
        ["ipoib.not_activated"]
    );
    let uuid = |host: &Fake| {
        host.get(IB0)
            .unwrap()
            .lines()
            .find(|l| l.starts_with("uuid="))
            .map(str::to_owned)
    };
    let first = uuid(&host);
    let desired = json!({ "ipoib": [{ "interface": "ib0", "mode": "connected", "mtu": 65520,
        "addresses": ["192.168.10.2/24"], "gateway": "192.168.10.254" }] });
    let changed = apply(&mut host, &facts, &desired);
    assert_eq!(
        changes(&changed),
        [
            ("/ipoib/0/mode".to_owned(), json!("datagram"), json!("connected")),
            ("/ipoib/0/mtu".to_owned(), json!("auto"), json!(65520)),
            (
                "/ipoib/0/addresses".to_owned(),
                json!(["192.168.10.1/24"]),
                json!(["192.168.10.2/24"])
            ),
            (
                "/ipoib/0/gateway".to_owned(),
                Value::Null,
                json!("192.168.10.254")
            ),
        ]
    );
    assert_eq!(uuid(&host), first, "the profile keeps its id");
    let fresh = apply(&mut Fake::new(), &facts, &desired);
    assert!(fresh.steps.iter().any(|s| matches!(&s.action, Action::WriteFile { content, .. } if content.0 == host.get(IB0).unwrap().into_bytes())), "the same result, made or modified");
}

#[test]
fn case_07_what_networkmanager_adds_does_not_count() {
    let facts = rocky9();
    let mut host = Fake::new();
    let desired = json!({ "ipoib": [{ "interface": "ib0", "mtu": 2044, "addresses": ["192.168.10.1/24", "192.168.11.1/24"], "gateway": "192.168.10.254" }] });
    apply(&mut host, &facts, &desired);
    let theirs = "[connection]\nid=ib0\nuuid=6f0b7d52-5a8e-4bb8-9b5c-1a3f0f6f0a01\ntype=infiniband\nautoconnect=yes\ninterface-name=ib0\npermissions=\ntimestamp=1700000000\n\n[ethernet]\n\n[infiniband]\nmtu=2044\ntransport-mode=datagram\n\n[ipv4]\naddress1=192.168.10.1/24,192.168.10.254\naddress2=192.168.11.1/24\nmay-fail=true\nmethod=manual\n\n[ipv6]\naddr-gen-mode=default\nmethod=disabled\n\n[proxy]\n";
    host.perform(&Action::WriteFile {
        path: HostPath::fixed(IB0),
        content: crate::action::Content(theirs.as_bytes().to_vec()),
        mode: 0o600,
        uid: 0,
        gid: 0,
        expect: crate::action::Expect::Anything,
    });
    let again = plan(&host, &facts, &desired);
    assert_eq!(
        (again.changes, again.steps, again.pending.links),
        (vec![], vec![], vec![])
    );
    // What does count: one key more that NetworkManager would obey.
    host.put(
        IB0,
        &theirs.replace("method=manual", "method=manual\nnever-default=true"),
    );
    let more = plan(&host, &facts, &desired);
    assert!(more.changed());
    assert_eq!(more.changes[0].path.as_str(), "/ipoib/0/gateway");
    // And the mode: NetworkManager ignores a profile that others can read.
    host.put(IB0, theirs);
    let open = plan(&host, &facts, &desired);
    assert!(
        matches!(&open.steps[0].action, Action::WriteFile { mode: 0o600, content, .. } if content.0 == theirs.as_bytes()),
        "the bytes stay, the mode changes"
    );
}

#[test]
fn case_14_a_profile_of_another_type_is_replaced_and_shown() {
    let facts = rocky9();
    let ethernet = "[connection]\nid=ib0\nuuid=a98ab76a-9fbd-49f1-a144-c60eab852e30\ntype=ethernet\ninterface-name=ib0\n[ipv4]\nmethod=manual\naddress1=192.168.20.32/24\n[ipv6]\nmethod=disabled\n";
    let desired = json!({ "ipoib": [{ "interface": "ib0", "addresses": ["192.168.20.32/24"] }] });
    let mut host = Fake::new().file(IB0, ethernet);
    let replaced = apply(&mut host, &facts, &desired);
    assert_eq!(
        changes(&replaced),
        [(
            "/ipoib/0".to_owned(),
            json!({ "type": "ethernet" }),
            json!({ "type": "infiniband" })
        )]
    );
    assert!(
        !host.get(IB0).unwrap().contains("a98ab76a"),
        "another profile, another id"
    );
    // The same under another file name: taken away, and NetworkManager reads all files again.
    let other = "/etc/NetworkManager/system-connections/Wired 1.nmconnection";
    let mut host = Fake::new().file(other, ethernet);
    let taken = apply(&mut host, &facts, &desired);
    assert_eq!(host.get(other), None);
    assert_eq!(
        changes(&taken),
        [
            (
                "/ipoib/0".to_owned(),
                json!({ "type": "ethernet" }),
                json!({ "type": "infiniband" })
            ),
            ("/ipoib/0".to_owned(), json!({ "file": other }), Value::Null),
        ]
    );
    assert_eq!(
        taken.pending.links,
        ["ib0: nmcli connection reload && nmcli connection up ib0"]
    );
}

#[test]
fn what_was_taken_away_stays_away_while_the_link_is_wanted() {
    let other = "/etc/NetworkManager/system-connections/old.nmconnection";
    let text =
        "[connection]\nid=old\ntype=infiniband\ninterface-name=ib0\n[infiniband]\ntransport-mode=datagram\n";
    let digest = digest(text.as_bytes());
    let host = Fake::new().file(&format!("{}/{digest}", crate::ledger::ORIGINALS), text);
    let mut facts = rocky9();
    facts.ledger.files.insert(
        HostPath::new(other).unwrap(),
        Owned {
            section: "ipoib".to_owned(),
            original: Original::File {
                digest,
                mode: 0o600,
                uid: 0,
                gid: 0,
            },
            written: String::new(),
            keys: std::collections::BTreeMap::new(),
        },
    );
    let pruned = |desired: &Value| {
        let plan = plan(&host, &facts, desired);
        prune(&plan, &["ipoib"], &facts, &host).unwrap()
    };
    assert_eq!(pruned(&json!({ "ipoib": [{ "interface": "ib0" }] })).steps, []);
    let back = pruned(&json!({ "ipoib": [{ "interface": "ib1" }] }));
    assert!(matches!(&back.steps[0].action, Action::WriteFile { path, .. } if path.as_str() == other));
    assert_eq!(pruned(&json!({ "ipoib": [] })).steps.len(), 1);
}

#[test]
fn both_sections_are_pruned_where_they_are_present() {
    let sections = |desired: Value| {
        let state: HostState = serde_json::from_value(desired).unwrap();
        Of::<Ipoib>::new().sections(&state)
    };
    assert_eq!(sections(json!({})), Vec::<&str>::new());
    assert_eq!(
        sections(json!({ "network_backend": "wicked" })),
        Vec::<&str>::new()
    );
    assert_eq!(sections(json!({ "ipoib": [] })), ["ipoib"]);
    assert_eq!(sections(json!({ "bonds": [] })), ["bonds"]);
    assert_eq!(sections(json!({ "ipoib": [], "bonds": [] })), ["ipoib", "bonds"]);
}

#[test]
fn case_11_a_bare_address_means_datagram() {
    let mut host = Fake::new();
    apply(
        &mut host,
        &rocky9(),
        &json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24"] }] }),
    );
    assert!(host.get(IB0).unwrap().contains("transport-mode=datagram\n"));
}

#[test]
fn mtu_auto_takes_a_number_out_and_the_fabric_is_no_change() {
    let facts = rocky9();
    let mut host = Fake::new();
    apply(
        &mut host,
        &facts,
        &json!({ "ipoib": [{ "interface": "ib0", "mtu": 2044 }] }),
    );
    let auto = json!({ "ipoib": [{ "interface": "ib0" }] });
    let out = apply(&mut host, &facts, &auto);
    assert_eq!(
        changes(&out),
        [("/ipoib/0/mtu".to_owned(), json!(2044), json!("auto"))]
    );
    assert_eq!(plan(&host, &facts, &auto).pending.links, Vec::<String>::new());
}
