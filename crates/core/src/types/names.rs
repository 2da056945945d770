//! Names that become parts of paths and files: each has an alphabet, so that none can escape its place.

use super::{refusal, string_newtype};
use std::fmt;

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $schema:literal, $what:literal, $max:literal, $pattern:literal, $ok:expr, $hint:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Reads a name.
            ///
            /// # Errors
            /// A packed refusal.
            pub fn parse(text: &str) -> Result<Self, String> {
                let ok: fn(&str) -> bool = $ok;
                if !text.is_empty() && text.len() <= $max && ok(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(refusal(format!(concat!("\"{}\" is not ", $what), text.escape_debug()), $hint))
                }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        string_newtype!($name, $schema, $pattern, concat!("This is ", $what, ": ", $hint, "."));
    };
}

fn made_of(text: &str, extra: &[u8]) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_alphanumeric() || extra.contains(&b))
}

name_type!(
    /// An RDMA device as the kernel names it: `mlx5_0`, `ibp65s0`.
    DeviceName, "DeviceName", "the name of an RDMA device", 63,
    "^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$",
    |t| made_of(t, b"_.-") && t.starts_with(|c: char| c.is_ascii_alphanumeric()),
    "give a name as `rdma dev` shows it, such as mlx5_0"
);

name_type!(
    /// A kernel module: `ib_ipoib`. `-` and `_` are the same to the kernel; the name is kept with `_`.
    ModuleName, "ModuleName", "the name of a kernel module", 55,
    "^[A-Za-z0-9_][A-Za-z0-9_-]{0,54}$",
    |t| made_of(t, b"_-") && !t.starts_with('-'),
    "give a module name such as ib_ipoib: letters, digits, '_' and '-', no path and no .ko"
);

impl ModuleName {
    /// The name with `_` for `-`, as sysfs has it.
    pub fn normal(&self) -> String {
        self.0.replace('-', "_")
    }
}

name_type!(
    /// A systemd service, with or without `.service`: `slurmd`, `opensm@1.service` (systemd.unit(5)).
    UnitName, "UnitName", "the name of a systemd service", 200,
    "^(?!.*\\.\\.)[A-Za-z0-9_][A-Za-z0-9:_.\\\\@-]{0,199}$",
    |t| made_of(t, b":_.\\@-") && t.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && !t.contains(".."),
    "give a service name such as slurmd or slurmd.service"
);

impl UnitName {
    /// The full unit name; `.service` is added where no suffix is given.
    pub fn unit(&self) -> String {
        const SUFFIXES: &[&str] = &[".service", ".socket", ".scope", ".slice", ".target"];
        if SUFFIXES.iter().any(|s| self.0.ends_with(s)) {
            self.0.clone()
        } else {
            format!("{}.service", self.0)
        }
    }
}

name_type!(
    /// Whom a limit is for, as in limits.conf(5): a user, `@group`, or `*` (everyone but root).
    UserName, "LimitDomain", "a user, an @group or *", 33,
    "^(\\*|@?[A-Za-z_][A-Za-z0-9_.-]{0,30}\\$?)$",
    |t| t == "*" || {
        let n = t.strip_prefix('@').unwrap_or(t);
        let n = n.strip_suffix('$').unwrap_or(n);
        !n.is_empty() && n.len() <= 31 && made_of(n, b"_.-") && n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    },
    "give a user such as root, a group such as @rdma, or *"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        for evil in ["../x", "a/b", "a b", "", "a\n", "$(id)", "a;b", "..", "\0"] {
            assert!(DeviceName::parse(evil).is_err(), "device {evil:?}");
            assert!(ModuleName::parse(evil).is_err(), "module {evil:?}");
            assert!(UnitName::parse(evil).is_err(), "unit {evil:?}");
            assert!(UserName::parse(evil).is_err(), "user {evil:?}");
        }
        assert_eq!(ModuleName::parse("ib-ipoib").unwrap().normal(), "ib_ipoib");
        assert_eq!(UnitName::parse("slurmd").unwrap().unit(), "slurmd.service");
        assert_eq!(
            UnitName::parse("user@0.service").unwrap().unit(),
            "user@0.service"
        );
        for ok in ["*", "root", "@rdma", "host$"] {
            assert!(UserName::parse(ok).is_ok(), "{ok}");
        }
    }
}
