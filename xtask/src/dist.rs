//! `cargo xtask dist`: what people download, as archives for the machine that this runs on.
//!
//! What is copied as it is lies in `packaging/`, a folder for each archive; the programs, the page, the data and what
//! the programs generate about themselves are added to it.

mod archive;
mod licences;
mod programs;

use crate::files::files_below;
use crate::setup::{self, Wanted};
use crate::workspace::cargo;
use crate::{build, data, page, say};
use anyhow::{Context, Result};
use archive::Archive;
use clap::{Args, ValueEnum};
use data_sets::Trust;
use data_sets::files::{sha256_of, write_whole};
use std::fs::File;
use std::path::{Path, PathBuf};

const RUNNER: &str = "native-runner";
const SERVER: &str = "gradmark-server";
/// The server's program, which has the name of its crate.
const LEADERBOARD: &str = "leaderboard";

#[derive(Args)]
pub(crate) struct Options {
    /// Folder to put the archives in [default: target/dist at the top of the checkout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Features of native-runner, separated by commas, or `none` [default: Burn's back ends of this platform that need
    /// no maker's tools]
    #[arg(long, value_name = "LIST")]
    features: Option<String>,
    /// Make only this archive
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Leave the data sets out of the server's archive, as for publishing: CIFAR-10 has no stated licence
    #[arg(long)]
    no_data: bool,
    /// Build the page without Burn, which takes minutes to compile when the engine has changed
    #[arg(long)]
    no_burn_page: bool,
    /// Unpack the archives elsewhere and use them: a run is trained, uploaded and read again
    #[arg(long = "try", conflicts_with_all = ["only", "no_data"])]
    try_out: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    NativeRunner,
    Server,
}

/// What is packed, built already.
pub(crate) struct Parts<'a> {
    pub(crate) native_runner: Option<Program<'a>>,
    pub(crate) server: Option<Program<'a>>,
    /// The built page, for the server.
    pub(crate) page: &'a Path,
    /// The converted data sets, for the server; without them its archive says how to get them.
    pub(crate) data: Option<&'a Path>,
}

/// A program and the features that it was built with beside those that are on by themselves.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) path: &'a Path,
    pub(crate) features: &'a [&'a str],
}

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let wants = |one| options.only.is_none_or(|only| only == one);
    let features = match options.features.as_deref() {
        None => programs::FEATURES_OF_THIS_PLATFORM.to_vec(),
        Some("none") => Vec::new(),
        Some(list) => list.split(',').map(str::trim).collect(),
    };
    let store = data::store(top, None)?;
    if wants(Only::Server) {
        setup::system(Wanted::default())?;
        if !options.no_data {
            data::prepare(&store, Trust::Nothing)?;
        }
        page::build_complete(top, !options.no_burn_page, || page::tools(top))?;
    }
    let built = |package: &str, features: &[&str]| {
        let with = if features.is_empty() { String::new() } else { format!(" with {}", features.join(", ")) };
        say::step("Building", format!("{package}{with} (nothing to do when it is up to date)"));
        build::program_with(top, package, features)
    };
    let runner = wants(Only::NativeRunner).then(|| built(RUNNER, &features)).transpose()?;
    let server = wants(Only::Server).then(|| built(LEADERBOARD, &[])).transpose()?;
    let parts = Parts {
        native_runner: runner.as_deref().map(|path| Program { path, features: &features }),
        server: server.as_deref().map(|path| Program { path, features: &[] }),
        page: &page::folder(top),
        data: (!options.no_data).then(|| store.folder()),
    };
    let out = options.out.clone().unwrap_or_else(|| top.join("target/dist"));
    pack(top, &parts, &out)?;
    if options.try_out { try_out(top, &features, &out) } else { Ok(()) }
}

/// Packs what is built already into `out`, with a file of its SHA-256 beside each archive.
///
/// # Errors
/// When something to pack is missing, or `strip` is, or `out` cannot be written.
pub(crate) fn pack(top: &Path, parts: &Parts<'_>, out: &Path) -> Result<()> {
    let target = programs::target(top)?;
    let time = archive::time_of_commit(top);
    // The server's name has the target as well: it holds a program, and would mislead people with another processor.
    let named = |name: &str| format!("{name}-{}-{target}", env!("CARGO_PKG_VERSION"));
    if let Some(program) = parts.native_runner {
        write(out, &native_runner(top, named(RUNNER), program, &target)?, time)?;
    }
    if let Some(program) = parts.server {
        write(out, &server(top, named(SERVER), program, parts, &target)?, time)?;
    }
    Ok(())
}

fn native_runner(top: &Path, name: String, program: Program<'_>, target: &str) -> Result<Archive> {
    let mut archive = common(top, name, "packaging/native-runner")?;
    archive.program(RUNNER, programs::stripped(program.path)?);
    for (shell, file) in programs::COMPLETIONS {
        archive.text(&format!("completions/{file}"), programs::said_by(program.path, &["completions", shell])?);
    }
    for (page, text) in programs::manual(program.path)? {
        archive.text(&format!("man/{page}"), text);
    }
    let built = licences::Built { package: RUNNER, features: program.features, target };
    archive.text(licences::FILE, licences::notices(top, &[built])?);
    Ok(archive)
}

fn server(top: &Path, name: String, program: Program<'_>, parts: &Parts<'_>, target: &str) -> Result<Archive> {
    let mut archive = common(top, name, "packaging/server")?;
    archive.program(LEADERBOARD, programs::stripped(program.path)?);
    for document in ["HOSTING.md", "OPEN-DATA.md", "PRIVACY.md"] {
        archive.file(document, &top.join("docs").join(document));
    }
    archive.file("LICENSE-OF-THE-FONT.txt", &top.join("leaderboard/src/card/font/LICENSE.txt"));
    parts.page.join("index.html").metadata().context("the page is not built: `cargo xtask run` builds it")?;
    archive.folder("page", parts.page)?;
    if let Some(data) = parts.data {
        archive.folder("data", data)?;
    }
    let browser = "wasm32-unknown-unknown";
    let built = [
        licences::Built { package: LEADERBOARD, features: program.features, target },
        licences::Built { package: "app", features: &[], target: browser },
        licences::Built { package: "training-worker", features: &["burn"], target: browser },
    ];
    archive.text(licences::FILE, licences::notices(top, &built)?);
    Ok(archive)
}

/// An archive with what lies ready for it, and our own licences.
fn common(top: &Path, name: String, ready: &str) -> Result<Archive> {
    let mut archive = Archive::new(name);
    archive.folder("", &top.join(ready))?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        archive.file(licence, &top.join(licence));
    }
    Ok(archive)
}

fn write(out: &Path, archive: &Archive, time: u64) -> Result<()> {
    let path = out.join(format!("{}.tar.gz", archive.name()));
    say::step("Packing", path.display().to_string());
    write_whole(&path, |to| archive.write(to, time))?;
    let digest = sha256_of(File::open(&path)?)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // As `sha256sum --check` reads it.
    write_whole(&out.join(format!("{name}.sha256")), |to| Ok(writeln!(to, "{digest}  {name}")?))?;
    let bytes = path.metadata()?.len();
    let megabytes = format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10);
    say::step("Packed", format!("{name}: {megabytes}, SHA-256 {digest}"));
    Ok(())
}

/// The test that unpacks the archives of a folder elsewhere and uses them.
fn try_out(top: &Path, features: &[&str], archives: &Path) -> Result<()> {
    say::step("Trying", "the archives in another folder");
    let mut command = cargo(top);
    command.args(["test", "--release", "--package", RUNNER, "--test", "archives"]);
    command.args(features.iter().flat_map(|feature| ["--features", feature]));
    // Its tests are in the folder of their crate while they run.
    command.env("GRADMARK_ARCHIVES", std::path::absolute(archives)?);
    crate::workspace::run(&mut command, "using the archives")
}

#[cfg(test)]
mod tests;
