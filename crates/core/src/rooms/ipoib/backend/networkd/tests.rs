use super::*;
use crate::distro::ROWS;
use crate::facts::{Facts, Scope};
use crate::pointer::Pointer;
use crate::rooms::ipoib::model::{Link, Mode, Route};
use crate::types::{Address, PKey};
use proptest::prelude::*;

pub(crate) fn row(name: &str) -> Option<&'static Row> {
    let row = ROWS.iter().find(|r| r.name == name);
    assert!(row.is_some(), "no row {name}");
    row
}

pub(crate) fn wanted(link: Link) -> WantedLink {
    let section = match link.kind {
        LinkKind::Bond { .. } => "bonds",
        _ => "ipoib",
    };
    WantedLink {
        link,
        at: Pointer::of(section).index(0),
        section,
    }
}

pub(crate) fn port(name: &str, mode: Mode) -> Link {
    let mut link = Link::new(name, LinkKind::Parent);
    link.mode = Some(mode);
    link
}

pub(crate) fn child(parent: &str, pkey: u16) -> Link {
    let pkey = PKey::new(pkey).unwrap();
    let kind = LinkKind::Child {
        parent: parent.to_owned(),
        pkey,
    };
    let mut link = Link::new(pkey.child_of(parent), kind);
    link.mode = Some(Mode::Datagram);
    link
}

/// A bond over links of the list, which become its members.
pub(crate) fn bond(name: &str, ports: &[&str], links: &mut [Link]) -> Link {
    for link in links.iter_mut().filter(|l| ports.contains(&l.name.as_str())) {
        link.bond = Some(name.to_owned());
    }
    Link::new(
        name,
        LinkKind::Bond {
            ports: ports.iter().map(|p| (*p).to_owned()).collect(),
            primary: ports.last().map(|p| (*p).to_owned()),
            miimon: 100,
        },
    )
}

pub(crate) fn files(pairs: &[(&str, &str)]) -> Files {
    pairs
        .iter()
        .map(|(p, t)| (HostPath::new(p).unwrap(), (*t).to_owned()))
        .collect()
}

pub(crate) fn as_files(rendered: &[Rendered]) -> Files {
    rendered
        .iter()
        .map(|r| (r.path.clone(), r.text.clone()))
        .collect()
}

/// The links of an answer of `read`, one a name, sorted; two answers for one name must agree.
pub(crate) fn by_name(read: Vec<(HostPath, Link)>) -> Vec<Link> {
    let mut out: Vec<Link> = Vec::new();
    for (path, link) in read {
        match out.iter().find(|l| l.name == link.name) {
            Some(other) => assert_eq!(*other, link, "{path}"),
            None => out.push(link),
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn any_addresses() -> impl Strategy<Value = Vec<Address>> {
    let v4 = (0u8..4, 1u8..=254).prop_map(|(net, host)| format!("10.{net}.0.{host}/24"));
    let v6 = (1u16.., 8u8..=128).prop_map(|(host, len)| format!("fd00:10::{host:x}/{len}"));
    prop::collection::vec(prop_oneof![v4, v6], 0..4)
        .prop_map(|all| all.iter().map(|a| Address::parse(a).unwrap()).collect())
}

fn any_route() -> impl Strategy<Value = Route> {
    (any::<bool>(), 1u8..=254, prop::option::of(any::<u32>())).prop_map(|(v4, n, metric)| Route {
        to: if v4 {
            format!("10.{n}.0.0/16")
        } else {
            format!("fd00:{n:x}::/32")
        }
        .parse()
        .unwrap(),
        via: if v4 {
            format!("10.0.0.{n}")
        } else {
            format!("fd00:10::{n:x}")
        }
        .parse()
        .unwrap(),
        metric,
    })
}

type Addressing = (Vec<Address>, Vec<Route>, [bool; 4], Option<u32>, bool);

fn any_addressing() -> impl Strategy<Value = Addressing> {
    (
        any_addresses(),
        prop::collection::vec(any_route(), 0..3),
        any::<[bool; 4]>(),
        prop::option::of(68u32..=65520),
        any::<bool>(),
    )
}

fn address(link: &mut Link, (addresses, mut routes, flags, mtu, connected): Addressing) {
    routes.sort();
    routes.dedup();
    link.addresses = addresses;
    link.routes = routes;
    [link.dhcp4, link.dhcp6] = [flags[0], flags[1]];
    link.gateway4 = flags[2].then(|| "10.0.0.254".parse().unwrap());
    link.gateway6 = flags[3].then(|| "fd00:10::fe".parse().unwrap());
    link.mtu = mtu;
    if link.mode.is_some() && connected {
        link.mode = Some(Mode::Connected);
    }
}

/// Links as a document can want them: ports, children, a bond of ports, a bond of children.
pub(crate) fn any_links() -> impl Strategy<Value = Vec<WantedLink>> {
    let settings = prop::collection::vec(any_addressing(), 10);
    (settings, 1usize..=3, any::<[bool; 6]>()).prop_map(|(settings, count, has)| {
        let mut links: Vec<Link> = ["ib1", "ibp65s0f1", "on"][..count]
            .iter()
            .map(|n| port(n, Mode::Datagram))
            .collect();
        for (at, parent) in ["ib1", "ibp65s0f1", "on"][..count].iter().enumerate() {
            for (n, key) in [0x8001, 0x7fff].into_iter().enumerate() {
                if parent.len() < 11 && has[at] && has[n + 2] {
                    links.push(child(parent, key));
                }
            }
        }
        for (link, set) in links.iter_mut().zip(settings.clone()) {
            address(link, set);
        }
        if has[5] {
            let of = |l: &Link| matches!(l.kind, LinkKind::Child { .. }) == has[4];
            let names: Vec<String> = links
                .iter()
                .filter(|l| of(l))
                .map(|l| l.name.clone())
                .rev()
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).take(2).collect();
            if !names.is_empty() {
                let mut made = bond("bond0", &names, &mut links);
                address(&mut made, settings[9].clone());
                links.push(made);
            }
        }
        links.into_iter().map(wanted).collect()
    })
}

fn render(
    links: &[WantedLink],
    row: Option<&'static Row>,
    files: &Files,
) -> Result<Vec<Rendered>, Vec<Problem>> {
    let facts = Facts::unknown(Scope::Live);
    Networkd.render(
        links,
        &Context {
            facts: &facts,
            row,
            files,
        },
    )
}

proptest! {
    #[test]
    fn reads_back_what_it_writes(links in any_links()) {
        let rendered = render(&links, None, &Files::new()).unwrap();
        prop_assert_eq!(&render(&links, None, &as_files(&rendered)).unwrap(), &rendered);
        let mut want: Vec<Link> = links.iter().map(|w| w.link.clone()).collect();
        want.sort_by(|a, b| a.name.cmp(&b.name));
        prop_assert_eq!(by_name(Networkd.read(&as_files(&rendered))), want);
        prop_assert_eq!(Networkd.rivals(&as_files(&rendered), &links, &rendered), Vec::<HostPath>::new());
    }
}

#[test]
fn a_port_with_a_child_and_a_bond() {
    let mut links = vec![
        port("ib0", Mode::Connected),
        port("ib1", Mode::Datagram),
        child("ib0", 1),
    ];
    links[0].mtu = Some(65520);
    links[2].addresses = vec![Address::parse("10.0.1.1/24").unwrap()];
    let made = bond("bond0", &["ib1", "ib0"], &mut links[..2]);
    links.push(made);
    let links: Vec<WantedLink> = links.into_iter().map(wanted).collect();
    let text: String = render(&links, None, &Files::new())
        .unwrap()
        .iter()
        .map(|r| format!("== {} {:o} {}\n{}", r.path, r.mode, r.section, r.text))
        .collect();
    insta::assert_snapshot!(text);
}

#[test]
fn children_need_systemd_250() {
    let links = [wanted(port("ib0", Mode::Datagram)), wanted(child("ib0", 0x10))];
    for row in ROWS {
        let got = render(&links, Some(row), &Files::new());
        if row.systemd >= 250 {
            assert!(got.is_ok(), "{}", row.name);
            continue;
        }
        let errors = got.unwrap_err();
        assert_eq!(errors.len(), 1, "{}", row.name);
        assert_eq!(errors[0].code, codes::BACKEND_CANNOT);
        assert!(
            errors[0].message.contains(&row.systemd.to_string()),
            "{}",
            errors[0]
        );
        // Without children every one of them can.
        assert!(render(&links[..1], Some(row), &Files::new()).is_ok());
    }
}

#[test]
fn a_name_that_reads_as_a_number_is_refused() {
    for (name, number) in [
        ("1", true),
        ("0x1f", true),
        ("0b1", true),
        ("0o7", true),
        ("1e5", false),
        ("0x", false),
        ("ib0", false),
        ("0xg", false),
    ] {
        let got = render(&[wanted(port(name, Mode::Datagram))], None, &Files::new());
        assert_eq!(got.is_err(), number, "{name}");
    }
}

#[test]
fn a_child_needs_its_parent_in_the_document() {
    let errors = render(&[wanted(child("ib0", 0x10))], None, &Files::new()).unwrap_err();
    assert_eq!(errors[0].code, codes::CHILD_WITHOUT_PARENT);
}

#[test]
fn older_files_are_taken_over_or_named() {
    let links = [
        wanted(port("ib0", Mode::Datagram)),
        wanted(port("ib1", Mode::Datagram)),
    ];
    let ours = render(&links, None, &Files::new()).unwrap();
    // (file, its text, taken over, errors)
    for (path, text, taken, errors) in [
        (
            "20-ib0.network",
            "[Match]\nName=ib0\n[Network]\nDHCP=yes\n",
            true,
            0,
        ),
        ("20-ib.network", "[Match]\nName=ib0 ib1\n", true, 0),
        ("20-ib.network", "[Match]\nName=ib*\n", false, 2),
        ("20-ib.network", "[Match]\nName=ib0 eth0\n", true, 1),
        ("20-ib.network", "[Match]\nType=infiniband\n", false, 2),
        ("20-all.network", "[Match]\nName=*\n", false, 2),
        (
            "20-wired.network",
            "[Match]\nType=ether\n[Network]\nDHCP=yes\n",
            false,
            0,
        ),
        ("20-wired.network", "[Match]\nName=e*\n", false, 0),
        ("80-ib0.network", "[Match]\nName=ib0\n", false, 0),
        ("80-all.network", "[Match]\nName=*\n", false, 0),
    ] {
        let at = format!("/etc/systemd/network/{path}");
        let files = files(&[(at.as_str(), text)]);
        let rivals = Networkd.rivals(&files, &links, &ours);
        assert_eq!(rivals.len(), usize::from(taken), "{path} {text}");
        let found = render(&links, None, &files).err().unwrap_or_default();
        assert_eq!(found.len(), errors, "{path} {text}: {found:?}");
        assert!(
            found
                .iter()
                .all(|e| e.code == codes::FOREIGN_SHARED && e.message.contains(path))
        );
    }
}

#[test]
fn reads_foreign_files() {
    let files = files(&[
        (
            "/etc/systemd/network/20-ib0.network",
            "[Match]\nName=ib0\nType=infiniband\n[Link]\nMTUBytes=2K\n[Network]\nIPoIB=storage\nAddress=192.168.10.1/24\nDHCP=ipv6\n[Route]\nDestination=10.20.0.0/16\nGateway=192.168.10.254\n[Route]\nGateway=192.168.10.253\n[Address]\nAddress=fd00::1/64\n[IPoIB]\nMode=connected\n",
        ),
        (
            "/etc/systemd/network/20-ib0.network.d/x.conf",
            "[Network]\nAddress=192.168.11.1/24\nBond=b\n",
        ),
        (
            "/etc/systemd/network/20-s.netdev",
            "[NetDev]\nName=storage\nKind=ipoib\n[IPoIB]\nPartitionKey=16\nMode=connected\n",
        ),
        (
            "/etc/systemd/network/30-b.netdev",
            "[NetDev]\nName=b\nKind=bond\n[Bond]\nMIIMonitorSec=1\n",
        ),
        (
            "/etc/systemd/network/40-eth.network",
            "[Match]\nName=ib7\nType=ether\n",
        ),
    ]);
    let links = by_name(Networkd.read(&files));
    let get = |name: &str| links.iter().find(|l| l.name == name).unwrap();
    let ib0 = get("ib0");
    assert_eq!((ib0.mtu, ib0.dhcp4, ib0.dhcp6), (Some(2048), false, true));
    // networkd ignores the section: the mode that counts is the kernel's own.
    assert_eq!(ib0.mode, None);
    assert_eq!(ib0.addresses.len(), 3);
    assert_eq!(ib0.gateway4, Some("192.168.10.253".parse().unwrap()));
    assert_eq!(ib0.routes.len(), 1);
    assert_eq!(ib0.bond.as_deref(), Some("b"));
    assert_eq!(
        get("storage").kind,
        LinkKind::Child {
            parent: "ib0".to_owned(),
            pkey: PKey::new(16).unwrap()
        }
    );
    assert_eq!(get("storage").mode, Some(Mode::Connected));
    assert_eq!(
        get("b").kind,
        LinkKind::Bond {
            ports: vec!["ib0".to_owned()],
            primary: None,
            miimon: 1000
        }
    );
    assert_eq!(get("ib7").kind, LinkKind::Ethernet);
}
