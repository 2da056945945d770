//! The section `limits`.

use crate::types::word_or::Unlimited;
use crate::types::{UnitName, UserName, WordOr};
use serde::Deserialize;

/// Locked memory (RLIMIT_MEMLOCK). RDMA pins its buffers; a low limit makes `ibv_reg_mr` fail with ENOMEM.
/// Given empty (`limits: {}`), nothing is limited: with prune, what ibplan wrote goes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsWant {
    /// `unlimited`, or kibibytes (limits.conf(5)), 64 to 2^40. Required unless the section is empty.
    #[serde(default)]
    pub memlock: Option<MemlockWant>,
    /// Users, `@groups` or `*`; `*` does not cover root, name it too. Default: `["*", "root"]`.
    #[serde(default)]
    pub users: Option<Vec<UserName>>,
    /// systemd services that get the limit by a drop-in, since limits.conf does not reach them. Default: none.
    #[serde(default)]
    pub services: Vec<UnitName>,
}

/// `unlimited` or kibibytes.
pub type MemlockWant = WordOr<Unlimited, 64, 1_099_511_627_776>;

impl LimitsWant {
    /// The limit and those who get it in their sessions; `None` for a section that is empty.
    pub fn users(&self) -> Option<(MemlockWant, Vec<UserName>)> {
        let everyone = || {
            ["*", "root"]
                .iter()
                .filter_map(|u| UserName::parse(u).ok())
                .collect()
        };
        Some((self.memlock?, self.users.clone().unwrap_or_else(everyone)))
    }
}
