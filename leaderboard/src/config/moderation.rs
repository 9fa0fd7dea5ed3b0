//! What a host says who looks after what is shown.

use std::path::PathBuf;

use clap::Subcommand;
use results::api::Tier;

use super::{ExistingDatabase, tier};
use crate::Reason;

/// What a moderator does. Each deed stands in a public log, /moderation, with its reason.
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

/// Runs to which the same is done, and why.
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

/// Why something is done to a device.
#[derive(Clone, Debug, clap::Args)]
pub struct OfDevice {
    /// Why. THIS IS PUBLIC, and so are both keys, which stay in the log whatever becomes of the runs. At most 300 characters
    #[arg(long, value_name = "TEXT", value_parser = Reason::parse)]
    pub reason: Reason,
    #[command(flatten)]
    pub database: ExistingDatabase,
}

/// Which runs are computed again, and where.
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::{CommandLine, Task};

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
    fn a_replay_is_of_named_runs_or_of_a_tier_and_says_where_its_data_is() {
        for good in [&["0123"][..], &["--all-checked"], &["--tier", "proven", "--here", "--data", "d"]] {
            assert!(task(&[&["replay"], good].concat()).is_ok(), "{good:?}");
        }
        let both = &["--all-checked", "--tier", "proven"][..];
        for bad in [&[][..], both, &["0123", "--tier", "proven"], &["0123", "--here"], &["0123", "--data", "d"]] {
            assert_eq!(task(&[&["replay"], bad].concat()).unwrap_err().exit_code(), 2, "{bad:?}");
        }
    }
}
