//! Problem codes of the room `ipoib`.

/// Every code of this room.
pub const ALL: &[crate::problem::Code] = &[];
