//! Which back end configures the links.

use super::codes;
use super::entry::{Entry, Want};
use crate::codes::HOST_UNSUPPORTED;
use crate::distro::Backend;
use crate::facts::Facts;
use crate::pointer::Pointer;
use crate::problem::Problem;

/// The back end: the one that the document names, else the owner of the links, else what `auto` stands for on
/// this host ([`Facts::default_backend`]).
///
/// # Errors
/// The links have different owners, or the distribution is unknown.
pub fn backend(want: &Want, entries: &[Entry<'_>], facts: &Facts) -> Result<Backend, Problem> {
    if let Some(named) = want.backend.named() {
        return Ok(named);
    }
    let owned = |children: bool| -> Vec<(&str, Backend)> {
        entries
            .iter()
            .filter(|e| children || !e.is_child())
            .filter_map(|e| facts.ipoib_link(e.name.as_deref()?))
            .filter_map(|link| Some((link.name.as_str(), link.owner?)))
            .collect()
    };
    // A child follows its parent, and below netplan what it has no words for is networkd's.
    let mut owners = owned(false);
    if owners.is_empty() {
        owners = owned(true);
    }
    if owners.iter().any(|(_, b)| *b == Backend::Netplan) {
        owners.retain(|(_, b)| *b != Backend::Networkd);
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

/// The back end of a host whose wanted links nobody owns yet. On an unknown distribution that would be a guess.
fn distribution(facts: &Facts) -> Result<Backend, Problem> {
    let choice = facts.row().and_then(|_| facts.default_backend());
    choice.map(|c| c.backend).ok_or_else(|| {
        HOST_UNSUPPORTED.at(
            Pointer::of("network_backend"),
            format!(
                "\"{}\" is not in ibplan's table, so it is not known what configures its network",
                facts.os.name
            ),
            "name the back end with `network_backend`",
        )
    })
}
