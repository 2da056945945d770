//! Rules that the document alone decides.

use super::Wanted;
use super::codes;
use super::want::SysctlKey;
use crate::pointer::Pointer;
use crate::problem::Findings;
use std::collections::BTreeSet;

/// Three integers that must not descend (linux: Documentation/networking/ip-sysctl.rst).
const VECTORS: &[&str] = &[
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_mem",
    "net/ipv4/udp_mem",
];

/// Kept by the kernel as a signed 32-bit integer (linux: net/core/sysctl_net_core.c, net/ipv4/sysctl_net_ipv4.c).
const INTS: &[&str] = &[
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/core/rmem_default",
    "net/core/wmem_default",
    "net/core/optmem_max",
    "net/core/netdev_max_backlog",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
];

/// The smallest buffer that the kernel takes; it refuses less with EINVAL (linux: net/core/sysctl_net_core.c, min_rcvbuf
/// and min_sndbuf; include/net/sock.h, SOCK_MIN_RCVBUF and SOCK_MIN_SNDBUF: once and twice 2048 bytes and a packet's head).
const SMALLEST: &[(&str, i128)] = &[
    ("net/core/rmem_default", 2304),
    ("net/core/rmem_max", 2304),
    ("net/core/wmem_default", 4608),
    ("net/core/wmem_max", 4608),
];

/// Each clears the other when written (linux: mm/page-writeback.c, dirty_ratio_handler and its neighbours).
const COUNTERPARTS: &[(&str, &str)] = &[
    ("vm/dirty_bytes", "vm/dirty_ratio"),
    ("vm/dirty_background_bytes", "vm/dirty_background_ratio"),
];

/// Parameters that are keys of ciphers.
const SECRETS: &[&str] = &["stable_secret", "tcp_fastopen_key"];

/// All of them.
pub fn check(want: &Wanted, found: &mut Findings) {
    for (first, second) in &want.twice {
        found.error(
            codes::KEY_TWICE,
            Pointer::of("sysctl").key(second),
            format!("\"{second}\" and \"{first}\" are two spellings of one kernel parameter"),
            "remove one of the two",
        );
    }
    dotted_links(want, found);
    secrets(want, found);
    vectors(want, found);
    integers(want, found);
    smallest(want, found);
    for family in ["ipv4", "ipv6"] {
        thresholds(want, family, found);
    }
    counterparts(want, found);
    arp(want, found);
}

/// Below `conf` and `neigh` stand a link's name and one key, never a third word (linux: net/ipv4/devinet.c,
/// net/core/neighbour.c): one more is a name with a dot, which the spelling with dots tears apart.
fn dotted_links(want: &Wanted, found: &mut Findings) {
    for (key, entry) in &want.keys {
        let words: Vec<&str> = key.path().split('/').collect();
        if let [
            "net",
            family @ ("ipv4" | "ipv6"),
            kind @ ("conf" | "neigh"),
            link @ ..,
            name,
        ] = &words[..]
            && link.len() > 1
        {
            let link = link.join(".");
            found.error(
                codes::LINK_WITH_DOT,
                entry.pointer.clone(),
                format!("the name of the link {link} has a dot, which the spelling with dots takes for the next word"),
                format!("write it with slashes: net/{family}/{kind}/{link}/{name}"),
            );
        }
    }
}

fn secrets(want: &Wanted, found: &mut Findings) {
    for (key, entry) in &want.keys {
        if SECRETS.iter().any(|s| key.path().ends_with(&format!("/{s}"))) {
            found.error(
                codes::SECRET,
                entry.pointer.clone(),
                format!("{key} holds a secret, and the drop-in is readable by everyone"),
                "take it out of the document and set it by a means made for secrets",
            );
        }
    }
}

fn vectors(want: &Wanted, found: &mut Findings) {
    for (key, entry) in want.keys.iter().filter(|(k, _)| VECTORS.contains(&k.path())) {
        let good = entry
            .value
            .integers()
            .is_some_and(|n| n.len() == 3 && n.is_sorted());
        if !good {
            found.error(
                codes::VECTOR,
                entry.pointer.clone(),
                format!(
                    "{key} takes three integers that do not descend, not \"{}\"",
                    entry.value
                ),
                "give for example [4096, 87380, 134217728]",
            );
        }
    }
}

fn integers(want: &Wanted, found: &mut Findings) {
    for (key, entry) in want.keys.iter().filter(|(k, _)| INTS.contains(&k.path())) {
        let single = !VECTORS.contains(&key.path());
        let good = match entry.value.integers() {
            Some(n) => (!single || n.len() == 1) && n.iter().all(|n| (0..=i128::from(i32::MAX)).contains(n)),
            // A vector of words has been told already.
            None => !single,
        };
        if !good {
            found.error(
                codes::OUT_OF_RANGE,
                entry.pointer.clone(),
                format!("{key} = {} is not within 0 to 2147483647", entry.value),
                "give bytes (or packets) as an integer; 134217728 is 128 MiB",
            );
        }
    }
}

fn smallest(want: &Wanted, found: &mut Findings) {
    for (path, least) in SMALLEST {
        if let Some((n, at)) = number(want, path)
            && (0..*least).contains(&n)
        {
            found.error(
                codes::OUT_OF_RANGE,
                at,
                format!(
                    "{} = {n} is less than {least}, and the kernel refuses it (EINVAL)",
                    path.replace('/', ".")
                ),
                "give bytes as an integer; 134217728 is 128 MiB",
            );
        }
    }
}

fn number(want: &Wanted, path: &str) -> Option<(i128, Pointer)> {
    let (_, entry) = want.keys.iter().find(|(k, _)| k.path() == path)?;
    match entry.value.integers()?[..] {
        [n] => Some((n, entry.pointer.clone())),
        _ => None,
    }
}

fn thresholds(want: &Wanted, family: &str, found: &mut Findings) {
    let given: Vec<(usize, i128, Pointer)> = (1..=3)
        .filter_map(|i| {
            let (n, at) = number(want, &format!("net/{family}/neigh/default/gc_thresh{i}"))?;
            Some((i, n, at))
        })
        .collect();
    for pair in given.windows(2) {
        if let [(i, low, _), (j, high, at)] = pair
            && low >= high
        {
            found.error(
                codes::NEIGHBOUR_THRESHOLDS,
                at.clone(),
                format!("net.{family}.neigh.default.gc_thresh{j} = {high} must be larger than gc_thresh{i} = {low}"),
                "give for example 4096, 8192 and 16384",
            );
        }
    }
}

fn counterparts(want: &Wanted, found: &mut Findings) {
    for (one, other) in COUNTERPARTS {
        if let (Some((a, _)), Some((b, at))) = (number(want, one), number(want, other))
            && a != 0
            && b != 0
        {
            found.error(
                codes::COUNTERPARTS,
                at,
                format!(
                    "{} and {} exclude each other: the kernel sets one to 0 when the other is written",
                    one.replace('/', "."),
                    other.replace('/', ".")
                ),
                "keep one of the two",
            );
        }
    }
}

/// The kernel takes the larger of `all` and the link for both (linux: include/linux/inetdevice.h, IN_DEV_ARPFILTER,
/// IN_DEV_ARP_IGNORE).
fn arp(want: &Wanted, found: &mut Findings) {
    let links: BTreeSet<&str> = want
        .keys
        .keys()
        .filter(|k| k.path().ends_with("/arp_filter") || k.path().ends_with("/arp_ignore"))
        .filter_map(SysctlKey::link)
        .chain(["all"])
        .collect();
    let value = |link: &str, name: &str| {
        let of = |l: &str| number(want, &format!("net/ipv4/conf/{l}/{name}"));
        of(link).max(of("all")).filter(|(n, _)| *n > 0)
    };
    let everywhere = value("all", "arp_filter").is_some() && value("all", "arp_ignore").is_some();
    for link in links {
        if everywhere && link != "all" {
            continue;
        }
        if let (Some((filter, at)), Some((ignore, _))) =
            (value(link, "arp_filter"), value(link, "arp_ignore"))
        {
            found.warn(
                codes::ARP_CONTRADICTION,
                at,
                format!("arp_filter = {filter} and arp_ignore = {ignore} together for {link}: with several ports in one subnet, all but one stop answering ARP"),
                "keep arp_ignore 1 with arp_announce 2, and set arp_filter 0",
            );
        }
    }
}
