//! Addresses of clients, and the networks around them. Addresses are never written to disk.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;
use clap::ValueEnum;

/// The other end of the connection: a client or the proxy. It has no `Debug`, so that no log can contain it.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Header in which a proxy writes its client's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProxyHeader {
    /// A list whose last entry was written by the proxy
    XForwardedFor,
    /// A single address
    XRealIp,
}

results::names!(ProxyHeader { XForwardedFor = "x-forwarded-for", XRealIp = "x-real-ip" });

/// Returns the address without the part that one household has to itself: IPv6 networks have 64 bits.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => first_segments(address, 4),
        address => address,
    }
}

/// Returns the first address of the /24 (IPv4) or /48 (IPv6) around an address, the network of one customer.
pub(crate) fn prefix_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() & !0xff).into(),
        IpAddr::V6(address) => first_segments(address, 3),
    }
}

fn first_segments(address: Ipv6Addr, number: u32) -> IpAddr {
    Ipv6Addr::from_bits(address.to_bits() & !(u128::MAX >> (16 * number))).into()
}

/// Returns the address that a request counts for, or `None` for this machine. A request without the header did not come
/// through the proxy, so its own address counts. An address that a proxy wrote always counts, even this machine's.
pub(crate) fn counted_address(peer: IpAddr, headers: &HeaderMap, trusted: Option<ProxyHeader>) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    let own = (!peer.is_loopback()).then_some(peer);
    let Some(header) = trusted.map(ProxyHeader::name) else { return own };
    // The client may have sent such headers itself. The proxy's line and entry are the last.
    let Some(line) = headers.get_all(header).iter().next_back() else { return own };
    let written = line.to_str().ok().and_then(|line| line.rsplit(',').next()).and_then(|entry| address(entry.trim()));
    if written.is_none() {
        tracing::warn!(header, "no address at the end of the proxy's header: such requests share one limit");
    }
    Some(written.unwrap_or(peer))
}

/// Parses an address, which some proxies write with a port.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn counted_with(lines: &[&'static str], trusted: Option<ProxyHeader>) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", HeaderValue::from_static(line));
        }
        counted_address(Ipv4Addr::LOCALHOST.into(), &headers, trusted).map(|address| address.to_string())
    }

    #[test]
    fn only_last_entry_of_a_trusted_header_counts() {
        let trusted = Some(ProxyHeader::XForwardedFor);
        assert_eq!(counted_with(&["192.0.2.1"], None), None);
        assert_eq!(counted_with(&[], trusted), None, "this machine itself, past the proxy");
        let counted = |line| counted_with(&[line], trusted).unwrap();
        assert_eq!(["192.0.2.1", "127.0.0.1, 192.0.2.1", "192.0.2.1:4711"].map(counted), ["192.0.2.1"; 3]);
        assert_eq!(["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"].map(counted), ["2001:db8::1"; 3]);
        assert_eq!(["127.0.0.1", "nonsense"].map(counted), ["127.0.0.1"; 2]);
        assert_eq!(counted("::ffff:192.0.2.1"), "::ffff:192.0.2.1");
        let twice = counted_with(&["198.51.100.7", "forged, 192.0.2.1"], trusted);
        assert_eq!(twice.as_deref(), Some("192.0.2.1"));
        let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
        assert_eq!(network_of(mapped), IpAddr::from([192, 0, 2, 1]));
    }
}
