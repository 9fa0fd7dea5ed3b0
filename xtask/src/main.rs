//! Everything a contributor types: `cargo xtask run`, `test`, `check`, `data`. CONTRIBUTING.md describes them.

mod data;
mod files;
mod say;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Gradmark's development commands", version)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch and verify the data sets, and convert them once
    #[command(
        after_help = "Examples:\n  cargo xtask data\n  cargo xtask data --force\n  cargo xtask data --dir /srv/gradmark/data"
    )]
    Data {
        /// Fetch and make everything again, whatever is there
        #[arg(long)]
        force: bool,
        /// Put the files here instead of `data/` at the top of the checkout
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

fn main() -> Result<()> {
    let top = workspace::top()?;
    match Arguments::parse().command {
        Task::Data { force, dir } => {
            let store = data::Store::of_checkout(&top, dir)?;
            data::prepare(&store, if force { data::Trust::Refetch } else { data::Trust::Nothing })
        }
    }
}
