//! .network and .netdev files to links.

use super::ini::{self, Ini};
use super::{MEMBERS, matching, mode_rule};
use crate::rooms::ipoib::backend::Files;
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, Route};
use crate::types::{Address, HostPath, PKey};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What the files together say.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    /// .network files with their drop-ins, in the order of their paths.
    pub(crate) networks: Vec<(&'a HostPath, Ini)>,
    /// .netdev files by the name that they make; the first one of a name counts.
    netdevs: BTreeMap<String, (&'a HostPath, Ini)>,
    /// Members of bonds, in the order written beside the bond's file or else of the files.
    order: BTreeMap<String, Vec<String>>,
    /// Bond by member, and whether the member is the preferred one.
    pub(crate) bonds: BTreeMap<String, (String, bool)>,
    /// Parent by child.
    parents: BTreeMap<String, String>,
    modes: BTreeMap<String, Mode>,
}

impl<'a> Tree<'a> {
    /// Reads them; other files are passed over.
    pub(crate) fn of(files: &'a Files) -> Self {
        let mut tree = Self {
            modes: mode_rule::read(files),
            ..Self::default()
        };
        let mut drop_ins: BTreeMap<String, Vec<Ini>> = BTreeMap::new();
        for (path, text) in files {
            match (base_of_drop_in(path), path.name()) {
                (Some(base), _) => drop_ins.entry(base).or_default().push(Ini::parse(text)),
                (None, name) if name.ends_with(".network") => tree.networks.push((path, Ini::parse(text))),
                (None, name) if name.ends_with(".netdev") => tree.netdev(path, text),
                _ => {}
            }
        }
        for (base, parts) in drop_ins {
            tree.drop_in(&base, parts);
        }
        let named: Vec<(String, Ini)> = tree
            .networks
            .iter()
            .flat_map(|(_, ini)| {
                matching::exact_names(ini)
                    .into_iter()
                    .map(|n| (n.to_owned(), ini.clone()))
            })
            .collect();
        for (name, ini) in named {
            tree.relations(&name, &ini);
        }
        tree
    }

    fn netdev(&mut self, path: &'a HostPath, text: &str) {
        let ini = Ini::parse(text);
        let Some(name) = ini.last("NetDev", "Name").map(str::to_owned) else {
            return;
        };
        if let Some(members) = text
            .lines()
            .find_map(|l| l.trim_start_matches(['#', ' ']).strip_prefix(MEMBERS))
        {
            let members = members.split_whitespace().map(str::to_owned).collect();
            self.order.insert(name.clone(), members);
        }
        self.netdevs.entry(name).or_insert((path, ini));
    }

    /// A drop-in of a file that is here counts with it; one of a file that netplan generates below /run names the
    /// interface in its folder's name.
    fn drop_in(&mut self, base: &str, parts: Vec<Ini>) {
        if let Some((_, ini)) = self.networks.iter_mut().find(|(p, _)| p.name() == base) {
            parts.into_iter().for_each(|part| ini.extend(part));
        } else if let Some(name) = base
            .strip_prefix("10-netplan-")
            .and_then(|b| b.strip_suffix(".network"))
        {
            parts.iter().for_each(|part| self.relations(name, part));
        }
    }

    fn relations(&mut self, name: &str, ini: &Ini) {
        for child in ini.words("Network", "IPoIB") {
            self.parents.entry(child.to_owned()).or_insert(name.to_owned());
        }
        if let Some(bond) = ini.last("Network", "Bond") {
            let primary = ini.last("Network", "PrimarySlave").is_some_and(ini::is_true);
            self.bonds
                .entry(name.to_owned())
                .or_insert((bond.to_owned(), primary));
        }
    }

    /// The links, each with every file that says something of it: a .netdev file and a .network file of one link are
    /// both given, with all that both say.
    pub(crate) fn links(&self) -> Vec<(HostPath, Link)> {
        let mut out = Vec::new();
        for (path, ini) in &self.networks {
            for name in matching::exact_names(ini) {
                out.push(((*path).clone(), self.link(name, ini)));
            }
        }
        for (name, (path, _)) in &self.netdevs {
            let link = out.iter().map(|(_, l)| l).find(|l| l.name == *name).cloned();
            let link = link.unwrap_or_else(|| self.link(name, &Ini::default()));
            out.push(((*path).clone(), link));
        }
        out.sort_by(|a, b| (&a.0, &a.1.name).cmp(&(&b.0, &b.1.name)));
        out
    }

    fn link(&self, name: &str, ini: &Ini) -> Link {
        let mut link = Link::new(name, self.kind(name, ini));
        link.mode = match &link.kind {
            LinkKind::Parent => self.modes.get(name).copied(),
            LinkKind::Child { .. } => self
                .netdevs
                .get(name)
                .and_then(|(_, n)| n.last("IPoIB", "Mode"))
                .and_then(mode),
            _ => None,
        };
        link.mtu = ini.last("Link", "MTUBytes").and_then(bytes);
        link.bond = self.bonds.get(name).map(|(bond, _)| bond.clone());
        let dhcp = ini.last("Network", "DHCP").unwrap_or("no").to_ascii_lowercase();
        let both = ini::is_true(&dhcp) || dhcp == "both";
        link.dhcp4 = both || dhcp == "ipv4" || dhcp == "v4";
        link.dhcp6 = both
            || dhcp == "ipv6"
            || dhcp == "v6"
            || ini.last("Network", "IPv6AcceptRA").is_some_and(ini::is_true);
        let of_sections = ini.each("Address").filter_map(|keys| ini::value(keys, "Address"));
        link.addresses = ini
            .all("Network", "Address")
            .into_iter()
            .chain(of_sections)
            .filter_map(|a| Address::parse(a).ok())
            .collect();
        for gateway in ini.all("Network", "Gateway") {
            set_gateway(&mut link, gateway.parse().ok());
        }
        for keys in ini.each("Route") {
            route(&mut link, keys);
        }
        link.routes.sort();
        link
    }

    fn kind(&self, name: &str, ini: &Ini) -> LinkKind {
        match self.netdevs.get(name) {
            Some((_, netdev)) => match netdev.last("NetDev", "Kind") {
                Some("bond") => self.bond(name, netdev),
                Some("ipoib") => netdev
                    .last("IPoIB", "PartitionKey")
                    .and_then(|k| PKey::parse(k).ok())
                    .map_or(LinkKind::Parent, |pkey| LinkKind::Child {
                        parent: self.parent(name),
                        pkey,
                    }),
                _ => LinkKind::Ethernet,
            },
            None if ini.words("Match", "Type").contains(&"ether") => LinkKind::Ethernet,
            None => LinkKind::Parent,
        }
    }

    /// The parent whose file names the child; where none does, the child's name may tell.
    fn parent(&self, name: &str) -> String {
        match self.parents.get(name) {
            Some(parent) => parent.clone(),
            None => name
                .rsplit_once('.')
                .map_or(String::new(), |(parent, _)| parent.to_owned()),
        }
    }

    fn bond(&self, name: &str, netdev: &Ini) -> LinkKind {
        let members = || self.bonds.iter().filter(|(_, (bond, _))| bond == name);
        let order = self.order.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut ports: Vec<String> = members().map(|(m, _)| m.clone()).collect();
        ports.sort_by_key(|p| order.iter().position(|o| o == p).unwrap_or(usize::MAX));
        LinkKind::Bond {
            ports,
            primary: members()
                .find(|(_, (_, primary))| *primary)
                .map(|(m, _)| m.clone()),
            miimon: netdev
                .last("Bond", "MIIMonitorSec")
                .and_then(milliseconds)
                .unwrap_or(0),
        }
    }
}

/// `X.network` for `/…/X.network.d/Y.conf`.
fn base_of_drop_in(path: &HostPath) -> Option<String> {
    let folder = path.parent()?;
    let base = folder.name().strip_suffix(".d")?;
    (base.ends_with(".network") && path.name().ends_with(".conf")).then(|| base.to_owned())
}

fn route(link: &mut Link, keys: &[(String, String)]) {
    let via: Option<IpAddr> = ini::value(keys, "Gateway").and_then(|g| g.parse().ok());
    let to = ini::value(keys, "Destination").map(str::parse::<ipnet::IpNet>);
    match (to, via) {
        (None, via) => set_gateway(link, via),
        (Some(Ok(to)), via) if to.prefix_len() == 0 => set_gateway(link, via),
        (Some(Ok(to)), Some(via)) => link.routes.push(Route {
            to,
            via,
            metric: ini::value(keys, "Metric").and_then(|m| m.parse().ok()),
        }),
        // A route without a router, or one that networkd itself would refuse: the model has no such thing.
        _ => {}
    }
}

/// Sets the default route of the router's family.
pub(crate) fn set_gateway(link: &mut Link, via: Option<IpAddr>) {
    match via {
        Some(IpAddr::V4(_)) => link.gateway4 = via,
        Some(IpAddr::V6(_)) => link.gateway6 = via,
        None => {}
    }
}

/// A mode word.
pub(crate) fn mode(word: &str) -> Option<Mode> {
    [Mode::Datagram, Mode::Connected]
        .into_iter()
        .find(|m| m.word() == word)
}

/// A size of systemd: digits, `K`, `M`, `G` to the base 1024.
fn bytes(text: &str) -> Option<u32> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[at..].trim() {
        "" | "B" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    text[..at].parse::<u32>().ok()?.checked_mul(factor)
}

/// A time span of systemd in whole milliseconds; a number without unit is in seconds (systemd.time(7)).
fn milliseconds(text: &str) -> Option<u32> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u32 = text[..at].parse().ok()?;
    match text[at..].trim() {
        "ms" | "msec" => Some(number),
        "" | "s" | "sec" | "second" | "seconds" => number.checked_mul(1000),
        "us" | "usec" | "µs" => Some(number / 1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_of_systemd() {
        assert_eq!(
            (bytes("2044"), bytes("64K"), bytes("x")),
            (Some(2044), Some(65536), None)
        );
        for (text, ms) in [
            ("100ms", Some(100)),
            ("1", Some(1000)),
            ("1s", Some(1000)),
            ("0.1s", None),
            ("5000us", Some(5)),
        ] {
            assert_eq!(milliseconds(text), ms, "{text}");
        }
    }
}
