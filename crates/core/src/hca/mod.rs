//! HCAs by PCI id: generation, link types, whether connected mode is possible.

mod table;

pub use table::MODELS;

/// What a device's ports can speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTypes {
    /// InfiniBand only.
    Infiniband,
    /// Ethernet only: no IPoIB, no subnet manager.
    Ethernet,
    /// Either, by firmware setting (VPI).
    Either,
    /// Omni-Path: IPoIB, but never opensm.
    OmniPath,
    /// None: flash-recovery mode, the firmware is broken.
    Recovery,
}

/// One row of the table.
#[derive(Debug)]
pub struct HcaModel {
    /// PCI vendor.
    pub vendor: u16,
    /// PCI device ids.
    pub devices: &'static [u16],
    /// For people: `ConnectX-6`.
    pub name: &'static str,
    /// Kernel driver.
    pub driver: &'static str,
    /// Link types.
    pub links: LinkTypes,
    /// The kernel's own IPoIB can do connected mode. `false`: mlx5 enhanced IPoIB, datagram only.
    pub connected: bool,
    /// These ids are virtual functions.
    pub vf: bool,
}

impl HcaModel {
    /// The row of a device.
    pub fn find(vendor: u16, device: u16) -> Option<&'static Self> {
        MODELS
            .iter()
            .find(|m| m.vendor == vendor && m.devices.contains(&device))
    }
}

/// Vendors whose PCI functions are looked at.
pub const VENDORS: &[u16] = &[0x15b3, 0x8086, 0x1077, 0x1fc1];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_traps() {
        let name = |v, d| HcaModel::find(v, d).map(|m| m.name);
        assert_eq!(name(0x15b3, 0x1003), Some("ConnectX-3"));
        assert!(HcaModel::find(0x15b3, 0x1003).unwrap().connected);
        assert!(!HcaModel::find(0x15b3, 0x101b).unwrap().connected);
        assert_eq!(HcaModel::find(0x15b3, 0x101d).unwrap().links, LinkTypes::Ethernet);
        assert_eq!(HcaModel::find(0x8086, 0x24f0).unwrap().links, LinkTypes::OmniPath);
        assert_eq!(name(0x8086, 0x1572), None, "an Intel Ethernet card is no HCA");
    }

    #[test]
    fn no_id_stands_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for m in MODELS {
            for d in m.devices {
                assert!(
                    seen.insert((m.vendor, *d)),
                    "{:04x}:{d:04x} stands twice",
                    m.vendor
                );
            }
        }
    }
}
