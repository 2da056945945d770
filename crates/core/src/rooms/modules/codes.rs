//! Problem codes of the room `modules`.

/// Every code of this room.
pub const ALL: &[crate::problem::Code] = &[];
