//! What keeps a public server upright, as options: how often somebody may ask, how much is kept, who stands in front.

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::PublicUrl;
use crate::limits::ProxyHeader;

/// Limits, budgets and what stands in front of the server. They are made for a classroom behind one address.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Protection")]
pub struct Protection {
    /// Runs that one address may announce in an hour, half of them at once; 0 for no limit. The /24 (IPv4) or /48
    /// (IPv6) around it has four times each limit of an address
    #[arg(long, default_value_t = 60, value_name = "N")]
    pub announcements_per_hour: u32,
    /// Records that one address may import in an hour, half of them at once; 0 for no limit
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub imports_per_hour: u32,
    /// What one address may send in a second for runs that it announced, ten times that at once; 0 for no limit
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub uploads_per_second: u32,
    /// Requests of all other kinds that one address may make in a second, ten times that at once; 0 for no limit
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub reading_per_second: u32,
    /// Header in which the proxy in front writes the address of its client. Say this only when every client comes
    /// through that proxy: anyone else could write there what they like
    #[arg(long, value_enum, value_name = "HEADER")]
    pub trusted_proxy_header: Option<ProxyHeader>,
    /// Announced runs that may be open, neither used nor expired; 0 for no limit
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub open_runs: u32,
    /// Bytes of imported records that are stored in a day (UTC), for the whole data base; 0 for no limit
    #[arg(long, default_value_t = 1 << 30, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..1 << 60))]
    pub import_bytes_per_day: u64,
    /// Bytes of states that wait to be verified, an eighth of them for runs of one /24 or /48; 0 for no limit
    #[arg(long, default_value_t = 8 << 30, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..1 << 60))]
    pub weights_bytes: u64,
    /// Tell browsers to use TLS only (Strict-Transport-Security); for a server that is reached through a proxy with TLS
    #[arg(long)]
    pub behind_tls: bool,
    /// Address under which people reach the server, such as https://board.example, which previews of links to results
    /// begin with. Without it they begin with the host that each request names
    #[arg(long, value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// Address and port that answer GET /metrics for Prometheus, for nobody else's eyes; off unless given
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics_listen: Option<String>,
}

impl Default for Protection {
    /// What the command line says when nothing is said on it, so that there is one list of defaults.
    fn default() -> Self {
        #[derive(Parser)]
        #[command(no_binary_name = true)]
        struct Nothing {
            #[command(flatten)]
            protection: Protection,
        }
        let mut matches = Nothing::command().get_matches_from(std::iter::empty::<&str>());
        let nothing = Nothing::from_arg_matches_mut(&mut matches);
        nothing.expect("every option has a default or is optional").protection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_itself_a_classroom_fits_behind_one_address_and_nobody_in_front_is_believed() {
        let protection = Protection::default();
        assert!(protection.announcements_per_hour >= 60 && protection.reading_per_second >= 50);
        assert!(protection.trusted_proxy_header.is_none() && protection.metrics_listen.is_none());
        assert!(!protection.behind_tls && protection.public_url.is_none());
    }
}
