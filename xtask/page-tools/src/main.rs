//! What the page needs to be done to it after cargo has built it, as a program of its own: `cargo xtask` is compiled
//! before anything else happens and has to be small, and this is compiled beside the page.

mod compress;
mod documents;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

#[derive(Parser)]
#[command(about = "Make what cargo built fit for a browser")]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Turn a wasm module into one that a browser can load, with the script that loads it
    Bindgen {
        /// The module that cargo built
        module: PathBuf,
        /// Folder for NAME.js and NAME_bg.wasm
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// What the two files are called
        #[arg(long)]
        name: String,
        /// How the script is loaded
        #[arg(long)]
        script: Script,
    },
    /// Write FILE.gz and FILE.br beside each compressible file: a server sends whichever a browser accepts
    Compress {
        /// The folder, with all that is below it
        folder: PathBuf,
    },
    /// Write the repository's documents as fragments of HTML that the page shows
    Documents {
        /// The top of the repository
        top: PathBuf,
        /// The list of documents
        #[arg(long, value_name = "FILE")]
        list: PathBuf,
        /// The repository's address, for links to other files of it; without it they lead nowhere
        #[arg(long, value_name = "URL")]
        repository: Option<String>,
        /// Folder for the fragments
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Script {
    /// An ECMAScript module, for `<script type="module">`
    Module,
    /// A classic script that defines `wasm_bindgen`, for `importScripts` in a worker
    Classic,
}

fn main() -> Result<()> {
    match Arguments::parse().tool {
        Tool::Bindgen { module, out, name, script } => bindgen(&module, &out, &name, script),
        Tool::Compress { folder } => compress::compress(&folder),
        Tool::Documents { top, list, repository, out } => documents::write(&top, &list, repository.as_deref(), &out),
    }
}

/// This is what the command `wasm-bindgen` does. Here its version is always that of the library in Cargo.lock, and a
/// fresh machine has nothing to install.
fn bindgen(module: &Path, out: &Path, name: &str, script: Script) -> Result<()> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    match script {
        Script::Module => bindgen.web(true),
        Script::Classic => bindgen.no_modules(true),
    }
    .and_then(|bindgen| bindgen.input_path(module).out_name(name).typescript(false).generate(out))
    .with_context(|| format!("cannot make {} fit for a browser", module.display()))
}
