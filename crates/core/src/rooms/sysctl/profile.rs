//! The named sets of kernel parameters, value by value, with source and effect.
//!
//! None of them affects verbs traffic (perftest, MPI, NVMe-oF, NFS over RDMA): RDMA has no socket buffers. They matter only for
//! TCP and UDP over IPoIB.

use super::want::{Profile, SysctlKey, SysctlValue};

/// One parameter of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileValue {
    /// Its key, in dots.
    pub key: &'static str,
    /// Its value.
    pub value: &'static str,
    /// What it does.
    pub effect: &'static str,
    /// Where the value comes from.
    pub source: &'static str,
}

/// 128 MiB holds the bandwidth-delay product of 100 Gb/s at 10 ms.
const IPOIB_THROUGHPUT: &[ProfileValue] = &[
    ProfileValue {
        key: "net.core.netdev_max_backlog",
        value: "250000",
        effect: "packets queued on a CPU before they are dropped; kernel default 1000",
        source: "mlnx-tools: sbin/sysctl_perf_tuning",
    },
    ProfileValue {
        key: "net.core.rmem_max",
        value: "134217728",
        effect: "largest receive buffer that a program may ask for (SO_RCVBUF), in bytes; caps no TCP autotuning",
        source: "ESnet fasterdata.es.net, host tuning; linux: Documentation/admin-guide/sysctl/net.rst",
    },
    ProfileValue {
        key: "net.core.wmem_max",
        value: "134217728",
        effect: "largest send buffer that a program may ask for (SO_SNDBUF), in bytes; caps no TCP autotuning",
        source: "ESnet fasterdata.es.net, host tuning; linux: Documentation/admin-guide/sysctl/net.rst",
    },
    ProfileValue {
        key: "net.ipv4.tcp_rmem",
        value: "4096 87380 134217728",
        effect: "least, first and largest receive buffer of a TCP socket in bytes; the third caps autotuning",
        source: "linux: Documentation/networking/ip-sysctl.rst; 87380 is the kernel's long-standing first value",
    },
    ProfileValue {
        key: "net.ipv4.tcp_wmem",
        value: "4096 65536 134217728",
        effect: "least, first and largest send buffer of a TCP socket in bytes; the third caps autotuning",
        source: "linux: Documentation/networking/ip-sysctl.rst",
    },
];

impl Profile {
    /// The parameters of the profile, by key.
    pub const fn values(self) -> &'static [ProfileValue] {
        match self {
            Self::IpoibThroughput => IPOIB_THROUGHPUT,
        }
    }

    /// The word of the document.
    pub const fn word(self) -> &'static str {
        match self {
            Self::IpoibThroughput => "ipoib_throughput",
        }
    }

    /// The same, parsed.
    pub fn parsed(self) -> impl Iterator<Item = (SysctlKey, SysctlValue)> {
        self.values()
            .iter()
            .filter_map(|v| Some((SysctlKey::parse(v.key).ok()?, SysctlValue::from_text(v.value)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_can_be_read() {
        let profile = Profile::IpoibThroughput;
        assert_eq!(profile.parsed().count(), profile.values().len());
        assert!(profile.values().is_sorted_by_key(|v| v.key));
        assert!(
            profile
                .values()
                .iter()
                .all(|v| !v.effect.is_empty() && !v.source.is_empty())
        );
        let word: Profile = serde_json::from_value(profile.word().into()).unwrap();
        assert_eq!(word, profile);
    }
}
