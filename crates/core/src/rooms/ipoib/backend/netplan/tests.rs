use super::*;
use crate::distro::{ROWS, Row};
use crate::facts::{Facts, Scope};
use crate::rooms::ipoib::backend::networkd::tests::{
    any_links, as_files, bond, by_name, child, files, port, row, wanted,
};
use crate::rooms::ipoib::model::Mode;
use crate::types::Address;
use proptest::prelude::*;

fn facts(renderer: &str) -> Facts {
    let mut facts = Facts::unknown(Scope::Live);
    facts.backends.netplan_renderer = Some(renderer.to_owned());
    facts
}

fn render(
    links: &[WantedLink],
    facts: &Facts,
    row: Option<&'static Row>,
    files: &Files,
) -> Result<Vec<Rendered>, Vec<Problem>> {
    Netplan.render(links, &Context { facts, row, files })
}

fn text_of<'a>(rendered: &'a [Rendered], path: &str) -> Option<&'a str> {
    rendered
        .iter()
        .find(|r| r.path.as_str() == path)
        .map(|r| r.text.as_str())
}

proptest! {
    #[test]
    fn reads_back_what_it_writes(links in any_links(), old in any::<bool>()) {
        // Netplan of Debian 11 has neither infiniband-mode nor `to: default`; its systemd has no children either.
        let links: Vec<WantedLink> = if old {
            let is = |w: &WantedLink| matches!(w.link.kind, LinkKind::Parent);
            links.into_iter().filter(is).map(|mut w| { w.link.bond = None; w }).collect()
        } else {
            links
        };
        let row = old.then(|| row("Debian 11").unwrap());
        let facts = facts("networkd");
        let rendered = render(&links, &facts, row, &Files::new()).unwrap();
        prop_assert_eq!(&render(&links, &facts, row, &as_files(&rendered)).unwrap(), &rendered);
        let mut want: Vec<Link> = links.iter().map(|w| w.link.clone()).collect();
        want.sort_by(|a, b| a.name.cmp(&b.name));
        prop_assert_eq!(by_name(Netplan.read(&as_files(&rendered))), want);
        prop_assert_eq!(Netplan.rivals(&as_files(&rendered), &links, &rendered), Vec::<HostPath>::new());
    }
}

#[test]
fn one_file_and_what_lies_beside_it() {
    let mut links = vec![
        port("ib0", Mode::Datagram),
        port("ib1", Mode::Datagram),
        child("ib0", 1),
        port("on", Mode::Connected),
    ];
    links[0].mtu = Some(2044);
    links[3].addresses = ["10.0.1.1/24", "fd00::1/64"]
        .map(|a| Address::parse(a).unwrap())
        .to_vec();
    links[3].gateway4 = Some("10.0.1.254".parse().unwrap());
    let made = bond("bond0", &["ib1", "ib0"], &mut links[..2]);
    links.push(made);
    let links: Vec<WantedLink> = links.into_iter().map(wanted).collect();
    let text: String = render(&links, &facts("networkd"), None, &Files::new())
        .unwrap()
        .iter()
        .map(|r| format!("== {} {:o} {}\n{}", r.path, r.mode, r.section, r.text))
        .collect();
    insta::assert_snapshot!(text);
}

#[test]
fn what_each_netplan_can() {
    let port_ = [wanted(port("ib0", Mode::Connected))];
    let with_child = [port_[0].clone(), wanted(child("ib0", 1))];
    let (networkd, nm) = (facts("networkd"), facts("NetworkManager"));
    for row in ROWS.iter().filter(|r| r.netplan.is_some()) {
        let got = render(&port_, &networkd, Some(row), &Files::new()).unwrap();
        let yaml = text_of(&got, OWN).unwrap();
        let new = row.netplan >= Some((0, 105));
        assert_eq!(yaml.contains("infiniband-mode: connected"), new, "{}", row.name);
        assert!(!yaml.contains("renderer"), "the renderer is the host's");
        let rule = text_of(&got, "/etc/udev/rules.d/70-ibplan-ib0-mode.rules").unwrap();
        assert!(rule.contains("echo connected >"), "{rule}");
        match render(&port_, &nm, Some(row), &Files::new()) {
            // NetworkManager writes the mode itself: one file and no rule.
            Ok(rendered) => assert!(new && rendered.len() == 1, "{}", row.name),
            Err(errors) => assert!(!new && errors[0].code == codes::BACKEND_CANNOT, "{}", row.name),
        }
        assert_eq!(
            render(&with_child, &networkd, Some(row), &Files::new()).is_ok(),
            row.systemd >= 250,
            "{}",
            row.name
        );
        let errors = render(&with_child, &nm, Some(row), &Files::new()).unwrap_err();
        assert_eq!(errors.last().map(|e| e.code), Some(codes::BACKEND_CANNOT));
    }
    let mut links = vec![
        port("ib0", Mode::Datagram),
        port("ib1", Mode::Datagram),
        child("ib0", 1),
        child("ib1", 1),
    ];
    let made = bond("bond0", &["ib0.8001", "ib1.8001"], &mut links);
    links.push(made);
    let links: Vec<WantedLink> = links.into_iter().map(wanted).collect();
    assert_eq!(render(&links, &nm, None, &Files::new()).unwrap_err().len(), 3);
    let got = render(&links, &networkd, None, &Files::new()).unwrap();
    assert!(!text_of(&got, OWN).unwrap().contains("bond0"));
    assert!(text_of(&got, "/etc/systemd/network/60-ibplan-bond0.netdev").is_some());
}

#[test]
fn a_bond_of_a_child_and_a_port_reaches_the_port_by_a_drop_in() {
    let mut links = vec![
        port("ib0", Mode::Datagram),
        port("ib1", Mode::Datagram),
        child("ib0", 1),
    ];
    let made = bond("bond0", &["ib0.8001", "ib1"], &mut links);
    links.push(made);
    let links: Vec<WantedLink> = links.into_iter().map(wanted).collect();
    let got = render(&links, &facts("networkd"), None, &Files::new()).unwrap();
    let text = text_of(
        &got,
        "/etc/systemd/network/10-netplan-ib1.network.d/61-ibplan-bond.conf",
    )
    .unwrap();
    assert!(text.contains("Bond=bond0\nPrimarySlave=true\n"), "{text}");
    let text = text_of(
        &got,
        "/etc/systemd/network/10-netplan-ib0.network.d/60-ibplan.conf",
    )
    .unwrap();
    assert!(text.contains("[Network]\nIPoIB=ib0.8001\n"), "{text}");
}

#[test]
fn foreign_files_are_taken_over_whole_or_named() {
    let links = [
        wanted(port("ib0", Mode::Datagram)),
        wanted(port("ib1", Mode::Datagram)),
    ];
    let facts = facts("networkd");
    let ours = render(&links, &facts, None, &Files::new()).unwrap();
    // (text, taken over, errors)
    for (text, taken, errors) in [
        (
            "network:\n  version: 2\n  renderer: networkd\n  ethernets:\n    ib0:\n      dhcp4: true\n",
            true,
            0,
        ),
        (
            "network: {version: 2, ethernets: {ib0: {dhcp4: true}, ib1: {}}}",
            true,
            0,
        ),
        (
            "network:\n  ethernets:\n    eth0: {dhcp4: true}\n    ib0: {dhcp4: true}\n",
            false,
            1,
        ),
        (
            "network:\n  ethernets:\n    x: {match: {macaddress: 'a'}, set-name: ib0}\n    y: &anchor {}\n",
            false,
            1,
        ),
        (
            "network:\n  renderer: NetworkManager\n  ethernets:\n    ib1: {}\n",
            false,
            1,
        ),
        ("network:\n  ethernets:\n    eth0: {dhcp4: true}\n", false, 0),
        ("network:\n  renderer: NetworkManager\n", false, 0),
        ("", false, 0),
    ] {
        let files = files(&[("/etc/netplan/50-cloud-init.yaml", text)]);
        assert_eq!(
            Netplan.rivals(&files, &links, &ours).len(),
            usize::from(taken),
            "{text}"
        );
        let found = render(&links, &facts, None, &files).err().unwrap_or_default();
        assert_eq!(found.len(), errors, "{text}: {found:?}");
        assert!(found.iter().all(|e| e.code == codes::FOREIGN_SHARED));
    }
    // A networkd file that sorts before the generated one hides it.
    let files = files(&[("/etc/systemd/network/05-ib.network", "[Match]\nName=ib*\n")]);
    assert_eq!(render(&links, &facts, None, &files).unwrap_err().len(), 2);
}

#[test]
fn a_section_that_is_not_managed_stays_in_the_file() {
    let facts = facts("networkd");
    let mut links = vec![
        port("ib0", Mode::Connected),
        port("ib1", Mode::Datagram),
        port("ib2", Mode::Datagram),
    ];
    links[0].mtu = Some(4000);
    let made = bond("bond0", &["ib0", "ib1"], &mut links);
    links.push(made);
    let mut all: Vec<WantedLink> = links.into_iter().map(wanted).collect();
    // ib1 stands in no section of its own: a bare member.
    all[1].section = "bonds";
    let there = as_files(&render(&all, &facts, None, &Files::new()).unwrap());
    let read = |rendered: Vec<Rendered>| by_name(Netplan.read(&as_files(&rendered)));
    let names = |links: &[Link]| links.iter().map(|l| l.name.clone()).collect::<Vec<_>>().join(" ");
    let context = Context {
        facts: &facts,
        row: None,
        files: &there,
    };

    // Only ipoib, without ib2: the bond and its bare member stay.
    let mut ib0 = all[0].clone();
    ib0.link.bond = None;
    let got = read(
        Netplan
            .render_sections(&["ipoib"], &[ib0.clone()], &context)
            .unwrap(),
    );
    assert_eq!(names(&got), "bond0 ib0 ib1");
    assert_eq!(got[1].mode, Some(Mode::Connected));

    // Only bonds: ib2 stays, and so does what the section ipoib says of ib0.
    let mut bare = wanted(port("ib0", Mode::Datagram));
    bare.section = "bonds";
    bare.link.bond = Some("bond0".to_owned());
    let got = read(
        Netplan
            .render_sections(&["bonds"], &[bare, all[1].clone(), all[3].clone()], &context)
            .unwrap(),
    );
    assert_eq!(names(&got), "bond0 ib0 ib1 ib2");
    assert_eq!((got[1].mode, got[1].mtu), (Some(Mode::Connected), Some(4000)));

    // Bonds emptied: gone, with the bare member; ib0 and ib2 stay.
    let got = read(Netplan.render_sections(&["bonds"], &[], &context).unwrap());
    assert_eq!(names(&got), "ib0 ib2");
    // ipoib emptied: the bond stays, and its members, since netplan refuses a bond of unknown interfaces.
    let got = read(Netplan.render_sections(&["ipoib"], &[], &context).unwrap());
    assert_eq!(names(&got), "bond0 ib0 ib1");
    // Both managed: nothing is kept.
    let got = read(
        Netplan
            .render_sections(&["ipoib", "bonds"], &[ib0], &context)
            .unwrap(),
    );
    assert_eq!(names(&got), "ib0");
    let got = Netplan
        .render_sections(&["ipoib", "bonds"], &[], &context)
        .unwrap();
    assert_eq!(got, Vec::new());
}

#[test]
fn a_new_request_of_one_section_keeps_the_other_by_itself() {
    let facts = facts("networkd");
    let mut links = vec![
        port("ib0", Mode::Datagram),
        port("ib1", Mode::Datagram),
        port("ib2", Mode::Datagram),
    ];
    let made = bond("bond0", &["ib0", "ib1"], &mut links);
    links.push(made);
    let all: Vec<WantedLink> = links.into_iter().map(wanted).collect();
    let there = as_files(&render(&all, &facts, None, &Files::new()).unwrap());
    let got = render(&all[2..3], &facts, None, &there).unwrap();
    assert_eq!(by_name(Netplan.read(&as_files(&got))).len(), 4);
}
