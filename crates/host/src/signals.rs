//! Signals held back while the lock is held: neither a step nor a rollback is cut in two, and the run ends between steps.

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Holds SIGHUP, SIGINT, SIGTERM until it is dropped. Programs that are started get an empty mask (std resets it).
#[derive(Debug)]
pub(crate) struct Held {
    before: Option<SigSet>,
    arrivals: Option<SignalFd>,
}

impl Held {
    /// Holds the signals.
    pub(crate) fn new() -> Self {
        let mut held = SigSet::empty();
        for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
            held.add(signal);
        }
        let before = SigSet::thread_get_mask().ok();
        if held.thread_block().is_err() {
            return Self {
                before: None,
                arrivals: None,
            };
        }
        let arrivals = SignalFd::with_flags(&held, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).ok();
        Self { before, arrivals }
    }

    /// The name of a signal that arrived meanwhile.
    pub(crate) fn arrived(&self) -> Option<&'static str> {
        let info = self.arrivals.as_ref()?.read_signal().ok()??;
        let number = i32::try_from(info.ssi_signo).ok()?;
        Signal::try_from(number).ok().map(Signal::as_str)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // What came too late to matter must not end the program before it has told what it did.
        while self.arrived().is_some() {}
        if let Some(before) = &self.before {
            // Without this the program would stay deaf; there is nobody to tell if it fails.
            let _ = before.thread_set_mask();
        }
    }
}
