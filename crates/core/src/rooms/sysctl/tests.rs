use super::*;
use crate::facts::{Init, Scope};
use crate::fake::{Entry as FakeEntry, Fake};
use crate::rooms::laws::{codes, document, hold, plan};
use serde_json::{Value, json};

mod document;
mod others;

const OWN: &str = owners::OWN;

fn facts(scope: Scope) -> Facts {
    let mut facts = Facts::unknown(scope);
    facts.init = Init::Systemd { running: true };
    facts.os.row = crate::distro::Row::find("debian", "12");
    facts
}

fn host() -> Fake {
    Fake::new()
        .file("/etc/sysctl.d/README.sysctl", "see sysctl.d(5)\n")
        .file("/proc/sys/net/core/rmem_max", "212992\n")
        .file("/proc/sys/net/core/wmem_max", "212992\n")
        .file("/proc/sys/net/core/netdev_max_backlog", "1000\n")
        .file("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n")
        .file("/proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n")
        .file("/proc/sys/net/ipv4/conf/all/arp_ignore", "0\n")
        .file("/proc/sys/net/ipv4/conf/ib0/arp_ignore", "0\n")
        .file("/proc/sys/net/ipv4/conf/ib0.8001/rp_filter", "0\n")
}

fn warnings(json: &Value, host: &Fake) -> Vec<String> {
    let plan = plan::<Sysctl>(json, &facts(Scope::Live), host).unwrap();
    plan.warnings
        .into_iter()
        .map(|w| format!("{} {}", w.code, w.message))
        .collect()
}

fn refused(json: Value) -> Vec<(&'static str, String)> {
    let refusal = plan::<Sysctl>(&json, &facts(Scope::Live), &host()).unwrap_err();
    refusal
        .document
        .into_iter()
        .map(|p| (p.code.id(), p.path.to_string()))
        .collect()
}

#[test]
fn profile_and_explicit_keys() {
    let json = json!({"sysctl_profile": "ipoib_throughput", "sysctl": {"net.core.rmem_max": "0x2000000", "net/ipv4/conf/ib0.8001/rp_filter": 2}});
    let (plan, after) = hold::<Sysctl>(&json, &facts(Scope::Live), &host());
    assert_eq!(
        after.get(OWN).unwrap(),
        "# Written by ibplan; changes made here by hand are lost.\n\
         # Read at boot by systemd-sysctl, and by `sysctl --system`: sysctl.d(5).\n\
         net.core.netdev_max_backlog = 250000\n\
         net.core.rmem_max = 0x2000000\n\
         net.core.wmem_max = 134217728\n\
         net.ipv4.conf.ib0/8001.rp_filter = 2\n\
         net.ipv4.tcp_rmem = 4096 87380 134217728\n\
         net.ipv4.tcp_wmem = 4096 65536 134217728\n"
    );
    assert_eq!(after.get("/proc/sys/net/core/rmem_max").unwrap(), "33554432\n");
    let shown: Vec<_> = plan
        .changes
        .iter()
        .map(|c| (c.path.as_str(), c.before.clone(), c.after.clone()))
        .collect();
    assert_eq!(shown.len(), 6);
    assert_eq!(
        shown[1],
        (
            "/sysctl/net.core.rmem_max",
            json!({"file": null, "live": 212_992}),
            json!("0x2000000")
        )
    );
    assert_eq!(
        shown[3].0, "/sysctl/net~1ipv4~1conf~1ib0.8001~1rp_filter",
        "as the document spells it"
    );
    assert_eq!(
        shown[4],
        (
            "/sysctl_profile",
            json!({"net.ipv4.tcp_rmem": {"file": null, "live": "4096 131072 6291456"}}),
            json!({"net.ipv4.tcp_rmem": "4096 87380 134217728"})
        )
    );
    assert_eq!(plan.claims.len(), 7, "the file and six running values");
}

#[test]
fn a_profile_alone_is_managed_and_an_empty_section_is_left_to_prune() {
    assert!(Sysctl::wanted(&document(json!({"sysctl_profile": "ipoib_throughput"}))).is_some());
    assert!(Sysctl::wanted(&document(json!({}))).is_none());
    hold::<Sysctl>(
        &json!({"sysctl_profile": "ipoib_throughput"}),
        &facts(Scope::Live),
        &host(),
    );
    let kept = host().file(OWN, "net.core.rmem_max = 1\n");
    let empty = plan::<Sysctl>(&json!({"sysctl": {}}), &facts(Scope::Live), &kept).unwrap();
    assert_eq!(empty, Plan::default());
}

#[test]
fn an_image_has_no_live_side() {
    let json = json!({"sysctl_profile": "ipoib_throughput", "sysctl": {"net.ipv4.tcp_low_latency": 1, "net.ipv4.conf.ib7.rp_filter": 2}});
    let (plan, after) = hold::<Sysctl>(&json, &facts(Scope::Image), &host());
    assert!(plan.steps.iter().all(|s| s.action.verb() == "write_file"));
    assert!(plan.warnings.is_empty() && plan.pending.links.is_empty());
    assert_eq!(plan.claims.len(), 1);
    assert_eq!(
        plan.changes[0].before,
        json!({"net.core.netdev_max_backlog": null})
    );
    assert_eq!(after.get("/proc/sys/net/core/rmem_max").unwrap(), "212992\n");
}

#[test]
fn both_sides_in_one_entry() {
    let json = json!({"sysctl": {"net.core.rmem_max": 5000}});
    for (file, live, before) in [
        (Some("5000"), "1", Some(json!({"file": 5000, "live": 1}))),
        (Some("1"), "1", Some(json!(1))),
        (Some("1"), "5000", Some(json!({"file": 1, "live": 5000}))),
        (None, "5000", Some(json!({"file": null, "live": 5000}))),
        (Some("5000"), "5000", None),
    ] {
        let mut host = host().file("/proc/sys/net/core/rmem_max", live);
        if let Some(value) = file {
            let header = "# Written by ibplan; changes made here by hand are lost.\n# Read at boot by systemd-sysctl, and by `sysctl --system`: sysctl.d(5).\n";
            host.put(OWN, &format!("{header}net.core.rmem_max = {value}\n"));
        }
        let plan = plan::<Sysctl>(&json, &facts(Scope::Live), &host).unwrap();
        assert_eq!(
            plan.changes.first().map(|c| c.before.clone()),
            before,
            "{file:?} {live}"
        );
        assert_eq!(plan.steps.is_empty(), before.is_none());
    }
}

#[test]
fn a_key_that_left_the_document_is_a_change() {
    let host = host().file(
        OWN,
        "net.core.wmem_max = 9\nnet.ipv4.conf.ib0/8001.rp_filter = 2\n",
    );
    let (plan, after) = hold::<Sysctl>(
        &json!({"sysctl": {"net.core.rmem_max": 5000}}),
        &facts(Scope::Live),
        &host,
    );
    let gone: Vec<_> = plan
        .changes
        .iter()
        .filter(|c| c.after.is_null())
        .map(|c| c.path.as_str())
        .collect();
    assert_eq!(
        gone,
        [
            "/sysctl/net.core.wmem_max",
            "/sysctl/net.ipv4.conf.ib0~18001.rp_filter"
        ]
    );
    assert!(!after.get(OWN).unwrap().contains("wmem"));
}

#[test]
fn case_16_arp_keys_agree_after_one_run_and_contradictions_are_told() {
    let json = json!({"sysctl": {"net.ipv4.conf.ib0.arp_ignore": 1, "net.ipv4.conf.all.arp_ignore": 1}});
    let (plan, after) = hold::<Sysctl>(&json, &facts(Scope::Live), &host());
    assert_eq!(
        after.get("/proc/sys/net/ipv4/conf/ib0/arp_ignore").unwrap(),
        "1\n"
    );
    assert!(plan.warnings.is_empty());
    for (keys, told) in [
        (
            json!({"net.ipv4.conf.ib0.arp_filter": 1, "net.ipv4.conf.ib0.arp_ignore": 1}),
            "for ib0",
        ),
        (
            json!({"net.ipv4.conf.all.arp_filter": 1, "net.ipv4.conf.ib0.arp_ignore": 2}),
            "for ib0",
        ),
        (
            json!({"net.ipv4.conf.all.arp_filter": 1, "net.ipv4.conf.all.arp_ignore": 1}),
            "for all",
        ),
    ] {
        let told_now = warnings(&json!({"sysctl": keys}), &host());
        let arp: Vec<_> = told_now
            .iter()
            .filter(|w| w.contains("sysctl.arp_contradiction"))
            .collect();
        assert!(arp.len() == 1 && arp[0].contains(told), "{told_now:?}");
    }
    let apart = json!({"sysctl": {"net.ipv4.conf.ib0.arp_filter": 1, "net.ipv4.conf.ib1.arp_ignore": 1, "net.ipv4.conf.ib0.arp_ignore": 0}});
    assert!(
        !warnings(&apart, &host())
            .iter()
            .any(|w| w.contains("arp_contradiction"))
    );
}

#[test]
fn case_23_vectors_compare_by_fields() {
    let host = host().file("/proc/sys/kernel/sem", "250\t32000\t100\t128\n");
    for value in [
        json!("250 32000 100 128"),
        json!("250\t32000  100 128"),
        json!([250, "32000", 100, 128]),
    ] {
        let json = json!({"sysctl": {"kernel.sem": value, "net.ipv4.tcp_rmem": [4096, 131_072, 6_291_456]}});
        let (plan, _) = hold::<Sysctl>(&json, &facts(Scope::Live), &host);
        assert!(
            plan.steps.iter().all(|s| s.action.verb() != "sysctl"),
            "the kernel has it already"
        );
    }
}

#[test]
fn case_25_a_link_that_is_not_there_is_pending_not_wrong() {
    let json = json!({"sysctl": {"net.ipv4.conf.ib1.arp_ignore": 1, "net.ipv4.conf.ib0.no_such": 1}});
    let (first, after) = hold::<Sysctl>(&json, &facts(Scope::Live), &host());
    assert_eq!(
        first.pending.links,
        [
            "net.ipv4.conf.ib1.arp_ignore = 1: link ib1 is not there yet; set by udev from the drop-in when the link appears"
        ]
    );
    assert_eq!(
        codes(&first.warnings),
        ["sysctl.no_such_key"],
        "ib0 is there and has no such key"
    );
    assert!(
        after
            .get(OWN)
            .unwrap()
            .contains("net.ipv4.conf.ib1.arp_ignore = 1\n")
    );
    let appeared = after.file("/proc/sys/net/ipv4/conf/ib1/arp_ignore", "0\n");
    let later = plan::<Sysctl>(&json, &facts(Scope::Live), &appeared).unwrap();
    assert_eq!(later.changes[0].before, json!({"file": 1, "live": 0}));
    assert!(later.pending.links.is_empty());
}

#[test]
fn keys_that_cannot_be_set_are_told_apart() {
    let text = |mode| FakeEntry::File {
        bytes: b"7\n".to_vec(),
        mode,
        owner: (0, 0),
    };
    let host = host()
        .entry("/proc/sys/kernel/a", text(0o444))
        .entry("/proc/sys/net/ipv4/route/flush", text(0o200));
    for (key, value, wanted) in [
        ("net.ipv4.tcp_low_latency", 1, "no effect since Linux 4.14"),
        ("net.ipv4.tcp_tw_recycle", 1, "removed in Linux 4.12"),
        (
            "net.bridge.bridge-nf-call-iptables",
            0,
            "module br_netfilter is not loaded",
        ),
        ("net.ipv6.conf.ib0.disable_ipv6", 1, "IPv6 is off"),
        ("kernel.nonsense", 1, "misspelt"),
        ("kernel.a", 8, "cannot be set"),
    ] {
        let json = json!({"sysctl": {key: value}});
        let told = warnings(&json, &host);
        assert!(told.len() == 1 && told[0].contains(wanted), "{key}: {told:?}");
        hold::<Sysctl>(&json, &facts(Scope::Live), &host);
    }
    assert!(warnings(&json!({"sysctl": {"kernel.a": 7}}), &host).is_empty());
    let refusal = plan::<Sysctl>(
        &json!({"sysctl": {"net.ipv4.route.flush": 1}}),
        &facts(Scope::Live),
        &host,
    )
    .unwrap_err();
    assert_eq!(codes(&refusal.host), ["sysctl.not_readable"]);
}
