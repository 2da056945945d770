use super::*;
use crate::facts::Scope;
use crate::fake::Fake;
use crate::parts::kmod::MODULES_LIST;
use crate::plan::When;
use crate::rooms::laws::{codes, hold, plan};
use seen::OPTIONS;
use serde_json::{Value, json};

fn facts(scope: Scope) -> Facts {
    let mut facts = Facts::unknown(scope);
    facts.kernel = Some("6.1.0".into());
    facts
}

fn host() -> Fake {
    Fake::new()
        .file(
            "/lib/modules/6.1.0/modules.dep",
            "kernel/ulp/ib_ipoib.ko.xz:\nkernel/core/ib_umad.ko.xz:\nkernel/net/rdma_cm.ko:\n",
        )
        .file("/lib/modules/6.1.0/modules.builtin", "kernel/tcp_cubic.ko\n")
        .file("/sys/module/ib_ipoib/initstate", "live\n")
        .file("/sys/module/ib_ipoib/parameters/send_queue_size", "128\n")
        .file("/sys/module/ib_ipoib/parameters/recv_queue_size", "256\n")
        .file("/sys/module/tcp_cubic/parameters/beta", "717\n")
        .file("/etc/modprobe.d/README", "\n")
        .file("/etc/modules-load.d/modules.conf", "\n")
}

fn two() -> Value {
    json!({"modules": [
        {"name": "ib-ipoib", "parameters": {"send_queue_size": 512, "recv_queue_size": "256"}},
        {"name": "ib_umad"},
    ]})
}

fn told(json: &Value, host: &Fake) -> Vec<String> {
    let plan = plan::<Modules>(json, &facts(Scope::Live), host).unwrap();
    plan.warnings
        .into_iter()
        .map(|w| format!("{} {} {}", w.code, w.path, w.message))
        .collect()
}

#[test]
fn options_list_and_loading() {
    let (first, after) = hold::<Modules>(&two(), &facts(Scope::Live), &host());
    assert_eq!(
        first.steps.iter().map(|s| s.action.verb()).collect::<Vec<_>>(),
        ["write_file", "write_file", "load_module"]
    );
    assert!(
        after
            .get(OPTIONS)
            .unwrap()
            .ends_with("\noptions ib_ipoib recv_queue_size=256 send_queue_size=512\n")
    );
    assert!(
        after
            .get(MODULES_LIST)
            .unwrap()
            .ends_with("\nib_ipoib\nib_umad\n")
    );
    let changes: Vec<_> = first
        .changes
        .iter()
        .map(|c| (c.path.as_str(), c.before.clone(), c.when))
        .collect();
    assert_eq!(
        changes,
        [
            (
                "/modules/0/parameters/recv_queue_size",
                json!({"file": null, "loaded": 256}),
                When::Now
            ),
            (
                "/modules/0/parameters/send_queue_size",
                json!({"file": null, "loaded": 128}),
                When::DriverReload
            ),
            ("/modules/0", json!({"at_boot": false, "loaded": true}), When::Now),
            (
                "/modules/1",
                json!({"at_boot": false, "loaded": false}),
                When::Now
            ),
        ]
    );
    let pending = ["ib_ipoib: send_queue_size is 128 and becomes 512 when the module is next loaded"];
    assert_eq!(first.pending.driver_reload, pending);
    let again = plan::<Modules>(&two(), &facts(Scope::Live), &after).unwrap();
    assert_eq!(
        again.pending.driver_reload, pending,
        "it stays so until somebody loads the driver again"
    );
    assert_eq!(again.claims.len(), 2);
}

#[test]
fn an_image_gets_files_only() {
    let (first, _) = hold::<Modules>(&two(), &facts(Scope::Image), &host());
    assert!(first.steps.iter().all(|s| s.action.verb() == "write_file"));
    assert!(first.pending.driver_reload.is_empty());
    assert_eq!(first.changes[1].before, Value::Null);
    // A bare image: no kernel is known, nothing is missing.
    let bare = Fake::new().file("/etc/os-release", "\n");
    let json = json!({"modules": [{"name": "anything"}]});
    hold::<Modules>(&json, &Facts::unknown(Scope::Image), &bare);
}

#[test]
fn an_empty_section_is_left_to_prune() {
    let host = host().file(OPTIONS, "options a b=1\n").file(MODULES_LIST, "a\n");
    let empty = plan::<Modules>(&json!({"modules": []}), &facts(Scope::Live), &host).unwrap();
    assert_eq!(empty, Plan::default());
}

#[test]
fn parameters_that_left_the_document_are_changes() {
    let host = host().file(
        OPTIONS,
        "options ib_ipoib debug_level=1 send_queue_size=512\noptions other x=1\n",
    );
    let (first, after) = hold::<Modules>(&two(), &facts(Scope::Live), &host);
    let gone: Vec<_> = first
        .changes
        .iter()
        .filter(|c| c.after.is_null())
        .map(|c| c.path.as_str())
        .collect();
    assert_eq!(gone, ["/modules/0/parameters/debug_level", "/modules"]);
    assert!(!after.get(OPTIONS).unwrap().contains("other"));
}

#[test]
fn the_kernel_must_have_it() {
    let json = json!({"modules": [{"name": "ib_sdp"}, {"name": "tcp_cubic"}, {"name": "rdma_cm"}]});
    let refusal = plan::<Modules>(&json, &facts(Scope::Live), &host()).unwrap_err();
    assert_eq!(codes(&refusal.host), ["modules.not_for_this_kernel"]);
    assert_eq!(refusal.host[0].path.as_str(), "/modules/0/name");
    let image = plan::<Modules>(&json, &facts(Scope::Image), &host()).unwrap_err();
    assert_eq!(codes(&image.host), ["modules.not_for_this_kernel"]);
}

#[test]
fn the_document_alone_is_judged() {
    let json = json!({"modules": [
        {"name": "ib_ipoib", "parameters": {"send_queue_size": 1, "recv_queue_size": 8193, "max_nonsrq_conn_qp": "many"}},
        {"name": "ib-ipoib", "parameters": {"send_queue_size": 500}},
    ]});
    let refusal = plan::<Modules>(&json, &facts(Scope::Live), &host()).unwrap_err();
    let found: Vec<_> = refusal
        .document
        .iter()
        .map(|p| (p.code.id(), p.path.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (
                "modules.parameter_range",
                "/modules/0/parameters/max_nonsrq_conn_qp"
            ),
            ("modules.parameter_range", "/modules/0/parameters/recv_queue_size"),
            ("modules.parameter_range", "/modules/0/parameters/send_queue_size"),
            ("modules.named_twice", "/modules/1/name"),
        ]
    );
    assert_eq!(codes(&refusal.warnings), ["modules.rounded"]);
}

#[test]
fn rounded_queues_are_equal() {
    let json = json!({"modules": [{"name": "ib_ipoib", "parameters": {"send_queue_size": 100}}]});
    let (first, _) = hold::<Modules>(&json, &facts(Scope::Live), &host());
    assert_eq!(codes(&first.warnings), ["modules.rounded"]);
    assert_eq!(
        first.changes[0].when,
        When::Now,
        "the loaded module has 128 already"
    );
    assert!(first.pending.driver_reload.is_empty());
}

#[test]
fn what_is_pending_is_what_the_kernel_will_have() {
    let json = json!({"modules": [{"name": "ib_ipoib", "parameters": {"send_queue_size": 500}}]});
    let first = plan::<Modules>(&json, &facts(Scope::Live), &host()).unwrap();
    assert_eq!(
        first.pending.driver_reload,
        ["ib_ipoib: send_queue_size is 128 and becomes 512 when the module is next loaded"]
    );
}

#[test]
fn what_others_write_is_told() {
    let json = json!({"modules": [{"name": "ib_ipoib", "parameters": {"send_queue_size": 128}}]});
    for (host, wanted) in [
        (
            host().file(
                "/usr/lib/modprobe.d/a.conf",
                "options ib-ipoib send_queue_size=64\n",
            ),
            "/etc/modprobe.d/ibplan.conf wins",
        ),
        (
            host().file("/run/modprobe.d/z.conf", "options ib_ipoib send_queue_size=64\n"),
            "/run/modprobe.d/z.conf wins",
        ),
        (
            host().file("/proc/cmdline", "quiet ib_ipoib.send_queue_size=64\n"),
            "/proc/cmdline wins",
        ),
        (
            host().file("/etc/modprobe.d/b.conf", "blacklist ib_ipoib\n"),
            "modules.blocked /modules/0/name ib_ipoib is blacklisted",
        ),
        (
            host().file("/etc/modprobe.d/b.conf", "install ib-ipoib /bin/true\n"),
            "has an install command that loads nothing: /etc/modprobe.d/b.conf",
        ),
        (
            host().file("/proc/cmdline", "modprobe.blacklist=ib_ipoib\n"),
            "modules.blocked",
        ),
    ] {
        let told = told(&json, &host);
        assert!(
            told.len() == 1 && told[0].contains(wanted),
            "{told:?} lacks {wanted}"
        );
    }
    for silent in [
        host().file(
            "/etc/modprobe.d/a.conf",
            "options ib_ipoib send_queue_size=0x80\noptions ib_umad send_queue_size=1\n",
        ),
        // Masked by a file of the same name in /etc.
        host()
            .file("/lib/modprobe.d/a.conf", "blacklist ib_ipoib\n")
            .file("/etc/modprobe.d/a.conf", "\n"),
        host().file("/etc/modprobe.d/a.conf.bak", "blacklist ib_ipoib\n"),
    ] {
        assert_eq!(told(&json, &silent), Vec::<String>::new());
    }
}

#[test]
fn enhanced_ipoib_is_a_vendor_matter() {
    let json = json!({"modules": [{"name": "ib_ipoib", "parameters": {"ipoib_enhanced": 0}}]});
    assert!(
        told(&json, &host())[0].contains("modules.vendor_parameter /modules/0/parameters/ipoib_enhanced")
    );
    let loaded = host().file("/sys/module/ib_ipoib/parameters/ipoib_enhanced", "1\n");
    assert!(told(&json, &loaded).is_empty());
    let vendor = host().file("/lib/modules/6.1.0/modules.dep", "updates/dkms/ib_ipoib.ko:\n");
    assert!(told(&json, &vendor).is_empty());
}

#[test]
fn built_in_modules_take_no_options() {
    let json = json!({"modules": [{"name": "tcp_cubic", "parameters": {"beta": 700}}]});
    let (first, _) = hold::<Modules>(&json, &facts(Scope::Live), &host());
    assert_eq!(codes(&first.warnings), ["modules.built_in"]);
    assert!(first.pending.driver_reload.is_empty());
    assert!(first.steps.iter().all(|s| s.action.verb() != "load_module"));
}
