//! The program `wasm-bindgen`, as far as Trunk and the worker with Burn use it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use wasm_bindgen_cli_support::Bindgen;

/// Name of the program that Trunk calls.
pub(crate) const NAME: &str = "wasm-bindgen";

#[derive(Parser)]
#[command(name = NAME, version = "0.2.130", about = "Make a wasm module loadable in a browser")]
struct BindgenArguments {
    /// Module that cargo built
    module: PathBuf,
    /// Kind of script that loads the module
    #[arg(long)]
    target: BindgenTarget,
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
pub(crate) enum BindgenTarget {
    /// An ECMAScript module
    Web,
    /// A classic script that defines `wasm_bindgen`, for `importScripts` in a worker
    NoModules,
}

/// Acts as `wasm-bindgen`, with the arguments of this program.
pub(crate) fn run() -> Result<()> {
    let BindgenArguments { module, target, out_dir, out_name, .. } = BindgenArguments::parse();
    generate(&module, target, &out_dir, &out_name)
}

/// Writes `NAME.js` and `NAME_bg.wasm` into a folder.
pub(crate) fn generate(module: &Path, target: BindgenTarget, folder: &Path, name: &str) -> Result<()> {
    let mut bindgen = Bindgen::new();
    match target {
        BindgenTarget::Web => bindgen.web(true),
        BindgenTarget::NoModules => bindgen.no_modules(true),
    }
    .and_then(|bindgen| bindgen.input_path(module).out_name(name).typescript(false).generate(folder))
    .with_context(|| format!("cannot process {}", module.display()))
}
