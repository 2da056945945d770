//! The section `limits`.

use crate::types::word_or::Unlimited;
use crate::types::{UnitName, UserName, WordOr};
use serde::Deserialize;

/// Locked memory (RLIMIT_MEMLOCK). RDMA pins its buffers; a low limit makes `ibv_reg_mr` fail with ENOMEM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsWant {
    /// `unlimited`, or kibibytes (limits.conf(5)), 64 to 2^40.
    pub memlock: MemlockWant,
    /// Users, `@groups` or `*`; `*` does not cover root, name it too. Default: `["*", "root"]`.
    #[serde(default = "everyone")]
    pub users: Vec<UserName>,
    /// systemd services that get the limit by a drop-in, since limits.conf does not reach them. Default: none.
    #[serde(default)]
    pub services: Vec<UnitName>,
}

/// `unlimited` or kibibytes.
pub type MemlockWant = WordOr<Unlimited, 64, 1_099_511_627_776>;

fn everyone() -> Vec<UserName> {
    ["*", "root"]
        .iter()
        .filter_map(|u| UserName::parse(u).ok())
        .collect()
}
