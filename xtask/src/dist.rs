//! `cargo xtask dist`: the archives that users download, for the machine that runs it.
//!
//! Each archive has a folder in `packaging/` with the files that are copied unchanged. Programs, page, data and
//! generated documentation are added to it.

mod archive;
mod licenses;

use crate::setup::{self, Wanted};
use crate::workspace::{self, WASM, cargo};
use crate::{data, page, say};
use anyhow::{Context, Result, ensure};
use archive::Archive;
use clap::{Args, ValueEnum};
use data_sets::Trust;
use licenses::Build;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const RUNNER: &str = "native-runner";
const LEADERBOARD: &str = "leaderboard";
/// Backend of Burn for the GPUs of this platform that needs no vendor tools, as CUDA and ROCm do.
const GPU_BACKEND: &str = if cfg!(target_os = "macos") { "burn-metal" } else { "burn-vulkan" };
/// Shells, and the names of their completion scripts.
const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "native-runner.bash"),
    ("zsh", "_native-runner"),
    ("fish", "native-runner.fish"),
    ("powershell", "native-runner.ps1"),
];

#[derive(Args)]
pub(crate) struct Options {
    /// Folder for the archives [default: target/dist at the top of the checkout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Features of native-runner, separated by commas, or `none` [default: Burn's backends of this platform that need
    /// no vendor tools]
    #[arg(long, value_name = "LIST")]
    features: Option<String>,
    /// Make only this archive
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Leave the data sets out of the server's archive, as for publishing: CIFAR-10 has no stated license
    #[arg(long)]
    no_data: bool,
    /// Build the page without Burn, which takes minutes to compile when the engine has changed
    #[arg(long)]
    no_burn_page: bool,
    /// Test the archives in another folder: train, upload, and read the result again
    #[arg(long = "try", conflicts_with_all = ["only", "no_data"])]
    try_out: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    NativeRunner,
    Server,
}

/// Built programs and data to pack; the built page is added to the server.
pub(crate) struct Parts<'a> {
    pub(crate) native_runner: Option<&'a Path>,
    /// Features of native-runner besides its default ones.
    pub(crate) features: &'a [&'a str],
    pub(crate) server: Option<&'a Path>,
    /// Converted data sets for the server; its README says how to get them later.
    pub(crate) data: Option<&'a Path>,
}

/// Makes the server that is published fast. Other builds do not optimize it, which saves a minute of each.
const OPTIMIZED_LEADERBOARD: [&str; 2] = ["--config", "profile.release.package.leaderboard.opt-level=3"];

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let wants = |one| options.only.is_none_or(|only| only == one);
    let features = match options.features.as_deref() {
        None => vec!["burn-flex", "burn-wgpu", GPU_BACKEND, "burn-remote"],
        Some("none") => Vec::new(),
        Some(list) => list.split(',').map(str::trim).collect(),
    };
    let store = data::store(top, None)?;
    if wants(Only::Server) {
        setup::system(Wanted::default())?;
        if !options.no_data {
            data::prepare(&store, Trust::Nothing)?;
        }
        let hooks = page::hooks(top)?;
        let build = if options.no_burn_page { page::build } else { page::build_with_burn };
        build(top, &hooks)?;
    }
    let build = |package, options: &[&str]| workspace::build(top, "release", package, options, package);
    let runner = wants(Only::NativeRunner).then(|| build(RUNNER, &["--features", &features.join(",")])).transpose()?;
    let server = wants(Only::Server).then(|| build(LEADERBOARD, &OPTIMIZED_LEADERBOARD)).transpose()?;
    let parts = Parts {
        native_runner: runner.as_deref(),
        features: &features,
        server: server.as_deref(),
        data: (!options.no_data).then(|| store.folder()),
    };
    let out = options.out.clone().unwrap_or_else(|| top.join("target/dist"));
    pack(top, &parts, &out)?;
    if options.try_out { test_archives(top, &features, &out) } else { Ok(()) }
}

/// Packs built parts into `out`, each archive with a file of its SHA-256.
///
/// # Errors
/// When a part or `strip` is missing, or `out` cannot be written.
pub(crate) fn pack(top: &Path, parts: &Parts<'_>, out: &Path) -> Result<()> {
    let target = target(top)?;
    let time = archive::commit_time(top);
    let name = |name: &str| format!("{name}-{}-{target}", env!("CARGO_PKG_VERSION"));
    if let Some(program) = parts.native_runner {
        native_runner(top, name("native-runner"), program, parts.features, &target)?.save(out, time)?;
    }
    if let Some(program) = parts.server {
        server(top, name("gradmark-server"), program, parts.data, &target)?.save(out, time)?;
    }
    Ok(())
}

fn native_runner(top: &Path, name: String, program: &Path, features: &[&str], target: &str) -> Result<Archive> {
    let mut archive = Archive::new(top, name, "packaging/native-runner")?;
    archive.add_program(RUNNER, strip(program)?);
    for (shell, file) in COMPLETIONS {
        let script = output_of(program, &["completions", shell])?;
        archive.add_text(&format!("completions/{file}"), script);
    }
    let manual = program.with_extension(format!("manual-{}", std::process::id()));
    let added = output_of(program, &["manual", "--output", &manual.to_string_lossy()])
        .and_then(|_| archive.add_folder("man", &manual));
    // A temporary folder that cannot be removed does no harm.
    let _ = fs::remove_dir_all(&manual);
    added?;
    let build = Build { package: RUNNER, features, target };
    archive.add_text(licenses::FILE, licenses::notices(top, &[build])?);
    Ok(archive)
}

fn server(top: &Path, name: String, program: &Path, data: Option<&Path>, target: &str) -> Result<Archive> {
    let mut archive = Archive::new(top, name, "packaging/server")?;
    archive.add_program(LEADERBOARD, strip(program)?);
    for document in ["HOSTING.md", "OPEN-DATA.md", "PRIVACY.md"] {
        archive.add_file(document, &top.join("docs").join(document))?;
    }
    archive.add_file("LICENSE-OF-THE-FONT.txt", &top.join("leaderboard/src/card/font/LICENSE.txt"))?;
    let page = page::folder(top);
    page.join("index.html").metadata().context("the page is not built: `cargo xtask run` builds it")?;
    archive.add_folder("page", &page)?;
    if let Some(data) = data {
        archive.add_folder("data", data)?;
    }
    let builds = [
        Build { package: LEADERBOARD, features: &[], target },
        Build { package: "app", features: &[], target: WASM },
        Build { package: "training-worker", features: &["burn"], target: WASM },
    ];
    archive.add_text(licenses::FILE, licenses::notices(top, &builds)?);
    Ok(archive)
}

/// Runs the test that unpacks the archives elsewhere and uses them.
fn test_archives(top: &Path, features: &[&str], archives: &Path) -> Result<()> {
    say::step("Testing", "the archives in another folder");
    let mut command = cargo(top);
    command.args(["test", "--release", "--package", RUNNER, "--test", "cli"]);
    command.args(features.iter().flat_map(|feature| ["--features", feature])).args([
        "--",
        "archives::",
        "--include-ignored",
    ]);
    // Cargo runs tests in the folder of their crate.
    command.env("GRADMARK_ARCHIVES", std::path::absolute(archives)?);
    workspace::run(&mut command, "testing the archives")
}

/// Returns cargo's default target, such as `x86_64-unknown-linux-gnu`.
fn target(top: &Path) -> Result<String> {
    let output = cargo(top).arg("-vV").output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`cargo -vV` names no host")?.to_owned())
}

/// Returns a program without its symbols. Setting this in the profile would recompile everything.
fn strip(program: &Path) -> Result<Vec<u8>> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    // Microsoft's linker writes symbols to a separate file.
    if cfg!(target_env = "msvc") {
        return read(program);
    }
    let strip = which::which("strip").context(
        "`strip`, which removes two thirds of a program, is missing: install binutils (Debian, Ubuntu: `apt-get install \
         binutils`; macOS: `xcode-select --install`) and run this again",
    )?;
    let copy = program.with_extension(format!("stripped-{}", std::process::id()));
    let mut command = Command::new(strip);
    command.arg("-o").arg(&copy).arg(program);
    let stripped = workspace::run(&mut command, "stripping a program").and_then(|()| read(&copy));
    // A temporary file that cannot be removed does no harm.
    let _ = fs::remove_file(&copy);
    stripped
}

/// Returns the standard output of a program.
fn output_of(program: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{} {arguments:?}` ended with {}: {messages}", program.display(), output.status);
    Ok(output.stdout)
}
