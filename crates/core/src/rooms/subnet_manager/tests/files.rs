//! Which files are written on which distribution, and how they are edited.

use super::*;

fn one() -> Value {
    json!({
        "instances": [{"port": {"device": "mlx5_0"}, "priority": 14, "options": {"log_flags": 3, "sweep_interval": 5}}],
        "partitions": [{"name": "storage", "pkey": "0x0010", "ipoib": {"mtu": 4096}, "members": {"ALL": "limited", "0xb83fd20300aa10c5": "full"}}],
    })
}

#[test]
fn el_edits_the_shipped_file_by_keys() {
    let (plan, after, _) = laws(&one(), &el("inactive"), &facts("rocky", "9.4", Scope::Live));
    assert_eq!(
        after.get("/etc/rdma/opensm.conf").unwrap(),
        "# The port\nguid 0xb83fd20300aa10c5\n\n# Priority\nsm_priority 14\nlog_flags 0x03\nsite_key 1\nsweep_interval 5\nforce_log_flush TRUE\n"
    );
    assert_eq!(
        after.get("/etc/sysconfig/opensm").unwrap(),
        "# GUIDs\n#GUIDS=\"0x1\"\n\n# 0 to 15\nPRIORITY=\"\"\n"
    );
    assert!(after.get("/etc/rdma/partitions.conf").unwrap().contains(
        "\nstorage=0x0010, ipoib, mtu=5, defmember=limited : ALL=limited, 0xb83fd20300aa10c5=full ;\n"
    ));
    let paths: Vec<(String, Value, Value)> = plan
        .changes
        .iter()
        .map(|c| (c.path.to_string(), c.before.clone(), c.after.clone()))
        .collect();
    assert!(paths.contains(&(
        "/subnet_manager/instances/0/priority".to_owned(),
        json!(0),
        json!(14)
    )));
    assert!(paths.contains(&(
        "/subnet_manager/state".to_owned(),
        json!("stopped"),
        json!("running")
    )));
    assert!(!paths.iter().any(|(p, ..)| p.ends_with("log_flags")), "{paths:?}");
    let link = HostPath::fixed("/etc/systemd/system/network.target.wants/opensm.service");
    assert!(after.link(&link).unwrap().is_some());
    assert_eq!(acts(&after), ["Start opensm"]);
}

#[test]
fn debian_gets_a_file_of_its_own_and_its_ports() {
    let (_, after, _) = laws(
        &one(),
        &debian("inactive", "inactive"),
        &facts("debian", "12", Scope::Live),
    );
    assert!(after.get("/etc/opensm/opensm.conf").unwrap().ends_with(
        "guid 0xb83fd20300aa10c5\nsm_priority 14\nlog_flags 0x03\nsweep_interval 5\nforce_log_flush TRUE\n"
    ));
    assert_eq!(
        after.get("/etc/default/opensm").unwrap(),
        "# Lists ports\n#PORTS=\"0x1\"\n\nPORTS=\"0xb83fd20300aa10c5\"\n\n"
    );
    assert_eq!(
        after
            .get("/etc/systemd/system/opensm@0xb83fd20300aa10c5.service.d/90-ibplan.conf")
            .unwrap()
            .lines()
            .skip(1)
            .collect::<Vec<_>>(),
        ["[Service]", "ExecReload=/bin/kill -HUP $MAINPID"]
    );
    assert_eq!(acts(&after), ["Start opensm", "Start opensm@0xb83fd20300aa10c5"]);
    assert_eq!(
        after
            .get("/etc/modules-load.d/ibplan-opensm.conf")
            .map(|t| t.ends_with("\nib_umad\n")),
        Some(true)
    );
}

fn both() -> Value {
    json!({"instances": [
        {"port": {"device": "mlx5_0"}, "priority": 15, "subnet_prefix": "fe80:0000:0000:0000"},
        {"port": {"guid": "0xb83fd20300aa10d5"}, "priority": 3, "subnet_prefix": "fe80:0000:0000:0001", "options": {"routing_engine": ["ftree", "updn"]}},
    ]})
}

#[test]
fn two_instances_on_el_are_numbered_files_and_no_guids() {
    let mut host = el("active");
    host.put(
        "/etc/sysconfig/opensm",
        "GUIDS=\"0xb83fd20300aa10c5 0xb83fd20300aa10d5\"\n",
    );
    host.put("/etc/rdma/opensm.conf.3", "guid 0x1\n");
    let (plan, after, facts) = laws(&both(), &host, &two(facts("rocky", "9.4", Scope::Live)));
    assert_eq!(after.get("/etc/sysconfig/opensm").unwrap(), "GUIDS=\"\"\n");
    assert_eq!(
        after.get("/etc/rdma/opensm.conf.3"),
        None,
        "the launch script would start a third"
    );
    assert_eq!(
        after.get("/etc/rdma/opensm.conf"),
        host.get("/etc/rdma/opensm.conf")
    );
    let second = after.get("/etc/rdma/opensm.conf.2").unwrap();
    assert!(second.contains("guid 0xb83fd20300aa10d5\nsubnet_prefix 0xfe80000000000001\nsm_priority 3\nrouting_engine ftree,updn\n"));
    assert!(second.contains("log_file /var/log/opensm.0xb83fd20300aa10d5.log\n"));
    assert!(plan.warnings.iter().any(|w| w.code == codes::SHARED_CACHE));
    assert_eq!(acts(&after), ["Restart opensm"]);
    // Back to one: the numbered files would start two still, so they go, pruned or not.
    let plan = engine::plan(STAGES, &document(one()), &facts, &after, false).unwrap();
    let (back, _) = applied(&plan, &after, &facts);
    assert_eq!(back.get("/etc/rdma/opensm.conf.1"), None);
    assert_eq!(back.get("/etc/rdma/opensm.conf.2"), None);
}

#[test]
fn two_instances_on_debian_have_a_file_and_a_cache_each() {
    let (_, after, _) = laws(
        &both(),
        &debian("active", "active"),
        &two(facts("debian", "12", Scope::Live)),
    );
    assert!(
        after
            .get("/etc/default/opensm")
            .unwrap()
            .contains("PORTS=\"0xb83fd20300aa10c5 0xb83fd20300aa10d5\"")
    );
    let drop_in = after
        .get("/etc/systemd/system/opensm@0xb83fd20300aa10d5.service.d/90-ibplan.conf")
        .unwrap();
    assert!(drop_in.contains("OSM_CACHE_DIR=/var/cache/opensm/%I/"));
    assert!(drop_in.ends_with(
        "ExecStart=\nExecStart=/usr/sbin/opensm --guid %I --config /etc/opensm/opensm.0xb83fd20300aa10d5.conf\n"
    ));
    assert_eq!(after.get("/etc/opensm/opensm.conf"), None);
    assert_eq!(
        acts(&after),
        [
            "Restart opensm@0xb83fd20300aa10c5",
            "Restart opensm@0xb83fd20300aa10d5"
        ]
    );
}

#[test]
fn a_log_file_needs_the_command_line_replaced_on_debian() {
    let section =
        json!({"instances": [{"port": {"device": "mlx5_0"}, "options": {"log_file": "/var/log/sm.log"}}]});
    let (_, after, _) = laws(
        &section,
        &debian("inactive", "inactive"),
        &facts("debian", "12", Scope::Live),
    );
    assert!(
        after
            .get("/etc/systemd/system/opensm@0xb83fd20300aa10c5.service.d/90-ibplan.conf")
            .unwrap()
            .ends_with("--guid %I --config /etc/opensm/opensm.conf\n")
    );
}

#[test]
fn an_option_that_leaves_the_document_goes_back_to_what_it_was() {
    let facts = facts("rocky", "9.4", Scope::Live);
    let host = el("inactive");
    let with = json!({"instances": [{"port": {"device": "mlx5_0"}, "priority": 9, "options": {"log_flags": 7, "lmc": 2}}]});
    let (_, after, owned) = laws(&with, &host, &facts);
    assert!(
        after
            .get("/etc/rdma/opensm.conf")
            .unwrap()
            .contains("log_flags 0x07\n")
    );
    let without = json!({"instances": [{"port": {"device": "mlx5_0"}, "priority": 9}]});
    let (plan, last, _) = laws(&without, &after, &owned);
    let text = last.get("/etc/rdma/opensm.conf").unwrap();
    assert!(
        text.contains("log_flags 0x03\n") && !text.contains("lmc"),
        "{text}"
    );
    assert_eq!(plan.changes.len(), 2);
}

#[test]
fn secrets_are_written_and_shown_nowhere() {
    let section = json!({"instances": [{"port": {"device": "mlx5_0"}, "options": {"m_key": "0x5ec3e75ec3e7", "sm_key": "0x5ec3e7"}}]});
    for (host, facts) in [
        (el("active"), facts("rocky", "9.4", Scope::Live)),
        (debian("active", "active"), facts("debian", "12", Scope::Live)),
    ] {
        let (plan, after, _) = laws(&section, &host, &facts);
        let written = ["/etc/rdma/opensm.conf", "/etc/opensm/opensm.conf"]
            .iter()
            .find_map(|p| after.get(p));
        assert!(written.unwrap().contains("m_key 0x00005ec3e75ec3e7\n"));
        let shown = format!("{:?}{:?}{:?}", plan.changes, plan.diffs, plan.warnings);
        assert!(!shown.contains("5ec3e7"), "{shown}");
    }
}

#[test]
fn a_partitions_path_that_leads_elsewhere_is_corrected_and_only_then() {
    let mut host = el("inactive");
    let text = host.get("/etc/rdma/opensm.conf").unwrap() + "partition_config_file /root/old.conf\n";
    host.put("/etc/rdma/opensm.conf", &text);
    let facts = facts("rocky", "9.4", Scope::Live);
    let (_, after, _) = laws(&one(), &host, &facts);
    assert!(
        after
            .get("/etc/rdma/opensm.conf")
            .unwrap()
            .contains("partition_config_file /etc/rdma/partitions.conf\n")
    );
    let (_, after, _) = laws(&one(), &el("inactive"), &facts);
    assert!(
        !after
            .get("/etc/rdma/opensm.conf")
            .unwrap()
            .contains("partition_config_file")
    );
}

#[test]
fn a_partitions_file_of_the_same_meaning_is_left_alone() {
    let mut host = el("inactive");
    let mine = "# by hand\nDefault=0x7fff,ipoib : ALL=full,SELF=full;\nstorage=0x8010,ipoib,mtu=5 : ALL, 0xb83fd20300aa10c5=full;\n";
    host.put("/etc/rdma/partitions.conf", mine);
    let (plan, after, _) = laws(&one(), &host, &facts("rocky", "9.4", Scope::Live));
    assert_eq!(after.get("/etc/rdma/partitions.conf").unwrap(), mine);
    assert!(
        !plan
            .changes
            .iter()
            .any(|c| c.path.as_str().contains("partitions"))
    );
}

#[test]
fn partition_changes_are_in_the_documents_terms() {
    let mut host = el("active");
    host.put(
        "/etc/rdma/partitions.conf",
        "Default=0x7fff,ipoib : ALL=full,SELF=full;\nstorage=0x0010,ipoib,mtu=4 : ALL, 0xb83fd20300aa10c5=limited;\nold=5:ALL=full;\n",
    );
    let (plan, after, _) = laws(&one(), &host, &facts("rocky", "9.4", Scope::Live));
    let changes: Vec<String> = plan
        .changes
        .iter()
        .filter(|c| c.path.as_str().contains("partitions"))
        .map(|c| format!("{} {} -> {}", c.path, c.before, c.after))
        .collect();
    assert_eq!(
        changes,
        [
            "/subnet_manager/partitions {\"ipoib\":null,\"members\":{\"ALL\":\"full\"},\"name\":\"old\",\"pkey\":\"0x0005\"} -> null",
            "/subnet_manager/partitions/0/ipoib {\"mtu\":2048,\"rate\":10,\"scope\":2,\"sl\":0} -> {\"mtu\":4096,\"rate\":10,\"scope\":2,\"sl\":0}",
            "/subnet_manager/partitions/0/members/0xb83fd20300aa10c5 \"limited\" -> \"full\"",
        ]
    );
    assert_eq!(acts(&after), ["Restart opensm"]);
}

#[test]
fn a_broken_partitions_file_is_replaced_and_named() {
    let mut host = el("active");
    host.put(
        "/etc/rdma/partitions.conf",
        "Default=0x7fff,ipoib : ALL=full ;\nstorage=0x0010 : 0xnot=full ;\n",
    );
    let (plan, _, _) = laws(&one(), &host, &facts("rocky", "9.4", Scope::Live));
    let warning = plan
        .warnings
        .iter()
        .find(|w| w.code == codes::PARTITIONS_BROKEN)
        .unwrap();
    assert!(warning.message.contains("line 2"), "{}", warning.message);
}
