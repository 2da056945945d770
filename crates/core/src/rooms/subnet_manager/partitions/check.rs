//! Rules on the partitions of a document.

use super::DEFAULT;
use crate::facts::Facts;
use crate::pointer::Pointer;
use crate::problem::Findings;
use crate::rooms::subnet_manager::want::{Member, Membership, OptionValue, PartitionWant, SubnetManagerWant};
use crate::rooms::subnet_manager::{codes, ports};
use crate::types::{Guid, PKey};

fn at(index: usize) -> Pointer {
    Pointer::of("subnet_manager").key("partitions").index(index)
}

/// Rules that the document alone decides.
pub fn check(want: &SubnetManagerWant, found: &mut Findings) {
    let Some(partitions) = &want.partitions else {
        return;
    };
    let qos = everywhere(want, "qos");
    let both = everywhere(want, "allow_both_pkeys");
    for (index, partition) in partitions.iter().enumerate() {
        identity(partitions, index, partition, found);
        members(index, partition, both, found);
        if !qos
            && partition
                .ipoib
                .as_ref()
                .and_then(|g| g.sl)
                .is_some_and(|sl| sl.get() != 0)
        {
            found.warn(
                codes::SL_WITHOUT_QOS,
                at(index).key("ipoib").key("sl"),
                "opensm ignores the service level without QoS",
                "set the option qos to true on every instance, or leave the service level out",
            );
        }
    }
    default_rule(partitions, found);
}

/// Whether an option is on in every instance.
fn everywhere(want: &SubnetManagerWant, option: &str) -> bool {
    let on = |value: &OptionValue| match value {
        OptionValue::Bool(b) => *b,
        OptionValue::Text(t) => t.eq_ignore_ascii_case("true"),
        _ => false,
    };
    !want.instances.is_empty()
        && want
            .instances
            .iter()
            .all(|i| i.options.get(option).is_some_and(on))
}

/// Keys and names stand once, and Default is 0x7fff.
fn identity(partitions: &[PartitionWant], index: usize, partition: &PartitionWant, found: &mut Findings) {
    let (name, pkey) = (partition.name.as_str(), partition.pkey);
    for (first, other) in partitions.iter().enumerate().take(index) {
        if other.pkey == pkey {
            found.error(
                codes::DUPLICATE_PARTITION,
                at(index).key("pkey"),
                format!(
                    "partition {first} ({}) has the P_Key {pkey} too",
                    other.name.as_str()
                ),
                "give each partition its own P_Key, or put all members into one",
            );
        }
        if other.name.as_str() == name {
            found.error(
                codes::DUPLICATE_PARTITION,
                at(index).key("name"),
                format!("partition {first} is called {name} too"),
                "give each partition its own name",
            );
        }
    }
    match (name == DEFAULT, pkey == PKey::DEFAULT) {
        (true, false) => found.error(
            codes::DEFAULT_NAME,
            at(index).key("pkey"),
            format!("the partition Default is 0x7fff, not {pkey}"),
            "give it the P_Key 0x7fff, or another name",
        ),
        (false, true) => found.error(
            codes::DEFAULT_NAME,
            at(index).key("name"),
            format!("0x7fff is the partition Default, not {name}"),
            "call it Default, or give it another P_Key",
        ),
        _ => {}
    }
}

fn members(index: usize, partition: &PartitionWant, both: bool, found: &mut Findings) {
    let here = at(index).key("members");
    for (member, membership) in &partition.members {
        if *membership == Membership::Both && !both {
            found.error(
                codes::BOTH_NEEDS_OPTION,
                here.key(&member.to_string()),
                "membership both needs allow_both_pkeys; without it opensm makes the port a full member",
                "set the option allow_both_pkeys to true on every instance, or give full or limited",
            );
        }
    }
    if partition.pkey == PKey::DEFAULT {
        return;
    }
    if partition.members.is_empty() {
        found.warn(
            codes::EMPTY_PARTITION,
            here,
            "a partition without members does not come to exist",
            "list port GUIDs, or ALL",
        );
    } else if partition.members.values().all(|m| *m == Membership::Limited) {
        found.warn(
            codes::ONLY_LIMITED,
            here,
            "all members are limited, so none can talk to another",
            "make at least one member full",
        );
    }
}

/// What becomes of everybody else.
fn default_rule(partitions: &[PartitionWant], found: &mut Findings) {
    let default = partitions
        .iter()
        .enumerate()
        .find(|(_, p)| p.pkey == PKey::DEFAULT);
    let Some((index, default)) = default else {
        found.warn(
            codes::DEFAULT_RULE_ADDED,
            Pointer::of("subnet_manager").key("partitions"),
            "no partition is the default one (0x7fff); opensm's own rule for it is written too, or every other port would lose IP",
            "list the partition Default to decide yourself",
        );
        return;
    };
    if default.ipoib.is_none() {
        found.warn(
            codes::DEFAULT_WITHOUT_IPOIB,
            at(index),
            "without `ipoib` the default partition has no broadcast group, so ib0 and the like get no carrier anywhere",
            "add `ipoib: {}`",
        );
    }
    if !default.members.contains_key(&Member::All) {
        found.warn(
            codes::DEFAULT_WITHOUT_ALL,
            at(index).key("members"),
            "ports that are not listed become limited members of the default partition and cannot talk to each other",
            "add `ALL: full`",
        );
    }
}

/// Rules that need the host: members by the wrong GUID, groups that this host's own ports cannot join.
pub fn check_host(
    want: &SubnetManagerWant,
    instances: &[(usize, Guid)],
    facts: &Facts,
    found: &mut Findings,
) {
    for (index, partition) in want.partitions.iter().flatten().enumerate() {
        for member in partition.members.keys() {
            if let Member::Guid(guid) = member
                && let Some((device, own)) = ports::node_guid(*guid, facts)
            {
                found.error(
                    codes::NODE_GUID,
                    at(index).key("members").key(&member.to_string()),
                    format!("{guid} is the node GUID of {device}, so opensm finds no port of that GUID"),
                    format!("give the port GUID: {own}"),
                );
            }
        }
        let Some(rate) = partition.ipoib.as_ref().and_then(|g| g.rate) else {
            continue;
        };
        for (_, guid) in instances {
            let slow = facts
                .port_by_guid(*guid)
                .is_some_and(|(_, p)| p.rate.gbps > 0.0 && rate.gbps() > p.rate.gbps + 0.1);
            if slow {
                found.warn(
                    codes::RATE_ABOVE_PORT,
                    at(index).key("ipoib").key("rate"),
                    format!(
                        "port {guid} of this host is slower than {} Gb/s and cannot join",
                        rate.gbps()
                    ),
                    "give the rate of the slowest member",
                );
            }
        }
    }
}
