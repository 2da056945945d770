//! Which back end configures the links.

use super::codes;
use super::entry::{Entry, Want};
use crate::codes::HOST_UNSUPPORTED;
use crate::distro::Backend;
use crate::facts::Facts;
use crate::pointer::Pointer;
use crate::problem::Problem;

/// The back end: the one that the document names, else the owner of the links, else the distribution's own.
///
/// # Errors
/// The links have different owners, or the distribution is unknown.
pub fn backend(want: &Want, entries: &[Entry<'_>], facts: &Facts) -> Result<Backend, Problem> {
    if let Some(named) = want.backend.named() {
        return Ok(named);
    }
    let mut owners: Vec<(&str, Backend)> = Vec::new();
    for entry in entries {
        let link = entry.name.as_deref().and_then(|name| facts.ipoib_link(name));
        if let Some(link) = link
            && let Some(owner) = link.owner
        {
            owners.push((&link.name, owner));
        }
    }
    match owners.first() {
        None => distribution(facts),
        Some((name, first)) => match owners.iter().find(|(_, other)| other != first) {
            None => Ok(*first),
            Some((other, theirs)) => Err(codes::TWO_OWNERS.at(
                Pointer::of("network_backend"),
                format!("{name} is configured by {first} and {other} by {theirs}, so `auto` cannot tell which is meant"),
                "name the back end that is to configure all of them with `network_backend`",
            )),
        },
    }
}

/// The distribution's own back end: a running one before one that is only installed.
fn distribution(facts: &Facts) -> Result<Backend, Problem> {
    let Some(row) = facts.row() else {
        return Err(HOST_UNSUPPORTED.at(
            Pointer::of("network_backend"),
            format!(
                "\"{}\" is not in ibplan's table, so it is not known what configures its network",
                facts.os.name
            ),
            "name the back end with `network_backend`",
        ));
    };
    let first = |among: &[Backend]| row.backends.iter().find(|b| among.contains(b)).copied();
    first(&facts.backends.running)
        .or_else(|| first(&facts.backends.installed))
        .or_else(|| row.backends.first().copied())
        .ok_or_else(|| {
            HOST_UNSUPPORTED.at(
                Pointer::of("network_backend"),
                format!("no network back end is known for {}", row.name),
                "name the back end with `network_backend`",
            )
        })
}
