//! PCI addresses.

use super::{refusal, string_newtype};
use std::fmt;

/// A PCI function, `0000:65:00.0` (domain, bus, device, function; all hexadecimal). `65:00.0` means domain 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress(String);

impl PciAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// A packed refusal.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        let full = if lower.matches(':').count() == 1 {
            format!("0000:{lower}")
        } else {
            lower
        };
        let hex = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| b.is_ascii_hexdigit());
        let parts: Vec<&str> = full.split(':').collect();
        let ok = matches!(parts.as_slice(), [domain, bus, function]
        if hex(domain, 4) && hex(bus, 2) && function.split_once('.').is_some_and(|(dev, f)| {
            hex(dev, 2) && matches!(f.as_bytes(), [b'0'..=b'7'])
        }));
        if ok {
            Ok(Self(full))
        } else {
            Err(refusal(
                format!("\"{}\" is not a PCI address", text.escape_debug()),
                "give domain:bus:device.function in hexadecimal, such as 0000:65:00.0 (`lspci -D` shows it)",
            ))
        }
    }

    /// The text, lower case, with its domain.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

string_newtype!(
    PciAddress,
    "PciAddress",
    "^([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]$",
    "PCI address, domain:bus:device.function in hexadecimal, such as 0000:65:00.0."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalises_and_refuses() {
        assert_eq!(PciAddress::parse("65:00.0").unwrap().as_str(), "0000:65:00.0");
        assert_eq!(
            PciAddress::parse("0000:AF:00.1").unwrap().as_str(),
            "0000:af:00.1"
        );
        for wrong in [
            "",
            "65:00",
            "0000:65:00.8",
            "0000:65:00:0",
            "65.00.0",
            "../65:00.0",
            "0000:650:0.0",
        ] {
            assert!(PciAddress::parse(wrong).is_err(), "{wrong} was taken");
        }
    }
}
