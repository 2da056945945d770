//! HCAs on the PCI bus.

use super::PciHca;
use super::folder::Folder;
use crate::hca::{HcaModel, VENDORS};
use crate::probe::{Probe, ProbeError};
use crate::types::{HostPath, PciAddress};

/// PCI classes, upper 16 bits: InfiniBand controller, InfiniBand (old class), fabric controller (Omni-Path).
const CLASSES: [u32; 3] = [0x0207, 0x0c06, 0x0208];

/// What the PCI attributes of one function say.
pub(super) struct Function {
    /// Vendor id.
    pub(super) vendor: u16,
    /// Device id.
    pub(super) device: u16,
    /// The row of the table.
    pub(super) model: Option<&'static HcaModel>,
    /// A virtual function: the link to its PF is there (hypervisor), or the id says so (guest).
    pub(super) vf: bool,
    /// The bound driver.
    pub(super) driver: Option<String>,
}

impl Function {
    /// Reads the folder of a PCI function; `None` when it is none.
    pub(super) fn read(folder: &Folder<'_>) -> Option<Self> {
        let id = |name| folder.hex(name).and_then(|id| u16::try_from(id).ok());
        let (vendor, device) = (id("vendor")?, id("device")?);
        let model = HcaModel::find(vendor, device);
        Some(Self {
            vendor,
            device,
            model,
            vf: model.is_some_and(|m| m.vf) || folder.has("physfn"),
            driver: folder.target("driver"),
        })
    }
}

/// All HCAs, by address. An Ethernet card of the same vendor is none (an Intel NIC with irdma), and neither is a card that only
/// the vendor would make one.
///
/// # Errors
/// The bus is there and cannot be listed.
pub(super) fn hcas(probe: &dyn Probe) -> Result<Vec<PciHca>, ProbeError> {
    let bus = HostPath::fixed("/sys/bus/pci/devices");
    let names = probe.list(&bus)?;
    let bus = Folder::new(probe, bus);
    let likely = likely(probe);
    let mut found = Vec::new();
    for name in &names {
        if likely
            .as_ref()
            .is_some_and(|l| !l.iter().any(|slot| name.ends_with(slot)))
        {
            continue;
        }
        let (Ok(address), Some(folder)) = (PciAddress::parse(name), bus.follow(name)) else {
            continue;
        };
        // The vendor alone first: a server has hundreds of functions that are not looked at any further.
        if !folder
            .hex("vendor")
            .is_some_and(|v| VENDORS.iter().any(|k| u32::from(*k) == v))
        {
            continue;
        }
        let Some(function) = Function::read(&folder) else {
            continue;
        };
        let fabric = || folder.hex("class").is_some_and(|c| CLASSES.contains(&(c >> 8)));
        if function.model.is_some() || fabric() {
            found.push(PciHca {
                address,
                vendor: function.vendor,
                device: function.device,
                model: function.model,
                driver: function.driver,
                vf: function.vf,
                numa_node: folder.number("numa_node"),
            });
        }
    }
    Ok(found)
}

/// `BUS:DEVICE.FUNCTION` of all functions of our vendors, from the one file that lists them all, without their domain
/// (linux: drivers/pci/proc.c, show_device). `None` where it is not there: then every function is looked at.
fn likely(probe: &dyn Probe) -> Option<Vec<String>> {
    let text = probe.attribute(&HostPath::fixed("/proc/bus/pci/devices"))?;
    let slots = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (place, id) = (words.next()?, words.next()?);
        let place = u16::from_str_radix(place, 16).ok()?;
        let vendor = u16::from_str_radix(id.get(..4)?, 16).ok()?;
        let (bus, slot, function) = (place >> 8, (place >> 3) & 0x1f, place & 7);
        VENDORS
            .contains(&vendor)
            .then(|| format!(":{bus:02x}:{slot:02x}.{function}"))
    });
    Some(slots.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn function(host: Fake, address: &str, vendor: &str, device: &str, class: &str) -> Fake {
        let real = format!("/sys/devices/pci0000:00/{address}");
        host.file(&format!("{real}/vendor"), &format!("{vendor}\n"))
            .file(&format!("{real}/device"), &format!("{device}\n"))
            .file(&format!("{real}/class"), &format!("{class}\n"))
            .symlink(
                &format!("/sys/bus/pci/devices/{address}"),
                &format!("../../../devices/pci0000:00/{address}"),
            )
    }

    fn host() -> Fake {
        let mut host = function(Fake::new(), "0000:41:00.0", "0x15b3", "0x101b", "0x020700");
        host = function(host, "0000:41:00.1", "0x15b3", "0x101c", "0x020700");
        host = function(host, "0000:42:00.0", "0x15b3", "0x101d", "0x020000");
        host = function(host, "0000:43:00.0", "0x8086", "0x1592", "0x020000");
        host = function(host, "0000:44:00.0", "0x8086", "0x24f0", "0x020800");
        host = function(host, "0000:45:00.0", "0x15b3", "0x9999", "0x020700");
        host = function(host, "0000:46:00.0", "0x15b3", "0x1974", "0x060400");
        host = function(host, "0000:47:00.0", "0x10de", "0x101b", "0x020700");
        function(host, "0000:48:00.0", "0x15b3", "0x1021", "0x020700")
            .file("/sys/devices/pci0000:00/0000:41:00.0/numa_node", "1\n")
            .file("/sys/devices/pci0000:00/0000:41:00.1/numa_node", "-1\n")
            .symlink(
                "/sys/devices/pci0000:00/0000:41:00.0/driver",
                "../../../bus/pci/drivers/mlx5_core",
            )
            .symlink("/sys/devices/pci0000:00/0000:48:00.0/physfn", "../0000:41:00.0")
    }

    #[test]
    fn case_38_vendor_alone_is_no_hca() {
        let found = hcas(&host()).unwrap();
        let names: Vec<(&str, Option<&str>)> = found
            .iter()
            .map(|h| (h.address.as_str(), h.model.map(|m| m.name)))
            .collect();
        assert_eq!(
            names,
            [
                ("0000:41:00.0", Some("ConnectX-6")),
                ("0000:41:00.1", Some("ConnectX-6 VF")),
                ("0000:42:00.0", Some("ConnectX-6 Dx")),
                ("0000:44:00.0", Some("Omni-Path HFI")),
                ("0000:45:00.0", None),
                ("0000:48:00.0", Some("ConnectX-7")),
            ]
        );
        let [pf, vf, ..] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(
            (pf.driver.as_deref(), pf.numa_node, pf.vf),
            (Some("mlx5_core"), Some(1), false)
        );
        assert_eq!((vf.driver.as_deref(), vf.numa_node, vf.vf), (None, None, true));
        assert!(found[5].vf, "a physfn link makes a VF whatever the id");
    }

    #[test]
    fn the_list_of_all_functions_only_saves_reading() {
        let whole = "4100\t15b3101b\t10\n4101\t15b3101c\t0\n4200\t15b3101d\t0\n4300\t80861592\t0\n4400\t808624f0\t0\n\
                     4500\t15b39999\t0\n4600\t15b31974\t0\n4700\t10de101b\t0\n4800\t15b31021\t0\n";
        let listed = host().file("/proc/bus/pci/devices", whole);
        let addresses =
            |h: &Fake| -> Vec<String> { hcas(h).unwrap().iter().map(|x| x.address.to_string()).collect() };
        assert_eq!(addresses(&listed), addresses(&host()));
        let none = host().file("/proc/bus/pci/devices", "0000\t80860d57\t0\n");
        assert!(hcas(&none).unwrap().is_empty());
    }

    #[test]
    fn no_bus_no_hca() {
        assert!(hcas(&Fake::new()).unwrap().is_empty());
    }
}
