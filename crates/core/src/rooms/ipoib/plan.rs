//! From wanted and seen to a plan: files are written, rivals taken away; no link is taken down.

use super::backend::{Dialect, dialect};
use super::codes;
use super::model::{Compare, Link, LinkKind, Rendered, WantedLink};
use super::seen::Seen;
use super::{changes, commands, placed};
use crate::distro::Backend;
use crate::facts::Facts;
use crate::parts::file::{self, KeptFile, Present, SeenFile};
use crate::plan::{Change, Claim, Plan, When};
use crate::pointer::Pointer;
use crate::types::HostPath;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Plans all links.
pub fn plan(seen: &Seen, facts: &Facts) -> Plan {
    let mut plan = Plan::default();
    plan.errors.extend(seen.problems.iter().cloned());
    let Some(backend) = seen.backend.filter(|_| seen.problems.is_empty()) else {
        return plan;
    };
    let language = dialect(backend);
    let read = language.read(&seen.files);
    let mut reasons: BTreeMap<&str, Vec<Pointer>> = BTreeMap::new();
    for wanted in &seen.links {
        let name = wanted.link.name.as_str();
        if touched(seen, language, &read, name) {
            let found = changes::of(wanted, before(seen, &read, name));
            reasons.insert(name, found.iter().map(|c| c.path.clone()).collect());
            plan.changes.extend(found);
        }
    }
    for rendered in &seen.rendered {
        keep(&mut plan, seen, language, rendered, &reasons);
    }
    for path in &seen.rivals {
        take_away(&mut plan, seen, &read, path);
    }
    plan.append(seen.former.clone());
    plan.claims
        .extend(seen.away.iter().map(|(path, section)| Claim::File {
            path: path.clone(),
            section: section.clone(),
            keys: BTreeMap::new(),
        }));
    if backend == Backend::NetworkManager {
        for (path, _) in seen.files.iter().filter(|(_, text)| placed::fits_all(text)) {
            plan.warnings.push(codes::PROFILE_FOR_ALL.at(
                Pointer::of(seen.links.first().map_or("ipoib", |w| w.section)),
                format!("the profile {path} names no interface, so NetworkManager may bring up any IPoIB interface with it instead of with its own"),
                format!("remove {path}, or add an interface-name to it"),
            ));
        }
    }
    if facts.scope.live() {
        pending(&mut plan, seen, backend, &read, facts);
    }
    plan
}

/// Whether the files of a link are not as wanted.
fn touched(seen: &Seen, language: &dyn Dialect, read: &[(HostPath, Link)], name: &str) -> bool {
    let differs = seen
        .rendered
        .iter()
        .filter(|r| r.links.iter().any(|l| l == name))
        .any(|r| !fits(seen.at.get(&r.path), language, r));
    differs || seen.rivals.iter().any(|path| configures(read, path, name))
}

/// Whether a rival configures a link: by what it says, or as its route file.
fn configures(read: &[(HostPath, Link)], path: &HostPath, name: &str) -> bool {
    read.iter().any(|(p, link)| p == path && link.name == name)
        || super::backend::ifcfg::read::route_of(path) == Some(name)
}

/// Whether a file that is there will do.
fn fits(there: Option<&SeenFile>, language: &dyn Dialect, wanted: &Rendered) -> bool {
    let Some(Present::File { bytes, .. }) = there.map(|s| &s.present) else {
        return false;
    };
    match wanted.compare {
        Compare::Bytes => *bytes == wanted.text.as_bytes(),
        Compare::Meaning => {
            *bytes == wanted.text.as_bytes() || language.same(&String::from_utf8_lossy(bytes), &wanted.text)
        }
    }
}

/// The link as its files say: the file that we write speaks before others.
fn before<'a>(seen: &Seen, read: &'a [(HostPath, Link)], name: &str) -> Option<&'a Link> {
    let ours = |path: &HostPath| seen.rendered.iter().any(|r| r.path == *path);
    let mut mine = read.iter().filter(|(_, link)| link.name == name);
    mine.clone()
        .find(|(path, _)| ours(path))
        .or_else(|| mine.next())
        .map(|(_, link)| link)
}

fn keep(
    plan: &mut Plan,
    seen: &Seen,
    language: &dyn Dialect,
    rendered: &Rendered,
    reasons: &BTreeMap<&str, Vec<Pointer>>,
) {
    let Some(there) = seen.at.get(&rendered.path) else {
        return;
    };
    let fit = fits(Some(there), language, rendered);
    // A file that means the same stays as it is, to the byte.
    let content = match &there.present {
        Present::File { bytes, .. } if fit => bytes.clone(),
        _ => rendered.text.clone().into_bytes(),
    };
    let mut because: Vec<Pointer> = Vec::new();
    if !fit {
        let names = rendered.links.iter();
        because.extend(names.filter_map(|l| reasons.get(l.as_str())).flatten().cloned());
        because.dedup();
    }
    let at = rendered
        .links
        .first()
        .and_then(|name| seen.links.iter().find(|w| w.link.name == *name))
        .map_or_else(|| Pointer::of(rendered.section), |w| w.at.clone());
    let mut want = KeptFile::own(rendered.section, content, at, because).mode(rendered.mode);
    if let Some(keys) = &rendered.keys {
        want = want.keyed(keys.clone());
    }
    let known = plan.changes.len();
    file::keep(plan, there, want);
    for change in &mut plan.changes[known..] {
        change.when = When::LinkUp;
    }
}

/// Another file that configures one of the links: two would fight.
fn take_away(plan: &mut Plan, seen: &Seen, read: &[(HostPath, Link)], path: &HostPath) {
    let owner = seen.links.iter().find(|w| configures(read, path, &w.link.name));
    let (Some(wanted), Some(there)) = (owner, seen.at.get(path)) else {
        return;
    };
    let change = Change::now(wanted.at.clone(), json!({ "file": path }), Value::Null);
    plan.changes.push(change.later(When::LinkUp));
    file::remove(plan, there, wanted.section, std::slice::from_ref(&wanted.at));
}

/// Links whose running state is not what their files will say, with the command that brings them there.
fn pending(plan: &mut Plan, seen: &Seen, backend: Backend, read: &[(HostPath, Link)], facts: &Facts) {
    let written: Vec<String> = plan.steps.iter().map(|s| s.action.target()).collect();
    let mut fresh = Vec::new();
    for wanted in &seen.links {
        let name = &wanted.link.name;
        let of_link = seen.rendered.iter().filter(|r| r.links.contains(name));
        let mut files = of_link.map(|r| &r.path);
        let first = files.clone().next();
        let rival = seen.rivals.iter().any(|path| configures(read, path, name));
        let new = rival || files.any(|path| written.contains(&path.to_string()));
        if new {
            fresh.push(name.as_str());
        }
        if new || live_differs(wanted, facts) {
            let command = commands::bring_up(backend, facts.row(), name, first, rival);
            plan.pending.links.push(format!("{name}: {command}"));
        }
    }
    if !fresh.is_empty() {
        plan.warnings.push(codes::NOT_ACTIVATED.at(
            Pointer::of(seen.links.first().map_or("ipoib", |w| w.section)),
            format!("the configuration of {} is written and takes effect when the link is next brought up; ibplan takes no link down", fresh.join(", ")),
            "run the commands of `pending.links` when traffic allows, or boot",
        ));
    }
}

fn live_differs(wanted: &WantedLink, facts: &Facts) -> bool {
    let link = &wanted.link;
    let Some(live) = facts.ipoib_link(&link.name) else {
        // A port's own interface comes with its driver, not by bringing it up.
        return !matches!(link.kind, LinkKind::Parent | LinkKind::Ethernet)
            && !facts.links.contains(&link.name);
    };
    let mode = match (link.mode, &live.mode) {
        (Some(want), Some(now)) => want.word() != now,
        _ => false,
    };
    // Less than wanted is the fabric's limit, which bringing the link up does not raise.
    let mtu = match (link.mtu, live.mtu, live.carrier) {
        (Some(want), Some(now), Some(true)) => now > want,
        _ => false,
    };
    mode || mtu || link.bond != live.bond
}
