//! What an InfiniBand host should be, how it differs, and the steps between.
//!
//! `core` thinks and touches nothing: it reads a host through [`probe::Probe`] and says what to do as [`action::Action`]s.
//!
//! | module | what |
//! | --- | --- |
//! | [`types`] | newtypes of the field: GUID, P_Key, interface name, address |
//! | [`request`], [`state`] | the request and the host document, with the pointer of every mistake |
//! | [`problem`], [`codes`] | errors: code, pointer, message, hint |
//! | [`facts`], [`distro`], [`hca`] | what a host is |
//! | [`resource`], [`rooms`], [`parts`] | what is compared and planned |
//! | [`plan`], [`action`], [`engine`] | the plan, and how it is made for all rooms |
//! | [`ledger`] | what ibplan owns, and what it replaced |
//! | [`protocol`] | the response |

pub mod action;
pub mod codes;
pub mod distro;
pub mod engine;
pub mod facts;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod hca;
pub mod ledger;
pub mod parts;
pub mod plan;
pub mod pointer;
pub mod probe;
pub mod problem;
pub mod protocol;
pub mod request;
pub mod resource;
pub mod rooms;
pub mod state;
pub mod types;
