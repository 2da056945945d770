//! The back end networkd.

use super::{Context, Dialect, Files};
use crate::distro::Backend;
use crate::problem::Problem;
use crate::rooms::ipoib::model::{Link, Rendered, WantedLink};
use crate::types::HostPath;

/// Its language.
#[derive(Clone, Copy, Debug)]
pub struct Networkd;

impl Dialect for Networkd {
    fn backend(&self) -> Backend {
        Backend::Networkd
    }

    fn folders(&self) -> &'static [&'static str] {
        &[]
    }

    fn render(&self, _: &[WantedLink], _: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
        Ok(Vec::new())
    }

    fn read(&self, _: &Files) -> Vec<(HostPath, Link)> {
        Vec::new()
    }
}
