//! The part for a kernel module.
