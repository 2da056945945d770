use super::*;
use crate::facts::{Init, Scope};
use crate::fake::Fake;
use crate::rooms::laws::{codes, hold, plan};
use seen::OWN;
use serde_json::{Value, json};

const SLURMD: &str = "/etc/systemd/system/slurmd.service.d/90-ibplan.conf";

fn facts(scope: Scope) -> Facts {
    let mut facts = Facts::unknown(scope);
    facts.init = Init::Systemd { running: true };
    facts
}

fn host() -> Fake {
    Fake::new()
        .file("/etc/security/limits.conf", "* soft memlock 64\n")
        .file(
            "/usr/lib/systemd/system/slurmd.service",
            "[Service]\nExecStart=/usr/sbin/slurmd\n",
        )
        .file("/usr/lib/systemd/system/opensm@.service", "[Service]\n")
        .symlink("/lib", "usr/lib")
        .file("/etc/systemd/system/x.target", "\n")
}

fn limits(bytes: &str) -> String {
    format!(
        "Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         {bytes} {bytes} bytes\n"
    )
}

fn unlimited() -> Value {
    json!({"limits": {"memlock": "unlimited", "services": ["slurmd", "opensm@1.service"]}})
}

#[test]
fn users_services_and_a_reload_at_the_end() {
    let (first, after) = hold::<Limits>(&unlimited(), &facts(Scope::Live), &host());
    assert!(after.get(OWN).unwrap().ends_with(
        "\n* soft memlock unlimited\n* hard memlock unlimited\nroot soft memlock unlimited\nroot hard memlock unlimited\n"
    ));
    assert!(
        after
            .get(SLURMD)
            .unwrap()
            .ends_with("\n[Service]\nLimitMEMLOCK=infinity\n")
    );
    assert_eq!(
        first
            .steps
            .iter()
            .filter(|s| s.action.verb() == "reload_units")
            .count(),
        1
    );
    assert_eq!(first.steps.last().unwrap().action.verb(), "reload_units");
    assert!(first.warnings.is_empty());
    assert_eq!(first.claims.len(), 3);
    let paths: Vec<_> = first.changes.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(
        paths,
        ["/limits/users", "/limits/services/0", "/limits/services/1"]
    );
    assert_eq!(first.pending.reboot.len(), 2, "{:?}", first.pending.reboot);
}

#[test]
fn numbers_are_kib_for_pam_and_bytes_for_systemd() {
    let json = json!({"limits": {"memlock": "65536", "users": ["@rdma"], "services": ["slurmd"]}});
    let (first, after) = hold::<Limits>(&json, &facts(Scope::Live), &host());
    assert!(
        after
            .get(OWN)
            .unwrap()
            .ends_with("\n@rdma soft memlock 65536\n@rdma hard memlock 65536\n")
    );
    assert!(after.get(SLURMD).unwrap().ends_with("\nLimitMEMLOCK=67108864\n"));
    assert_eq!(
        first.changes[0].after,
        json!({"@rdma soft": 65536, "@rdma hard": 65536})
    );
    let (second, _) = hold::<Limits>(&unlimited(), &facts(Scope::Live), &after);
    assert_eq!(
        second.changes[0].before,
        json!({"@rdma soft": 65536, "@rdma hard": 65536})
    );
    // One unit for both, the document's.
    assert_eq!(
        (&second.changes[1].before, &second.changes[1].after),
        (&json!(65536), &json!("unlimited"))
    );
}

#[test]
fn an_image_is_not_reloaded() {
    let (first, _) = hold::<Limits>(&unlimited(), &facts(Scope::Image), &host());
    assert!(
        first
            .steps
            .iter()
            .all(|s| matches!(s.action.verb(), "write_file" | "make_folder"))
    );
    assert_eq!(first.pending, crate::plan::Pending::default());
}

#[test]
fn no_users_no_file() {
    let json = json!({"limits": {"memlock": "unlimited", "users": []}});
    assert_eq!(
        plan::<Limits>(&json, &facts(Scope::Live), &host()).unwrap(),
        Plan::default()
    );
}

#[test]
fn an_empty_section_limits_nothing() {
    for json in [
        json!({"limits": {}}),
        json!({"limits": {"users": [], "services": []}}),
    ] {
        assert_eq!(
            plan::<Limits>(&json, &facts(Scope::Live), &host()).unwrap(),
            Plan::default()
        );
    }
    let named = json!({"limits": {"users": ["root"]}});
    let refusal = plan::<Limits>(&named, &facts(Scope::Live), &host()).unwrap_err();
    assert_eq!(codes(&refusal.document), ["limits.no_memlock"]);
}

#[test]
fn the_document_alone_is_judged() {
    let json = json!({"limits": {"memlock": 64, "users": ["*", "bob", "bob"], "services": ["slurmd", "slurmd.service", "user.slice"]}});
    let refusal = plan::<Limits>(&json, &facts(Scope::Live), &host()).unwrap_err();
    let found: Vec<_> = refusal
        .document
        .iter()
        .map(|p| (p.code.id(), p.path.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("limits.named_twice", "/limits/users/2"),
            ("limits.named_twice", "/limits/services/1"),
            ("limits.not_a_service", "/limits/services/2"),
        ]
    );
    assert_eq!(codes(&refusal.warnings), ["limits.root_not_covered"]);
}

#[test]
fn later_files_and_missing_units_are_told() {
    let host = host()
        .file(
            "/etc/security/limits.d/95-site.conf",
            "* - memlock 64\nroot soft memlock unlimited\nbob - memlock 1\n",
        )
        .file("/etc/security/limits.d/20-site.conf", "* - memlock 64\n")
        .file(
            "/etc/systemd/system/slurmd.service.d/override.conf",
            "[Service]\nLimitMEMLOCK=64K\n",
        )
        .file(
            "/usr/lib/systemd/system/slurmd.service.d/10-x.conf",
            "[Service]\nLimitMEMLOCK=64K\n",
        )
        .file(
            "/etc/systemd/system/opensm@.service.d/zz.conf",
            "[Service]\nLimitMEMLOCK=infinity\n",
        );
    let mut json = unlimited();
    json["limits"]["services"] = json!(["slurmd", "opensm@1", "pbs_mom"]);
    let (first, _) = hold::<Limits>(&json, &facts(Scope::Live), &host);
    let told: Vec<_> = first
        .warnings
        .iter()
        .map(|w| (w.code.id(), w.path.as_str(), w.message.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (
                "limits.other_owner",
                "/limits/users",
                "/etc/security/limits.d/95-site.conf is read after /etc/security/limits.d/90-ibplan.conf and gives * memlock 64"
            ),
            (
                "limits.other_owner",
                "/limits/services/0",
                "/etc/systemd/system/slurmd.service.d/override.conf is read after 90-ibplan.conf and gives slurmd.service LimitMEMLOCK=64K"
            ),
            (
                "limits.no_such_unit",
                "/limits/services/2",
                "there is no unit pbs_mom.service on this host"
            ),
        ]
    );
}

#[test]
fn case_27_a_service_started_before_the_drop_in_has_the_old_limit() {
    let json = json!({"limits": {"memlock": "unlimited", "services": ["slurmd"]}});
    let host = host()
        .file(
            "/sys/fs/cgroup/system.slice/slurmd.service/cgroup.procs",
            "4711\n815\n",
        )
        .file("/proc/815/limits", &limits("65536"))
        .file("/proc/4711/limits", &limits("unlimited"));
    let (first, after) = hold::<Limits>(&json, &facts(Scope::Live), &host);
    assert!(
        first.steps.iter().all(|s| s.action.verb() != "restart_unit"),
        "never restarted"
    );
    let pending = [
        "slurmd.service: LimitMEMLOCK=infinity counts when the service is next started (its main process has 65536 bytes)",
    ];
    assert_eq!(first.pending.reboot, pending);
    let again = plan::<Limits>(&json, &facts(Scope::Live), &after).unwrap();
    assert_eq!(
        again.pending.reboot, pending,
        "it stays pending until the process has the limit"
    );
    let restarted = after.file("/proc/815/limits", &limits("unlimited"));
    let done = plan::<Limits>(&json, &facts(Scope::Live), &restarted).unwrap();
    assert!(done.pending.reboot.is_empty());
}
