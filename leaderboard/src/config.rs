use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Parser, Subcommand};
use results::api::Tier;
use results::open_data::ExportFormat;

use crate::limits::ProxyHeader;
use crate::validation::FieldPath;
use crate::{DatabaseAddress, PublicUrl};

/// Serves the Gradmark leaderboard: the API, and the page and the data sets where they are given.
///
/// Without a subcommand it serves. The subcommands look after a leaderboard; docs/HOSTING.md describes them.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "leaderboard",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  leaderboard
      The API alone on http://127.0.0.1:8080, with its data base in gradmark.sqlite.
  leaderboard --page dist --data data
      The page as `cargo xtask run` built it, and the data sets that it trains on, as far as they are there.
  leaderboard --listen 127.0.0.1:0 --database /tmp/try.sqlite
      A free port; the address is the first line on stdout.
  leaderboard --database 'postgres://gradmark@db.example/gradmark?sslmode=verify-full'
      On a PostgreSQL server, whose data base several of these may share. The password comes from PGPASSWORD or from
      ~/.pgpass, because other users of this machine can read a command line.
  leaderboard --behind-tls --trusted-proxy-header x-forwarded-for --public-url https://board.example
      Behind a proxy with TLS that says which address each request came from, so that limits are for each of them, and
      under a name with which links to pictures of results begin.
  leaderboard --metrics-listen 127.0.0.1:9187
      Numbers for Prometheus at http://127.0.0.1:9187/metrics, which the public address does not have.
  leaderboard --snapshots snapshots
      Each day's results as files, for a week, which anyone may download from /snapshots/.
  leaderboard backup --database gradmark.sqlite gradmark-monday.sqlite
      A copy of the data base, also while the server runs.
  leaderboard export --database gradmark.sqlite results.csv
      All visible results as a table, and its sum in results.csv.sha256.
  leaderboard moderate hide 0123456789abcdef --reason 'A rude name'
      Takes a run off the lists. `leaderboard moderate restore` gives it back what it was; the log of both is public.
  leaderboard moderate merge-devices claimed-rtx4090-oc nvidia-geforce-rtx-4090 --reason 'The same card'
      Counts the runs of one device as those of another one, now and later.
  leaderboard replay --here --data data --tier proven
      Computes the first steps of all proven runs again, and says what became of each.

The server stops cleanly on Ctrl-C and on SIGTERM. Logs go to stderr and hold no addresses."
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub task: Option<Task>,
    #[command(flatten)]
    pub serve: Config,
}

/// Tasks of a host apart from serving.
#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    /// Ask a running server whether it and its data base answer; the exit status is 0 when they do
    Health {
        /// Address of the server itself, without TLS
        #[arg(default_value = "http://127.0.0.1:8080", value_name = "URL")]
        server: String,
    },
    /// Copy the SQLite data base into a new file, also while the server runs; for PostgreSQL there is pg_dump
    Backup {
        /// File to write; it must not exist
        #[arg(value_name = "FILE")]
        to: PathBuf,
        #[command(flatten)]
        database: ExistingDatabase,
    },
    /// Put a back-up in the place of the SQLite data base, whose file is kept under another name; stop the server first
    Restore {
        /// File that `leaderboard backup` wrote
        #[arg(value_name = "FILE")]
        from: PathBuf,
        #[command(flatten)]
        database: ExistingDatabase,
    },
    /// Write all visible results into a new file, as anyone may download them, and its SHA-256 beside it
    Export {
        /// File to write; neither it nor FILE.sha256 may exist
        #[arg(value_name = "FILE")]
        to: PathBuf,
        /// csv, jsonl or parquet; by itself what FILE ends with, and csv where that is none of them
        #[arg(long, value_name = "FORMAT", value_parser = export_format)]
        format: Option<ExportFormat>,
        #[command(flatten)]
        database: ExistingDatabase,
    },
    /// Take back what `leaderboard export --format jsonl` wrote, also while the server runs; what was deleted here stays away
    Import {
        /// File of JSON Lines
        #[arg(value_name = "FILE")]
        from: PathBuf,
        /// Believe the file: keep tiers, notes, times and ids as they are there. Without this each run is held to every
        /// rule again and is unverified, like any record that somebody imports. Say it of your own files only
        #[arg(long)]
        trust: bool,
        #[command(flatten)]
        database: ExistingDatabase,
    },
    /// Bring the tables of the data base up to date, as a server does when it starts, and say what was done
    Migrate {
        #[command(flatten)]
        database: ExistingDatabase,
    },
    /// Hide, flag and restore runs, and merge devices, each with a reason that anyone can read
    ///
    /// What was done, to which run or device, when and why is public: on the page /moderation, in GET /api/v1/moderation, and in
    /// `leaderboard moderate log`. It stays there when a run is deleted.
    Moderate {
        #[command(subcommand)]
        deed: Moderation,
    },
    /// Compute parts of runs again that were computed before, and say what became of each
    ///
    /// A running server with --data and --verifiers takes them from the queue, after the runs that it has never verified; with
    /// --here this process does it. States are deleted when a run was verified, so that only the first steps can be computed
    /// again: such a replay makes no run proven, it can only raise doubts. A run that could not be verified because the server
    /// lacked something, such as a data set, is verified as a whole as long as its states are kept, which is about a week.
    Replay(Replay),
    /// Say how far a run is to be trusted; `hidden` takes it off the lists and its own page
    SetTier {
        /// The run, as its link names it: /runs/RUN_ID
        #[arg(value_name = "RUN_ID")]
        run_id: String,
        /// proven, checked, unverified, flagged or hidden
        #[arg(value_name = "TIER", value_parser = tier)]
        tier: Tier,
        /// Why, for everybody who reads the moderation log; at most 300 characters
        #[arg(long, value_name = "TEXT", value_parser = Reason::parse)]
        reason: Option<Reason>,
        #[command(flatten)]
        database: ExistingDatabase,
    },
    /// Delete runs, or comparisons, for ever, as their own deletion links would; the moderation log keeps their ids and
    /// nothing else
    Remove {
        /// The runs, or comparisons, as their links name them: /runs/RUN_ID, /comparisons/ID
        #[arg(value_name = "RUN_ID", required = true)]
        run_ids: Vec<String>,
        #[command(flatten)]
        database: ExistingDatabase,
    },
}

/// Database of a task.
#[derive(Clone, Debug, clap::Args)]
pub struct ExistingDatabase {
    /// The server's: its SQLite file, or a PostgreSQL address
    #[arg(long = "database", default_value = "gradmark.sqlite", value_name = "FILE|ADDRESS")]
    pub address: DatabaseAddress,
}

fn tier(name: &str) -> Result<Tier, String> {
    Tier::from_name(name).ok_or_else(|| "it must be proven, checked, unverified, flagged or hidden".to_owned())
}

fn export_format(name: &str) -> Result<ExportFormat, String> {
    ExportFormat::named(name).ok_or_else(|| "it must be csv, jsonl or parquet".to_owned())
}

/// Settings of a server.
#[derive(Clone, Debug, clap::Args)]
pub struct Config {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// SQLite file, made when it does not exist; or postgres://USER@HOST/NAME, a data base that is there
    #[arg(long, default_value = "gradmark.sqlite", value_name = "FILE|ADDRESS")]
    pub database: DatabaseAddress,
    /// Folder of the built page, with its index.html
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
    /// Folder of the converted data sets, served under /data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder of a file of all visible results for each day and format, made when it does not exist. Each is kept for a week
    /// and served under /snapshots; runs that are deleted meanwhile stay in it for so long
    #[arg(long, value_name = "DIR")]
    pub snapshots: Option<PathBuf>,
    /// What to log: error, warn, info, debug, trace, or a filter such as leaderboard=debug
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub log: String,
    /// File of the secret under which runs are announced; made when it does not exist. By itself it lies beside the SQLite
    /// file; servers that share a data base share it, and one on PostgreSQL has to be told
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// The secret itself, which takes the file's place
    #[arg(long, env = "GRADMARK_SECRET", hide = true, hide_env_values = true)]
    pub secret: Option<String>,
    /// Threads that compute parts of runs again; 0 leaves that to other servers of the same data base
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=64))]
    pub verifiers: u8,
    /// How long after its start a run may be uploaded
    #[arg(long, default_value_t = 6 * 3600, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub run_lifetime_seconds: u32,
    /// Connections that one address may have open; by itself 128, and as many as there are for a proxy on this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub connections_per_address: Option<u16>,
    #[command(flatten)]
    pub protection: Protection,
    /// Seed of every run in tests; otherwise each run has a random one.
    #[arg(skip)]
    pub seed: Option<u32>,
    #[arg(skip = Clock::system())]
    pub clock: Clock,
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

/// Acts of a moderator. A public log, /moderation, lists each with its reason.
#[derive(Clone, Debug, Subcommand)]
pub enum Moderation {
    /// Take runs off the lists and off their own pages; the same records cannot be uploaded again
    Hide(OfRuns),
    /// Mark runs as doubtful: they are listed with that word and the reason, and not ranked
    Flag(OfRuns),
    /// Give runs that were hidden or flagged back what they are without that
    Restore(OfRuns),
    /// Count all runs of one device as those of another one, now and later
    MergeDevices {
        /// Key of the device that is no device of its own: what follows /devices/ in the address of its page
        #[arg(value_name = "FROM_KEY")]
        from: String,
        /// Key of the device that it is
        #[arg(value_name = "INTO_KEY")]
        into: String,
        #[command(flatten)]
        of: OfDevice,
    },
    /// Count the runs of a device that was merged as its own again
    SeparateDevices {
        /// Key of the device that was merged into another one
        #[arg(value_name = "KEY")]
        key: String,
        #[command(flatten)]
        of: OfDevice,
    },
    /// Print what moderators did, the latest first
    Log {
        /// At most this many lines
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        database: ExistingDatabase,
    },
}

/// Runs of one act, and its reason.
#[derive(Clone, Debug, clap::Args)]
pub struct OfRuns {
    /// The runs, as their links name them: /runs/RUN_ID
    #[arg(value_name = "RUN_ID", required = true)]
    pub run_ids: Vec<String>,
    /// Why. THIS IS PUBLIC, and stays in the log when the run is deleted: quote nothing of the run. At most 300 characters
    #[arg(long, value_name = "TEXT", value_parser = Reason::parse)]
    pub reason: Reason,
    #[command(flatten)]
    pub database: ExistingDatabase,
}

/// Reason of an act on a device.
#[derive(Clone, Debug, clap::Args)]
pub struct OfDevice {
    /// Why. THIS IS PUBLIC, and so are both keys, which stay in the log whatever becomes of the runs. At most 300 characters
    #[arg(long, value_name = "TEXT", value_parser = Reason::parse)]
    pub reason: Reason,
    #[command(flatten)]
    pub database: ExistingDatabase,
}

/// Runs to compute again, and the place to do it.
#[derive(Clone, Debug, clap::Args)]
pub struct Replay {
    /// The runs, as their links name them: /runs/RUN_ID
    #[arg(value_name = "RUN_ID", required_unless_present_any = ["all_checked", "tier"])]
    pub run_ids: Vec<String>,
    /// All checked runs, as --tier checked
    #[arg(long, conflicts_with_all = ["run_ids", "tier"])]
    pub all_checked: bool,
    /// All runs of this tier
    #[arg(long, value_name = "TIER", value_parser = tier, conflicts_with = "run_ids")]
    pub tier: Option<Tier>,
    /// Compute in this process, whether a server runs or not
    #[arg(long, requires = "data")]
    pub here: bool,
    /// Folder of the converted data sets, for --here
    #[arg(long, value_name = "DIR", requires = "here")]
    pub data: Option<PathBuf>,
    /// Do not wait until a server has computed them
    #[arg(long, conflicts_with = "here")]
    pub no_wait: bool,
    #[command(flatten)]
    pub database: ExistingDatabase,
}

/// The server's clock: wall time, because a run may outlive a restart of the server.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> f64 + Send + Sync>);

impl Clock {
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

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clock")
    }
}

/// Limits, budgets and the proxy of a server. Their defaults suit a classroom behind one address.
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

const MAX_REASON_CHARACTERS: usize = 300;

/// A moderator's public reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// Parses a line of at most 300 characters.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        FieldPath::ROOT.filled_text(text, MAX_REASON_CHARACTERS).map_err(|refusal| refusal.message)?;
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_of_the_command_line_holds_together() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn without_a_subcommand_it_serves_as_it_always_did() {
        let parsed = CommandLine::try_parse_from(["leaderboard", "--page", "dist", "--data", "data"]).unwrap();
        assert!(parsed.task.is_none());
        assert_eq!((parsed.serve.page, parsed.serve.data), (Some("dist".into()), Some("data".into())));
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

    #[test]
    fn what_is_said_of_serving_is_not_said_of_a_task() {
        let mixed = ["leaderboard", "--listen", "127.0.0.1:0", "backup", "copy.sqlite"];
        assert_eq!(CommandLine::try_parse_from(mixed).unwrap_err().exit_code(), 2);
    }

    fn task(words: &[&str]) -> Result<Option<Task>, clap::Error> {
        CommandLine::try_parse_from([&["leaderboard"], words].concat()).map(|line| line.task)
    }

    #[test]
    fn nothing_is_done_without_a_reason_that_can_be_read() {
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

    #[test]
    fn default_limits_fit_a_classroom_and_trust_no_proxy() {
        let protection = Protection::default();
        assert!(protection.announcements_per_hour >= 60 && protection.reading_per_second >= 50);
        assert!(protection.trusted_proxy_header.is_none() && protection.metrics_listen.is_none());
        assert!(!protection.behind_tls && protection.public_url.is_none());
    }
}
