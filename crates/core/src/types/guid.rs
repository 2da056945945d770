//! 64-bit GUIDs of nodes and ports.

use super::{refusal, string_newtype};
use std::fmt;

/// A 64-bit InfiniBand GUID (EUI-64). Documents, opensm.conf and partitions.conf use the **port** GUID.
///
/// Written `0x` and 16 hexadecimal digits; the sysfs form `b83f:d203:00aa:10c4` is taken too.
/// 0 and all ones are no GUIDs: opensm would open a menu or bind nothing (opensm: osm_vendor_ibumad.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(u64);

impl Guid {
    /// A GUID from its number; `None` for 0 and all ones.
    pub const fn new(value: u64) -> Option<Self> {
        if value == 0 || value == u64::MAX {
            None
        } else {
            Some(Self(value))
        }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Reads `0x…` (1 to 16 digits) or the sysfs form of four groups.
    ///
    /// # Errors
    /// A packed refusal that says what a GUID looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let hint = "give the port GUID as 0x and 16 hexadecimal digits; /sys/class/infiniband/DEV/ports/1/gids/0 ends with it";
        let shown = text.escape_debug();
        let digits = match text.strip_prefix("0x") {
            Some(digits) if (1..=16).contains(&digits.len()) => digits.to_owned(),
            _ => Self::grouped(text).ok_or_else(|| refusal(format!("\"{shown}\" is not a GUID"), hint))?,
        };
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(refusal(format!("\"{shown}\" is not a GUID"), hint));
        }
        u64::from_str_radix(&digits, 16)
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| {
                refusal(
                    format!("\"{shown}\" is no port's GUID: 0 and all ones are reserved"),
                    hint,
                )
            })
    }

    fn grouped(text: &str) -> Option<String> {
        let groups: Vec<&str> = text.split(':').collect();
        (groups.len() == 4 && groups.iter().all(|g| g.len() == 4)).then(|| groups.concat())
    }

    /// The last 8 bytes of an IPoIB hardware address as udev and sysfs write it: `b8:3f:d2:03:00:aa:10:c4`.
    pub fn octets(self) -> String {
        self.0.to_be_bytes().map(|b| format!("{b:02x}")).join(":")
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

string_newtype!(
    Guid,
    "Guid",
    "^(0x(?!0+$|[fF]{16}$)[0-9a-fA-F]{1,16}|(?!0000:0000:0000:0000$|[fF]{4}:[fF]{4}:[fF]{4}:[fF]{4}$)[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3})$",
    "Port GUID, 64 bits: 0x and up to 16 hexadecimal digits, or four groups of four. 0 and all ones are refused."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms_and_writes_one() {
        for text in ["0xb83fd20300aa10c4", "b83f:d203:00aa:10c4", "0xB83FD20300AA10C4"] {
            assert_eq!(Guid::parse(text).unwrap().to_string(), "0xb83fd20300aa10c4");
        }
        assert_eq!(Guid::parse("0x1").unwrap().get(), 1);
        assert_eq!(
            Guid::new(0xb83f_d203_00aa_10c4).unwrap().octets(),
            "b8:3f:d2:03:00:aa:10:c4"
        );
    }

    #[test]
    fn refuses_what_is_no_guid() {
        for text in [
            "",
            "0x",
            "0",
            "0x0",
            "0xffffffffffffffff",
            "b83fd20300aa10c4",
            "0xb83fd20300aa10c4f",
            "0xxyz",
            "b83f:d203:00aa",
            "0x+1",
            " 0x1",
        ] {
            assert!(Guid::parse(text).is_err(), "{text} was taken");
        }
    }
}
