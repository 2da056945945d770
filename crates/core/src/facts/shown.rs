//! How facts are written out, where JSON numbers would not be read as the field writes them.

use crate::distro::Row;
use crate::hca::HcaModel;
use serde::{Serialize, Serializer};

/// The name of the row.
pub(super) fn row_name<S: Serializer>(row: &Option<&'static Row>, s: S) -> Result<S::Ok, S::Error> {
    row.map(|r| r.name).serialize(s)
}

/// The name of the model.
pub(super) fn model_name<S: Serializer>(model: &Option<&'static HcaModel>, s: S) -> Result<S::Ok, S::Error> {
    model.map(|m| m.name).serialize(s)
}

/// `0x15b3`: ids and keys of 16 bits, as sysfs writes them.
pub(super) fn hex<S: Serializer>(value: &u16, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(&format_args!("{value:#06x}"))
}

/// As [`hex`], or null.
pub(super) fn hex_or_null<S: Serializer>(value: &Option<u16>, s: S) -> Result<S::Ok, S::Error> {
    value.map(|v| format!("{v:#06x}")).serialize(s)
}

/// A list of [`hex`].
pub(super) fn hex_list<S: Serializer>(values: &[u16], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(values.iter().map(|v| format!("{v:#06x}")))
}

/// `fe80:0000:0000:0000`, as in the document: 64 bits are too many for most readers of JSON numbers.
pub(super) fn prefix<S: Serializer>(value: &Option<u64>, s: S) -> Result<S::Ok, S::Error> {
    let groups = |v: u64| {
        [48, 32, 16, 0]
            .map(|shift| format!("{:04x}", (v >> shift) & 0xffff))
            .join(":")
    };
    value.map(groups).serialize(s)
}
