//! Golden files from the documentation, and the reader against them.

use super::{FOLDER, Ifcfg, links, shell};
use crate::distro::Row;
use crate::facts::{Facts, Scope};
use crate::pointer::Pointer;
use crate::rooms::ipoib::backend::{Context, Dialect, Files};
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, Rendered, WantedLink};
use crate::types::{Address, HostPath, PKey};

fn path(name: &str) -> HostPath {
    HostPath::new(&format!("{FOLDER}/{name}")).unwrap()
}

fn render(link: &Link, version: &str, files: &Files) -> Vec<Rendered> {
    let facts = Facts::unknown(Scope::Image);
    let context = Context {
        facts: &facts,
        row: Row::find("rhel", version),
        files,
    };
    let wanted = WantedLink {
        link: link.clone(),
        at: Pointer::of("ipoib").index(0),
        section: "ipoib",
    };
    Ifcfg.render(&[wanted], &context).unwrap()
}

/// The assignments without the id and the comment.
fn body(rendered: &Rendered) -> String {
    let lines = rendered
        .text
        .lines()
        .filter(|l| !l.starts_with('#') && !l.starts_with("UUID="));
    lines.map(|l| format!("{l}\n")).collect()
}

fn link(name: &str, kind: LinkKind, addresses: &[&str]) -> Link {
    let mut link = Link::new(name, kind);
    link.mode = Some(Mode::Datagram);
    link.addresses = addresses.iter().map(|a| Address::parse(a).unwrap()).collect();
    link
}

/// Links with their files.
#[allow(clippy::too_many_lines)] // a table
fn golden() -> Vec<(Link, Vec<(&'static str, &'static str)>)> {
    let mut datagram = link(
        "ib0",
        LinkKind::Parent,
        &[
            "192.168.10.1/24",
            "192.168.11.1/26",
            "fd00:10::1/64",
            "fd00:11::1/64",
        ],
    );
    datagram.mtu = Some(2044);
    datagram.gateway4 = Some("192.168.10.254".parse().unwrap());
    datagram.routes = vec![crate::rooms::ipoib::model::Route {
        to: "10.20.0.0/16".parse().unwrap(),
        via: "192.168.10.253".parse().unwrap(),
        metric: Some(50),
    }];
    let mut connected = link("ib0", LinkKind::Parent, &["192.168.10.1/24"]);
    connected.mode = Some(Mode::Connected);
    connected.mtu = Some(65520);
    let mut dhcp = link("ib0", LinkKind::Parent, &[]);
    (dhcp.dhcp4, dhcp.dhcp6) = (true, true);
    let key = PKey::new(1).unwrap();
    let child = link(
        "ib0.8001",
        LinkKind::Child {
            parent: "ib0".to_owned(),
            pkey: key,
        },
        &["192.168.11.1/24"],
    );
    let mut bond = link(
        "bond0",
        LinkKind::Bond {
            ports: vec![],
            primary: Some("ib0".to_owned()),
            miimon: 100,
        },
        &["192.168.10.1/24"],
    );
    (bond.mode, bond.mtu) = (None, Some(2044));
    let mut member = link("ib1", LinkKind::Parent, &[]);
    member.bond = Some("bond0".to_owned());
    vec![
        (
            datagram,
            vec![
                (
                    "ifcfg-ib0",
                    "TYPE=InfiniBand\nDEVICE=ib0\nNAME=ib0\nONBOOT=yes\nCONNECTED_MODE=no\nMTU=2044\nBOOTPROTO=none\nIPADDR=192.168.10.1\nPREFIX=24\nIPADDR1=192.168.11.1\nPREFIX1=26\nGATEWAY=192.168.10.254\nDEFROUTE=yes\nIPV6INIT=yes\nIPV6_AUTOCONF=no\nIPV6ADDR=fd00:10::1/64\nIPV6ADDR_SECONDARIES=fd00:11::1/64\n",
                ),
                ("route-ib0", "10.20.0.0/16 via 192.168.10.253 dev ib0 metric 50\n"),
            ],
        ),
        (
            connected,
            vec![(
                "ifcfg-ib0",
                "TYPE=InfiniBand\nDEVICE=ib0\nNAME=ib0\nONBOOT=yes\nCONNECTED_MODE=yes\nMTU=65520\nBOOTPROTO=none\nIPADDR=192.168.10.1\nPREFIX=24\nDEFROUTE=no\nIPV6INIT=no\n",
            )],
        ),
        (
            dhcp,
            vec![(
                "ifcfg-ib0",
                "TYPE=InfiniBand\nDEVICE=ib0\nNAME=ib0\nONBOOT=yes\nCONNECTED_MODE=no\nBOOTPROTO=dhcp\nDEFROUTE=yes\nIPV6INIT=yes\nIPV6_AUTOCONF=yes\nDHCPV6C=yes\n",
            )],
        ),
        (
            child,
            vec![(
                "ifcfg-ib0.8001",
                "TYPE=InfiniBand\nPKEY=yes\nPKEY_ID=0x8001\nPHYSDEV=ib0\nDEVICE=ib0.8001\nNAME=ib0.8001\nONBOOT=yes\nCONNECTED_MODE=no\nBOOTPROTO=none\nIPADDR=192.168.11.1\nPREFIX=24\nDEFROUTE=no\nIPV6INIT=no\n",
            )],
        ),
        (
            bond,
            vec![(
                "ifcfg-bond0",
                "TYPE=Bond\nDEVICE=bond0\nNAME=bond0\nONBOOT=yes\nBONDING_MASTER=yes\nBONDING_OPTS=\"mode=active-backup miimon=100 fail_over_mac=active primary=ib0\"\nMTU=2044\nBOOTPROTO=none\nIPADDR=192.168.10.1\nPREFIX=24\nDEFROUTE=no\nIPV6INIT=no\n",
            )],
        ),
        (
            member,
            vec![(
                "ifcfg-ib1",
                "TYPE=InfiniBand\nDEVICE=ib1\nNAME=ib1\nONBOOT=yes\nCONNECTED_MODE=no\nBOOTPROTO=none\nMASTER=bond0\nSLAVE=yes\n",
            )],
        ),
    ]
}

#[test]
fn case_20_typed_files_with_every_key() {
    for (link, files) in golden() {
        let rendered = render(&link, "8.10", &Files::new());
        let got: Vec<(&str, String)> = rendered.iter().map(|r| (r.path.name(), body(r))).collect();
        let want: Vec<(&str, String)> = files.iter().map(|(n, t)| (*n, (*t).to_owned())).collect();
        assert_eq!(got, want);
        assert!(
            rendered[0].text.contains("\nUUID="),
            "NetworkManager's reader gets an id"
        );
        let initscripts = render(&link, "7", &Files::new());
        assert!(
            initscripts.iter().all(|r| !r.text.contains("UUID=")),
            "initscripts have none"
        );
    }
}

#[test]
fn what_is_written_is_what_is_read() {
    for (link, _) in golden() {
        let files: Files = render(&link, "8.10", &Files::new())
            .into_iter()
            .map(|r| (r.path, r.text))
            .collect();
        assert_eq!(
            links(&files).into_iter().map(|(_, l)| l).collect::<Vec<_>>(),
            [link]
        );
    }
}

#[test]
fn foreign_files_are_understood() {
    let files = Files::from([
        (path("ifcfg-ib0"), "# comment\nTYPE='Infiniband'; DEVICE=\"ib0\"  CONNECTED_MODE=yes\nexport MTU=65520\nIPADDR0=10.0.0.1 # here\nNETMASK0=255.255.255.0\nGATEWAY=10.0.0.254\nDEFROUTE=no\nIPV6INIT=yes\nIPV6_AUTOCONF=no\nIPV6ADDR=fd00::1/64\n".to_owned()),
        (path("route-ib0"), "ADDRESS0=10.20.0.0\nNETMASK0=255.255.0.0\nGATEWAY0=10.0.0.2\nMETRIC0=9\n".to_owned()),
        (path("ifcfg-ib0:1"), "DEVICE=ib0:1\nIPADDR=10.0.0.9\nPREFIX=24\n".to_owned()),
        (path("ifcfg-storage"), "DEVICE=ib1.8002\nPKEY=yes\nPKEY_ID=2\nPHYSDEV=ib1\nBOOTPROTO=dhcp\n".to_owned()),
        (path("ifcfg-ib2"), "TYPE=Ethernet\nHWADDR=00:11:22:33:44:55\n".to_owned()),
        (path("ifcfg-ib3"), "ONBOOT=yes\nMASTER=bond0\nSLAVE=yes\n".to_owned()),
        (path("ifcfg-bond0"), "DEVICE=bond0\nBONDING_OPTS='mode=1 miimon=50 primary=ib3'\nBONDING_MASTER=yes\n".to_owned()),
        (path("ifcfg-lo"), "DEVICE=lo\n".to_owned()),
        (path("ifcfg-ib0.bak"), "DEVICE=ib0\n".to_owned()),
    ]);
    let read = links(&files);
    let link = |file: &str| &read.iter().find(|(p, _)| p.name() == file).unwrap().1;
    assert_eq!(read.len(), 6);
    let ib0 = link("ifcfg-ib0");
    assert_eq!(
        (ib0.mode, ib0.mtu, ib0.gateway4, ib0.dhcp6),
        (Some(Mode::Connected), Some(65520), None, false)
    );
    assert_eq!(
        ib0.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["10.0.0.1/24", "fd00::1/64"]
    );
    assert_eq!(
        (ib0.routes[0].to.to_string(), ib0.routes[0].metric),
        ("10.20.0.0/16".to_owned(), Some(9))
    );
    assert_eq!(link("ifcfg-ib0:1").name, "ib0");
    assert!(
        matches!(&link("ifcfg-storage").kind, LinkKind::Child { parent, pkey } if parent == "ib1" && pkey.number() == 2)
    );
    assert_eq!(link("ifcfg-ib2").kind, LinkKind::Ethernet);
    assert_eq!(link("ifcfg-ib3").bond.as_deref(), Some("bond0"));
    assert_eq!(
        link("ifcfg-bond0").kind,
        LinkKind::Bond {
            ports: vec!["ib3".to_owned()],
            primary: Some("ib3".to_owned()),
            miimon: 50
        }
    );
}

#[test]
fn what_counts_as_a_difference() {
    let installer = "TYPE=InfiniBand\nDEVICE=ib0\nNAME=ib0\nONBOOT=yes\nBOOTPROTO=none\nCONNECTED_MODE=no\nMTU=2044\nIPADDR=192.168.10.8\nPREFIX=24\nDEFROUTE=no\n";
    let mut wanted = link("ib0", LinkKind::Parent, &["192.168.10.8/24"]);
    wanted.mtu = Some(2044);
    let ours = &render(&wanted, "8.10", &Files::new())[0].text;
    let same = |there: &str| Ifcfg.same(there, ours);
    assert!(same(ours) && same(installer));
    assert!(same(
        &installer
            .replace("PREFIX=24", "NETMASK=255.255.255.0")
            .replace("none", "static")
            .replace("=yes", "=\"yes\"")
    ));
    for (from, to) in [
        ("MTU=2044\n", ""),
        ("CONNECTED_MODE=no", "CONNECTED_MODE=yes"),
        ("DEFROUTE=no", "GATEWAY=1.2.3.4"),
        ("NAME=ib0", "NM_CONTROLLED=no"),
        ("=24", "=25"),
        ("TYPE=InfiniBand", "TYPE=Ethernet"),
    ] {
        assert!(!same(&installer.replace(from, to)), "{to}");
    }
    assert!(!Ifcfg.same("10.0.0.0/8 via 10.1.1.1\n", "10.0.0.0/8 via 10.1.1.2\n"));
}

#[test]
fn ids_and_the_administrators_choice_stay() {
    let uuid = "3154e18a-2284-4a9a-ae1c-dd53f1e7c9a8";
    let wanted = link("ib0", LinkKind::Parent, &[]);
    let mut files = Files::from([(
        path("ifcfg-ib0"),
        format!("DEVICE=ib0\nUUID={uuid}\nNM_CONTROLLED=no\n"),
    )]);
    let text = &render(&wanted, "8.10", &files)[0].text;
    assert!(
        text.contains(uuid) && text.contains("\nNM_CONTROLLED=no\n"),
        "{text}"
    );
    assert!(
        render(&wanted, "7", &files)[0]
            .text
            .contains("\nNM_CONTROLLED=no\n")
    );
    files.insert(path("ifcfg-ib1"), format!("DEVICE=ib1\nUUID={uuid}\n"));
    assert!(
        !render(&wanted, "8.10", &files)[0].text.contains(uuid),
        "case 19: a shared id is replaced"
    );
}

#[test]
fn initscripts_take_one_source_of_addresses() {
    let mut both = link("ib0", LinkKind::Parent, &["10.0.0.1/24"]);
    both.dhcp4 = true;
    let (facts, files) = (Facts::unknown(Scope::Image), Files::new());
    let wanted = [WantedLink {
        link: both,
        at: Pointer::of("ipoib").index(0),
        section: "ipoib",
    }];
    let render = |version: &str| {
        let context = Context {
            facts: &facts,
            row: Row::find("rhel", version),
            files: &files,
        };
        Ifcfg.render(&wanted, &context)
    };
    let problems = render("7").unwrap_err();
    assert_eq!(
        (problems[0].code.id(), problems[0].path.as_str()),
        ("ipoib.backend_cannot", "/ipoib/0/dhcp4")
    );
    assert!(render("8").is_ok());
}

#[test]
fn quoting_survives_a_round() {
    for value in ["plain", "with blank", "a\"b", "a$b`c\\d", "'single'", ""] {
        let read = shell::parse(&format!("KEY={}\n", shell::quoted(value)));
        assert_eq!(read.get("KEY").map(String::as_str), Some(value));
    }
    assert_eq!(
        shell::parse("if true; then X=1; fi\nA=1 echo hi\nB='open\n")
            .keys()
            .collect::<Vec<_>>(),
        ["A"]
    );
}

#[test]
fn a_route_file_of_ours_that_is_not_wanted_is_a_rival() {
    let files = Files::from([
        (path("route-ib0"), "10.0.0.0/8 via 10.1.1.1\n".to_owned()),
        (path("route-ib9"), "10.0.0.0/8 via 10.1.1.1\n".to_owned()),
    ]);
    let wanted = [WantedLink {
        link: link("ib0", LinkKind::Parent, &[]),
        at: Pointer::of("ipoib").index(0),
        section: "ipoib",
    }];
    assert_eq!(Ifcfg.rivals(&files, &wanted, &[]), [path("route-ib0")]);
}
