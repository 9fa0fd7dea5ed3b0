use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ureq::http::Uri;

/// Address of a leaderboard: `http` or `https`, a host, perhaps a port and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Without a slash at its end.
    base: String,
    host: String,
}

impl Address {
    /// The whole address of `path`, which begins with a slash.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(super) fn is_loopback(&self) -> bool {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|error| format!("it is not an address ({error})"))?;
        let scheme = uri.scheme_str().unwrap_or_default();
        if scheme != "http" && scheme != "https" {
            return Err("it must begin with http:// or https://".to_owned());
        }
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let Some(host) = uri.host().filter(|host| !host.is_empty()) else { return Err("it names no host".to_owned()) };
        if authority.contains('@') {
            return Err("it must not contain a user name or password".to_owned());
        }
        if uri.query().is_some() || text.contains('#') {
            return Err("it must end with the host or a path, without `?` and `#`".to_owned());
        }
        Ok(Self { host: host.to_owned(), base: format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/')) })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_appended_to_what_was_given() {
        for (given, joined) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/runs/1"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/runs/1"),
            ("https://gradmark.example/board/", "https://gradmark.example/board/runs/1"),
        ] {
            assert_eq!(given.parse::<Address>().unwrap().join("/runs/1"), joined);
        }
    }

    #[test]
    fn what_is_not_an_address_says_why() {
        for (given, part) in [
            ("localhost:8080", "http://"),
            ("gradmark.example", "http://"),
            ("ftp://gradmark.example", "http://"),
            ("https://me:secret@gradmark.example", "user name"),
            ("https://gradmark.example/?a=b", "without `?`"),
            ("https://", "address"),
            ("", "address"),
        ] {
            let error = given.parse::<Address>().unwrap_err();
            assert!(error.contains(part), "{given}: {error}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        for (given, loopback) in [
            ("http://localhost:1", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:80", true),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(given.parse::<Address>().unwrap().is_loopback(), loopback, "{given}");
        }
    }
}
