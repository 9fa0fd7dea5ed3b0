use std::path::PathBuf;

use clap::Parser;

use crate::Clock;

/// Serves the Gradmark leaderboard: the API, and the page and the data sets where they are given.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "leaderboard",
    version,
    after_help = "Examples:
  leaderboard
      The API alone on http://127.0.0.1:8080, with its data base in gradmark.sqlite.
  leaderboard --page dist --data data
      The page as `cargo xtask run` built it, and the data sets that it trains on, as far as they are there.
  leaderboard --listen 127.0.0.1:0 --database /tmp/try.sqlite
      A free port; the address is the first line on stdout.

The server stops cleanly on Ctrl-C and on SIGTERM. Logs go to stderr and hold no addresses."
)]
pub struct Arguments {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// SQLite file; made when it does not exist
    #[arg(long, default_value = "gradmark.sqlite", value_name = "FILE")]
    pub database: PathBuf,
    /// Folder of the built page, with its index.html
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
    /// Folder of the converted data sets, served under /data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// What to log: error, warn, info, debug, trace, or a filter such as leaderboard=debug
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub log: String,
    /// How long after its start a run may be handed in
    #[arg(long, default_value_t = 6 * 3600, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub run_lifetime_seconds: u32,
}

/// What a server needs to know before it starts.
#[derive(Clone)]
pub struct Config {
    pub listen: String,
    pub database: PathBuf,
    pub page: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub run_lifetime_seconds: f64,
    pub clock: Clock,
}

impl From<Arguments> for Config {
    fn from(arguments: Arguments) -> Self {
        Self {
            listen: arguments.listen,
            database: arguments.database,
            page: arguments.page,
            data: arguments.data,
            run_lifetime_seconds: f64::from(arguments.run_lifetime_seconds),
            clock: Clock::system(),
        }
    }
}
