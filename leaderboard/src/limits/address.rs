//! Whose request it is, as far as that is counted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;
use clap::ValueEnum;

/// The other end of the connection: a client, or the proxy in front. It has no `Debug`, so that no log can hold it.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Where a proxy writes the address of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProxyHeader {
    /// A list, whose last entry the proxy itself wrote
    XForwardedFor,
    /// One address
    XRealIp,
}

impl ProxyHeader {
    fn name(self) -> &'static str {
        match self {
            Self::XForwardedFor => "x-forwarded-for",
            Self::XRealIp => "x-real-ip",
        }
    }
}

/// Whom one limit is for. A household has as many IPv6 addresses as it likes, but one network of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Network {
    V4([u8; 4]),
    V6([u16; 4]),
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self::V6([a, b, c, d])
            }
        }
    }
}

/// First address of the /24 (IPv4) or /48 (IPv6) around an address, which is what one customer of a provider can get.
pub(crate) fn prefix_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            Ipv4Addr::new(a, b, c, 0).into()
        }
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
        }
    }
}

/// The address that a request counts for; nothing for this machine's own.
///
/// A request without the header did not come through the proxy, so that its own address counts. An address that a proxy
/// wrote always counts, whatever it is: nobody gets out of the limits by what a header says.
pub(crate) fn counted(peer: IpAddr, headers: &HeaderMap, trusted: Option<ProxyHeader>) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    let own = (!peer.is_loopback()).then_some(peer);
    let Some(header) = trusted else { return own };
    // Whoever comes before the proxy may have written lines and entries of their own; the proxy's are the last.
    let Some(line) = headers.get_all(header.name()).iter().next_back() else { return own };
    let written = line.to_str().ok().and_then(|line| line.rsplit(',').next()).and_then(|entry| address(entry.trim()));
    if written.is_none() {
        tracing::warn!(header = header.name(), "the proxy's header ends in no address: its requests count together");
    }
    Some(written.unwrap_or(peer))
}

/// The address whose runs are one voice: that which counts, and this machine's own where none does.
pub(crate) fn submitter_address(peer: IpAddr, headers: &HeaderMap, trusted: Option<ProxyHeader>) -> IpAddr {
    counted(peer, headers, trusted).unwrap_or(peer)
}

/// An address, which some proxies write with a port.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const PROXY: [u8; 4] = [127, 0, 0, 1];

    fn counted_with(lines: &[&'static str], trusted: Option<ProxyHeader>) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", HeaderValue::from_static(line));
        }
        counted(PROXY.into(), &headers, trusted).map(|address| address.to_string())
    }

    #[test]
    fn a_header_counts_only_when_the_host_said_so_and_then_its_last_entry() {
        let trusted = Some(ProxyHeader::XForwardedFor);
        assert_eq!(counted_with(&["192.0.2.1"], None), None);
        for lines in [
            &["192.0.2.1"][..],
            &["127.0.0.1, 192.0.2.1"],
            &["198.51.100.7", "forged, 192.0.2.1"],
            &["192.0.2.1:4711"],
            &["::ffff:192.0.2.1"],
        ] {
            let address = counted_with(lines, trusted).unwrap();
            assert!(Network::from(address.parse::<IpAddr>().unwrap()) == Network::V4([192, 0, 2, 1]), "{lines:?}");
        }
        for line in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            assert_eq!(counted_with(&[line], trusted).as_deref(), Some("2001:db8::1"));
        }
    }

    #[test]
    fn no_header_gets_anybody_out_of_the_limits() {
        let trusted = Some(ProxyHeader::XForwardedFor);
        assert_eq!(counted_with(&["127.0.0.1"], trusted).as_deref(), Some("127.0.0.1"));
        assert_eq!(counted_with(&["nonsense"], trusted).as_deref(), Some("127.0.0.1"));
        assert_eq!(counted_with(&[], trusted), None, "this machine itself, past the proxy");
    }

    #[test]
    fn a_household_is_one_network() {
        let network = |text: &str| Network::from(text.parse::<IpAddr>().unwrap());
        assert!(network("2001:db8:1:2::1") == network("2001:db8:1:2:ffff::9"));
        assert!(network("2001:db8:1:2::1") != network("2001:db8:1:3::1"));
        assert!(network("192.0.2.1") == network("::ffff:192.0.2.1"));
        assert!(network("192.0.2.1") != network("192.0.2.2"));
    }

    #[test]
    fn a_prefix_is_24_bits_or_48() {
        for (address, prefix) in
            [("192.0.2.77", "192.0.2.0"), ("::ffff:192.0.2.77", "192.0.2.0"), ("2001:db8:1:2::9", "2001:db8:1::")]
        {
            assert_eq!(prefix_of(address.parse().unwrap()), prefix.parse::<IpAddr>().unwrap());
        }
    }
}
