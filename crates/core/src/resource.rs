//! The trait of a room, and its object-safe face.

use crate::facts::Facts;
use crate::plan::Plan;
use crate::probe::{Probe, ProbeError};
use crate::problem::Findings;
use crate::state::HostState;
use std::marker::PhantomData;
use std::time::Duration;

/// One kind of thing kept in a wanted state. Observing reads, planning is pure.
pub trait Resource {
    /// The section of the document.
    const NAME: &'static str;
    /// How long the host may take after the last step to get there.
    const SETTLE: Duration = Duration::ZERO;
    /// What the document wants.
    type Want;
    /// What the host says.
    type Seen;

    /// The sections of the document that this room serves and that `state` has: where prune may act. A room whose want
    /// is made of several sections names those that are there.
    fn sections(state: &HostState) -> Vec<&'static str> {
        if Self::wanted(state).is_some() {
            vec![Self::NAME]
        } else {
            Vec::new()
        }
    }

    /// The part of the document that this room serves; `None`: not managed.
    fn wanted(state: &HostState) -> Option<Self::Want>;

    /// Rules that the document alone decides (exit 2).
    fn check(_want: &Self::Want, _state: &HostState, _found: &mut Findings) {}

    /// Rules that need the facts of the host (exit 3).
    fn check_host(_want: &Self::Want, _facts: &Facts, _found: &mut Findings) {}

    /// Reads what the host says.
    ///
    /// # Errors
    /// Something that must be known cannot be read.
    fn observe(want: &Self::Want, facts: &Facts, probe: &dyn Probe) -> Result<Self::Seen, ProbeError>;

    /// Compares by meaning; the same input always gives the same plan.
    fn plan(want: &Self::Want, seen: &Self::Seen, facts: &Facts) -> Plan;

    /// What follows from the pruning of this room's files, such as a reload of units or a link that is still up.
    fn after_prune(_facts: &Facts, _pruned: &Plan) -> Plan {
        Plan::default()
    }
}

/// Object-safe face of a resource, so that an order of work is a plain table.
pub trait Stage: Sync {
    /// The section of the document.
    fn name(&self) -> &'static str;
    /// See [`Resource::SETTLE`].
    fn settle(&self) -> Duration;
    /// Whether the document manages this room.
    fn managed(&self, state: &HostState) -> bool;
    /// See [`Resource::sections`].
    fn sections(&self, state: &HostState) -> Vec<&'static str>;
    /// See [`Resource::check`].
    fn check(&self, state: &HostState, found: &mut Findings);
    /// See [`Resource::check_host`].
    fn check_host(&self, state: &HostState, facts: &Facts, found: &mut Findings);
    /// Observes and plans; an empty plan when the section is absent.
    ///
    /// # Errors
    /// See [`Resource::observe`].
    fn plan(&self, state: &HostState, facts: &Facts, probe: &dyn Probe) -> Result<Plan, ProbeError>;
    /// See [`Resource::after_prune`].
    fn after_prune(&self, facts: &Facts, pruned: &Plan) -> Plan;
}

/// Makes a [`Stage`] of a [`Resource`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Of<R>(PhantomData<fn() -> R>);

impl<R> Of<R> {
    /// The stage of this resource.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<R: Resource> Stage for Of<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn settle(&self) -> Duration {
        R::SETTLE
    }

    fn managed(&self, state: &HostState) -> bool {
        R::wanted(state).is_some()
    }

    fn sections(&self, state: &HostState) -> Vec<&'static str> {
        R::sections(state)
    }

    fn check(&self, state: &HostState, found: &mut Findings) {
        if let Some(want) = R::wanted(state) {
            R::check(&want, state, found);
        }
    }

    fn check_host(&self, state: &HostState, facts: &Facts, found: &mut Findings) {
        if let Some(want) = R::wanted(state) {
            R::check_host(&want, facts, found);
        }
    }

    fn plan(&self, state: &HostState, facts: &Facts, probe: &dyn Probe) -> Result<Plan, ProbeError> {
        match R::wanted(state) {
            None => Ok(Plan::default()),
            Some(want) => Ok(R::plan(&want, &R::observe(&want, facts, probe)?, facts)),
        }
    }

    fn after_prune(&self, facts: &Facts, pruned: &Plan) -> Plan {
        R::after_prune(facts, pruned)
    }
}
