//! Reads a partitions file as opensm does (opensm: osm_prtn_config.c, `osm_prtn_config_parse_file`).

use super::{GROUP, Partition, Table};
use crate::rooms::subnet_manager::want::{Member, Membership};
use crate::types::{Guid, PKey};
use std::fmt;

/// Why opensm would drop the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub reason: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(self.reason)
        } else {
            write!(f, "line {}: {}", self.line, self.reason)
        }
    }
}

/// A rule whose `;` has not come yet.
struct Open {
    pkey: u16,
    defmember: Membership,
}

/// Reads a file.
///
/// # Errors
/// The mistake for which opensm would drop it.
pub fn read(text: &str) -> Result<Table, Fault> {
    let mut table = Table::new();
    let mut open: Option<Open> = None;
    let mut rules = 0;
    for (number, line) in text.lines().enumerate() {
        let fault = |reason| Fault {
            line: number + 1,
            reason,
        };
        let line = line.split('#').next().unwrap_or("");
        let parts: Vec<&str> = line.split(';').collect();
        for (at, part) in parts.iter().enumerate() {
            let part = part.trim_matches([' ', '\t', '\n', '\r']);
            if part.is_empty() {
                // opensm skips blanks, but a ';' of its own ends the rule (and begins none).
                if at + 1 < parts.len() && open.take().is_none() {
                    return Err(fault("no partition definition found"));
                }
                continue;
            }
            let members = if open.is_some() {
                part
            } else {
                let (head, members) = part
                    .split_once(':')
                    .ok_or_else(|| fault("no partition definition found"))?;
                open = Some(read_head(head, &mut table).map_err(fault)?);
                rules += 1;
                members
            };
            if let Some(rule) = &open {
                read_members(members, rule, &mut table).map_err(fault)?;
            }
            if at + 1 < parts.len() {
                open = None;
            }
        }
    }
    if rules == 0 {
        return Err(Fault {
            line: 0,
            reason: "there is no rule in it",
        });
    }
    for partition in table.values_mut() {
        partition.settle();
    }
    Ok(table)
}

/// A number as strtoul reads it, base by prefix.
fn number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()
    } else if text.len() > 1 && text.starts_with('0') {
        u64::from_str_radix(text, 8).ok()
    } else {
        text.parse().ok()
    }
}

fn pair(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (text.trim(), None),
    }
}

/// `Name=0x0010, ipoib, mtu=5, defmember=full`
fn read_head(head: &str, table: &mut Table) -> Result<Open, &'static str> {
    let mut words = head.split(',');
    let (name, key) = pair(words.next().unwrap_or(""));
    let pkey = key_of(name, key, table)?;
    let mut group = GROUP;
    let (mut ipoib, mut defmember, mut odd) = (false, Membership::Limited, Vec::new());
    if pkey == 0 {
        odd.push(format!("no P_Key for {name}"));
    }
    for word in words {
        let (flag, value) = pair(word);
        let small = value
            .and_then(number)
            .and_then(|n| u8::try_from(n).ok())
            .filter(|n| *n > 0);
        match (flag, small) {
            ("mtu", Some(n)) => group.mtu = n,
            ("rate", Some(n)) => group.rate = n,
            ("scope", Some(n)) if n <= 15 => group.scope = n,
            ("sl", _) if value.and_then(number).is_some_and(|n| n <= 15) => group.sl = small.unwrap_or(0),
            ("ipoib", _) if value.is_none() => ipoib = true,
            ("defmember", _) => match membership(value.unwrap_or("")) {
                Some(m) => defmember = m,
                None => odd.push(word.trim().to_owned()),
            },
            _ => odd.push(word.trim().to_owned()),
        }
    }
    let partition = table.entry(pkey).or_insert_with(|| Partition {
        name: name.to_owned(),
        ..Partition::default()
    });
    // A second rule for the same partition adds members; a group that is there already stays as it is.
    if ipoib && partition.group.is_none() {
        partition.group = Some(group);
    }
    partition.odd.extend(odd);
    Ok(Open { pkey, defmember })
}

/// The partition that a head names; 0 where opensm would take the next free number.
fn key_of(name: &str, key: Option<&str>, table: &Table) -> Result<u16, &'static str> {
    let key = key.or_else(|| name.starts_with(|c: char| c.is_ascii_digit()).then_some(name));
    if let Some(key) = key {
        let bits = number(key).ok_or("bad partition definition")?;
        // The cast to 16 bits is opensm's: 0x18010 is taken as 0x8010.
        #[allow(clippy::cast_possible_truncation)]
        return Ok(PKey::new(bits as u16).map_or(0, PKey::number));
    }
    if name == super::DEFAULT {
        return Ok(PKey::DEFAULT.number());
    }
    Ok(table.iter().find(|(_, p)| p.name == name).map_or(0, |(k, _)| *k))
}

/// The word of a membership; opensm compares as many letters as are given.
fn membership(word: &str) -> Option<Membership> {
    if word.is_empty() {
        return None;
    }
    [Membership::Full, Membership::Both, Membership::Limited]
        .into_iter()
        .find(|m| m.word().starts_with(word))
}

fn read_members(text: &str, rule: &Open, table: &mut Table) -> Result<(), &'static str> {
    let partition = table.entry(rule.pkey).or_default();
    for word in text.split(',') {
        let (name, flag) = pair(word);
        if name.is_empty() || "NONE".starts_with(name) {
            continue;
        }
        if name == "mgid" {
            // The rest of the line belongs to that multicast group.
            partition.odd.push(text.trim().to_owned());
            return Ok(());
        }
        let how = match flag {
            None => rule.defmember,
            // A misspelt membership counts as limited, with a message at a log level that nobody runs.
            Some(flag) => membership(flag).unwrap_or(Membership::Limited),
        };
        partition.add(member(name)?, how);
    }
    Ok(())
}

fn member(name: &str) -> Result<Member, &'static str> {
    let word = super::super::want::MEMBER_WORDS
        .iter()
        .find(|(w, _)| w.starts_with(name));
    if let Some((_, member)) = word {
        return Ok(*member);
    }
    number(name)
        .and_then(Guid::new)
        .map(Member::Guid)
        .ok_or("bad PortGUID")
}
