use super::*;
use crate::facts::Scope;
use crate::fake::Fake;
use crate::plan::Claim;

const DEP: &str = "kernel/drivers/infiniband/core/ib_umad.ko.xz: kernel/drivers/infiniband/core/ib_core.ko.xz\n\
                   kernel/drivers/infiniband/core/ib_umad_more.ko:\n\
                   updates/dkms/ib-ipoib.ko:\n";

fn facts(scope: Scope) -> Facts {
    let mut facts = Facts::unknown(scope);
    facts.kernel = Some("6.1.0".into());
    facts
}

fn host() -> Fake {
    Fake::new()
        .file("/usr/lib/modules/6.1.0/modules.dep", DEP)
        .file(
            "/usr/lib/modules/6.1.0/modules.builtin",
            "kernel/drivers/char/hw_random/rng-core.ko\n",
        )
        .symlink("/lib", "usr/lib")
        .file("/sys/module/ib_ipoib/initstate", "live\n")
        .file("/sys/module/ib_ipoib/parameters/send_queue_size", "128\n")
        .file("/sys/module/tcp_cubic/parameters/beta", "717\n")
        .file("/sys/module/ib_cm/initstate", "going\n")
        .file("/etc/hostname", "h\n")
}

#[test]
fn reads_origin_and_state() {
    let host = host();
    let see = |name| observe(&host, &facts(Scope::Live), name).unwrap();
    let umad = see("ib_umad");
    assert_eq!(
        umad.origin,
        Origin::File("kernel/drivers/infiniband/core/ib_umad.ko.xz".into())
    );
    assert!(!umad.running() && !umad.missing() && !umad.vendor());
    let ipoib = see("ib-ipoib");
    assert_eq!((ipoib.name.as_str(), ipoib.loaded), ("ib_ipoib", Loaded::Yes));
    assert!(ipoib.vendor());
    assert_eq!(ipoib.parameters["send_queue_size"], "128");
    let rng = see("rng_core");
    assert_eq!((rng.origin, rng.loaded), (Origin::Builtin, Loaded::Builtin));
    assert_eq!(see("tcp_cubic").loaded, Loaded::Builtin);
    assert!(!see("tcp_cubic").missing(), "what runs is there");
    assert_eq!(see("ib_cm").loaded, Loaded::No);
    assert!(see("ib_uma").missing() && see("umad").missing());
    let bare = observe(&Fake::new(), &Facts::unknown(Scope::Image), "ib_umad").unwrap();
    assert_eq!((&bare.origin, bare.missing()), (&Origin::Unknown, false));
}

fn plan(host: &Fake, scope: Scope, names: &[&str]) -> Plan {
    let facts = facts(scope);
    let seen = observe_all(host, &facts, names.iter().copied()).unwrap();
    let list = observe_list(host, OPENSM_LIST).unwrap();
    let modules: Vec<_> = seen
        .iter()
        .map(|m| (m, Pointer::of("subnet_manager").key("state")))
        .collect();
    let mut plan = Plan::default();
    keep_loaded(&mut plan, &facts, "subnet_manager", &list, &modules);
    plan
}

#[test]
fn still_after_apply_and_back_after_undo() {
    let first = host();
    let mut now = first.clone();
    let todo = plan(&now, Scope::Live, &["ib_umad"]);
    assert_eq!(
        todo.steps.iter().map(|s| s.action.verb()).collect::<Vec<_>>(),
        ["make_folder", "write_file", "load_module"]
    );
    assert_eq!(todo.changes[0].before, json!({"at_boot": false, "loaded": false}));
    for step in &todo.steps {
        assert!(!step.because.is_empty());
        now.perform(&step.action);
    }
    assert!(now.get(OPENSM_LIST).unwrap().ends_with("\nib_umad\n"));
    let again = plan(&now, Scope::Live, &["ib_umad"]);
    assert!(again.steps.is_empty() && again.changes.is_empty());
    assert!(matches!(&again.claims[..], [Claim::File { .. }]));
    for step in todo.steps.iter().rev() {
        now.perform(step.undo.as_ref().unwrap());
    }
    assert_eq!(now, first);
}

#[test]
fn an_image_is_not_loaded_into() {
    let todo = plan(&host(), Scope::Image, &["ib_umad"]);
    assert_eq!(
        todo.steps.iter().map(|s| s.action.verb()).collect::<Vec<_>>(),
        ["make_folder", "write_file"]
    );
    assert_eq!(todo.changes[0].before, json!({"at_boot": false}));
    assert_eq!(todo.changes.len(), 1);
}

#[test]
fn only_what_is_missing_is_done() {
    let listed = host().file(OPENSM_LIST, "# by hand\nib-umad\n");
    let todo = plan(&listed, Scope::Live, &["ib_umad"]);
    // The line is there, but the file is not ours byte for byte: it is taken over, with a change of its own.
    assert!(todo.changes.iter().all(|c| c.path.section() == "subnet_manager"));
    assert!(todo.steps.iter().all(|s| !s.because.is_empty()));
    assert_eq!(todo.changes.len(), 2);
    let running = plan(&host(), Scope::Live, &["ib_ipoib"]);
    assert!(!running.steps.iter().any(|s| s.action.verb() == "load_module"));
    assert!(plan(&host(), Scope::Live, &[]) == Plan::default());
}

#[test]
fn who_comes_and_who_goes_is_named() {
    let mut now = host();
    for step in &plan(&now, Scope::Live, &["ib_umad", "ib_ipoib"]).steps {
        now.perform(&step.action);
    }
    let less = plan(&now, Scope::Live, &["ib_umad"]);
    assert_eq!(less.changes.len(), 1);
    let change = &less.changes[0];
    assert_eq!(change.path, Pointer::of("subnet_manager"));
    assert_eq!(change.before, json!({"ib_ipoib": {"at_boot": true}}));
    assert_eq!(change.after, json!({"ib_ipoib": {"at_boot": false}}));
    assert!(less.steps.iter().all(|s| s.because == [change.path.clone()]));

    let section = Pointer::of("subnet_manager");
    let seen = observe(&host(), &facts(Scope::Live), "ib_umad").unwrap();
    let list = observe_list(&host(), OPENSM_LIST).unwrap();
    let mut todo = Plan::default();
    keep_loaded(
        &mut todo,
        &facts(Scope::Live),
        "subnet_manager",
        &list,
        &[(&seen, section)],
    );
    assert_eq!(
        todo.changes[0].after,
        json!({"ib_umad": {"at_boot": true, "loaded": true}})
    );
}
