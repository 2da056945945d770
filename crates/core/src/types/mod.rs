//! Newtypes of the field: parsed once at the edge, correct ever after.
//!
//! A value that is refused carries its own code and hint through serde as one packed string ([`refusal`]), so that the
//! error that a person reads is as good for a typo in a GUID as for a broken rule.

pub mod address;
pub mod guid;
pub mod host_path;
pub mod ifname;
pub mod names;
pub mod num;
pub mod pci;
pub mod pkey;
pub mod word_or;

pub use address::{Address, Gateway, Network};
pub use guid::Guid;
pub use host_path::HostPath;
pub use ifname::IfName;
pub use names::{DeviceName, ModuleName, UnitName, UserName};
pub use num::Num;
pub use pci::PciAddress;
pub use pkey::PKey;
pub use word_or::{MtuWant, WordOr};

/// Separates message and hint in a packed refusal: no text of a document can hold it unescaped in our messages.
const SEPARATOR: char = '\u{1f}';

/// Packs a message and a hint into the one string that serde carries.
pub fn refusal(message: impl AsRef<str>, hint: impl AsRef<str>) -> String {
    format!("{}{SEPARATOR}{}", message.as_ref(), hint.as_ref())
}

/// Splits what [`refusal`] packed; a message of serde's own has no hint.
pub fn unpack_refusal(text: &str) -> (&str, Option<&str>) {
    match text.split_once(SEPARATOR) {
        Some((message, hint)) => (message, Some(hint)),
        None => (text, None),
    }
}

/// Implements the serde and schema side of a newtype that is written as a string in the document.
///
/// The type provides `fn parse(&str) -> Result<Self, String>` (the error packed by [`refusal`]) and `Display`.
macro_rules! string_newtype {
    ($type:ty, $name:literal, $pattern:expr, $describe:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(d)?;
                <$type>::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern, "description": $describe })
            }
        }
    };
}
pub(crate) use string_newtype;
