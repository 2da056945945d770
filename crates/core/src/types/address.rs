//! IP addresses with their prefix, networks and gateways.

#[cfg(feature = "schema")]
mod pattern;

use super::{refusal, string_newtype};
use ipnet::IpNet;
use std::fmt;
use std::net::IpAddr;

/// An interface address with its prefix length: `192.168.10.1/24`, `fd00:10::1/64`.
///
/// A prefix is demanded: an address without one is a /32 to some back ends and a classful guess to others.
/// Unspecified, multicast and loopback addresses, and the network's own or broadcast address, are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(IpNet);

/// Address and prefix length. Leading zeros are refused in both: 010 is 8 to some programs and 10 to others.
fn parse_net(text: &str) -> Option<IpNet> {
    let (address, length) = text.split_once('/')?;
    let plain = length.bytes().all(|b| b.is_ascii_digit()) && (length == "0" || !length.starts_with('0'));
    let length = length.parse().ok().filter(|_| plain)?;
    IpNet::new(address.parse().ok()?, length).ok()
}

impl Address {
    /// Reads `address/length`.
    ///
    /// # Errors
    /// A packed refusal.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shown = text.escape_debug();
        let hint = "give address/length, such as 192.168.10.1/24 or fd00:10::1/64";
        if text.parse::<IpAddr>().is_ok() {
            return Err(refusal(format!("address {shown} has no prefix length"), hint));
        }
        let net = parse_net(text).ok_or_else(|| {
            refusal(
                format!("\"{shown}\" is not an address with a prefix length"),
                hint,
            )
        })?;
        let ip = net.addr();
        if net.prefix_len() == 0 {
            return Err(refusal(
                format!("{shown} has prefix length 0: the whole world on one link"),
                hint,
            ));
        }
        if ip.is_unspecified() || ip.is_multicast() || ip.is_loopback() {
            return Err(refusal(format!("{shown} cannot be the address of a link"), hint));
        }
        if let IpNet::V4(v4) = net
            && v4.prefix_len() < 31
            && (v4.addr() == v4.network() || v4.addr() == v4.broadcast())
        {
            return Err(refusal(
                format!("{shown} is the network or broadcast address of {}", v4.trunc()),
                hint,
            ));
        }
        Ok(Self(net))
    }

    /// Address and prefix.
    pub const fn net(self) -> IpNet {
        self.0
    }

    /// Whether it is IPv4.
    pub const fn is_v4(self) -> bool {
        matches!(self.0, IpNet::V4(_))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A destination of a route: `10.20.0.0/16`, `fd00::/8`, or `default` (of the family of its gateway). Host bits must be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    /// Everything.
    Default,
    /// One network.
    Net(IpNet),
}

impl Network {
    /// Reads a network or `default`.
    ///
    /// # Errors
    /// A packed refusal.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shown = text.escape_debug();
        let hint = "give network/length, such as 10.20.0.0/16, or default";
        if text == "default" {
            return Ok(Self::Default);
        }
        let net = parse_net(text).ok_or_else(|| refusal(format!("\"{shown}\" is not a network"), hint))?;
        if net.prefix_len() == 0 && net.addr().is_unspecified() {
            return Ok(Self::Default);
        }
        if net.trunc() != net {
            return Err(refusal(
                format!(
                    "{shown} has bits set behind its prefix; did you mean {}?",
                    net.trunc()
                ),
                hint,
            ));
        }
        Ok(Self::Net(net))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Net(net) => fmt::Display::fmt(net, f),
        }
    }
}

/// The address of a router, without a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gateway(IpAddr);

impl Gateway {
    /// Reads an address.
    ///
    /// # Errors
    /// A packed refusal.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<IpAddr>() {
            Ok(ip) if !ip.is_unspecified() && !ip.is_multicast() && !ip.is_loopback() => Ok(Self(ip)),
            _ => Err(refusal(
                format!("\"{}\" is not the address of a router", text.escape_debug()),
                "give an address without a prefix length, such as 192.168.10.254",
            )),
        }
    }

    /// The address.
    pub const fn ip(self) -> IpAddr {
        self.0
    }
}

impl fmt::Display for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

string_newtype!(
    Address,
    "Address",
    pattern::address(),
    "Address with prefix length: 192.168.10.1/24 or fd00:10::1/64."
);
string_newtype!(
    Network,
    "Network",
    pattern::network(),
    "Network such as 10.20.0.0/16, or default."
);
string_newtype!(
    Gateway,
    "Gateway",
    pattern::gateway(),
    "Address of a router, without a prefix length."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_want_a_sane_prefix() {
        for ok in [
            "192.168.10.1/24",
            "fd00:10::1/64",
            "10.0.0.0/31",
            "10.0.0.1/32",
            "fe80::1/64",
        ] {
            assert_eq!(Address::parse(ok).unwrap().to_string(), ok);
        }
        for wrong in [
            "192.168.10.1",
            "192.168.10.0/24",
            "192.168.10.255/24",
            "0.0.0.0/0",
            "224.0.0.1/4",
            "127.0.0.1/8",
            "1.2.3.4/33",
            "x/24",
            "",
            "1.2.3/24",
            "10.0.0.1/08",
            "10.0.0.1/+8",
            "192.168.010.1/24",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong} was taken");
        }
    }

    #[test]
    fn networks_have_no_host_bits() {
        assert_eq!(Network::parse("0.0.0.0/0").unwrap(), Network::Default);
        assert!(
            Network::parse("10.20.0.1/16")
                .unwrap_err()
                .contains("10.20.0.0/16")
        );
        assert!(Network::parse("10.20.0.0").is_err() && Network::parse("10.20.0.1/0").is_err());
        assert!(Gateway::parse("10.0.0.1/24").is_err() && Gateway::parse("::").is_err());
    }
}
