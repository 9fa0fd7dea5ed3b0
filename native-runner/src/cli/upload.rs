use std::path::PathBuf;

use clap::Args;

use super::positive_seconds;
use crate::leaderboard::Address;

#[derive(Debug, Args)]
pub(crate) struct UploadArgs {
    /// Record to upload, as `--json` or a failed upload left it
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Leaderboard to upload to
    #[arg(long = "to", value_name = "URL")]
    pub(crate) leaderboard: Address,
    /// Upload as an unverified run even if the record was registered, for instance with another leaderboard
    #[arg(long)]
    pub(crate) unverified: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// How an upload is agreed to, and how long it may take.
#[derive(Debug, Args)]
#[command(next_help_heading = "Upload")]
pub(crate) struct ConsentArgs {
    /// Upload without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Seconds to wait for each answer of the leaderboard
    #[arg(long, value_name = "X", default_value_t = 60.0, value_parser = positive_seconds)]
    pub(crate) upload_timeout: f64,
}
