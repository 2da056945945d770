//! Random host documents that fit a host: its own interfaces and GUIDs where they matter, right and slightly wrong values.

use ibplan_core::facts::Facts;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// A document for a host: any of the sections.
pub fn document(facts: &Facts) -> BoxedStrategy<Value> {
    let sections = (
        proptest::option::weighted(0.5, modules()),
        proptest::option::weighted(0.5, subnet_manager(facts)),
        proptest::option::weighted(0.7, network(facts)),
        proptest::option::weighted(0.6, sysctl(facts)),
        proptest::option::weighted(0.3, Just(json!("ipoib_throughput"))),
        proptest::option::weighted(0.5, limits()),
    );
    sections
        .prop_map(|(modules, manager, network, sysctl, profile, limits)| {
            let mut out = Map::new();
            for (key, value) in [
                ("modules", modules),
                ("subnet_manager", manager),
                ("sysctl", sysctl),
                ("sysctl_profile", profile),
                ("limits", limits),
            ] {
                if let Some(value) = value {
                    out.insert(key.to_owned(), value);
                }
            }
            if let Some(Value::Object(network)) = network {
                out.extend(network);
            }
            Value::Object(out)
        })
        .boxed()
}

fn modules() -> BoxedStrategy<Value> {
    let one = (
        select(vec!["ib_ipoib", "ib_umad", "ib_uverbs", "rdma_ucm", "ib-iser"]),
        proptest::option::of(prop_oneof![
            Just(json!({"send_queue_size": 512})),
            Just(json!({"recv_queue_size": "1024", "send_queue_size": 128}))
        ]),
    );
    proptest::collection::vec(one, 0..4)
        .prop_map(|list| {
            let mut seen = std::collections::BTreeSet::new();
            list.into_iter()
                .filter(|(name, _)| seen.insert(*name))
                .map(|(name, parameters)| match parameters {
                    Some(p) if name == "ib_ipoib" => json!({ "name": name, "parameters": p }),
                    _ => json!({ "name": name }),
                })
                .collect()
        })
        .boxed()
}

fn guids(facts: &Facts) -> Vec<String> {
    let mut all: Vec<String> = facts
        .ports()
        .filter_map(|(_, p)| p.guid)
        .map(|g| g.to_string())
        .collect();
    all.push("0xb83fd20300fc6de4".to_owned());
    all
}

fn subnet_manager(facts: &Facts) -> BoxedStrategy<Value> {
    let guid = select(guids(facts));
    let instance = (
        proptest::option::of(guid.clone()),
        proptest::option::of(0..16),
        proptest::option::weighted(0.3, Just("fe80:0000:0000:0000")),
        subsequence(
            vec![
                ("routing_engine", json!(["ftree", "updn"])),
                ("log_flags", json!(3)),
                ("log_max_size", json!(100)),
                ("sweep_interval", json!(15)),
                ("qos", json!(true)),
                ("sminfo_polling_timeout", json!(5000)),
            ],
            0..6,
        ),
    )
        .prop_map(|(guid, priority, prefix, options)| {
            let mut out = Map::new();
            if let Some(guid) = guid {
                out.insert("port".into(), json!({ "guid": guid }));
            }
            if let Some(priority) = priority {
                out.insert("priority".into(), json!(priority));
            }
            if let Some(prefix) = prefix {
                out.insert("subnet_prefix".into(), json!(prefix));
            }
            if !options.is_empty() {
                out.insert(
                    "options".into(),
                    options.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
                );
            }
            Value::Object(out)
        });
    let partition = (1u16..0x7fff, proptest::option::of(select(vec![2048, 4096])), guid, select(vec!["full", "limited"]))
        .prop_map(|(pkey, mtu, guid, membership)| {
            let mut out = json!({ "name": format!("p{pkey}"), "pkey": pkey, "members": { guid: membership, "ALL": "limited" } });
            if let Some(mtu) = mtu {
                out["ipoib"] = json!({ "mtu": mtu, "rate": 40 });
            }
            out
        });
    let partitions = proptest::option::of(proptest::collection::btree_map(1u16..0x7fff, partition, 0..3));
    (
        select(vec!["running", "running", "stopped", "absent"]),
        proptest::option::weighted(0.8, instance),
        partitions,
    )
        .prop_map(|(state, instance, partitions)| {
            let mut out = json!({ "state": state });
            if let Some(instance) = instance {
                out["instances"] = json!([instance]);
            }
            if let Some(partitions) = partitions {
                let mut seen = std::collections::BTreeSet::new();
                out["partitions"] = partitions
                    .into_values()
                    .filter(|p| seen.insert(p["pkey"].to_string()))
                    .collect();
            }
            out
        })
        .boxed()
}

/// Addresses that cannot collide: one block for each link.
fn addresses(block: usize) -> BoxedStrategy<Vec<String>> {
    subsequence(
        vec![
            format!("192.168.{block}.1/24"),
            format!("10.{block}.0.7/16"),
            format!("fd00:{block}::1/64"),
        ],
        0..=3,
    )
    .boxed()
}

fn ip_part(block: usize) -> BoxedStrategy<Map<String, Value>> {
    (addresses(block), any::<bool>(), proptest::option::weighted(0.2, Just(json!(true))), proptest::option::weighted(0.3, select(vec![1500, 2044])))
        .prop_map(move |(addresses, route, dhcp6, mtu)| {
            let mut out = Map::new();
            let has_v4 = addresses.iter().any(|a| a.starts_with("192"));
            if !addresses.is_empty() {
                out.insert("addresses".into(), json!(addresses));
            }
            if route && has_v4 {
                out.insert("routes".into(), json!([{ "to": format!("172.{}.0.0/16", 16 + block % 16), "via": format!("192.168.{block}.254") }]));
            }
            if let (Some(dhcp6), true) = (dhcp6, addresses.iter().all(|a| !a.contains("::"))) {
                out.insert("dhcp6".into(), dhcp6);
            }
            if let Some(mtu) = mtu {
                out.insert("mtu".into(), json!(mtu));
            }
            out
        })
        .boxed()
}

fn link(name: String, block: usize) -> BoxedStrategy<Value> {
    let child = (1u16..0x7ffe, ip_part(block + 50)).prop_map(|(pkey, mut part)| {
        part.insert("pkey".into(), json!(pkey));
        Value::Object(part)
    });
    (
        ip_part(block),
        proptest::option::of(select(vec!["auto", "datagram", "connected"])),
        proptest::collection::vec(child, 0..2),
    )
        .prop_map(move |(mut out, mode, children)| {
            out.insert("interface".into(), json!(name));
            if let Some(mode) = mode {
                out.insert("mode".into(), json!(mode));
            }
            if !children.is_empty() {
                out.insert("partitions".into(), Value::Array(children));
            }
            Value::Object(out)
        })
        .boxed()
}

/// `ipoib`, `bonds` and `network_backend`.
fn network(facts: &Facts) -> BoxedStrategy<Value> {
    let mut names: Vec<String> = facts
        .ipoib
        .iter()
        .filter(|l| l.parent.is_none())
        .map(|l| l.name.clone())
        .collect();
    for spare in ["ib0", "ib1", "ib7"] {
        if !names.contains(&spare.to_owned()) {
            names.push(spare.to_owned());
        }
    }
    names.truncate(4);
    let links: Vec<BoxedStrategy<Value>> = names
        .iter()
        .enumerate()
        .map(|(i, n)| link(n.clone(), 10 + i))
        .collect();
    let bonded = names.clone();
    let backend = prop_oneof![
        3 => Just("auto".to_owned()),
        1 => select(vec!["networkmanager", "ifcfg", "netplan", "networkd", "ifupdown", "wicked"]).prop_map(str::to_owned),
    ];
    (
        links,
        0..=names.len(),
        proptest::option::weighted(0.3, ip_part(40)),
        backend,
    )
        .prop_map(move |(mut links, count, bond, backend)| {
            links.truncate(count);
            let mut out = json!({ "ipoib": links, "network_backend": backend });
            if let Some(mut bond) = bond {
                // Its members are links that the list above does not configure.
                let ports: Vec<&String> = bonded.iter().skip(count).take(2).collect();
                if let Some(first) = ports.first() {
                    bond.insert("name".into(), json!("bond7"));
                    bond.insert("primary".into(), json!(first));
                    bond.insert("ports".into(), json!(ports));
                    out["bonds"] = json!([bond]);
                }
            }
            out
        })
        .boxed()
}

fn sysctl(facts: &Facts) -> BoxedStrategy<Value> {
    let link = facts
        .ipoib
        .first()
        .map_or_else(|| "ib0".to_owned(), |l| l.name.clone());
    let keys = vec![
        ("net.core.rmem_max".to_owned(), json!(134_217_728)),
        ("net/core/wmem_max".to_owned(), json!("134217728")),
        ("net.ipv4.tcp_rmem".to_owned(), json!([4096, 87380, 134_217_728])),
        ("net.ipv4.tcp_wmem".to_owned(), json!("4096 65536  134217728")),
        ("net.core.netdev_max_backlog".to_owned(), json!(250_000)),
        ("net.ipv4.tcp_timestamps".to_owned(), json!(1)),
        ("net.ipv4.tcp_low_latency".to_owned(), json!(1)),
        (format!("net/ipv4/conf/{link}/rp_filter"), json!(2)),
        ("net/ipv4/conf/ib9.8001/arp_ignore".to_owned(), json!(1)),
        ("vm.zone_reclaim_mode".to_owned(), json!(0)),
    ];
    let count = keys.len();
    subsequence(keys, 0..=count)
        .prop_map(|keys| keys.into_iter().collect())
        .boxed()
}

fn limits() -> BoxedStrategy<Value> {
    (
        prop_oneof![Just(json!("unlimited")), Just(json!(8_388_608))],
        subsequence(vec!["*", "root", "@rdma", "mpi"], 0..=4),
        subsequence(vec!["slurmd", "pbs_mom.service"], 0..=2),
    )
        .prop_map(
            |(memlock, users, services)| json!({ "memlock": memlock, "users": users, "services": services }),
        )
        .boxed()
}
