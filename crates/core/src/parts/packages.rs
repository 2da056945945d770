//! The part for a set of packages.
