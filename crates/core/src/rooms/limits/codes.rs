//! Problem codes of the room `limits`.

/// Every code of this room.
pub const ALL: &[crate::problem::Code] = &[];
