//! What rooms share: each part observes and plans one kind of thing once, well.

pub mod dropin;
pub mod file;
pub mod kmod;
pub mod packages;
pub mod prune;
pub mod unit;
