//! The hands of ibplan: reads a host, does actions, keeps the journal.
//!
//! | module | what |
//! | --- | --- |
//! | [`host`] | a host as a [`Probe`](ibplan_core::probe::Probe): running, image, or captured |
//! | [`root`], [`files`] | paths below a root, files written atomically |
//! | [`commands`] | programs by argument vector, with a deadline |
//! | [`perform`] | every effect there is |
//! | [`journal`], [`lock`] | previous states, kept before the new ones |
//! | [`mod@apply`], [`undo`] | the transaction |
//! | [`serve`] | a request served |
//! | [`watch`] | where tests look on |

pub mod apply;
mod capture;
pub mod commands;
pub mod files;
pub mod host;
pub mod journal;
pub mod lock;
mod packages;
pub mod perform;
pub mod root;
pub mod serve;
mod signals;
mod survey;
pub mod undo;
pub mod watch;

pub use apply::Progress;
pub use host::Host;
pub use serve::{Program, serve, serve_watched};
