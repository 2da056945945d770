//! Rules of addresses, gateways and routes.

use crate::pointer::Pointer;
use crate::problem::Findings;
use crate::rooms::ipoib::codes;
use crate::rooms::ipoib::entry::Entry;
use crate::types::{Address, Network};
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// All rules.
pub(super) fn document(all: &[Entry<'_>], found: &mut Findings) {
    for entry in all {
        routes(entry, found);
        routers(entry, found);
    }
    one_default(all, found);
    unique(all, found);
    overlaps(all, found);
}

fn family(v4: bool) -> &'static str {
    if v4 { "IPv4" } else { "IPv6" }
}

/// Family of a route, and what a default route cannot carry.
fn routes(entry: &Entry<'_>, found: &mut Findings) {
    for (k, route) in entry.ip.routes.iter().enumerate() {
        let at = entry.at.key("routes").index(k);
        match route.to {
            Network::Net(to) => {
                let v4 = matches!(to, IpNet::V4(_));
                if v4 != route.via.ip().is_ipv4() {
                    found.error(
                        codes::ROUTE_FAMILY,
                        at.key("via"),
                        format!("the route goes to the {} network {to} by {}, of the other family", family(v4), route.via),
                        "give a router of the same family",
                    );
                }
            }
            Network::Default if route.metric.is_some() => found.error(
                codes::DEFAULT_ROUTE_METRIC,
                at.key("metric"),
                "a default route takes no metric here: not every back end can write it, and a host has one default route of a family",
                "take the metric out",
            ),
            Network::Default => {}
        }
        let again = entry
            .ip
            .routes
            .iter()
            .take(k)
            .any(|r| r.to == route.to && r.metric == route.metric);
        if again && route.to != Network::Default {
            found.error(
                codes::DUPLICATE_ROUTE,
                at,
                format!(
                    "a second route to {} with the same metric: the kernel keeps one of them",
                    route.to
                ),
                "keep one, or give the second its own metric",
            );
        }
    }
}

/// A router must be reachable on its link, and needs an address to be reached from.
fn routers(entry: &Entry<'_>, found: &mut Findings) {
    let mut check = |at: Pointer, via: IpAddr, default: bool| {
        let v4 = via.is_ipv4();
        if !entry.ip.has_address(v4) {
            if default || !entry.ip.dynamic(v4) {
                found.error(
                    codes::NO_ADDRESS,
                    at,
                    format!(
                        "{via} cannot be reached: the link has no static {} address{}",
                        family(v4),
                        if entry.ip.dynamic(v4) {
                            ", and with DHCP the server names the router"
                        } else {
                            ""
                        }
                    ),
                    format!("give the link an {} address, or take the router out", family(v4)),
                );
            }
        } else if !(entry.ip.dynamic(v4) || link_local(via) || reaches(entry.ip.addresses, via)) {
            found.warn(
                codes::GATEWAY_UNREACHABLE,
                at,
                format!("{via} lies in none of the link's networks ({})", list(entry.ip.addresses, v4)),
                "check the router's address and the prefix lengths; most back ends refuse such a route when the link comes up",
            );
        }
    };
    for (place, via) in entry.ip.default_routers() {
        check(below(&entry.at, &place), via, true);
    }
    for (k, route) in entry.ip.routes.iter().enumerate() {
        if route.to != Network::Default {
            check(entry.at.key("routes").index(k).key("via"), route.via.ip(), false);
        }
    }
}

fn below(at: &Pointer, place: &[String]) -> Pointer {
    place.iter().fold(at.clone(), |p, word| p.key(word))
}

fn link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(six) if six.segments()[0] & 0xffc0 == 0xfe80)
}

fn reaches(addresses: &[Address], via: IpAddr) -> bool {
    addresses.iter().any(|a| a.net().contains(&via))
}

fn list(addresses: &[Address], v4: bool) -> String {
    let nets: Vec<String> = addresses
        .iter()
        .filter(|a| a.is_v4() == v4)
        .map(|a| a.net().trunc().to_string())
        .collect();
    nets.join(", ")
}

/// One default route of a family on a host.
fn one_default(all: &[Entry<'_>], found: &mut Findings) {
    for v4 in [true, false] {
        let mut first: Option<Pointer> = None;
        for entry in all {
            for (place, _) in entry.ip.default_routers().filter(|(_, ip)| ip.is_ipv4() == v4) {
                let at = below(&entry.at, &place);
                match &first {
                    None => first = Some(at),
                    Some(other) => found.error(
                        codes::GATEWAYS,
                        at,
                        format!("a second {} default route; the first is at {other}. Which of them wins would depend on the order in which the links come up", family(v4)),
                        "keep one `gateway` of each family on the host, and give the other networks `routes`",
                    ),
                }
            }
        }
    }
}

/// An address belongs to one link.
fn unique(all: &[Entry<'_>], found: &mut Findings) {
    let mut seen: BTreeMap<IpAddr, Pointer> = BTreeMap::new();
    for entry in all {
        for (k, address) in entry.ip.addresses.iter().enumerate() {
            let at = entry.at.key("addresses").index(k);
            let ip = address.net().addr();
            if link_local(ip) {
                continue;
            }
            if let Some(first) = seen.get(&ip) {
                found.error(
                    codes::DUPLICATE_ADDRESS,
                    at,
                    format!("{ip} stands twice on this host, first at {first}"),
                    "give every link its own address",
                );
            } else {
                seen.insert(ip, at);
            }
        }
    }
}

/// Two links in one network: ARP answers then come from either (the ARP flux; linux: ip-sysctl.rst, arp_ignore).
fn overlaps(all: &[Entry<'_>], found: &mut Findings) {
    for (n, entry) in all.iter().enumerate() {
        for (k, address) in entry.ip.addresses.iter().enumerate() {
            let clash = all[..n].iter().find_map(|other| {
                let theirs = other.ip.addresses.iter().find(|a| overlap(**a, *address))?;
                Some((other, theirs))
            });
            if let Some((other, theirs)) = clash {
                found.warn(
                    codes::SUBNETS_OVERLAP,
                    entry.at.key("addresses").index(k),
                    format!(
                        "{address} overlaps {theirs} of {}: two links of one host in one network answer ARP for each other, and replies leave by whichever route is first",
                        other.name.as_deref().unwrap_or_else(|| other.at.as_str())
                    ),
                    "give the links different networks, or bond them; if it must be, set net.ipv4.conf.all.arp_ignore=1, net.ipv4.conf.all.arp_announce=2 and rp_filter=2 in `sysctl`",
                );
            }
        }
    }
}

fn overlap(a: Address, b: Address) -> bool {
    let (a, b) = (a.net(), b.net());
    let same = matches!(
        (a, b),
        (IpNet::V4(_), IpNet::V4(_)) | (IpNet::V6(_), IpNet::V6(_))
    );
    same && !link_local(a.addr()) && (a.contains(&b.network()) || b.contains(&a.network()))
}
