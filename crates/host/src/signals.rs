//! Signals held back while the lock is held: neither a step nor a rollback is cut in two, and the run ends between steps.

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::sync::atomic::{AtomicI32, Ordering};

/// Holds SIGHUP, SIGINT, SIGTERM until it is dropped. Programs that are started get an empty mask (see `commands`).
#[derive(Debug)]
pub(crate) struct Held {
    before: Option<SigSet>,
    arrivals: Option<SignalFd>,
}

impl Held {
    /// Holds the signals.
    pub(crate) fn new() -> Self {
        let held = signals();
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
        let number = read(self.arrivals.as_ref()?).or(match NOTED.swap(0, Ordering::Relaxed) {
            0 => None,
            number => Some(number),
        })?;
        Signal::try_from(number).ok().map(Signal::as_str)
    }
}

/// A signal that arrived while a program was about to be started.
static NOTED: AtomicI32 = AtomicI32::new(0);

fn signals() -> SigSet {
    let mut set = SigSet::empty();
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        set.add(signal);
    }
    set
}

fn read(arrivals: &SignalFd) -> Option<i32> {
    let info = arrivals.read_signal().ok()??;
    i32::try_from(info.ssi_signo).ok()
}

/// Takes note of the signals that wait, so that they may be let through for a moment.
pub(crate) fn note_pending() {
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    let Ok(arrivals) = SignalFd::with_flags(&signals(), flags) else {
        return;
    };
    while let Some(number) = read(&arrivals) {
        NOTED.store(number, Ordering::Relaxed);
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
