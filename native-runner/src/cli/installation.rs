//! What somebody types once, when the program comes to a machine.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

use super::DataArgs;
use crate::leaderboard::Address;

#[derive(Debug, Subcommand)]
pub(crate) enum Installation {
    /// Fetch data sets, and verify every byte
    FetchData(FetchDataArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Manual(ManualArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FetchDataArgs {
    /// Leaderboard to fetch from, which has to serve them [default: npm's registry, which has the published originals]
    #[arg(long = "from", value_name = "URL")]
    pub(crate) leaderboard: Option<Address>,
    /// Write the compressed twin of each file as well, which a server sends to browsers
    #[arg(long, conflicts_with = "leaderboard")]
    pub(crate) compressed: bool,
    /// Sets to fetch, such as `mnist` [default: all]
    #[arg(value_name = "SET")]
    pub(crate) sets: Vec<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArgs {
    /// Folder to write the pages to, that of each subcommand as well, instead of printing the first
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}
