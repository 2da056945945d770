//! What is refused, where, and with which code.

use super::*;

fn with(edit: impl Fn(&mut RdmaDevice)) -> Facts {
    let mut facts = facts("rocky", "9.4", Scope::Live);
    edit(&mut facts.devices[0]);
    facts
}

fn by(selector: Value) -> Value {
    json!({"instances": [{"port": selector}]})
}

#[test]
fn ports_that_opensm_must_not_have() {
    let guid = by(json!({"guid": "0xb83fd20300aa10c5"}));
    let device = by(json!({"device": "mlx5_0"}));
    let none = json!({});
    type Edit = fn(&mut RdmaDevice);
    let cases: &[(Edit, Code)] = &[
        (
            |d| d.ports[0].link_layer = LinkLayer::Ethernet,
            codes::ETHERNET_PORT,
        ),
        (|d| d.vf = true, codes::VIRTUAL_FUNCTION),
        (|d| d.ports[0].smi_enabled = Some(false), codes::VIRTUAL_FUNCTION),
        (|d| d.omni_path = true, codes::OMNI_PATH),
    ];
    for (edit, code) in cases {
        let facts = with(edit);
        let host = el("inactive");
        assert_eq!(
            refused(&guid, &host, &facts),
            [(*code, "/subnet_manager/instances/0/port/guid".to_owned())]
        );
        assert_eq!(
            refused(&device, &host, &facts),
            [(*code, "/subnet_manager/instances/0/port/device".to_owned())]
        );
        assert_eq!(
            refused(&none, &host, &facts),
            [(codes::NO_ELIGIBLE_PORT, "/subnet_manager/instances".to_owned())]
        );
    }
}

#[test]
fn a_virtual_function_with_smi_and_a_port_without_a_manager_are_fine() {
    for facts in [
        with(|d| {
            d.vf = true;
            d.ports[0].smi_enabled = Some(true);
        }),
        with(|d| d.ports[0].state = PortState::Init),
    ] {
        laws(&json!({}), &el("inactive"), &facts);
    }
}

#[test]
fn case_03_the_node_guid_is_refused_with_the_port_guid() {
    let facts = facts("rocky", "9.4", Scope::Live);
    let host = el("inactive");
    let state = document(by(json!({"guid": "0xb83fd20300aa10c4"})));
    let refusal = engine::plan(STAGES, &state, &facts, &host, false).unwrap_err();
    assert_eq!(refusal.host[0].code, codes::NODE_GUID);
    assert!(refusal.host[0].hint.contains("0xb83fd20300aa10c5"));
    let members =
        json!({"partitions": [{"name": "a", "pkey": 5, "members": {"0xb83fd20300aa10c4": "full"}}]});
    assert_eq!(
        refused(&members, &host, &facts),
        [(
            codes::NODE_GUID,
            "/subnet_manager/partitions/0/members/0xb83fd20300aa10c4".to_owned()
        )]
    );
    assert_eq!(
        facts.devices[0].ports[0].state,
        PortState::Init,
        "no manager yet is no reason to refuse"
    );
}

#[test]
fn case_05_a_priority_above_15_is_no_document() {
    for priority in [json!(16), json!(20), json!(-1), json!("16")] {
        let text = json!({"subnet_manager": {"instances": [{"priority": priority}]}});
        let (_, errors) = crate::request::read_document(text, &Pointer::root());
        assert_eq!(errors[0].path.as_str(), "/subnet_manager/instances/0/priority");
    }
}

#[test]
fn selectors() {
    let host = el("inactive");
    let one = facts("rocky", "9.4", Scope::Live);
    let at = |rest: &str| format!("/subnet_manager/instances/{rest}");
    for (section, code, path) in [
        (
            by(json!({"guid": "0x1234"})),
            codes::UNKNOWN_GUID,
            at("0/port/guid"),
        ),
        (
            by(json!({"device": "mlx5_9"})),
            codes::UNKNOWN_DEVICE,
            at("0/port/device"),
        ),
        (
            by(json!({"device": "mlx5_0", "port": 2})),
            codes::UNKNOWN_DEVICE,
            at("0/port/device"),
        ),
        (
            by(json!({"pci": "0000:99:00.0"})),
            codes::UNKNOWN_DEVICE,
            at("0/port/pci"),
        ),
        (by(json!({})), codes::PORT_SELECTOR, at("0/port")),
        (
            by(json!({"device": "mlx5_0", "guid": "0xb83fd20300aa10c5"})),
            codes::PORT_SELECTOR,
            at("0/port"),
        ),
        (
            by(json!({"guid": "0xb83fd20300aa10c5", "port": 1})),
            codes::PORT_SELECTOR,
            at("0/port/port"),
        ),
    ] {
        assert!(
            refused(&section, &host, &one).contains(&(code, path)),
            "{section}"
        );
    }
    assert_eq!(
        refused(&json!({}), &host, &two(one)),
        [(codes::SEVERAL_PORTS, "/subnet_manager/instances".to_owned())]
    );
}

#[test]
fn several_instances_need_ports_and_prefixes_of_their_own() {
    let facts = two(facts("rocky", "9.4", Scope::Live));
    let host = el("inactive");
    let same = json!({"instances": [
        {"port": {"device": "mlx5_0"}, "subnet_prefix": "fe80:0000:0000:0001"},
        {"port": {"guid": "0xb83fd20300aa10c5"}, "subnet_prefix": "0xfe80000000000001"},
    ]});
    let found = refused(&same, &host, &facts);
    assert_eq!(
        found,
        [
            (
                codes::PREFIX_SHARED,
                "/subnet_manager/instances/1/subnet_prefix".to_owned()
            ),
            (
                codes::DUPLICATE_PORT,
                "/subnet_manager/instances/1/port".to_owned()
            ),
        ]
    );
    let bare = json!({"instances": [{"port": {"device": "mlx5_0"}}, {"port": {"device": "mlx5_0"}}]});
    let codes_of: Vec<Code> = refused(&bare, &host, &facts).iter().map(|(c, _)| *c).collect();
    assert_eq!(
        codes_of,
        [
            codes::DUPLICATE_PORT,
            codes::PREFIX_SHARED,
            codes::PREFIX_SHARED,
            codes::DUPLICATE_PORT
        ]
    );
}

#[test]
fn an_image_without_hardware_takes_a_guid_and_nothing_else() {
    let mut facts = facts("debian", "12", Scope::Image);
    facts.devices.clear();
    let host = Fake::new();
    for section in [
        json!({}),
        by(json!({"device": "mlx5_0"})),
        by(json!({"pci": "0000:65:00.0"})),
    ] {
        assert_eq!(
            refused(&section, &host, &facts)[0].0,
            codes::NEEDS_GUID,
            "{section}"
        );
    }
    facts.scope = Scope::Live;
    assert_eq!(
        refused(&by(json!({"guid": "0x1"})), &host, &facts)[0].0,
        codes::UNKNOWN_GUID
    );
}

#[test]
fn partitions_that_contradict_each_other() {
    let facts = facts("rocky", "9.4", Scope::Live);
    let section = json!({"partitions": [
        {"name": "a", "pkey": "0x0010", "members": {"ALL": "both"}},
        {"name": "a", "pkey": "0x8010", "members": {"ALL": "full"}},
        {"name": "Default", "pkey": "0x0011", "members": {"ALL": "full"}},
        {"name": "b", "pkey": "0x7fff", "members": {"ALL": "full"}},
    ]});
    let found = refused(&section, &el("inactive"), &facts);
    let at = |rest: &str| format!("/subnet_manager/partitions/{rest}");
    assert_eq!(
        found,
        [
            (codes::BOTH_NEEDS_OPTION, at("0/members/ALL")),
            (codes::DUPLICATE_PARTITION, at("1/pkey")),
            (codes::DUPLICATE_PARTITION, at("1/name")),
            (codes::DEFAULT_NAME, at("2/pkey")),
            (codes::DEFAULT_NAME, at("3/name")),
        ]
    );
}

#[test]
fn what_the_partitions_of_a_document_deserve_warnings_for() {
    let facts = facts("rocky", "9.4", Scope::Live);
    let warnings = |section: Value| -> Vec<Code> {
        planned(&section, &el("inactive"), &facts)
            .warnings
            .iter()
            .map(|w| w.code)
            .collect()
    };
    let part = |p: Value| json!({"partitions": [p]});
    assert_eq!(
        warnings(part(
            json!({"name": "a", "pkey": 5, "ipoib": {"rate": 400, "sl": 2}, "members": {"ALL": "limited"}})
        )),
        [
            codes::ONLY_LIMITED,
            codes::SL_WITHOUT_QOS,
            codes::DEFAULT_RULE_ADDED,
            codes::RATE_ABOVE_PORT
        ]
    );
    assert_eq!(
        warnings(part(
            json!({"name": "Default", "pkey": "0x7fff", "members": {"0xb83fd20300aa10c5": "full"}})
        )),
        [codes::DEFAULT_WITHOUT_IPOIB, codes::DEFAULT_WITHOUT_ALL]
    );
    assert_eq!(
        warnings(part(
            json!({"name": "Default", "pkey": "0x7fff", "ipoib": {}, "members": {"ALL": "full"}})
        )),
        []
    );
    let both = json!({
        "instances": [{"port": {"device": "mlx5_0"}, "options": {"allow_both_pkeys": true}}],
        "partitions": [
            {"name": "Default", "pkey": "0x7fff", "ipoib": {}, "members": {"ALL": "full"}},
            {"name": "e", "pkey": 9, "members": {}},
            {"name": "b", "pkey": 8, "members": {"ALL": "both"}},
        ],
    });
    assert_eq!(warnings(both), [codes::EMPTY_PARTITION]);
}

#[test]
fn an_unknown_distribution_and_a_kernel_without_umad_are_refused() {
    let mut unknown = facts("rocky", "9.4", Scope::Live);
    unknown.os.row = None;
    assert_eq!(
        refused(&json!({}), &el("inactive"), &unknown)[0].0,
        host_codes::HOST_UNSUPPORTED
    );
    let mut cloud = facts("debian", "12", Scope::Live);
    cloud.kernel = Some("6.1.0-cloud".to_owned());
    let host = Fake::new()
        .file("/lib/modules/6.1.0-cloud/modules.dep", "kernel/net/a.ko:\n")
        .answer("systemctl-show", "");
    assert_eq!(refused(&json!({}), &host, &cloud)[0].0, codes::NO_UMAD);
}
