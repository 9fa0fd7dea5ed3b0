mod moderation;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use results::api::Tier;
use results::open_data::ExportFormat;

use crate::{Clock, DatabaseAddress, Protection, Reason};
pub use moderation::{Moderation, OfDevice, OfRuns, Replay};

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
    pub serve: Arguments,
}

/// What a host does beside serving.
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

/// The data base that a task works on.
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

/// How to serve.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
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
}

/// What a server needs to know before it starts.
#[derive(Clone)]
pub struct Config {
    pub listen: String,
    pub database: DatabaseAddress,
    pub page: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub snapshots: Option<PathBuf>,
    pub secret_file: Option<PathBuf>,
    pub secret: Option<String>,
    pub verifiers: usize,
    pub run_lifetime_seconds: f64,
    /// The seed of every run, for tests; a random one each where it is absent.
    pub seed: Option<u32>,
    /// Absent where it follows from the address: one of this machine is a proxy's.
    pub connections_per_address: Option<usize>,
    pub protection: Protection,
    pub clock: Clock,
}

impl From<Arguments> for Config {
    fn from(arguments: Arguments) -> Self {
        Self {
            listen: arguments.listen,
            database: arguments.database,
            page: arguments.page,
            data: arguments.data,
            snapshots: arguments.snapshots,
            secret_file: arguments.secret_file,
            secret: arguments.secret,
            verifiers: usize::from(arguments.verifiers),
            run_lifetime_seconds: f64::from(arguments.run_lifetime_seconds),
            seed: None,
            connections_per_address: arguments.connections_per_address.map(usize::from),
            protection: arguments.protection,
            clock: Clock::system(),
        }
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
}
