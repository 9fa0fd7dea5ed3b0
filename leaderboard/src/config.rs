use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Parser, Subcommand};
use results::api::Tier;
use results::open_data::ExportFormat;

use crate::client_address::ProxyHeader;
use crate::validation::FieldPath;
use crate::{DatabaseAddress, PublicUrl};

/// Serves the Gradmark leaderboard: the API and, if specified, the page and the data sets.
///
/// Without a subcommand, starts the server. The subcommands maintain a leaderboard. See docs/HOSTING.md.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "leaderboard",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  leaderboard
      Serves only the API, on http://127.0.0.1:8080, with the database gradmark.sqlite.
  leaderboard --page dist --data data
      Also serves the page that `cargo xtask run` built, and the data sets found in `data`.
  leaderboard --listen 127.0.0.1:0 --database /tmp/try.sqlite
      Listens on a free port and prints the address as the first line on stdout.
  leaderboard --database 'postgres://gradmark@db.example/gradmark?sslmode=verify-full'
      Uses a PostgreSQL database, which several servers may share. Pass the password in PGPASSWORD or ~/.pgpass,
      because other users of this machine can read the command line.
  leaderboard --behind-tls --trusted-proxy-header x-forwarded-for --public-url https://board.example
      Runs behind a TLS proxy. Limits apply to the client addresses that the proxy reports. Links to result images
      start with the public URL.
  leaderboard --metrics-listen 127.0.0.1:9187
      Serves Prometheus metrics at http://127.0.0.1:9187/metrics, and not on the public address.
  leaderboard --snapshots snapshots
      Writes all results to files once a day and serves them under /snapshots/ for a week.
  leaderboard backup --database gradmark.sqlite gradmark-monday.sqlite
      Copies the database. The server may be running.
  leaderboard export --database gradmark.sqlite results.csv
      Writes all visible results as a table, and its checksum to results.csv.sha256.
  leaderboard moderate hide 0123456789abcdef --reason 'A rude name'
      Hides a run from the lists. `leaderboard moderate restore` undoes this. Both appear in the public log.
  leaderboard moderate merge-devices claimed-rtx4090-oc nvidia-geforce-rtx-4090 --reason 'The same card'
      Counts all present and future runs of the first device as runs of the second.
  leaderboard replay --here --data data --tier proven
      Recomputes the first steps of all proven runs and prints each outcome.

Ctrl-C and SIGTERM stop the server cleanly. Logs go to stderr and contain no client addresses."
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub task: Option<Task>,
    #[command(flatten)]
    pub serve: Config,
}

/// Maintenance tasks of a host.
#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    /// Check that a running server and its database respond; exit with status 0 if they do
    Health {
        /// URL of the server itself, without TLS or proxy
        #[arg(default_value = "http://127.0.0.1:8080", value_name = "URL")]
        server: String,
        /// Refuses the option of the other subcommands.
        #[arg(long, hide = true, value_parser = |_: &str| Err::<DatabaseAddress, _>("the server opens its database"))]
        database: Option<DatabaseAddress>,
    },
    /// Copy the SQLite database to a new file, even while the server runs; use pg_dump for PostgreSQL
    Backup {
        /// File to write; it must not exist
        #[arg(value_name = "FILE")]
        to: PathBuf,
    },
    /// Replace the SQLite database with a backup, keeping the old file under another name; stop the server first
    Restore {
        /// File that `leaderboard backup` wrote
        #[arg(value_name = "FILE")]
        from: PathBuf,
    },
    /// Export all visible results, as in the public download, to a new file with its SHA-256 in a second file
    Export {
        /// File to write; FILE and FILE.sha256 must not exist
        #[arg(value_name = "FILE")]
        to: PathBuf,
        /// csv, jsonl or parquet; by default, taken from the extension of FILE, or csv if that is none of them
        #[arg(long, value_name = "FORMAT")]
        format: Option<ExportFormat>,
    },
    /// Import a file that `leaderboard export --format jsonl` wrote, except runs deleted here; the server may be
    /// running
    Import {
        /// JSON Lines file to import
        #[arg(value_name = "FILE")]
        from: PathBuf,
        /// Keep the tiers, notes, times and ids in the file. Without this option, every run is validated again and
        /// becomes unverified, like any imported record. Use it only for your own exports
        #[arg(long)]
        trust: bool,
    },
    /// Update the database tables, as the server does when it starts, and print the applied migrations
    Migrate,
    /// Hide, flag and restore runs, and merge devices, each with a public reason
    ///
    /// Every action is public with its run or device, time and reason: on the page /moderation, in
    /// GET /api/v1/moderation, and in `leaderboard moderate log`. The entry remains when the run is deleted.
    Moderate {
        #[command(subcommand)]
        deed: Moderation,
    },
    /// Recompute parts of verified runs and print each outcome
    ///
    /// A running server with --data and --verifiers takes the runs from the queue, after all runs that it has never
    /// verified. With --here, this process recomputes them. The server deletes a run's states once it is verified, so
    /// only the first steps can be recomputed: such a replay can raise doubts but cannot make a run proven. A run that
    /// could not be verified because the server lacked something, such as a data set, is verified in full while its
    /// states exist, for about a week.
    Replay(Replay),
    /// Set the tier of a run; `hidden` removes it from the lists and hides its page
    SetTier {
        /// Id of the run, as in its link: /runs/RUN_ID
        #[arg(value_name = "RUN_ID")]
        run_id: String,
        /// proven, checked, unverified, flagged or hidden
        #[arg(value_name = "TIER")]
        tier: Tier,
        /// Reason to show in the public moderation log; at most 300 characters
        #[arg(long, value_name = "TEXT", value_parser = public_reason)]
        reason: Option<String>,
    },
    /// Permanently delete runs or comparisons, as their deletion links do; only their ids remain, in the moderation log
    Remove {
        /// Ids of the runs or comparisons, as in their links: /runs/RUN_ID, /comparisons/ID
        #[arg(value_name = "RUN_ID", required = true)]
        run_ids: Vec<String>,
    },
}

/// Settings of a server.
#[derive(Clone, Debug, clap::Args)]
pub struct Config {
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// Path of the SQLite database, which a server creates if missing; or postgres://USER@HOST/NAME, which must exist
    #[arg(long, global = true, default_value = "gradmark.sqlite", value_name = "FILE|ADDRESS")]
    pub database: DatabaseAddress,
    /// Folder of the built page, which contains index.html
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
    /// Folder of the converted data sets, which are served under /data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for daily snapshots of all visible results, one file per format, created if missing. Snapshots are served
    /// under /snapshots for a week; a run deleted in that time remains in them
    #[arg(long, value_name = "DIR")]
    pub snapshots: Option<PathBuf>,
    /// Log level: error, warn, info, debug or trace; or a filter such as leaderboard=debug
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub log: String,
    /// File of the secret for announced runs, created if missing. The default is next to the SQLite file; with
    /// PostgreSQL, this option is required. Servers that share a database must use the same secret
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// The secret itself, instead of a file
    #[arg(long, env = "GRADMARK_SECRET", hide = true, hide_env_values = true)]
    pub secret: Option<String>,
    /// Number of threads that recompute parts of runs; 0 leaves that to other servers on the same database
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=64))]
    pub verifiers: u8,
    /// Time after its announcement in which a run may be uploaded
    #[arg(long, default_value_t = 6 * 3600, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub run_lifetime_seconds: u32,
    /// Maximum number of open connections per address; by default 128, or the server's total for a proxy on this
    /// machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub connections_per_address: Option<u16>,
    #[command(flatten)]
    pub protection: Protection,
    /// Seed of every run in tests; otherwise each run has a random one.
    #[arg(skip)]
    pub seed: Option<u32>,
    #[arg(skip = ServerClock::system())]
    pub clock: ServerClock,
}

impl Default for Protection {
    fn default() -> Self {
        Config::default().protection
    }
}

impl Default for Config {
    /// Returns the defaults of the command line.
    fn default() -> Self {
        CommandLine::parse_from(["leaderboard"]).serve
    }
}

/// Actions of a moderator. The public log, /moderation, lists each with its reason.
#[derive(Clone, Debug, Subcommand)]
pub enum Moderation {
    /// Remove runs from the lists and hide their pages; the same records cannot be uploaded again
    Hide(OfRuns),
    /// Mark runs as flagged: they are listed with the reason and not ranked
    Flag(OfRuns),
    /// Undo hiding or flagging: give runs back the tier that they have without it
    Restore(OfRuns),
    /// Count all present and future runs of one device as runs of another
    MergeDevices {
        /// Key of the device to merge: the part after /devices/ in its page's address
        #[arg(value_name = "FROM_KEY")]
        from: String,
        /// Key of the device to merge it into
        #[arg(value_name = "INTO_KEY")]
        into: String,
        /// PUBLIC reason. It remains in the log with both keys, even if the runs are deleted. At most 300 characters
        #[arg(long, value_name = "TEXT", value_parser = public_reason)]
        reason: String,
    },
    /// Undo a merge: count the runs of a merged device as its own again
    SeparateDevices {
        /// Key of the merged device
        #[arg(value_name = "KEY")]
        key: String,
        /// PUBLIC reason. It remains in the log with both keys, even if the runs are deleted. At most 300 characters
        #[arg(long, value_name = "TEXT", value_parser = public_reason)]
        reason: String,
    },
    /// Print the moderation log, newest first
    Log {
        /// Maximum number of lines
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
}

/// Runs of one act, and its reason.
#[derive(Clone, Debug, clap::Args)]
pub struct OfRuns {
    /// Ids of the runs, as in their links: /runs/RUN_ID
    #[arg(value_name = "RUN_ID", required = true)]
    pub run_ids: Vec<String>,
    /// PUBLIC reason. It remains in the log when the run is deleted, so do not quote the run. At most 300 characters
    #[arg(long, value_name = "TEXT", value_parser = public_reason)]
    pub reason: String,
}

/// Runs to compute again, and the place to do it.
#[derive(Clone, Debug, clap::Args)]
pub struct Replay {
    /// Ids of the runs, as in their links: /runs/RUN_ID
    #[arg(value_name = "RUN_ID", required_unless_present_any = ["all_checked", "tier"])]
    pub run_ids: Vec<String>,
    /// Recompute all checked runs; same as --tier checked
    #[arg(long, conflicts_with_all = ["run_ids", "tier"])]
    pub all_checked: bool,
    /// Recompute all runs of this tier
    #[arg(long, value_name = "TIER", conflicts_with = "run_ids")]
    pub tier: Option<Tier>,
    /// Recompute in this process instead of waiting for a server
    #[arg(long, requires = "data")]
    pub here: bool,
    /// Folder of the converted data sets, for --here
    #[arg(long, value_name = "DIR", requires = "here")]
    pub data: Option<PathBuf>,
    /// Return at once instead of waiting for a server to recompute them
    #[arg(long, conflicts_with = "here")]
    pub no_wait: bool,
}

/// The server's clock: wall time, because a run may outlive a restart of the server.
#[derive(Clone)]
pub struct ServerClock(Arc<dyn Fn() -> f64 + Send + Sync>);

impl ServerClock {
    pub(crate) fn system() -> Self {
        Self::from_fn(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()))
    }

    /// Returns a clock that reads `unix_seconds`: seconds since 1970 UTC.
    pub fn from_fn(unix_seconds: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(unix_seconds))
    }

    pub(crate) fn unix_seconds(&self) -> f64 {
        (self.0)()
    }
}

impl fmt::Debug for ServerClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerClock")
    }
}

/// Limits, budgets and the proxy of a server. Their defaults suit a classroom behind one address.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Protection")]
pub struct Protection {
    /// Maximum number of runs that an address may announce per hour, half of them at once; 0 for no limit. Each limit
    /// per address is four times as high for the /24 (IPv4) or /48 (IPv6) around it
    #[arg(long, default_value_t = 60, value_name = "N")]
    pub announcements_per_hour: u32,
    /// Maximum number of records that an address may import per hour, half of them at once; 0 for no limit
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub imports_per_hour: u32,
    /// Maximum number of requests per second and address for announced runs, ten times that at once; 0 for no limit
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub uploads_per_second: u32,
    /// Maximum number of other requests per second and address, ten times that at once; 0 for no limit
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub reading_per_second: u32,
    /// Header in which the proxy reports the client's address. Use this only if all clients connect through the proxy:
    /// others could forge the header
    #[arg(long, value_enum, value_name = "HEADER")]
    pub trusted_proxy_header: Option<ProxyHeader>,
    /// Maximum number of announced runs that are neither uploaded nor expired; 0 for no limit
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub open_runs: u32,
    /// Maximum bytes of imported records per day (UTC), for the whole database; 0 for no limit
    #[arg(long, default_value_t = 1 << 30, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..1 << 60))]
    pub import_bytes_per_day: u64,
    /// Maximum bytes of states that wait to be verified, an eighth of that per /24 or /48; 0 for no limit
    #[arg(long, default_value_t = 8 << 30, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..1 << 60))]
    pub weights_bytes: u64,
    /// Send Strict-Transport-Security, so that browsers use only TLS; for a server behind a TLS proxy
    #[arg(long)]
    pub behind_tls: bool,
    /// Public URL of the server, such as https://board.example, for the addresses in link previews. By default, they
    /// use the host that the request names
    #[arg(long, value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// Address and port that serve GET /metrics for Prometheus; keep them private. Off by default
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics_listen: Option<String>,
}

const MAX_REASON_CHARACTERS: usize = 300;

/// Parses a moderator's public reason. The error is a sentence.
fn public_reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    FieldPath::ROOT.filled_text(text, MAX_REASON_CHARACTERS).map_err(|refusal| refusal.message)?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn command_line_is_consistent_and_opens_nothing_by_default() {
        CommandLine::command().debug_assert();
        let protection = Protection::default();
        assert!(protection.metrics_listen.is_none() && protection.public_url.is_none());
        let mixed = ["leaderboard", "--listen", "127.0.0.1:0", "backup", "copy.sqlite"];
        assert_eq!(CommandLine::try_parse_from(mixed).unwrap_err().exit_code(), 2);
        assert_eq!(task(&["health", "--database", "board.sqlite"]).unwrap_err().exit_code(), 2);
        assert!(task(&["health"]).is_ok());
    }

    #[test]
    fn an_address_that_is_refused_is_not_repeated() {
        for task in [&["leaderboard"][..], &["leaderboard", "remove", "0123456789abcdef"]] {
            for address in ["postgres://board:1/secret@host/board", "mysql://board:secret@host/board"] {
                let words = task.iter().copied().chain(["--database", address]);
                let error = CommandLine::try_parse_from(words).unwrap_err();
                assert_eq!(error.exit_code(), 2);
                let shown = format!("{error} {error:?}");
                assert!(shown.contains("--database: ") && !shown.contains("secret"), "{shown}");
            }
        }
    }

    fn task(words: &[&str]) -> Result<Option<Task>, clap::Error> {
        CommandLine::try_parse_from([&["leaderboard"], words].concat()).map(|line| line.task)
    }

    #[test]
    fn moderation_requires_a_readable_reason() {
        let long = "x".repeat(301);
        for reason in [&[][..], &["--reason", " "], &["--reason", "a\nb"], &["--reason", &long]] {
            for deed in [&["hide", "0123"][..], &["merge-devices", "a", "b"], &["separate-devices", "a"]] {
                assert_eq!(task(&[&["moderate"], deed, reason].concat()).unwrap_err().exit_code(), 2, "{deed:?}");
            }
        }
        assert!(task(&["moderate", "flag", "0123", "4567", "--reason", "Ünlikely fast"]).is_ok());
    }

    #[test]
    fn replay_takes_runs_or_a_tier() {
        for good in [&["0123"][..], &["--all-checked"], &["--tier", "proven", "--here", "--data", "d"]] {
            assert!(task(&[&["replay"], good].concat()).is_ok(), "{good:?}");
        }
        let both = &["--all-checked", "--tier", "proven"][..];
        for bad in [&[][..], both, &["0123", "--tier", "proven"], &["0123", "--here"], &["0123", "--data", "d"]] {
            assert_eq!(task(&[&["replay"], bad].concat()).unwrap_err().exit_code(), 2, "{bad:?}");
        }
    }
}
