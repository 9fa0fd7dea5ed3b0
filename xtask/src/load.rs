//! `cargo xtask load`: how the leaderboard bears a million results, on both data bases.

use crate::say;
use crate::setup::{self, Wanted};
use crate::workspace::{self, cargo};
use anyhow::Result;
use clap::Args;
use std::path::Path;

#[derive(Args)]
pub(crate) struct Options {
    /// What the measurement is given: `cargo xtask load -- --help` lists it
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    // A server of its own is started from PostgreSQL's programs.
    setup::system(Wanted { postgres: true, ..Wanted::default() })?;
    say::step("Building", "the leaderboard and what measures it");
    let mut command = cargo(top);
    command.args(["run", "--release", "--package", "leaderboard", "--example", "load", "--"]).args(&options.arguments);
    workspace::run(&mut command, "the measurement")
}
