//! The public address of the server, for absolute links.

use std::str::FromStr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

const MAX_CHARACTERS: usize = 260;

/// Scheme and host, such as `https://board.example`, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

const INVALID: &str = "it must have the form https://board.example: http or https and a host, with no path";

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let uri: Uri = text.parse().map_err(|_no_uri| INVALID)?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https")).ok_or(INVALID)?;
        let only_a_host = matches!(uri.path(), "" | "/") && uri.query().is_none() && !text.contains('#');
        let host = uri.authority().and_then(|authority| host(authority.as_str())).filter(|_| only_a_host);
        Ok(Self(format!("{scheme}://{}", host.ok_or(INVALID)?)))
    }
}

/// The sources of the public address.
#[derive(Clone, Debug)]
pub(crate) struct PublicAddress {
    pub(crate) said: Option<PublicUrl>,
    pub(crate) behind_tls: bool,
}

impl PublicAddress {
    /// Returns the start of links: the host's setting, or else the request's host, which is used only in the answer to
    /// this request and only if it is valid. Other headers are not used, because caches ignore them.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Option<PublicUrl> {
        if let Some(said) = &self.said {
            return Some(said.clone());
        }
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(only), None) = (hosts.next(), hosts.next()) else { return None };
        let host = host(only.to_str().ok()?)?;
        let scheme = if self.behind_tls { "https" } else { "http" };
        Some(PublicUrl(format!("{scheme}://{host}")))
    }
}

impl PublicUrl {
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

/// Parses a host with an optional port, in lower case.
fn host(text: &str) -> Option<String> {
    if text.len() > MAX_CHARACTERS || text.contains('@') {
        return None;
    }
    let authority: Authority = text.parse().ok()?;
    let name = authority.host();
    let has_port = match text.strip_prefix(name)? {
        "" => false,
        rest => rest.strip_prefix(':')?.parse::<u16>().is_ok_and(|port| port > 0),
    };
    if text.len() > name.len() && !has_port {
        return None;
    }
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let can_be = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => name.split('.').all(|label| {
            let letters = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            !label.is_empty() && letters && !label.starts_with('-') && !label.ends_with('-')
        }),
    };
    can_be.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_a_scheme_and_a_host() {
        for (text, kept) in [
            ("https://board.example", "https://board.example"),
            ("https://Board.Example/", "https://board.example"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().join("/a"), format!("{kept}/a"));
        }
        let others = "board.example https:// ftp://board.example https://board.example/board https://board.example?a \
                      https://board.example/#a https://me@board.example https://board.example:0 \
                      https://board.example:x https://board_.example https://-a.example https://a..example \
                      https://a\"b.example";
        for text in others.split(' ') {
            assert!(text.parse::<PublicUrl>().is_err(), "{text}");
        }
    }
}
