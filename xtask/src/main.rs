//! Contributor commands: `cargo xtask run`, `test`, `check`, `data`, `dist`. CONTRIBUTING.md describes them.

mod check;
mod data;
mod dist;
mod page;
mod rehearse;
mod run;
mod say;
mod setup;
mod test;
mod workspace;

use anyhow::Result;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Development commands of Gradmark. Each command sets up what it needs."
)]
enum Xtask {
    /// Build and start the page and the leaderboard on this machine
    #[command(after_help = "Examples:\n  cargo xtask run\n  cargo xtask run --open\n  cargo xtask run --port 9000")]
    Run(run::Options),
    /// Run the tests: by default those that take minutes, with --all every test
    #[command(after_help = "Examples:
  cargo xtask test
  cargo xtask test engine shaders
  cargo xtask test --no-browser
  cargo xtask test --all             # what CI runs
  REQUIRE_GPU=1 cargo xtask test     # a test that finds no adapter fails instead of being skipped")]
    Test(test::Options),
    /// Check the formatting and the design rules, and run clippy
    Check,
    /// Fetch and verify the data sets, and convert them once
    #[command(after_help = "Examples:
  cargo xtask data
  cargo xtask data --force
  cargo xtask data --dir /srv/gradmark/data")]
    Data {
        /// Fetch and convert everything again
        #[arg(long)]
        force: bool,
        /// Folder for the files [default: data at the top of the checkout]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Run a new contributor's commands with empty caches (clone, `run`, `test`, `test --all`) and report their times
    #[command(after_help = "Examples:
  cargo xtask rehearse               # two and a half hours on two cores
  cargo xtask rehearse --only run,native-runner
  cargo xtask rehearse --dir /var/tmp --keep")]
    Rehearse(rehearse::Options),
    /// Pack the release archives for this machine: the command line, and the server with the page
    #[command(after_help = "Examples:
  cargo xtask dist                           # both archives, in target/dist
  cargo xtask dist --only native-runner --features burn-flex
  cargo xtask dist --no-data                 # for publishing: without the data sets
  cargo xtask dist --features burn-flex --try     # and test both in another folder")]
    Dist(dist::Options),
}

fn main() -> ExitCode {
    match perform(Xtask::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Xtask) -> Result<()> {
    let top = workspace::top()?;
    match task {
        Xtask::Run(options) => run::run(&top, &options),
        Xtask::Test(options) => test::run(&top, &options),
        Xtask::Rehearse(options) => rehearse::run(&top, &options),
        Xtask::Dist(options) => dist::run(&top, &options),
        Xtask::Check => check::all(&top),
        Xtask::Data { force, dir } => data::prepare(&data::store(&top, dir)?, force),
    }
}
