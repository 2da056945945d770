use super::*;
use crate::fake::Fake;

const UNIT: &str = "[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=network-online.target\nAlias=sm.service\n";

fn seen(host: &Fake) -> SeenUnit {
    let facts = Facts::unknown(Scope::Image);
    observe(
        host,
        &facts,
        "opensm.service",
        "/lib/systemd/system",
        "multi-user.target",
    )
    .unwrap()
}

fn run(host: &Fake, plan: &Plan) -> Fake {
    let mut host = host.clone();
    for step in &plan.steps {
        host.perform(&step.action);
    }
    host
}

#[test]
fn links_of_every_shape_enable() {
    let base = Fake::new().file("/usr/lib/systemd/system/opensm.service", UNIT);
    assert!(!seen(&base).enabled());
    for (at, target) in [
        (
            "/etc/systemd/system/network-online.target.wants/opensm.service",
            "/lib/systemd/system/opensm.service",
        ),
        (
            "/etc/systemd/system/network.target.wants/opensm.service",
            "../../../../usr/lib/systemd/system/opensm.service",
        ),
        (
            "/etc/systemd/system/x.target.requires/opensm.service",
            "/usr/lib/systemd/system/opensm.service",
        ),
        (
            "/etc/systemd/system/x.target.wants/sm.service",
            "/usr/lib/systemd/system/opensm.service",
        ),
    ] {
        assert!(seen(&base.clone().symlink(at, target)).enabled(), "{at}");
    }
    let elsewhere = base.symlink(
        "/etc/systemd/system/default.target",
        "/lib/systemd/system/opensm.service",
    );
    assert!(!seen(&elsewhere).enabled(), "a link outside .wants enabled it");
}

#[test]
fn enabling_follows_the_install_section_and_is_undone_exactly() {
    let base = Fake::new().file("/usr/lib/systemd/system/opensm.service", UNIT);
    let mut plan = Plan::default();
    enable(&mut plan, &seen(&base), "subnet_manager", &[Pointer::of("x")]);
    let after = run(&base, &plan);
    let link = HostPath::fixed("/etc/systemd/system/network-online.target.wants/opensm.service");
    assert_eq!(
        after.link(&link).unwrap().as_deref(),
        Some("/usr/lib/systemd/system/opensm.service")
    );
    assert!(
        after
            .link(&HostPath::fixed("/etc/systemd/system/sm.service"))
            .unwrap()
            .is_some()
    );
    let mut still = Plan::default();
    enable(&mut still, &seen(&after), "subnet_manager", &[]);
    assert!(still.steps.is_empty());
    let mut back = after.clone();
    for step in plan.steps.iter().rev() {
        back.perform(step.undo.as_ref().unwrap());
    }
    assert_eq!(back, base);
    let mut off = Plan::default();
    disable(&mut off, &seen(&after), "subnet_manager", &[Pointer::of("x")]);
    assert!(!seen(&run(&after, &off)).enabled());
}

#[test]
fn an_image_without_the_package_gets_the_link_of_the_distribution() {
    let base = Fake::new().file("/etc/os-release", "");
    let mut plan = Plan::default();
    enable(&mut plan, &seen(&base), "subnet_manager", &[Pointer::of("x")]);
    let after = run(&base, &plan);
    let link = HostPath::fixed("/etc/systemd/system/multi-user.target.wants/opensm.service");
    assert_eq!(
        after.link(&link).unwrap().as_deref(),
        Some("/lib/systemd/system/opensm.service")
    );
}

#[test]
fn a_masked_unit_is_not_enabled() {
    let host = Fake::new()
        .file("/usr/lib/systemd/system/opensm.service", UNIT)
        .symlink("/etc/systemd/system/opensm.service", "/dev/null")
        .symlink(
            "/etc/systemd/system/a.target.wants/opensm.service",
            "/x/opensm.service",
        );
    let unit = seen(&host);
    assert!(unit.masked && !unit.enabled());
    let mut plan = Plan::default();
    enable(&mut plan, &unit, "subnet_manager", &[]);
    assert_eq!(plan, Plan::default());
}

#[test]
fn words_of_a_unit_file() {
    let text = "[Install]\n# WantedBy=a.target\nWantedBy=b.target c.target\nWantedBy=\nWantedBy = d.target\n[Service]\nWantedBy=e.target\n";
    assert_eq!(words(text, "Install", "WantedBy"), ["d.target"]);
    assert_eq!(file_name("opensm@0x1.service"), "opensm@.service");
}

#[test]
fn states_come_from_one_query() {
    let host = Fake::new().answer(
        "systemctl-show",
        "Id=a.service\nLoadState=loaded\nActiveState=active\n\nId=b.service\nLoadState=not-found\nActiveState=inactive\n",
    );
    let states = live(&host, &["a.service".into(), "b.service".into()])
        .unwrap()
        .unwrap();
    assert!(states["a.service"].is_active() && !states["b.service"].is_active());
    assert_eq!(states["b.service"].load, "not-found");
    assert_eq!(live(&Fake::new(), &["a.service".into()]).unwrap(), None);
}
