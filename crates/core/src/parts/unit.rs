//! The part for a systemd unit.
