//! The rooms: one for each section of the document, all with the same furniture (want, seen, plan).

pub mod ipoib;
#[cfg(test)]
pub(crate) mod laws;
pub mod limits;
pub mod modules;
pub mod subnet_manager;
pub mod sysctl;

use crate::resource::{Of, Stage};

/// The whole host, in the order of work.
pub const HOST: &[&dyn Stage] = &[
    &Of::<modules::Modules>::new(),
    &Of::<subnet_manager::SubnetManager>::new(),
    &Of::<ipoib::Ipoib>::new(),
    &Of::<sysctl::Sysctl>::new(),
    &Of::<limits::Limits>::new(),
];
