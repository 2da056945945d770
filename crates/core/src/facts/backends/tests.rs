use super::*;
use crate::fake::{Entry, Fake};

fn facts(host: &Fake, scope: Scope, row: Option<&'static Row>) -> BackendFacts {
    let netplan = Netplan::read(host).unwrap();
    let recorded = host
        .query(&crate::probe::Query::Units(all_units()))
        .unwrap()
        .map(|o| recorded(&o));
    Eyes {
        probe: host,
        scope,
        row,
        netplan: &netplan,
        recorded,
    }
    .facts()
    .unwrap()
}

#[test]
fn installed_in_the_order_of_the_row() {
    use Backend::{Ifcfg, Ifupdown, NetworkManager, Networkd, Wicked};
    let unit = |host: Fake, name: &str| host.file(&format!("/usr/lib/systemd/system/{name}"), "");
    let host = unit(
        unit(Fake::new(), "networking.service"),
        "systemd-networkd.service",
    );
    let host = host.file("/usr/sbin/NetworkManager", "");
    assert_eq!(
        facts(&host, Scope::Live, Row::find("debian", "12")).installed,
        [Ifupdown, NetworkManager, Networkd]
    );
    assert_eq!(
        facts(&host, Scope::Live, Row::find("rocky", "9")).installed,
        [NetworkManager, Ifcfg, Networkd, Ifupdown]
    );
    assert_eq!(
        facts(&host, Scope::Live, Row::find("rocky", "10")).installed[..1],
        [NetworkManager]
    );
    let masked = host.symlink("/etc/systemd/system/NetworkManager.service", "/dev/null");
    assert_eq!(
        facts(&masked, Scope::Live, Row::find("rocky", "9")).installed,
        [Networkd, Ifupdown]
    );
    let suse = unit(Fake::new(), "wicked.service");
    assert_eq!(
        facts(&suse, Scope::Image, Row::find("sles", "15.5")).installed,
        [Wicked]
    );
    let el7 = Fake::new().file("/etc/rc.d/init.d/network", "");
    assert_eq!(
        facts(&el7, Scope::Live, Row::find("centos", "7")).installed,
        [Ifcfg]
    );
    assert!(
        facts(&Fake::new(), Scope::Image, Row::find("debian", "12"))
            .installed
            .is_empty()
    );
}

#[test]
fn running_by_control_group_not_by_what_a_stopped_daemon_left() {
    let host = Fake::new()
        .entry("/run/NetworkManager/devices", Entry::Folder(0o755))
        .entry("/run/systemd/netif/links", Entry::Folder(0o755))
        .entry("/run/systemd/system", Entry::Folder(0o755))
        .file("/run/network/ifstate", "lo=lo\n");
    let of = |host: &Fake, scope| facts(host, scope, Row::find("rocky", "9")).running;
    use Backend::{Ifcfg, Ifupdown, NetworkManager, Networkd};
    assert_eq!(
        of(&host, Scope::Live),
        [NetworkManager, Ifcfg, Networkd, Ifupdown]
    );
    assert!(of(&host, Scope::Image).is_empty());
    let v2 = host.clone().file("/proc/1/cgroup", "0::/init.scope\n").entry(
        "/sys/fs/cgroup/system.slice/systemd-networkd.service",
        Entry::Folder(0o755),
    );
    assert_eq!(of(&v2, Scope::Live), [Networkd, Ifupdown]);
    let v1 = host
        .clone()
        .file("/proc/1/cgroup", "9:cpu:/\n1:name=systemd:/\n0::/\n")
        .entry(
            "/sys/fs/cgroup/systemd/system.slice/NetworkManager.service",
            Entry::Folder(0o755),
        );
    assert_eq!(of(&v1, Scope::Live), [NetworkManager, Ifcfg, Ifupdown]);
    let container = host.file("/proc/1/cgroup", "0::/docker/abc/init.scope\n").entry(
        "/sys/fs/cgroup/docker/abc/system.slice/NetworkManager.service",
        Entry::Folder(0o755),
    );
    assert_eq!(of(&container, Scope::Live), [NetworkManager, Ifcfg, Ifupdown]);
}

#[test]
fn a_capture_answers_for_systemctl() {
    let host = Fake::new().answer(
        "systemctl-show",
        "Id=network.service\nLoadState=loaded\nActiveState=active\n\nId=NetworkManager.service\nLoadState=not-found\n\
         ActiveState=inactive\n\nId=wicked.service\nLoadState=loaded\nActiveState=inactive\n",
    );
    let of = facts(&host, Scope::Replay, Row::find("centos", "7"));
    assert_eq!(of.installed, [Backend::Ifcfg, Backend::Wicked]);
    assert_eq!(of.running, [Backend::Ifcfg]);
    let other = Fake::new()
        .answer(
            "systemctl-show",
            "Id=opensm.service\nLoadState=loaded\nActiveState=active\n",
        )
        .entry("/run/NetworkManager/devices", Entry::Folder(0o755));
    let of = facts(&other, Scope::Replay, Row::find("rocky", "10"));
    assert_eq!(
        of.running,
        [Backend::NetworkManager],
        "the record was asked for another unit"
    );
}

#[test]
fn netplan_is_used_where_it_is_read() {
    let host = Fake::new().file("/etc/netplan/1.yaml", "network: {renderer: NetworkManager}");
    let row = Row::find("ubuntu", "22.04");
    let left = facts(&host, Scope::Live, row);
    assert!(!left.netplan_used && left.netplan_renderer.is_none());
    let replay = facts(&host, Scope::Replay, row);
    assert_eq!(replay.installed, [Backend::Netplan]);
    let live = host
        .file("/usr/sbin/netplan", "")
        .entry("/run/NetworkManager/devices", Entry::Folder(0o755));
    let live = facts(&live, Scope::Live, row);
    assert_eq!(live.netplan_renderer.as_deref(), Some("NetworkManager"));
    assert_eq!(live.running, [Backend::NetworkManager, Backend::Netplan]);
    let plain = Fake::new()
        .file("/etc/netplan/1.yaml", "network:\n  version: 2\n")
        .file("/usr/sbin/netplan", "");
    assert_eq!(
        facts(&plain, Scope::Live, row).netplan_renderer.as_deref(),
        Some("networkd")
    );
}
