//! Placeholder of the crate's map.
