//! Turns a wasm module that cargo has built into one that a browser can load, with the script that loads it.
//!
//! This is what the command `wasm-bindgen` does. It is a program of this workspace, and not an installed tool, so that
//! its version is always that of the library in Cargo.lock and a fresh machine has nothing to install.

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use wasm_bindgen_cli_support::Bindgen;

#[derive(Parser)]
#[command(about = "Make a wasm module fit for a browser")]
struct Arguments {
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
}

#[derive(Clone, Copy, ValueEnum)]
enum Script {
    /// An ECMAScript module, for `<script type="module">`
    Module,
    /// A classic script that defines `wasm_bindgen`, for `importScripts` in a worker
    Classic,
}

fn main() -> Result<()> {
    let Arguments { module, out, name, script } = Arguments::parse();
    let mut bindgen = Bindgen::new();
    match script {
        Script::Module => bindgen.web(true),
        Script::Classic => bindgen.no_modules(true),
    }
    .and_then(|bindgen| bindgen.input_path(&module).out_name(&name).typescript(false).generate(&out))
    .with_context(|| format!("cannot make {} fit for a browser", module.display()))
}
