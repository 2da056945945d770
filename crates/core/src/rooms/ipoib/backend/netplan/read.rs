//! netplan files to links.

use super::yaml::{self, Node};
use crate::rooms::ipoib::backend::networkd::read::{mode, set_gateway};
use crate::rooms::ipoib::model::{Link, LinkKind, Route};
use crate::types::Address;

/// What one netplan file says, as far as ibplan has to know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    /// Interfaces under `ethernets` and `bonds`, by interface name.
    pub(crate) links: Vec<Link>,
    /// What the file holds besides those links, such as `vlans`, or a `renderer` that is not the default one.
    pub(crate) besides: Vec<String>,
}

impl Document {
    /// Reads a file.
    pub(crate) fn parse(text: &str) -> Self {
        let root = yaml::parse(text);
        let mut out = Self::default();
        let Some(network) = root.get("network") else {
            return out;
        };
        let mut bonds = Vec::new();
        for (key, value) in network.pairs() {
            match key.as_str() {
                "version" => {}
                "renderer" if value.text() == Some("networkd") => {}
                "ethernets" => {
                    for (id, body) in value.pairs() {
                        out.links.push(link(id, body, LinkKind::Parent));
                    }
                }
                "bonds" => {
                    for (id, body) in value.pairs() {
                        bonds.push(link(id, body, bond(body)));
                    }
                }
                other => out.besides.push(other.to_owned()),
            }
        }
        for member in &mut out.links {
            let of =
                |b: &&Link| matches!(&b.kind, LinkKind::Bond { ports, .. } if ports.contains(&member.name));
            member.bond = bonds.iter().find(of).map(|b| b.name.clone());
        }
        out.links.extend(bonds);
        out
    }
}

/// The name of the interface: the id, unless a match renames it or names it.
fn name_of<'a>(id: &'a str, body: &'a Node) -> &'a str {
    let given = body.get("set-name").and_then(Node::text);
    let matched = body.get("match").and_then(|m| m.get("name")).and_then(Node::text);
    given
        .or(matched)
        .filter(|n| !n.is_empty() && !n.contains(['*', '?', '[']))
        .unwrap_or(id)
}

fn bond(body: &Node) -> LinkKind {
    let parameters = body.get("parameters");
    let parameter = |key| parameters.and_then(|p| p.get(key)).and_then(Node::text);
    LinkKind::Bond {
        ports: body
            .get("interfaces")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::text)
            .map(str::to_owned)
            .collect(),
        primary: parameter("primary").map(str::to_owned),
        miimon: parameter("mii-monitor-interval")
            .and_then(|m| m.trim_end_matches("ms").parse().ok())
            .unwrap_or(0),
    }
}

fn link(id: &str, body: &Node, kind: LinkKind) -> Link {
    let text = |key| body.get(key).and_then(Node::text);
    let truth = |key| body.get(key).is_some_and(Node::is_true);
    let mut link = Link::new(name_of(id, body), kind);
    link.mode = text("infiniband-mode").and_then(mode);
    link.mtu = text("mtu").and_then(|m| m.parse().ok());
    link.dhcp4 = truth("dhcp4");
    link.dhcp6 = truth("dhcp6") || truth("accept-ra");
    // An address with options is a map of one key.
    link.addresses = body
        .get("addresses")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .filter_map(|a| a.text().or_else(|| a.pairs().first().map(|(k, _)| k.as_str())))
        .filter_map(|a| Address::parse(a).ok())
        .collect();
    for key in ["gateway4", "gateway6"] {
        set_gateway(&mut link, text(key).and_then(|g| g.parse().ok()));
    }
    for item in body.get("routes").map(Node::items).unwrap_or_default() {
        route(&mut link, item);
    }
    link.routes.sort();
    link
}

fn route(link: &mut Link, item: &Node) {
    let text = |key| item.get(key).and_then(Node::text);
    let Some(via) = text("via").and_then(|v| v.parse().ok()) else {
        return;
    };
    match text("to") {
        Some("default" | "0.0.0.0/0" | "::/0") => set_gateway(link, Some(via)),
        Some(to) => {
            if let Ok(to) = to.parse() {
                link.routes.push(Route {
                    to,
                    via,
                    metric: text("metric").and_then(|m| m.parse().ok()),
                });
            }
        }
        None => {}
    }
}
