//! Links for the judges of network files: what a document can want, as a matrix.

use ibplan_core::distro::{Backend, Row};
use ibplan_core::facts::{Facts, Scope};
use ibplan_core::pointer::Pointer;
use ibplan_core::rooms::ipoib::backend::{Context, Files, dialect};
use ibplan_core::rooms::ipoib::model::{Link, LinkKind, Mode, Rendered, Route, WantedLink};
use ibplan_core::types::{Address, PKey};
use std::fs;
use std::path::Path;

/// A named set of links.
pub type Case = (String, Vec<WantedLink>);

fn port(name: &str, mode: Mode) -> Link {
    let mut link = Link::new(name, LinkKind::Parent);
    link.mode = Some(mode);
    link
}

fn child(parent: &str, pkey: u16, mode: Mode) -> Link {
    let pkey = PKey::new(pkey).unwrap();
    let kind = LinkKind::Child {
        parent: parent.to_owned(),
        pkey,
    };
    let mut link = Link::new(pkey.child_of(parent), kind);
    link.mode = Some(mode);
    link
}

/// The ways in which a link gets its addresses.
const ADDRESSING: [&str; 7] = ["none", "v4", "v6", "dhcp4", "dhcp6", "dhcp", "all"];

fn address(link: &mut Link, how: &str) {
    let parse = |all: &[&str]| all.iter().map(|a| Address::parse(a).unwrap()).collect();
    match how {
        "v4" => {
            link.addresses = parse(&["192.168.10.1/24"]);
            link.gateway4 = Some("192.168.10.254".parse().unwrap());
        }
        "v6" => {
            link.addresses = parse(&["fd00:10::1/64", "fd00:11::1/128"]);
            link.gateway6 = Some("fd00:10::fe".parse().unwrap());
        }
        "all" => {
            link.addresses = parse(&["192.168.10.1/24", "fd00:10::1/64", "10.0.0.1/31"]);
            link.gateway4 = Some("192.168.10.254".parse().unwrap());
            link.gateway6 = Some("fd00:10::fe".parse().unwrap());
            link.routes = [
                ("10.20.0.0/16", "192.168.10.253", Some(50)),
                ("fd00:20::/32", "fd00:10::fd", None),
            ]
            .into_iter()
            .map(|(to, via, metric)| Route {
                to: to.parse().unwrap(),
                via: via.parse().unwrap(),
                metric,
            })
            .collect();
        }
        _ => {}
    }
    link.dhcp4 = how == "dhcp4" || how == "dhcp";
    link.dhcp6 = how == "dhcp6" || how == "dhcp";
}

fn case(name: String, links: Vec<Link>) -> Case {
    let wanted = links.into_iter().map(|link| {
        let section = match link.kind {
            LinkKind::Bond { .. } => "bonds",
            _ => "ipoib",
        };
        WantedLink {
            link,
            at: Pointer::of(section),
            section,
        }
    });
    (name, wanted.collect())
}

/// Ports alone: mode, MTU, addresses, names that YAML or systemd could take for something else.
pub fn ports() -> Vec<Case> {
    let mut out = Vec::new();
    for mode in [Mode::Datagram, Mode::Connected] {
        for mtu in [None, Some(if mode == Mode::Datagram { 2044 } else { 65520 })] {
            for how in ADDRESSING {
                let mut link = port("ib0", mode);
                link.mtu = mtu;
                address(&mut link, how);
                out.push(case(format!("{} {mtu:?} {how}", mode.word()), vec![link]));
            }
        }
    }
    for name in [
        "on",
        "a@1+x",
        "ib0x",
        "1e5",
        "null",
        "ib_0",
        "ibp129s0f1",
        "ib0.8001",
        "x-y",
    ] {
        let mut link = port(name, Mode::Datagram);
        address(&mut link, "v4");
        out.push(case(format!("name {name}"), vec![link]));
    }
    out
}

/// Bonds of ports.
pub fn bonds() -> Vec<Case> {
    let mut out = Vec::new();
    for how in ADDRESSING {
        for primary in [None, Some("ib0")] {
            let links = vec![port("ib0", Mode::Datagram), port("ib1", Mode::Connected)];
            out.push(bonded(
                format!("bond {primary:?} {how}"),
                links,
                &["ib1", "ib0"],
                primary,
                how,
            ));
        }
    }
    out
}

/// P_Key children, and bonds with children in them.
pub fn children() -> Vec<Case> {
    let mut out = Vec::new();
    for how in ADDRESSING {
        for mode in [Mode::Datagram, Mode::Connected] {
            let mut links = vec![
                port("ib0", mode),
                child("ib0", 1, mode),
                child("ib0", 0x7fff, Mode::Datagram),
            ];
            address(&mut links[1], how);
            links[1].mtu = Some(2044);
            out.push(case(format!("children {} {how}", mode.word()), links));
        }
    }
    let pair = || {
        vec![
            port("ib0", Mode::Datagram),
            port("ib1", Mode::Datagram),
            child("ib0", 0x10, Mode::Datagram),
            child("ib1", 0x10, Mode::Datagram),
        ]
    };
    let (both, mixed) = (["ib0.8010", "ib1.8010"], ["ib1", "ib0.8010"]);
    out.push(bonded(
        "bond of children".to_owned(),
        pair(),
        &both,
        Some(both[0]),
        "all",
    ));
    out.push(bonded(
        "bond of a port and a child".to_owned(),
        pair(),
        &mixed,
        Some(mixed[0]),
        "v4",
    ));
    out
}

fn bonded(name: String, mut links: Vec<Link>, ports: &[&str], primary: Option<&str>, how: &str) -> Case {
    for link in links.iter_mut().filter(|l| ports.contains(&l.name.as_str())) {
        link.bond = Some("bond0".to_owned());
    }
    let mut bond = Link::new(
        "bond0",
        LinkKind::Bond {
            ports: ports.iter().map(|p| (*p).to_owned()).collect(),
            primary: primary.map(str::to_owned),
            miimon: 100,
        },
    );
    bond.mtu = Some(2044);
    address(&mut bond, how);
    links.push(bond);
    case(name, links)
}

/// What a back end writes for a case, on Debian 12's versions where no row is given.
pub fn render(
    backend: Backend,
    links: &[WantedLink],
    renderer: Option<&str>,
    row: Option<&'static Row>,
) -> Vec<Rendered> {
    let mut facts = Facts::unknown(Scope::Live);
    facts.backends.netplan_renderer = renderer.map(str::to_owned);
    let files = Files::new();
    let context = Context {
        facts: &facts,
        row,
        files: &files,
    };
    dialect(backend).render(links, &context).unwrap()
}

/// Writes files below a folder, with their modes.
pub fn write(root: &Path, rendered: &[Rendered]) {
    use std::os::unix::fs::PermissionsExt;
    for file in rendered {
        let path = root.join(&file.path.as_str()[1..]);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(file.mode)).unwrap();
    }
}
