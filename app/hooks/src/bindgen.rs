//! The command `wasm-bindgen`, with the arguments that Trunk passes. This program acts as that command when it is called
//! by its name, because Trunk needs exactly the version in Cargo.lock and installing the whole command takes minutes.

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use wasm_bindgen_cli_support::Bindgen;

pub(crate) const NAME: &str = "wasm-bindgen";

#[derive(Parser)]
#[command(name = NAME, version = "0.2.130", about = "Make a wasm module loadable in a browser")]
struct Arguments {
    /// Module that cargo built
    module: PathBuf,
    /// Kind of script that loads the module
    #[arg(long)]
    target: Target,
    /// Folder for NAME.js and NAME_bg.wasm
    #[arg(long)]
    out_dir: PathBuf,
    /// Name of both files
    #[arg(long)]
    out_name: String,
    /// Accepted for Trunk: no type declarations are written
    #[arg(long)]
    no_typescript: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Target {
    /// An ECMAScript module
    Web,
    /// A classic script that defines `wasm_bindgen`, for `importScripts` in a worker
    NoModules,
}

pub(crate) fn run() -> Result<()> {
    let Arguments { module, target, out_dir, out_name, .. } = Arguments::parse();
    generate(&module, target, &out_dir, &out_name)
}

/// Writes `NAME.js` and `NAME_bg.wasm` into a folder.
pub(crate) fn generate(module: &Path, target: Target, folder: &Path, name: &str) -> Result<()> {
    let mut bindgen = Bindgen::new();
    match target {
        Target::Web => bindgen.web(true),
        Target::NoModules => bindgen.no_modules(true),
    }
    .and_then(|bindgen| bindgen.input_path(module).out_name(name).typescript(false).generate(folder))
    .with_context(|| format!("cannot process {}", module.display()))
}
