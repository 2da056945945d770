//! Problem codes of the room `sysctl`.

/// Every code of this room.
pub const ALL: &[crate::problem::Code] = &[];
