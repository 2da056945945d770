use super::*;

/// How the main file is, what else is in the folder, and what must be added.
#[test]
fn the_include_line() {
    const ALL: &str = "source /etc/network/interfaces.d/*";
    const NARROW: &str = "source /etc/network/interfaces.d/ibplan-*";
    const ODD: &str = "source /etc/network/interfaces.d/ibplan-*[!A-Za-z0-9_-]*";
    let foreign = "/etc/network/interfaces.d/eth9";
    let plain = alone(parent("ib0"));
    let both = vec![want("ipoib", 0, parent("ib0")), want("ipoib", 1, child("ib0", 1))];
    for (main, other, links, added) in [
        ("", None, &plain, Some(ALL)),
        ("auto lo\n", None, &both, Some(ALL)),
        ("source /etc/network/interfaces.d/*\n", None, &both, None),
        ("  source   interfaces.d/*\n", None, &both, None),
        ("source /etc/network/interfaces.d/ibplan*\n", None, &both, None),
        ("source /etc/network/*.d/i?plan-[a-i]*\n", None, &both, None),
        ("source \\\n/etc/network/interfaces.d/*\n", None, &both, None),
        ("source \"/etc/network/interfaces.d/*\"\n", None, &both, None),
        ("#source /etc/network/interfaces.d/*\n", None, &both, Some(ALL)),
        ("source /etc/other/*\n", None, &both, Some(ALL)),
        (
            "source /etc/network/interfaces.d/*.cfg\n",
            None,
            &both,
            Some(NARROW),
        ),
        ("source-directory /etc/network/interfaces.d\n", None, &plain, None),
        ("source-directory interfaces.d/\n", None, &both, Some(ODD)),
        (
            "source /etc/network/interfaces.d/ibplan-ib0\n",
            None,
            &both,
            Some(ODD),
        ),
        // Somebody's leftover that nobody reads today stays unread.
        ("auto lo\n", Some(foreign), &both, Some(NARROW)),
    ] {
        let mut there = Files::new();
        if !main.is_empty() {
            there.insert(path(MAIN), main.to_owned());
        }
        if let Some(other) = other {
            there.insert(path(other), "iface eth9 inet dhcp\n".to_owned());
        }
        let out = render(links, &there);
        let edit = out.iter().find(|r| r.path.as_str() == MAIN);
        assert_eq!(
            edit.map(|r| r.text.clone()),
            added.map(|line| format!("{main}{line}\n")),
            "{main:?}"
        );
        assert_eq!(
            edit.and_then(|r| r.keys.clone()),
            added.map(|line| BTreeMap::from([(line.to_owned(), None)])),
            "{main:?}"
        );
        // With the edit done, nothing is left to do.
        if let Some(edit) = edit {
            there.insert(path(MAIN), edit.text.clone());
            assert!(
                render(links, &there).iter().all(|r| r.path.as_str() != MAIN),
                "{main:?}"
            );
        }
    }
}

#[test]
fn the_include_line_never_joins_the_line_before_it() {
    for (main, wanted) in [
        ("auto lo", "auto lo\nsource /etc/network/interfaces.d/*\n"),
        ("auto lo \\", "auto lo \\\n\nsource /etc/network/interfaces.d/*\n"),
    ] {
        let out = render(&alone(parent("ib0")), &files(&[(MAIN, main)]));
        assert_eq!(out.last().unwrap().text, wanted);
    }
}

#[test]
fn an_edited_main_file_stays_claimed_and_as_it_is() {
    let line = "source /etc/network/interfaces.d/*";
    let main = format!("# mine\n{line}\n");
    let mut facts = Facts::unknown(Scope::Live);
    facts.ledger.files.insert(
        path(MAIN),
        Owned {
            section: "ipoib".to_owned(),
            original: Original::Absent,
            written: digest(main.as_bytes()),
            keys: BTreeMap::from([(line.to_owned(), None)]),
        },
    );
    let there = files(&[(MAIN, &main)]);
    let out = render_with(&facts, &alone(parent("ib0")), &there).unwrap();
    let edit = out.last().unwrap();
    assert_eq!((edit.path.as_str(), &edit.text), (MAIN, &main));
    assert_eq!(edit.keys, Some(BTreeMap::from([(line.to_owned(), None)])));
    // Without any link of ours the line has no more use: prune gives the file back.
    assert!(render_with(&facts, &[], &there).unwrap().is_empty());
}

const IB0_IN_MAIN: &str = "auto lo eth0\niface eth0 inet dhcp\n\n# fabric\nauto ib0\niface ib0 inet static\n  address 10.0.0.1\n  netmask 255.255.255.0\n  \
    pre-up   echo datagram > /sys/class/net/$IFACE/mode\nsource interfaces.d/*\n";

#[test]
fn a_stanza_in_the_main_file_is_refused_with_its_lines() {
    let there = files(&[(MAIN, IB0_IN_MAIN)]);
    let other = Link {
        addresses: addresses(&["10.0.0.2/24"]),
        ..parent("ib0")
    };
    let problems = refuse(&alone(other.clone()), &there);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code.id(), "ipoib.stanza_in_main_file");
    assert!(
        problems[0]
            .message
            .contains("/etc/network/interfaces lines 6 to 9"),
        "{}",
        problems[0].message
    );
    assert!(Ifupdown.rivals(&there, &alone(other), &[]).is_empty());
    // The very same configuration is left where it is.
    let same = Link {
        addresses: addresses(&["10.0.0.1/24"]),
        ..parent("ib0")
    };
    assert!(render(&alone(same.clone()), &there).is_empty());
    // Not brought up at boot, or said twice: no.
    let dormant = files(&[(MAIN, &IB0_IN_MAIN.replace("auto ib0\n", "") as &str)]);
    assert_eq!(refuse(&alone(same.clone()), &dormant).len(), 1);
    let twice = files(&[
        (MAIN, IB0_IN_MAIN),
        ("/etc/network/interfaces.d/ibplan-ib0", "iface ib0 inet manual\n"),
    ]);
    assert_eq!(refuse(&alone(same), &twice).len(), 1);
}

#[test]
fn files_of_our_links_alone_are_taken_over_and_shared_ones_are_not() {
    let main = "source /etc/network/interfaces.d/*\n";
    let own = "/etc/network/interfaces.d/ib0";
    let there = files(&[
        (MAIN, main),
        (own, "auto ib0\niface ib0 inet dhcp\n"),
        ("/etc/network/interfaces.d/eth0", "iface eth0 inet dhcp\n"),
    ]);
    let links = alone(parent("ib0"));
    let out = render(&links, &there);
    assert_eq!(Ifupdown.rivals(&there, &links, &out), [path(own)]);
    for shared in [
        "auto ib0 eth1\niface ib0 inet dhcp\n",
        "iface ib0 inet dhcp\niface eth1 inet dhcp\n",
        "iface ib0 inet dhcp\nmapping eth*\n  script x\n",
        "iface ib0 inet dhcp\nsource /etc/x\n",
    ] {
        let there = files(&[(MAIN, main), (own, shared)]);
        assert!(Ifupdown.rivals(&there, &links, &[]).is_empty(), "{shared}");
        let problems = refuse(&links, &there);
        assert_eq!(problems[0].code.id(), "ipoib.foreign_file_shared", "{shared}");
    }
    // A file that ifupdown does not read is nobody's rival.
    let unread = files(&[(MAIN, "auto lo\n"), (own, "iface ib0 inet dhcp\n")]);
    assert!(Ifupdown.rivals(&unread, &links, &[]).is_empty());
    assert_eq!(
        Ifupdown
            .rivals(&files(&[(own, "iface ib0 inet dhcp\n")]), &links, &[])
            .len(),
        1
    );
}
