use super::*;

/// Files as administrators' guides have them.
#[test]
fn says_the_same_as_the_documented_examples() {
    let ib0 = "# /etc/network/interfaces.d/ib0\nauto ib0\niface ib0 inet static\n    address 192.168.10.1/24\n    \
        gateway 192.168.10.254\n    # the mode must be set before the MTU, and before the link is up\n    \
        pre-up echo datagram > /sys/class/net/$IFACE/mode\n    mtu 2044\n\niface ib0 inet6 static\n    address fd00:10::1/64\n";
    let link = Link {
        mtu: Some(2044),
        addresses: addresses(&["192.168.10.1/24", "fd00:10::1/64"]),
        gateway4: Some("192.168.10.254".parse().unwrap()),
        ..parent("ib0")
    };
    assert_eq!(read_one(ib0), link);
    assert!(Ifupdown.same(ib0, &text(link)));
    let dhcp = "auto ib0\niface ib0 inet dhcp\n    pre-up echo datagram > /sys/class/net/$IFACE/mode\n";
    assert!(Ifupdown.same(dhcp, &text(read_one(dhcp))));
    let bond0 = "# needs the ifenslave package\nauto bond0\niface bond0 inet static\n    address 192.168.10.1/24\n    mtu 2044\n    \
        bond-mode active-backup\n    bond-miimon 100\n    bond-fail-over-mac active\n    bond-primary ib0\n    bond-slaves ib0 ib1\n";
    assert!(Ifupdown.same(bond0, &text(read_one(bond0))));
}

fn at(list: &[&str]) -> Link {
    Link {
        addresses: addresses(list),
        ..Link::new("ib0", LinkKind::Parent)
    }
}

#[test]
fn reads_what_administrators_write() {
    for (text, wanted) in [
        (
            "iface ib0 inet static\naddress 10.0.0.1/24\n",
            at(&["10.0.0.1/24"]),
        ),
        (
            "iface ib0 inet static\n\taddress 10.0.0.1\n\tnetmask 24\n",
            at(&["10.0.0.1/24"]),
        ),
        (
            "iface ib0 inet static\naddress 10.0.0.1\nnetmask 255.255.0.0",
            at(&["10.0.0.1/16"]),
        ),
        ("iface ib0 inet static\naddress 10.0.0.1\n", at(&["10.0.0.1/8"])),
        ("iface ib0 inet6 static\naddress fd00::1\n", at(&["fd00::1/64"])),
        (
            "iface ib0 inet \\\n static\n# c \\\n   # d\n\n address \\\n10.0.0.1/24 \n",
            at(&["10.0.0.1/24"]),
        ),
        (
            "iface ib0 inet static\naddress 10.0.0.1/24\npost-up ip addr add 10.0.0.2/24 dev ib0\n",
            at(&["10.0.0.1/24", "10.0.0.2/24"]),
        ),
    ] {
        assert_eq!(read_one(text), wanted, "{text}");
    }
}

#[test]
fn reads_commands_that_configure_the_link() {
    let connected = Link {
        mode: Some(Mode::Connected),
        mtu: Some(65520),
        ..at(&["10.0.0.1/24"])
    };
    let routed = Link {
        gateway4: Some("10.0.0.254".parse().unwrap()),
        routes: vec![Route {
            to: "10.20.0.0/16".parse().unwrap(),
            via: "10.0.0.253".parse().unwrap(),
            metric: None,
        }],
        ..at(&["10.0.0.1/24"])
    };
    for (text, wanted) in [
        (
            "iface ib0 inet static\naddress 10.0.0.1/24\npre-up echo connected >/sys/class/net/ib0/mode || true\nmtu 65520\n",
            connected.clone(),
        ),
        (
            "iface ib0 inet static\naddress 10.0.0.1/24\npre-up echo 'connected' > \"/sys/class/net/${IFACE}/mode\"\nup /sbin/ip link set dev $IFACE mtu 65520\n",
            connected,
        ),
        (
            "iface ib0 inet static\naddress 10.0.0.1/24\ngateway 10.0.0.254\nup route add -net 10.20.0.0 netmask 255.255.0.0 gw 10.0.0.253 dev ib0\n",
            routed.clone(),
        ),
        (
            "iface ib0 inet static\naddress 10.0.0.1/24\nup ip ro add default via 10.0.0.254\nup ip route add 10.20.0.0/16 via 10.0.0.253 dev ib0 || true\nup ip route add 10.30.0.0/16 via 10.0.0.9 dev eth0\n",
            routed,
        ),
        (
            "iface ib0 inet dhcp\niface ib0 inet6 auto\n",
            Link {
                dhcp4: true,
                dhcp6: true,
                ..at(&[])
            },
        ),
        (
            "iface ib0 inet static\naddress nonsense\nmtu much\nup ip\nup\nup echo > x\n",
            at(&[]),
        ),
    ] {
        assert_eq!(read_one(text), wanted, "{text}");
    }
}

#[test]
fn reads_inherited_options_and_bonds_over_files() {
    let there = files(&[
        (
            MAIN,
            "source interfaces.d/*\nsource /etc/network/interfaces\nmapping ib*\n script map\n map a b\n",
        ),
        (
            "/etc/network/interfaces.d/a",
            "iface tmpl inet static\n mtu 2044\n address 10.0.0.9/24\niface ib7 inet static inherits tmpl\n address 10.0.0.7/24\niface ib8 inherits tmpl\niface loop inherits loop\n",
        ),
        (
            "/etc/network/interfaces.d/b",
            "iface bond0 inet manual\n bond_mode 1\n slaves ib2 ib3.8001\n bond_miimon 100\n bond-primary ib3.8001 ib2\niface ib2 inet manual\n",
        ),
        (
            "/etc/network/interfaces.d/c",
            "iface ib3.8001 inet manual\niface ib2 inet6 static\n address fd00::2/64\n",
        ),
    ]);
    let all = Ifupdown.read(&there);
    let get = |name: &str| all.iter().find(|(_, l)| l.name == name).unwrap().1.clone();
    assert_eq!(
        (get("ib7").mtu, get("ib7").addresses),
        (Some(2044), addresses(&["10.0.0.7/24"]))
    );
    assert_eq!(get("ib8").addresses, addresses(&["10.0.0.9/24"]));
    assert_eq!(
        get("bond0").kind,
        LinkKind::Bond {
            ports: vec!["ib2".to_owned(), "ib3.8001".to_owned()],
            primary: Some("ib3.8001".to_owned()),
            miimon: 100
        }
    );
    assert_eq!(get("ib3.8001").bond.as_deref(), Some("bond0"));
    assert!(matches!(get("ib3.8001").kind, LinkKind::Child { pkey, .. } if pkey.full() == 0x8001));
    // One link in two files: each file is named, with the link as both make it.
    let ib2: Vec<_> = all.iter().filter(|(_, l)| l.name == "ib2").collect();
    assert_eq!(ib2.len(), 2);
    assert!(ib2.iter().all(|(_, l)| l.addresses == addresses(&["fd00::2/64"])));
}

#[test]
fn compares_by_meaning() {
    let wanted = text(full());
    let loose = wanted
        .replace("# Written by ibplan.\n", "# mine\n\n")
        .replace("    ", "\t")
        .replace("    mtu 2044\n", "")
        .replace(
            "address 192.168.10.1/24\n\tgateway 192.168.10.254\n",
            "gateway   192.168.10.254\n\n\taddress 192.168.10.1\n# c\n\tnetmask 255.255.255.0\n",
        )
        .replace("\tup ip route", "\tpost-up ip route");
    assert_ne!(loose, wanted);
    assert!(Ifupdown.same(&loose, &wanted), "{loose}");
    for (from, to) in [
        ("auto ib0\n", ""),
        ("auto ib0\n", "allow-hotplug ib0\n"),
        ("mtu 2044", "mtu 4092"),
        ("datagram", "connected"),
        ("10.9.0.1/16", "10.9.0.1/24"),
        ("metric 5", "metric 6"),
        ("    mtu 2044\n", "    mtu 2044\n    up touch /x\n"),
        ("auto ib0\n", "auto ib0\nsource /x\n"),
    ] {
        assert!(wanted.contains(from));
        assert!(
            !Ifupdown.same(&wanted.replacen(from, to, 1), &wanted),
            "{from} -> {to}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_rendered_reads_back(links in any_links()) {
        let out = render(&links, &Files::new());
        let there: Files = out.iter().map(|r| (r.path.clone(), r.text.clone())).collect();
        let read = Ifupdown.read(&there);
        for wanted in &links {
            let mine: Vec<_> = read.iter().filter(|(_, l)| l.name == wanted.link.name).collect();
            prop_assert_eq!(mine.len(), 1);
            prop_assert_eq!(&mine[0].1, &wanted.link, "{}", there[&mine[0].0]);
        }
        prop_assert_eq!(read.len(), links.len());
        // Once written, the same files come out, the main file needs nothing, and nothing stands against them.
        let again = render(&links, &there);
        prop_assert_eq!(&again[..], &out[..links.len()]);
        prop_assert!(Ifupdown.rivals(&there, &links, &again).is_empty());
    }

    #[test]
    fn no_text_stops_the_reader(text in "(auto |iface |ib0|bond0| inet|6| static|\\\\|\n|\n up ip |route add|[ -~]{0,4}|source |\\*|\\[|mapping){0,24}") {
        let there = files(&[(MAIN, &text)]);
        let _ = Ifupdown.read(&there);
        prop_assert!(Ifupdown.same(&text, &text));
    }
}
