//! The one file of netplan holds links of two sections of the document; a request that manages only one of them must
//! leave the other's links as they are.

use super::read::Document;
use crate::pointer::Pointer;
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, WantedLink};
use std::collections::BTreeMap;

/// The links for the file: the wanted ones, and from the file as it is those of sections that are not managed now.
pub(crate) fn with_kept(wanted: &[WantedLink], managed: &[&str], there: Option<&str>) -> Vec<WantedLink> {
    let mut out = wanted.to_vec();
    let Some(text) = there else { return out };
    let sections = sections(text);
    let old = Document::parse(text).links;
    let section_of = |link: &Link| match (sections.get(&link.name), &link.kind) {
        (Some(section), _) => *section,
        (None, LinkKind::Bond { .. }) => "bonds",
        (None, _) => "ipoib",
    };
    for link in &old {
        let section = section_of(link);
        if managed.contains(&section) {
            continue;
        }
        match out.iter_mut().find(|w| w.link.name == link.name) {
            None => out.push(as_wanted(link.clone(), section)),
            // The section `bonds` alone is managed and names a port that the section `ipoib` configures: it says who is
            // in the bond, not in which mode the port is.
            Some(member) if member.section == "bonds" && member.link.bond.is_some() && section == "ipoib" => {
                member.link.mode = link.mode;
                member.link.mtu = link.mtu;
                member.section = section;
            }
            Some(_) => {}
        }
    }
    add_members(&mut out, &old);
    out
}

/// netplan rejects a file with a bond whose members it does not define: those of a bond that stays, stay.
fn add_members(out: &mut Vec<WantedLink>, old: &[Link]) {
    let missing: Vec<String> = out
        .iter()
        .filter_map(|w| match &w.link.kind {
            LinkKind::Bond { ports, .. } => Some(ports.clone()),
            _ => None,
        })
        .flatten()
        .filter(|port| !out.iter().any(|w| w.link.name == *port))
        .collect();
    for port in missing {
        let before = old.iter().find(|l| l.name == port);
        let mut bare = Link::new(port, LinkKind::Parent);
        bare.mode = before.and_then(|l| l.mode).or(Some(Mode::Datagram));
        bare.mtu = before.and_then(|l| l.mtu);
        out.push(as_wanted(bare, "bonds"));
    }
}

fn as_wanted(link: Link, section: &'static str) -> WantedLink {
    WantedLink {
        link,
        at: Pointer::of(section),
        section,
    }
}

/// The words behind the names in a file that ibplan wrote.
fn sections(text: &str) -> BTreeMap<String, &'static str> {
    text.lines()
        .filter_map(|line| {
            let (name, section) = line.strip_prefix("    ")?.split_once(":  # ")?;
            let section = ["ipoib", "bonds"].into_iter().find(|s| *s == section)?;
            Some((name.trim_matches('"').to_owned(), section))
        })
        .collect()
}
