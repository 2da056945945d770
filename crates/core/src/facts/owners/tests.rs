use crate::distro::Backend;
use crate::facts::{Scope, read};
use crate::fake::{Entry, Fake};
use Backend::{Ifcfg, Ifupdown, Netplan, NetworkManager, Networkd, Wicked};

const ADDRESS: &str = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:a1:b2:c1";

/// A host of a distribution with the link ib0, index 3.
fn host(id: &str, version: &str) -> Fake {
    Fake::new()
        .file("/etc/os-release", &format!("ID={id}\nVERSION_ID={version}\n"))
        .file("/sys/class/net/ib0/type", "32\n")
        .file("/sys/class/net/ib0/ifindex", "3\n")
        .file("/sys/class/net/ib0/address", ADDRESS)
}

fn enabled(host: Fake, unit: &str) -> Fake {
    host.symlink(
        &format!("/etc/systemd/system/multi-user.target.wants/{unit}"),
        &format!("/usr/lib/systemd/system/{unit}"),
    )
}

fn nm(host: Fake) -> Fake {
    host.file("/usr/sbin/NetworkManager", "")
        .entry("/run/NetworkManager/devices", Entry::Folder(0o755))
}

fn networkd(host: Fake) -> Fake {
    host.file("/lib/systemd/systemd-networkd", "")
        .entry("/run/systemd/system", Entry::Folder(0o755))
        .entry("/run/systemd/netif/links", Entry::Folder(0o755))
}

/// Owners of ib0, one or more.
fn owners_in(host: &Fake, scope: Scope) -> Vec<Backend> {
    let facts = read(host, scope).unwrap();
    let link = facts.ipoib_link("ib0").unwrap();
    assert!(link.owners.len() != 1 && (link.owners.is_empty() || link.owner == link.owners.first().copied()));
    if link.owners.is_empty() {
        link.owner.into_iter().collect()
    } else {
        link.owners.clone()
    }
}

fn owners(host: &Fake) -> Vec<Backend> {
    owners_in(host, Scope::Live)
}

#[test]
fn networkmanager_by_profile() {
    let el9 = || nm(host("rocky", "9.4"));
    assert_eq!(owners(&el9()), []);
    let at = "/etc/NetworkManager/system-connections";
    for (file, text, wanted) in [
        (
            "ib0.nmconnection",
            "[connection]\ntype=infiniband\ninterface-name=ib0\n",
            true,
        ),
        ("x", "[connection]\ntype=ethernet\ninterface-name = ib0\n", true),
        (
            "x",
            "[connection]\ntype=infiniband\n[match]\ninterface-name=eth0;ib*;\n",
            true,
        ),
        (
            "x",
            &format!("[infiniband]\nmac-address={}\n", ADDRESS.to_uppercase()),
            true,
        ),
        ("x", "[connection]\ninterface-name=ib1\n", false),
        ("x", "[connection]\nid=ib0\ntype=infiniband\n", false),
        ("x.rpmsave", "[connection]\ninterface-name=ib0\n", false),
        (".x.swp", "[connection]\ninterface-name=ib0\n", false),
    ] {
        let found = owners(&el9().file(&format!("{at}/{file}"), text));
        assert_eq!(found == [NetworkManager], wanted, "{file}: {text}");
    }
    let child = Fake::new().file("/sys/class/net/ib0.8001/type", "32\n").file(
        &format!("{at}/c"),
        "[connection]\ntype=infiniband\n[infiniband]\nparent=ib0\np-key=32769\n",
    );
    let facts = read(&child, Scope::Live).unwrap();
    assert_eq!(facts.ipoib[0].owner, Some(NetworkManager));
}

#[test]
fn networkmanager_by_its_state() {
    let with = |text: &str| nm(host("debian", "12")).file("/run/NetworkManager/devices/3", text);
    assert_eq!(
        owners(&with("[device]\nmanaged=true\nconnection-uuid=1\n")),
        [NetworkManager]
    );
    assert_eq!(owners(&with("[device]\nmanaged=false\n")), []);
    let idle = with("[device]\nmanaged=true\n");
    assert_eq!(owners(&idle), [NetworkManager]);
    let other = idle
        .file("/etc/network/interfaces", "iface ib0 inet manual\n")
        .file("/run/network/ifstate", "");
    assert_eq!(
        owners(&other),
        [Ifupdown],
        "managing a link without a profile is the default, no claim against another"
    );
}

#[test]
fn networkd_by_file_and_by_state() {
    let deb = || networkd(host("debian", "12"));
    for (text, wanted) in [
        ("[Match]\nName=ib0\n", true),
        ("[Match]\nName=eth* ib*\n", true),
        ("[Match]\nName=!eth*\n", true),
        ("[Match]\nType=infiniband\n", true),
        ("[Match]\nType=ether\n", false),
        ("[Match]\nName=ib1\n", false),
        ("[Match]\nName=ib0\nDriver=mlx5*\n", false),
        ("[Network]\nName=ib0\n", false),
        ("", false),
    ] {
        let found = owners(&deb().file("/etc/systemd/network/10-x.network", text));
        assert_eq!(found == [Networkd], wanted, "{text}");
    }
    let state = |text: &str| owners(&deb().file("/run/systemd/netif/links/3", text));
    assert_eq!(
        state("ADMIN_STATE=configured\nNETWORK_FILE=/usr/lib/systemd/network/x.network\n"),
        [Networkd]
    );
    assert_eq!(state("ADMIN_STATE=unmanaged\n"), []);
    let masked = deb().symlink("/etc/systemd/network/10-x.network", "/dev/null");
    assert_eq!(owners(&masked), []);
}

#[test]
fn netplan_wins_over_what_it_generates() {
    let yaml =
        "network:\n  renderer: NetworkManager\n  ethernets:\n    ib0:\n      infiniband-mode: datagram\n";
    let profile = "[connection]\ntype=infiniband\ninterface-name=ib0\n";
    let both = || {
        nm(networkd(host("ubuntu", "24.04")))
            .file("/usr/sbin/netplan", "")
            .file("/etc/netplan/60-ib.yaml", yaml)
            .file(
                "/run/NetworkManager/system-connections/netplan-ib0.nmconnection",
                profile,
            )
            .file(
                "/run/systemd/network/10-netplan-ib0.network",
                "[Match]\nName=ib0\n",
            )
            .file(
                "/run/NetworkManager/devices/3",
                "[device]\nmanaged=true\nconnection-uuid=1\n",
            )
            .file(
                "/run/systemd/netif/links/3",
                "ADMIN_STATE=configured\nNETWORK_FILE=/run/systemd/network/10-netplan-ib0.network\n",
            )
    };
    assert_eq!(owners(&both()), [Netplan]);
    let second = both().file("/etc/NetworkManager/system-connections/ib0.nmconnection", profile);
    assert_eq!(owners(&second), [Netplan, NetworkManager]);
    let third = both().file("/etc/systemd/network/20-ib0.network", "[Match]\nName=ib0\n");
    assert_eq!(owners(&third), [Netplan, Networkd]);
}

#[test]
fn ifupdown_follows_source() {
    let deb = || enabled(host("debian", "12"), "networking.service");
    let main = "/etc/network/interfaces";
    for (files, wanted) in [
        (
            &[(main, "auto ib0\niface ib0 inet static\n  address 10.0.0.1/24\n")][..],
            true,
        ),
        (&[(main, "# iface ib0 inet static\nauto ib0\n")], false),
        (
            &[
                (main, "source /etc/network/interfaces.d/*\n"),
                ("/etc/network/interfaces.d/ib", "iface ib0 inet dhcp\n"),
            ],
            true,
        ),
        (
            &[
                (main, "source interfaces.d/*.cfg\n"),
                ("/etc/network/interfaces.d/ib.cfg", "iface ib0 inet dhcp\n"),
            ],
            true,
        ),
        (
            &[
                (main, "source interfaces.d/*.cfg\n"),
                ("/etc/network/interfaces.d/ib", "iface ib0 inet dhcp\n"),
            ],
            false,
        ),
        (
            &[
                (main, "source-directory interfaces.d\n"),
                ("/etc/network/interfaces.d/ib", "iface ib0 inet dhcp\n"),
            ],
            true,
        ),
        (
            &[
                (main, "source-directory interfaces.d\n"),
                ("/etc/network/interfaces.d/ib.x", "iface ib0 inet dhcp\n"),
            ],
            false,
        ),
        (
            &[
                (main, "lo\n"),
                ("/etc/network/interfaces.d/ib", "iface ib0 inet dhcp\n"),
            ],
            false,
        ),
        (&[(main, "iface \\\n ib0 inet manual\n")], true),
        (
            &[(main, "iface bond0 inet manual\n  bond-slaves ib0 ib1\n")],
            true,
        ),
        (
            &[(main, "source /etc/network/interfaces\nsource ../../etc/shadow\n")],
            false,
        ),
    ] {
        let host = files.iter().fold(deb(), |h, (at, text)| h.file(at, text));
        assert_eq!(owners(&host) == [Ifupdown], wanted, "{files:?}");
    }
}

#[test]
fn wicked_by_file_name() {
    let suse = enabled(host("sles", "15.5"), "wicked.service");
    assert_eq!(
        owners(&suse.clone().file("/etc/sysconfig/network/ifcfg-ib0", "")),
        [Wicked]
    );
    assert_eq!(owners(&suse.file("/etc/sysconfig/network/ifcfg-eth0", "")), []);
}

#[test]
fn ifcfg_by_its_reader() {
    let at = "/etc/sysconfig/network-scripts/ifcfg-ib0";
    let managed = "[device]\nmanaged=true\nconnection-uuid=1\n";
    let el8 = |text: &str| {
        nm(host("almalinux", "8.10"))
            .file(at, text)
            .file("/run/NetworkManager/devices/3", managed)
    };
    assert_eq!(
        owners(&el8("DEVICE=ib0\nTYPE=InfiniBand\n")),
        [Ifcfg],
        "NetworkManager is only the reader"
    );
    let twice = el8("DEVICE=ib0\n").file(
        "/etc/NetworkManager/system-connections/a",
        "[connection]\ninterface-name=ib0\n",
    );
    assert_eq!(owners(&twice), [NetworkManager, Ifcfg]);
    assert_eq!(
        owners(&el8("DEVICE=\"ib9\"\n")),
        [NetworkManager],
        "DEVICE counts, not the file name"
    );
    let scripts = el8("DEVICE=ib0\nNM_CONTROLLED=no\n").file("/etc/rc.d/init.d/network", "");
    assert_eq!(owners(&scripts), [NetworkManager, Ifcfg], "both hold the link");
    let el7 = enabled(host("centos", "7"), "network.service").file(at, "DEVICE=ib0\nNM_CONTROLLED=no\n");
    assert_eq!(owners(&el7), [Ifcfg]);
    let el10 = nm(host("rocky", "10.0")).file(at, "DEVICE=ib0\n");
    assert_eq!(owners(&el10), [], "nobody reads it");
}

#[test]
fn two_owners_are_both_named_and_leftovers_are_not() {
    let stanza = ("/etc/network/interfaces", "iface ib0 inet manual\n");
    let network = ("/etc/systemd/network/ib0.network", "[Match]\nName=ib0\n");
    let both = networkd(enabled(host("debian", "12"), "networking.service"))
        .file(stanza.0, stanza.1)
        .file(network.0, network.1);
    assert_eq!(owners(&both), [Networkd, Ifupdown]);
    let left = enabled(host("debian", "12"), "networking.service")
        .file(stanza.0, stanza.1)
        .file(network.0, network.1);
    assert_eq!(
        owners(&left),
        [Ifupdown],
        "networkd neither runs nor starts at boot"
    );
    let only_left = host("debian", "12").file(network.0, network.1);
    assert_eq!(owners(&only_left), [Networkd], "better than nobody");
}

#[test]
fn an_image_has_no_live_side() {
    let image = nm(host("rocky", "9.4"))
        .file(
            "/run/NetworkManager/devices/3",
            "[device]\nmanaged=true\nconnection-uuid=1\n",
        )
        .file("/etc/sysconfig/network-scripts/ifcfg-ib0", "DEVICE=ib0\n");
    assert_eq!(owners_in(&image, Scope::Image), [Ifcfg]);
}

#[test]
fn unreadable_configuration_is_an_error() {
    let host = host("debian", "12").unreadable("/etc/network/interfaces");
    assert!(read(&host, Scope::Live).is_err());
}
