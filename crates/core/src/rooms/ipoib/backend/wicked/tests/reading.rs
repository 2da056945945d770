use super::*;

#[test]
fn reads_what_administrators_write() {
    let read = |text: &str| Wicked.read(&files(&[("ifcfg-ib0", text)]))[0].1.clone();
    let at = |list: &[&str]| Link {
        addresses: addresses(list),
        ..Link::new("ib0", LinkKind::Parent)
    };
    for (text, wanted) in [
        ("IPADDR='10.0.0.1/24'", at(&["10.0.0.1/24"])),
        ("  IPADDR=10.0.0.1/24 # primary\n", at(&["10.0.0.1/24"])),
        (
            "IPADDR=\"10.0.0.1\"\nPREFIXLEN=\"24\"\nNETMASK=255.0.0.0\n",
            at(&["10.0.0.1/24"]),
        ),
        ("IPADDR='10.0.0.1'\nNETMASK='255.255.0.0'\n", at(&["10.0.0.1/16"])),
        ("IPADDR=10.0.0.1\n", at(&["10.0.0.1/32"])),
        (
            "IPADDR_x=10.0.0.1\nPREFIXLEN_x=24\nPREFIXLEN=8\nIPADDR=''\n",
            at(&["10.0.0.1/24"]),
        ),
        (
            "IPADDR=10.0.0.1/24\nIPADDR_1='fd00::1/64'\n#IPADDR_2=10.0.0.9/24\n",
            at(&["10.0.0.1/24", "fd00::1/64"]),
        ),
        ("IPADDR='10.0.0.1/24\nIPADDR-FOO=10.0.0.2/24\n=x\n", at(&[])),
        ("BOOTPROTO=none\nIPADDR=10.0.0.1/24\n", at(&[])),
        (
            "BOOTPROTO='DHCP+autoip'\nMTU=''\n",
            Link {
                dhcp4: true,
                dhcp6: true,
                ..at(&[])
            },
        ),
        (
            "MTU='1'\nMTU='65520'\nIPOIB_MODE=connected\nIPOIB_UMCAST=''\n",
            Link {
                mtu: Some(65520),
                mode: Some(Mode::Connected),
                ..at(&[])
            },
        ),
    ] {
        assert_eq!(read(text), wanted, "{text}");
    }
}

fn route(to: &str, via: &str, metric: Option<u32>) -> Route {
    Route {
        to: to.parse().unwrap(),
        via: via.parse().unwrap(),
        metric,
    }
}

fn routed() -> Files {
    files(&[
        ("ifcfg-ib0", "IPADDR=10.0.0.1/24\n"),
        ("ifcfg-ib0.rpmsave", "IPADDR=10.9.9.9/24\n"),
        ("ifcfg-ib1", ""),
        (
            "ifroute-ib0",
            "# c\n10.20.0.0/16 10.0.0.2 -\n10.30.0.0 10.0.0.2 255.255.0.0 - metric 9\ndefault 10.0.0.254\nrubbish\n10.40.0.0/16 - - ib0\n",
        ),
        (
            "routes",
            "10.50.0.0/16 10.0.0.3 - ib0 unicast preference 4\ndefault fd00::1 - ib1\n0.0.0.0/0 10.0.0.9 - -\n",
        ),
        ("ifroute-ib2~", "default 1.2.3.4\n"),
    ])
}

#[test]
fn reads_routes_from_both_kinds_of_file() {
    let there = routed();
    let all = Wicked.read(&there);
    let names: Vec<(&str, &str)> = all.iter().map(|(p, l)| (p.name(), l.name.as_str())).collect();
    assert_eq!(
        names,
        [
            ("ifcfg-ib0", "ib0"),
            ("ifroute-ib0", "ib0"),
            ("routes", "ib0"),
            ("ifcfg-ib1", "ib1"),
            ("routes", "ib1")
        ]
    );
    let ib0 = Link {
        addresses: addresses(&["10.0.0.1/24"]),
        gateway4: Some("10.0.0.254".parse().unwrap()),
        routes: vec![
            route("10.20.0.0/16", "10.0.0.2", None),
            route("10.30.0.0/16", "10.0.0.2", Some(9)),
            route("10.50.0.0/16", "10.0.0.3", Some(4)),
        ],
        ..Link::new("ib0", LinkKind::Parent)
    };
    assert!(all[..3].iter().all(|(_, l)| *l == ib0));
    assert_eq!(all[3].1.gateway6, Some("fd00::1".parse().unwrap()));
}

#[test]
fn the_routes_of_all_links_stay_where_they_are() {
    let there = routed();
    // One of ours that nobody wants is an error with its line.
    let links = alone(parent("ib0"));
    assert_eq!(
        Wicked.rivals(&there, &links, &[]),
        [
            path("/etc/sysconfig/network/ifcfg-ib0"),
            path("/etc/sysconfig/network/ifroute-ib0")
        ]
    );
    let problems = try_render(&links, &there).unwrap_err();
    assert_eq!(problems[0].code.id(), "ipoib.foreign_file_shared");
    assert!(problems[0].message.ends_with("in line 1"), "{problems:?}");
    let wanted = Link {
        routes: vec![route("10.50.0.0/16", "10.0.0.3", Some(4))],
        ..parent("ib0")
    };
    assert!(try_render(&alone(wanted), &there).is_ok());
    for (name, reads) in [
        ("ifcfg-ib0", true),
        ("ifroute-ib0", true),
        ("routes", true),
        ("ifcfg-ib0~", false),
        ("ifcfg-", false),
        ("config", false),
        ("if-up.d/ifcfg-x", false),
    ] {
        assert_eq!(Wicked.reads(&path(&format!("{FOLDER}/{name}"))), reads, "{name}");
    }
}

/// Files as administrators' guides and wicked's manual pages have them.
#[test]
fn says_the_same_as_the_documented_examples() {
    let connected = Link {
        mode: Some(Mode::Connected),
        mtu: Some(65520),
        addresses: addresses(&["192.168.10.1/24"]),
        ..parent("ib0")
    };
    let text = &render(&alone(connected))[0].1;
    let example = "STARTMODE='auto'\nBOOTPROTO='static'\nIPADDR='192.168.10.1/24'\nMTU='65520'\nIPOIB_MODE='connected'\n";
    assert!(Wicked.same(example, text));
    let shuffled = "# c\n\nMTU=65520\nIPOIB_MODE=\"connected\"\nIPOIB_UMCAST=''\nIPADDR_0=192.168.10.1\nPREFIXLEN_0=24\nBOOTPROTO=static\nSTARTMODE=auto # at boot\n";
    assert!(Wicked.same(shuffled, text));
    for (from, to) in [
        ("'auto'", "'manual'"),
        ("65520", "2044"),
        ("/24", "/16"),
        ("connected", "datagram"),
        ("MTU='65520'\n", ""),
        ("MTU='65520'\n", "MTU='65520'\nETHTOOL_OPTIONS='x'\n"),
    ] {
        assert!(
            !Wicked.same(&example.replacen(from, to, 1), text),
            "{from} -> {to}"
        );
    }
    let key = &render(&alone(child("ib0", 1)))[0].1;
    assert!(
        Wicked.same(&key.replace("0x8001", "8001"), key) && !Wicked.same(&key.replace("0x8001", "8002"), key)
    );
    let routes = &render(&alone(full()))[1].1;
    let same = "# destination  gateway  netmask  interface\n10.20.0.0 192.168.10.253 255.255.0.0 - metric 7\n\
        ::/0 fd00:10::fe\ndefault\t192.168.10.254  -   ib0\n";
    assert!(Wicked.same(same, routes), "{routes}");
    assert!(!Wicked.same(&same.replace("metric 7", ""), routes));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_rendered_reads_back(links in any_links()) {
        let out = try_render(&links, &Files::new()).unwrap();
        let there: Files = out.iter().map(|r| (r.path.clone(), r.text.clone())).collect();
        prop_assert_eq!(there.len(), out.len());
        let read = Wicked.read(&there);
        prop_assert_eq!(read.len(), out.len());
        for wanted in &links {
            let mine: Vec<_> = read.iter().filter(|(_, l)| l.name == wanted.link.name).collect();
            prop_assert!(!mine.is_empty());
            for (path, link) in mine {
                prop_assert_eq!(link, &wanted.link, "{}", there[path]);
            }
        }
        prop_assert_eq!(try_render(&links, &there).unwrap(), out.clone());
        prop_assert!(Wicked.rivals(&there, &links, &out).is_empty());
    }

    #[test]
    fn no_text_stops_the_reader(text in "(IPADDR|_1|=|'|\"|\n|default |10\\.0\\.0\\.1|/24| - |BONDING_SLAVE|MASTER=yes\n|#|[ -~]{0,4}){0,24}") {
        for name in ["ifcfg-ib0", "ifroute-ib0", "routes"] {
            let _ = Wicked.read(&files(&[(name, &text)]));
        }
        prop_assert!(Wicked.same(&text, &text));
    }
}
