//! Problem codes of the room `subnet_manager`.

/// Every code of this room.
pub const ALL: &[crate::problem::Code] = &[];
