//! Reading a request without trusting its size.

use ibplan_core::request::MAX_BYTES;
use std::io::{self, Read};

/// Reads at most one byte more than the largest request, so that whoever sends gigabytes costs neither memory nor time.
pub(crate) fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    source.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_one_byte_behind_the_limit() {
        assert_eq!(bounded(io::repeat(b' ')).unwrap().len(), MAX_BYTES + 1);
        assert_eq!(bounded(&b"{}"[..]).unwrap(), b"{}");
    }
}
