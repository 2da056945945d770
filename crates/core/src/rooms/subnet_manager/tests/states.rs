//! Running, stopped, absent; images; packages; what is restarted and what is reloaded.

use super::*;
use crate::action::Action;

fn simple() -> Value {
    json!({"instances": [{"port": {"device": "mlx5_0"}, "priority": 14}]})
}

fn enabled_el(active: &str) -> Fake {
    el(active).symlink(
        "/etc/systemd/system/network.target.wants/opensm.service",
        "/usr/lib/systemd/system/opensm.service",
    )
}

#[test]
fn a_live_key_reloads_where_the_unit_can_and_restarts_elsewhere() {
    let facts_deb = facts("debian", "12", Scope::Live);
    let (_, deb, owned) = laws(&simple(), &debian("active", "active"), &facts_deb);
    let mut deb = deb;
    deb.units.clear();
    let other = json!({"instances": [{"port": {"device": "mlx5_0"}, "priority": 5}]});
    let (_, after, _) = laws(&other, &deb, &owned);
    assert_eq!(acts(&after), ["Reload opensm@0xb83fd20300aa10c5"]);
    let restart =
        json!({"instances": [{"port": {"device": "mlx5_0"}, "priority": 14, "options": {"lmc": 1}}]});
    let (_, after, _) = laws(&restart, &deb, &owned);
    assert_eq!(acts(&after), ["Restart opensm@0xb83fd20300aa10c5"]);
    let (_, after, _) = laws(
        &simple(),
        &enabled_el("active"),
        &facts("rocky", "9.4", Scope::Live),
    );
    assert_eq!(
        acts(&after),
        ["Restart opensm"],
        "the launch script takes no SIGHUP"
    );
}

#[test]
fn ports_all_of_debian_stops_the_instances_that_nobody_asked_for() {
    let (plan, after, _) = laws(
        &simple(),
        &debian("active", "active"),
        &two(facts("debian", "12", Scope::Live)),
    );
    assert_eq!(acts(&after)[0], "Stop opensm@0xb83fd20300aa10d5");
    assert!(
        plan.changes
            .iter()
            .any(|c| c.path.as_str() == "/subnet_manager/instances" && c.before == json!({"PORTS": "ALL"}))
    );
}

#[test]
fn stopped_is_configured_disabled_and_not_running() {
    let section = json!({"state": "stopped", "instances": [{"port": {"device": "mlx5_0"}, "priority": 14}]});
    let (plan, after, _) = laws(
        &section,
        &enabled_el("active"),
        &facts("rocky", "9.4", Scope::Live),
    );
    assert_eq!(acts(&after), ["Stop opensm"]);
    assert!(
        after
            .get("/etc/rdma/opensm.conf")
            .unwrap()
            .contains("sm_priority 14\n")
    );
    let state = plan
        .changes
        .iter()
        .find(|c| c.path.as_str() == "/subnet_manager/state")
        .unwrap();
    assert_eq!(
        (&state.before, &state.after),
        (&json!("running"), &json!("stopped"))
    );
    let link = HostPath::fixed("/etc/systemd/system/network.target.wants/opensm.service");
    assert_eq!(after.link(&link).unwrap(), None);
}

#[test]
fn a_running_manager_is_not_restarted_for_what_it_knows() {
    let (_, after, _) = laws(
        &json!({}),
        &debian("active", "active"),
        &facts("debian", "12", Scope::Live),
    );
    assert_eq!(acts(&after), ["Reload opensm@0xb83fd20300aa10c5"]);
}

#[test]
fn stopping_needs_no_port() {
    let several = two(facts("rocky", "9.4", Scope::Live));
    let (_, after, _) = laws(&json!({"state": "stopped"}), &enabled_el("active"), &several);
    assert_eq!(acts(&after), ["Stop opensm"]);
    assert_eq!(
        after.get("/etc/rdma/opensm.conf"),
        el("active").get("/etc/rdma/opensm.conf")
    );
    let (_, after, _) = laws(
        &json!({"state": "stopped"}),
        &debian("active", "active"),
        &two(facts("debian", "12", Scope::Live)),
    );
    assert_eq!(after.units.len(), 3);
}

#[test]
fn absent_gives_the_files_back_and_stays_disabled() {
    for (before, link) in [
        (
            el("inactive"),
            "/etc/systemd/system/network.target.wants/opensm.service",
        ),
        (
            enabled_el("active"),
            "/etc/systemd/system/network.target.wants/opensm.service",
        ),
        (
            debian("inactive", "inactive"),
            "/etc/systemd/system/network-online.target.wants/opensm.service",
        ),
    ] {
        let facts = if before.get("/etc/default/opensm").is_some() {
            facts("debian", "12", Scope::Live)
        } else {
            facts("rocky", "9.4", Scope::Live)
        };
        let (_, with, owned) = laws(&simple(), &before, &facts);
        let (plan, after, owned) = laws(&json!({"state": "absent"}), &with, &owned);
        for file in [
            "/etc/rdma/opensm.conf",
            "/etc/sysconfig/opensm",
            "/etc/default/opensm",
            "/etc/opensm/opensm.conf",
            "/etc/modules-load.d/ibplan-opensm.conf",
        ] {
            assert_eq!(after.get(file), before.get(file), "{file}");
        }
        assert_eq!(after.link(&HostPath::new(link).unwrap()).unwrap(), None);
        assert!(
            plan.changes
                .iter()
                .all(|c| c.path.as_str().starts_with("/subnet_manager/state"))
        );
        assert!(
            acts(&after).last().unwrap().starts_with("Stop"),
            "{:?}",
            acts(&after)
        );
        assert!(
            owned.ledger.files.keys().all(|p| p.as_str() == link),
            "{:?}",
            owned.ledger
        );
        let still = planned(&json!({"state": "absent"}), &after, &owned);
        assert!(still.steps.is_empty());
    }
}

#[test]
fn absent_needs_no_port() {
    let mut facts = facts("rocky", "9.4", Scope::Live);
    facts.devices.clear();
    let plan = planned(&json!({"state": "absent"}), &el("inactive"), &facts);
    assert!(plan.steps.is_empty() && plan.warnings.is_empty());
}

#[test]
fn a_bare_image_gets_files_and_links_and_a_pending_package() {
    for (id, version, link, files) in [
        (
            "debian",
            "12",
            "/etc/systemd/system/network-online.target.wants/opensm.service",
            vec!["/etc/opensm/opensm.conf", "/etc/default/opensm"],
        ),
        (
            "rocky",
            "9.4",
            "/etc/systemd/system/multi-user.target.wants/opensm.service",
            vec!["/etc/rdma/opensm.conf"],
        ),
    ] {
        let mut facts = facts(id, version, Scope::Image);
        facts.devices.clear();
        facts.packages.database = false;
        let section = json!({"instances": [{"port": {"guid": "0xb83fd20300aa10c5"}}]});
        let (plan, after, _) = laws(&section, &Fake::new().file("/etc/os-release", ""), &facts);
        for file in files {
            assert!(after.get(file).unwrap().contains("0xb83fd20300aa10c5"), "{file}");
        }
        assert!(after.link(&HostPath::new(link).unwrap()).unwrap().is_some());
        assert_eq!(plan.pending.packages, ["opensm"]);
        assert!(plan.warnings.iter().any(|w| w.code == codes::HARDWARE_UNKNOWN));
        assert!(
            plan.warnings
                .iter()
                .any(|w| w.code == host_codes::HOST_NO_PACKAGE_MANAGER)
        );
        assert!(after.units.is_empty());
        assert!(
            !plan
                .steps
                .iter()
                .any(|s| matches!(s.action, Action::LoadModule { .. } | Action::ReloadUnits))
        );
    }
}

#[test]
fn settings_come_before_the_package_that_starts_opensm() {
    let mut facts = facts("debian", "12", Scope::Live);
    facts.packages.usable = true;
    let host = Fake::new()
        .file("/var/lib/dpkg/status", "Package: base\nStatus: install ok installed\n\n")
        .answer("simulate-install", "Inst opensm (3.3.23-2 Debian:12 [amd64])\n")
        .answer(
            "systemctl-show",
            &format!("Id=opensm.service\nLoadState=not-found\nActiveState=inactive\n\nId=opensm@{A:#018x}.service\nLoadState=not-found\nActiveState=inactive\n"),
        );
    let plan = planned(&simple(), &host, &facts);
    let at = |target: &str| {
        plan.steps
            .iter()
            .position(|s| s.action.target() == target)
            .unwrap_or_else(|| panic!("{target}"))
    };
    let package = at("opensm");
    for before in ["/etc/default/opensm", "/etc/opensm/opensm.conf", "ib_umad"] {
        assert!(at(before) < package, "{before}");
    }
    assert!(package < at("opensm.service"));
    let state = plan
        .changes
        .iter()
        .find(|c| c.path.as_str() == "/subnet_manager/state")
        .unwrap();
    assert_eq!(state.before, json!("absent"));
    let (after, facts) = applied(&plan, &host, &facts);
    assert!(planned(&simple(), &after, &facts).steps.is_empty());
}

#[test]
fn a_missing_package_that_cannot_be_installed_starts_nothing() {
    let mut host = debian("inactive", "inactive");
    host.put(
        "/var/lib/dpkg/status",
        "Package: base\nStatus: install ok installed\n\n",
    );
    let (plan, after, _) = laws(&simple(), &host, &facts("debian", "12", Scope::Live));
    assert!(after.units.is_empty());
    assert_eq!(plan.pending.packages, ["opensm"]);
}

#[test]
fn the_overlay_stack_has_its_own_unit_and_folder() {
    let host = Fake::new()
        .file("/etc/init.d/opensmd", "#!/bin/sh\n")
        .file("/sys/module/ib_umad/initstate", "live\n")
        .answer(
            "systemctl-show",
            "Id=opensmd.service\nLoadState=loaded\nActiveState=inactive",
        );
    for (id, version) in [("rocky", "9.4"), ("ubuntu", "22.04")] {
        let facts = facts(id, version, Scope::Live);
        let (plan, after, _) = laws(&simple(), &host, &facts);
        assert!(
            after
                .get("/etc/opensm/opensm.conf")
                .unwrap()
                .contains("sm_priority 14")
        );
        assert_eq!(after.get("/etc/default/opensm"), None);
        assert_eq!(acts(&after), ["Start opensmd"]);
        assert!(plan.pending.packages.is_empty());
        let both = json!({"instances": [
            {"port": {"device": "mlx5_0"}, "subnet_prefix": "fe80:0000:0000:0000"},
            {"port": {"device": "mlx5_1"}, "subnet_prefix": "fe80:0000:0000:0001"},
        ]});
        assert_eq!(refused(&both, &host, &two(facts))[0].0, codes::ONE_INSTANCE_ONLY);
    }
}

#[test]
fn a_masked_unit_is_refused_unless_it_is_to_be_stopped() {
    let host = el("inactive").symlink("/etc/systemd/system/opensm.service", "/dev/null");
    let facts = facts("rocky", "9.4", Scope::Live);
    assert_eq!(refused(&simple(), &host, &facts)[0].0, codes::MASKED);
    let stopped = json!({"state": "stopped", "instances": [{"port": {"device": "mlx5_0"}}]});
    laws(&stopped, &host, &facts);
}

#[test]
fn without_systemd_files_are_written_and_nothing_is_started() {
    let mut facts = facts("rocky", "9.4", Scope::Live);
    facts.init = Init::Systemd { running: false };
    let (plan, after, _) = laws(&simple(), &el("inactive"), &facts);
    assert!(after.units.is_empty());
    assert!(plan.warnings.iter().any(|w| w.code == codes::NO_SYSTEMD));
}

#[test]
fn another_master_is_named_before_opensm_is_started() {
    let mut facts = facts("rocky", "9.4", Scope::Live);
    let port = &mut facts.devices[0].ports[0];
    (port.state, port.lid, port.sm_lid) = (PortState::Active, Some(7), Some(1));
    let warned = |section: &Value, host: &Fake| {
        planned(section, host, &facts)
            .warnings
            .iter()
            .any(|w| w.code == codes::OTHER_MASTER)
    };
    assert!(warned(&simple(), &el("inactive")));
    assert!(!warned(&simple(), &enabled_el("active")));
    let mut take = simple();
    take["take_over"] = json!(true);
    assert!(!warned(&take, &el("inactive")));
}
