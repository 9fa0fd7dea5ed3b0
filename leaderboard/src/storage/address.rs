//! The value of `--database`: a file or a PostgreSQL server, shown without its password.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use clap::builder::{TypedValueParser, ValueParserFactory};
use sqlx::any::AnyConnectOptions;

#[derive(Clone)]
pub enum DatabaseAddress {
    File(PathBuf),
    /// `postgres://user:password@host:port/name`.
    Postgres(Arc<AnyConnectOptions>),
}

/// Allowed parameters of an address. The driver would log others; passwords are not allowed there.
const PARAMETERS: [&str; 10] = [
    "application_name",
    "dbname",
    "host",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// The reason why an address is refused. It never repeats a part of the address, which may be a part of a password.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it must not be empty: specify a file, such as gradmark.sqlite, or a PostgreSQL address")]
    Empty,
    #[error(
        "it must be a file, such as gradmark.sqlite, or a PostgreSQL address, such as \
         postgres://user@host:5432/name; other schemes are not supported"
    )]
    Scheme,
    #[error(
        "invalid PostgreSQL address: it must have the form postgres://user@host:5432/name, and in a user, password or \
         name, the characters / ? # @ : % must be percent-encoded, such as / as %2F"
    )]
    Unreadable,
    #[error(
        "the PostgreSQL address must name a user and a database: it must have the form postgres://user@host:5432/name, \
         or, for a socket, postgres:///name?host=/var/run/postgresql&user=user"
    )]
    NoName,
    #[error(
        "the PostgreSQL address may have these parameters: {}; a password belongs before the @, in PGPASSWORD or in \
         a password file (docs/HOSTING.md)",
        PARAMETERS.join(", ")
    )]
    Parameter,
}

impl DatabaseAddress {
    /// # Errors
    /// Returns an error for a URL that is not a PostgreSQL address.
    pub fn parse(value: &OsStr) -> Result<Self, AddressError> {
        if value.is_empty() {
            return Err(AddressError::Empty);
        }
        // A name that is not Unicode can only be a file's.
        let Some((text, (scheme, rest))) = value.to_str().and_then(|text| Some((text, text.split_once(':')?))) else {
            return Ok(Self::File(value.into()));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "postgres" | "postgresql" => parse_postgres(text).map(|options| Self::Postgres(Arc::new(options))),
            _ if rest.starts_with("//") => Err(AddressError::Scheme),
            _ => Ok(Self::File(value.into())),
        }
    }
}

fn parse_postgres(text: &str) -> Result<AnyConnectOptions, AddressError> {
    let options = AnyConnectOptions::from_str(text).map_err(|_| AddressError::Unreadable)?;
    let address = &options.database_url;
    // If a password contains unescaped special characters, parts of it end up in the following parts of the address.
    let name = address.path().trim_start_matches('/');
    if address.fragment().is_some() || name.contains(['/', '@', ':']) || address.cannot_be_a_base() {
        return Err(AddressError::Unreadable);
    }
    if !address.query_pairs().all(|(name, _)| PARAMETERS.contains(&&*name)) {
        return Err(AddressError::Parameter);
    }
    // Otherwise the driver would use environment variables.
    let has = |wanted: &str| address.query_pairs().any(|(name, _)| name == wanted);
    if (name.is_empty() && !has("dbname")) || (address.username().is_empty() && !has("user")) {
        return Err(AddressError::NoName);
    }
    Ok(options)
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.display().fmt(out),
            Self::Postgres(options) => {
                let mut address = options.database_url.clone();
                // Only an address without a host cannot lose its password, because it cannot have one.
                let _ = address.set_password(None);
                address.fmt(out)
            }
        }
    }
}

/// Same as `Display`, so that no debug output contains the password.
impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Parses the argument. clap's default error would repeat a refused value, including the password.
#[derive(Clone, Debug)]
pub struct AddressParser;

impl TypedValueParser for AddressParser {
    type Value = DatabaseAddress;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<DatabaseAddress, clap::Error> {
        DatabaseAddress::parse(value).map_err(|error| {
            let text = format!("--database: {error}\n");
            clap::Error::raw(clap::error::ErrorKind::ValueValidation, text).with_cmd(command)
        })
    }
}

impl ValueParserFactory for DatabaseAddress {
    type Parser = AddressParser;

    fn value_parser() -> AddressParser {
        AddressParser
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<DatabaseAddress, AddressError> {
        DatabaseAddress::parse(OsStr::new(text))
    }

    #[test]
    fn tells_files_from_server_addresses() {
        for file in ["gradmark.sqlite", "/var/lib/gradmark/gradmark.sqlite", "C:\\data\\board.sqlite", "a:b", "a b?c#d"]
        {
            assert!(matches!(parse(file), Ok(DatabaseAddress::File(path)) if path == *file), "{file}");
        }
        for address in [
            "postgres://board@db.example:5432/board",
            "POSTGRESQL://board@db.example/board?sslmode=verify-full",
            "postgres:///board?host=/var/run/postgresql&user=board",
            "postgres://board@%2Fvar%2Frun%2Fpostgresql/board",
            "postgres://db.example?dbname=board&user=board",
        ] {
            assert!(matches!(parse(address), Ok(DatabaseAddress::Postgres(_))), "{address}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let address = parse("postgres://board:very%20secret@db.example/board?sslmode=require").unwrap();
        for shown in [address.to_string(), format!("{address:?}"), format!("{address:#?}")] {
            assert_eq!(shown, "postgres://board@db.example/board?sslmode=require");
        }
        for (address, expected) in [
            ("postgres://board:secret#1@host/board", AddressError::Unreadable),
            ("postgres://board:1#secret@host/board", AddressError::Unreadable),
            ("postgres://board:1/secret@host/board", AddressError::Unreadable),
            ("postgres://board:1/secret@host", AddressError::Unreadable),
            ("postgres://board:1?secret@host/board", AddressError::Parameter),
            ("postgres://host/board?password=secret", AddressError::Parameter),
            ("postgres://host/board?pasword=secret", AddressError::Parameter),
            ("postgres:board:secret@host/board", AddressError::Unreadable),
            ("", AddressError::Empty),
            ("mysql://board:secret@host/board", AddressError::Scheme),
            ("postgress://board:secret@host/board", AddressError::Scheme),
            ("postgres://board:secret@host", AddressError::NoName),
            ("postgres:///board?host=/var/run/secret", AddressError::NoName),
        ] {
            let error = parse(address).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
            assert_eq!(error, expected, "{address}");
        }
    }
}
