//! What is rendered, and what foreign profiles mean.

use super::{FOLDER, NetworkManager, read};
use crate::distro::Row;
use crate::facts::{Facts, Scope};
use crate::pointer::Pointer;
use crate::rooms::ipoib::backend::{Context, Dialect, Files};
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, WantedLink};
use crate::types::{HostPath, PKey};

fn path(name: &str) -> HostPath {
    HostPath::new(&format!("{FOLDER}/{name}")).unwrap()
}

fn wanted(link: Link) -> WantedLink {
    WantedLink {
        link,
        at: Pointer::of("ipoib").index(0),
        section: "ipoib",
    }
}

fn text(link: Link, row: Option<&'static Row>, files: &Files) -> String {
    let facts = Facts::unknown(Scope::Image);
    let context = Context {
        facts: &facts,
        row,
        files,
    };
    NetworkManager
        .render(&[wanted(link)], &context)
        .unwrap()
        .remove(0)
        .text
}

fn port(name: &str) -> Link {
    let mut link = Link::new(name, LinkKind::Parent);
    link.mode = Some(Mode::Datagram);
    link
}

#[test]
fn case_08_and_17_parent_by_name_and_mtu_of_infiniband() {
    let mut child = Link::new(
        "ib0.8010",
        LinkKind::Child {
            parent: "ib0".to_owned(),
            pkey: PKey::new(0x10).unwrap(),
        },
    );
    child.mode = Some(Mode::Datagram);
    child.mtu = Some(4092);
    let text = text(child, None, &Files::new());
    assert!(
        text.contains("\n[infiniband]\ntransport-mode=datagram\nmtu=4092\np-key=32784\nparent=ib0\n"),
        "{text}"
    );
    assert!(!text.contains("[ethernet]"), "{text}");
    let mut bond = Link::new(
        "bond0",
        LinkKind::Bond {
            ports: vec!["ib0".to_owned()],
            primary: None,
            miimon: 100,
        },
    );
    bond.mtu = Some(2044);
    let text = self::text(bond, None, &Files::new());
    assert!(
        text.contains(
            "\n[ethernet]\nmtu=2044\n\n[bond]\nmode=active-backup\nmiimon=100\nfail_over_mac=active\n"
        ),
        "{text}"
    );
}

#[test]
fn ipv6_is_off_in_the_words_of_the_version() {
    for (version, method) in [("7", "ignore"), ("8", "ignore"), ("9", "disabled")] {
        let text = text(
            port("ib0"),
            Row::find("rocky", version).or(Row::find("centos", version)),
            &Files::new(),
        );
        assert!(
            text.ends_with(&format!("[ipv6]\nmethod={method}\n")),
            "{version}: {text}"
        );
    }
}

#[test]
fn case_19_no_two_links_share_an_id() {
    let uuid = "6f0b7d52-5a8e-4bb8-9b5c-1a3f0f6f0a01";
    let profile = |name: &str| {
        format!("[connection]\nid={name}\nuuid={uuid}\ntype=infiniband\ninterface-name={name}\n")
    };
    let one = Files::from([(path("ib0.nmconnection"), profile("ib0"))]);
    assert!(
        text(port("ib0"), None, &one).contains(uuid),
        "a valid id of its own stays"
    );
    let mut two = one.clone();
    two.insert(path("ib1.nmconnection"), profile("ib1"));
    let (a, b) = (text(port("ib0"), None, &two), text(port("ib1"), None, &two));
    assert!(!a.contains(uuid) && !b.contains(uuid));
    let id = |t: &str| t.lines().find(|l| l.starts_with("uuid=")).map(str::to_owned);
    assert_ne!(id(&a), id(&b));
    let broken = Files::from([(path("ib0.nmconnection"), profile("ib0").replace(uuid, "no-uuid"))]);
    assert!(!text(port("ib0"), None, &broken).contains("no-uuid"));
}

#[test]
fn ids_differ_between_hosts_and_never_between_runs() {
    let mut facts = Facts::unknown(Scope::Live);
    let image = super::render::fresh_uuid(&facts, "ib0");
    facts.machine_id = Some("0123456789abcdef0123456789abcdef".to_owned());
    let one = super::render::fresh_uuid(&facts, "ib0");
    assert_eq!(one, super::render::fresh_uuid(&facts, "ib0"));
    assert_ne!(one, image);
    assert_ne!(one, super::render::fresh_uuid(&facts, "ib1"));
}

#[test]
fn foreign_profiles_are_understood() {
    let files = Files::from([
        (path("Bond 0"), "[connection]\nuuid=aaaa\ntype=bond\ninterface-name=bond0\n[bond]\nmode=active-backup\nmiimon=50\nprimary=ib1\n[ipv4]\nmethod=manual\naddresses1=10.0.0.1;24;10.0.0.254;\n".to_owned()),
        (path("p1.nmconnection"), "[connection]\ntype=infiniband\ninterface-name=ib1\ncontroller=aaaa\nport-type=bond\n[infiniband]\ntransport-mode=connected\nmtu=65520\n".to_owned()),
        (path("child.nmconnection"), "[connection]\ntype=infiniband\n[infiniband]\np-key=0x8002\nparent=ib1\n[ipv4]\nmethod=auto\n[ipv6]\nmethod=manual\naddress1=fd00::1/64\nroute1=fd01::/64,fd00::2,7\nroute2=::/0,fd00::3\n".to_owned()),
        (path("eth.nmconnection"), "[connection]\ntype=802-3-ethernet\ninterface-name=ib2\n[802-3-ethernet]\nmtu=9000\nmac-address=00:11:22:33:44:55\n".to_owned()),
        (path("any.nmconnection"), "[connection]\ntype=infiniband\ninterface-name=\n[infiniband]\nmac-address=80:00\n".to_owned()),
        (path("junk.nmconnection"), "no keyfile\n[\n=x\n[connection\ntype=infiniband\n".to_owned()),
        (path("vpn.nmconnection"), "[connection]\ntype=vpn\ninterface-name=ib0\n".to_owned()),
    ]);
    let read = read::profiles(&files);
    let link = |name: &str| &read.iter().find(|(_, l)| l.name == name).unwrap().1;
    assert_eq!(read.len(), 4, "{read:#?}");
    let bond = link("bond0");
    assert_eq!(
        bond.kind,
        LinkKind::Bond {
            ports: vec!["ib1".to_owned()],
            primary: Some("ib1".to_owned()),
            miimon: 50
        }
    );
    assert_eq!(
        (bond.addresses[0].to_string(), bond.gateway4.unwrap().to_string()),
        ("10.0.0.1/24".to_owned(), "10.0.0.254".to_owned())
    );
    let member = link("ib1");
    assert_eq!(
        (member.mode, member.mtu, member.bond.as_deref()),
        (Some(Mode::Connected), Some(65520), Some("bond0"))
    );
    let child = link("ib1.8002");
    assert!(
        child.dhcp4
            && matches!(&child.kind, LinkKind::Child { parent, pkey } if parent == "ib1" && pkey.number() == 2)
    );
    assert_eq!(
        (child.routes[0].metric, child.gateway6.unwrap().to_string()),
        (Some(7), "fd00::3".to_owned())
    );
    assert_eq!(
        (&link("ib2").kind, link("ib2").mtu),
        (&LinkKind::Ethernet, Some(9000))
    );
}

#[test]
fn case_13_a_profile_for_no_interface_belongs_to_none_and_is_never_written() {
    let files = Files::from([(
        path("x.nmconnection"),
        "[connection]\ntype=infiniband\ninterface-name=\n".to_owned(),
    )]);
    assert_eq!(read::profiles(&files), []);
    assert!(text(port("ib0"), None, &files).contains("\ninterface-name=ib0\n"));
}

#[test]
fn backups_are_no_profiles() {
    for (name, is) in [
        ("ib0.nmconnection", true),
        ("ib0", true),
        (".ib0.swp", false),
        ("ib0~", false),
        ("ib0.nmconnection.rpmsave", false),
        ("ca.pem", false),
    ] {
        assert_eq!(read::is_profile(&path(name)), is, "{name}");
    }
    assert!(!read::is_profile(&HostPath::fixed("/etc/ib0.nmconnection")));
}

#[test]
fn what_counts_as_a_difference() {
    let ours = text(port("ib0"), None, &Files::new());
    let same = |there: &str| NetworkManager.same(there, &ours);
    assert!(
        same(&ours)
            && same(&ours.replace("uuid=", "uuid=x"))
            && same(&format!("{ours}\n[proxy]\n[ethernet]\n"))
    );
    assert!(
        same(&ours.replace(
            "[ipv6]\nmethod=disabled",
            "[ipv6]\nmethod=link-local\nnever-default=true"
        )),
        "the document has no say in these"
    );
    for (from, to) in [
        ("transport-mode=datagram", "transport-mode=connected"),
        ("transport-mode=datagram", "transport-mode=datagram\nmtu=2044"),
        ("type=infiniband", "type=ethernet"),
        ("interface-name=ib0", "interface-name=ib0\nautoconnect=false"),
        ("interface-name=ib0", "interface-name=ib0\nzone=trusted"),
        (
            "interface-name=ib0",
            "interface-name=ib0\npermissions=user:alice:;",
        ),
        ("[ipv4]\nmethod=disabled", "[ipv4]\nmethod=auto"),
    ] {
        assert!(ours.contains(from));
        assert!(!same(&ours.replace(from, to)), "{to}");
    }
}
