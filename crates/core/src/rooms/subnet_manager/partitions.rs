//! partitions.conf: rendered from human units, and read as strictly as opensm reads it.
//!
//! Facts that shape this file (opensm: osm_prtn_config.c, osm_prtn.c, partition-config.txt):
//! - one mistake anywhere makes opensm drop the **whole** file and go on with everybody as full member of the default
//!   partition;
//! - without a rule for the default partition every port but the subnet manager's is a *limited* member of it and its IPoIB
//!   group is not made;
//! - a member overwrites what an earlier one said of the same port, so groups (`ALL`) have to stand before single ports;
//! - MTU and rate are numbers of an enumeration, and a wrong one only means that there is no group;
//! - a rule's head stands on one line, its members may go on over several.

mod check;
mod read;

use super::want::{GroupWant, MTUS, Member, Membership, PartitionWant, RATES};
use crate::types::PKey;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub use check::{check, check_host};
pub use read::{Fault, read};

/// Name of the default partition.
pub const DEFAULT: &str = "Default";
/// Members on a line: a line stays far below the 1023 bytes that old readers take.
const MEMBERS_A_LINE: usize = 6;
/// opensm's defaults of an IPoIB group: MTU 2048, 10 Gb/s, service level 0, link-local scope.
const GROUP: Group = Group {
    mtu: 4,
    rate: 3,
    sl: 0,
    scope: 2,
};

/// Parameters of an IPoIB broadcast group, as numbers of opensm's enumerations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// 1 to 5.
    pub mtu: u8,
    /// 2 to 23.
    pub rate: u8,
    /// 0 to 15.
    pub sl: u8,
    /// 1 to 14.
    pub scope: u8,
}

impl Group {
    /// In the document's units.
    pub fn shown(self) -> Value {
        let mtu = MTUS.iter().find(|(_, n)| *n == self.mtu).map(|(bytes, _)| *bytes);
        let rate = RATES
            .iter()
            .find(|(_, n)| *n == self.rate)
            .map(|(tenths, _)| *tenths);
        let rate = rate.map(|t| {
            if t % 10 == 0 {
                json!(t / 10)
            } else {
                json!(f64::from(t) / 10.0)
            }
        });
        json!({ "mtu": mtu, "rate": rate, "sl": self.sl, "scope": self.scope })
    }
}

/// A partition: what all rules for its P_Key come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Name.
    pub name: String,
    /// The IPoIB broadcast group.
    pub group: Option<Group>,
    /// Who is a member, in the order that counts: a later one overwrites an earlier one.
    pub members: Vec<(Member, Membership)>,
    /// What is there besides, and a document cannot say: `indx0`, `mgid` lines, unknown flags.
    pub odd: Vec<String>,
}

impl Partition {
    /// Adds a member and drops what it overwrites.
    pub(crate) fn add(&mut self, member: Member, membership: Membership) {
        match member {
            Member::All => self.members.clear(),
            _ => self.members.retain(|(m, _)| *m != member),
        }
        self.members.push((member, membership));
    }

    /// Brings members that cannot overwrite each other into one order, so that equal meanings compare equal.
    pub(crate) fn settle(&mut self) {
        self.members
            .chunk_by_mut(|(a, _), (b, _)| matches!((a, b), (Member::Guid(_), Member::Guid(_))))
            .for_each(<[_]>::sort);
    }

    /// For a change.
    pub fn shown(&self, pkey: u16) -> Value {
        let members: Map<String, Value> = self
            .members
            .iter()
            .map(|(m, how)| (m.to_string(), how.word().into()))
            .collect();
        json!({ "name": self.name, "pkey": format!("{pkey:#06x}"), "ipoib": self.group.map(Group::shown), "members": members })
    }
}

/// Partitions by the 15-bit number of their P_Key.
pub type Table = BTreeMap<u16, Partition>;

/// What a document's partitions come to. A document without a default partition gets opensm's own; the default partition
/// always has the subnet manager's port as a full member.
pub fn wanted(partitions: &[PartitionWant]) -> Table {
    let mut table = Table::new();
    for want in partitions {
        let mut partition = Partition {
            name: want.name.as_str().to_owned(),
            group: want.ipoib.as_ref().map(group),
            ..Partition::default()
        };
        // BTreeMap order is the order of `Member`: ALL, the other groups, SELF, single ports.
        for (member, membership) in &want.members {
            partition.add(*member, *membership);
        }
        table.insert(want.pkey.number(), partition);
    }
    let default = table.entry(PKey::DEFAULT.number()).or_insert_with(|| Partition {
        name: DEFAULT.to_owned(),
        group: Some(GROUP),
        members: vec![(Member::All, Membership::Full)],
        odd: Vec::new(),
    });
    if !default.members.iter().any(|(m, _)| *m == Member::SelfPort) {
        let at = default
            .members
            .iter()
            .position(|(m, _)| matches!(m, Member::Guid(_)))
            .unwrap_or(default.members.len());
        default.members.insert(at, (Member::SelfPort, Membership::Full));
    }
    for partition in table.values_mut() {
        partition.settle();
    }
    table
}

fn group(want: &GroupWant) -> Group {
    let small = |n: i64| u8::try_from(n).unwrap_or_default();
    Group {
        mtu: want.mtu.map_or(GROUP.mtu, |m| m.number()),
        rate: want.rate.map_or(GROUP.rate, |r| r.number()),
        sl: want.sl.map_or(GROUP.sl, |n| small(n.get())),
        scope: want.scope.map_or(GROUP.scope, |n| small(n.get())),
    }
}

/// The file: the default partition first, then the others by P_Key. `defaults` are the document's words for members that
/// do not say; every member says, so they only help a reader.
pub fn render(table: &Table, defaults: &BTreeMap<u16, Membership>) -> String {
    let mut text = String::from(
        "# Written by ibplan from the host document; changes made here by hand are lost.\n\
         # mtu: 1=256 2=512 3=1024 4=2048 5=4096 bytes. A mistake anywhere makes opensm drop the whole file.\n",
    );
    let default = PKey::DEFAULT.number();
    let order = table.get_key_value(&default).into_iter();
    for (pkey, partition) in order.chain(table.iter().filter(|(k, _)| **k != default)) {
        let own = if *pkey == default {
            Membership::Full
        } else {
            Membership::Limited
        };
        let defmember = defaults.get(pkey).copied().unwrap_or(own);
        text.push_str(&rule(*pkey, partition, defmember));
    }
    text
}

fn rule(pkey: u16, partition: &Partition, defmember: Membership) -> String {
    let mut text = format!("\n{}={pkey:#06x}", partition.name);
    if let Some(group) = partition.group {
        text.push_str(", ipoib");
        for (word, value, default) in [
            ("mtu", group.mtu, GROUP.mtu),
            ("rate", group.rate, GROUP.rate),
            ("sl", group.sl, GROUP.sl),
            ("scope", group.scope, GROUP.scope),
        ] {
            if value != default {
                let _ = write!(text, ", {word}={value}");
            }
        }
    }
    let _ = write!(text, ", defmember={} :", defmember.word());
    let members: Vec<String> = partition
        .members
        .iter()
        .map(|(m, how)| format!("{m}={}", how.word()))
        .collect();
    let lines: Vec<String> = members
        .chunks(MEMBERS_A_LINE)
        .map(|line| line.join(", "))
        .collect();
    let separator = if lines.len() > 1 { "\n    " } else { " " };
    text.push_str(separator);
    text.push_str(&lines.join(",\n    "));
    text.push_str(" ;\n");
    text
}

#[cfg(test)]
mod tests;
