//! `cargo xtask dist`: the archives that users download, for the current machine.
//!
//! Each archive has a folder in `packaging/` with the files that are copied unchanged. Programs, page, data and
//! generated documentation are added to it.

use crate::setup::{self, Wanted};
use crate::workspace::{self, WASM, cargo, files_below, output_of};
use crate::{data, page, say};
use anyhow::{Context, Result};
use cargo_metadata::{MetadataCommand, Package};
use clap::{Args, ValueEnum};
use data_sets::files::{sha256_hex, write_whole};
use flate2::{Compression, GzBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const RUNNER: &str = "native-runner";
const LEADERBOARD: &str = "leaderboard";
/// Burn's GPU backend for this platform that needs no vendor tools, unlike CUDA and ROCm.
const GPU_BACKEND: &str = if cfg!(target_os = "macos") { "burn-metal" } else { "burn-vulkan" };

#[derive(Args)]
pub(crate) struct Options {
    /// Folder for the archives [default: target/dist at the top of the checkout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Features of native-runner, separated by commas, or `none` [default: Burn's backends of this platform that need
    /// no vendor tools]
    #[arg(long, value_name = "LIST")]
    features: Option<String>,
    /// Create only this archive
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Omit the data sets from the server's archive, as for publishing: CIFAR-10 has no stated license
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

/// Built programs and data to pack. The built page is added to the server.
pub(crate) struct DistParts<'a> {
    pub(crate) native_runner: Option<&'a Path>,
    /// Features of native-runner besides its default ones.
    pub(crate) features: &'a [&'a str],
    pub(crate) server: Option<&'a Path>,
    /// Converted data sets for the server; its README explains how to get them later.
    pub(crate) data: Option<&'a Path>,
}

/// Options that optimize the published programs. Other builds save minutes without them.
const OPTIMIZED: [&str; 6] = [
    "--config",
    "profile.release.package.leaderboard.opt-level=3",
    "--config",
    "profile.release.package.native-runner.opt-level=1",
    "--config",
    "profile.release.package.view.opt-level=1",
];

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
            data::prepare(&store, false)?;
        }
        let hooks = page::hooks(top)?;
        let build = if options.no_burn_page { page::build } else { page::build_with_burn };
        build(top, &hooks)?;
    }
    let build = |package, options: &[&str]| workspace::build(top, "release", package, options, package);
    let runner = wants(Only::NativeRunner)
        .then(|| build(RUNNER, &[&["--features", &features.join(",")][..], &OPTIMIZED].concat()))
        .transpose()?;
    let server = wants(Only::Server).then(|| build(LEADERBOARD, &OPTIMIZED)).transpose()?;
    let parts = DistParts {
        native_runner: runner.as_deref(),
        features: &features,
        server: server.as_deref(),
        data: (!options.no_data).then_some(store.folder.as_path()),
    };
    let out = options.out.clone().unwrap_or_else(|| top.join("target/dist"));
    pack(top, &parts, &out)?;
    if options.try_out { test_archives(top, &features, &out) } else { Ok(()) }
}

/// Packs built parts into `out`, with a SHA-256 file for each archive.
pub(crate) fn pack(top: &Path, parts: &DistParts<'_>, out: &Path) -> Result<()> {
    let target = target(top)?;
    let time = commit_time(top);
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
    for (shell, file) in [
        ("bash", "native-runner.bash"),
        ("zsh", "_native-runner"),
        ("fish", "native-runner.fish"),
        ("powershell", "native-runner.ps1"),
    ] {
        let script = output_of(Command::new(program).args(["completions", shell]))?;
        archive.add_text(&format!("completions/{file}"), script);
    }
    let manual = program.with_extension(format!("manual-{}", std::process::id()));
    let added = output_of(Command::new(program).args(["manual", "--output"]).arg(&manual))
        .and_then(|_| archive.add_folder("man", &manual));
    // A temporary folder that cannot be removed does no harm.
    let _ = fs::remove_dir_all(&manual);
    added?;
    let build = BuiltPackage { package: RUNNER, features, target };
    archive.add_text(LICENSES_FILE, license_notices(top, &[build])?);
    Ok(archive)
}

fn server(top: &Path, name: String, program: &Path, data: Option<&Path>, target: &str) -> Result<Archive> {
    let mut archive = Archive::new(top, name, "packaging/server")?;
    archive.add_program(LEADERBOARD, strip(program)?);
    for document in ["HOSTING.md", "OPEN-DATA.md", "PRIVACY.md"] {
        archive.add_file(document, &top.join("docs").join(document))?;
    }
    archive.add_file("LICENSE-OF-THE-FONT.txt", &top.join("view/src/card/font/LICENSE.txt"))?;
    let page = page::folder(top);
    page.join("index.html").metadata().context("the page is not built: `cargo xtask run` builds it")?;
    archive.add_folder("page", &page)?;
    if let Some(data) = data {
        archive.add_folder("data", data)?;
    }
    let builds = [
        BuiltPackage { package: LEADERBOARD, features: &[], target },
        BuiltPackage { package: "app", features: &[], target: WASM },
        BuiltPackage { package: "training-worker", features: &["burn"], target: WASM },
    ];
    archive.add_text(LICENSES_FILE, license_notices(top, &builds)?);
    Ok(archive)
}

/// Runs the test that unpacks the archives in another folder and uses them.
fn test_archives(top: &Path, features: &[&str], archives: &Path) -> Result<()> {
    say::step("Testing", "the archives in another folder");
    let mut command = cargo(top);
    command.args(["test", "--release", "--package", RUNNER, "--test", "cli"]);
    command.args(features.iter().flat_map(|feature| ["--features", feature]));
    command.args(["--", "archives::", "--include-ignored"]);
    // Cargo runs tests in the folder of their crate.
    command.env("GRADMARK_ARCHIVES", std::path::absolute(archives)?);
    workspace::run(&mut command, "testing the archives")
}

/// Returns cargo's default target, such as `x86_64-unknown-linux-gnu`.
fn target(top: &Path) -> Result<String> {
    let text = output_of(cargo(top).arg("-vV"))?;
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

const LICENSES_FILE: &str = "LICENSES-OF-LIBRARIES.txt";

/// A package as it was built, which determines its libraries.
struct BuiltPackage<'a> {
    package: &'a str,
    features: &'a [&'a str],
    target: &'a str,
}

/// Returns the name, version and license of every library, followed by each distinct license text once.
fn license_notices(top: &Path, builds: &[BuiltPackage<'_>]) -> Result<String> {
    let packages = known_packages(top, builds)?;
    let mut libraries = BTreeSet::new();
    for build in builds {
        libraries.extend(libraries_of(top, build)?);
    }
    let mut text = "The libraries in these programs, and their licenses. Each license text is below the names of its \
                    libraries.\n\n"
        .to_owned();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for library in &libraries {
        let package = packages.get(library).with_context(|| format!("cargo knows no package {library}"))?;
        writeln!(text, "{library}: {}", package.license.as_deref().unwrap_or("see the text below"))?;
        let folder = package.manifest_path.parent().context("a manifest without a folder")?;
        for content in license_texts(folder.as_std_path())? {
            texts.entry(content).or_default().push(library);
        }
    }
    for (content, libraries) in texts {
        write!(text, "\n{}\n{}\n\n{}\n", "=".repeat(80), libraries.join(", "), content.trim_end())?;
    }
    Ok(text)
}

/// Returns `NAME vVERSION` of every library that is linked into a program, without build scripts and macros.
fn libraries_of(top: &Path, build: &BuiltPackage<'_>) -> Result<BTreeSet<String>> {
    let mut command = cargo(top);
    command.args(["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    command.args(["--package", build.package, "--target", build.target]);
    command.args(build.features.iter().flat_map(|feature| ["--features", feature]));
    let lines = output_of(&mut command).with_context(|| format!("cannot list the libraries of {}", build.package))?;
    // The workspace's packages are listed with their folder. Their licenses are separate files in the archive.
    let libraries = lines.lines().filter(|line| !line.contains(top.to_string_lossy().as_ref()));
    let name = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    Ok(libraries.map(name).filter(|name| !name.is_empty()).collect())
}

/// Returns every package of these builds by `NAME vVERSION`.
fn known_packages(top: &Path, builds: &[BuiltPackage<'_>]) -> Result<BTreeMap<String, Package>> {
    // Without targets, cargo would download the libraries of all other systems.
    let targets: BTreeSet<_> = builds.iter().map(|build| format!("--filter-platform={}", build.target)).collect();
    let qualify = |build: &BuiltPackage<'_>| -> Vec<_> {
        build.features.iter().map(|feature| format!("--features={}/{feature}", build.package)).collect()
    };
    let options = targets.into_iter().chain(builds.iter().flat_map(qualify)).chain(["--locked".to_owned()]);
    let mut command = MetadataCommand::new();
    command.manifest_path(top.join("Cargo.toml")).other_options(options.collect::<Vec<_>>());
    let packages = command.exec().context("cargo cannot describe the packages")?.packages;
    Ok(packages.into_iter().map(|package| (format!("{} v{}", package.name, package.version), package)).collect())
}

/// Reads the license files next to a library's manifest.
fn license_texts(folder: &Path) -> Result<Vec<String>> {
    let names = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"];
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        file.is_file() && names.iter().any(|start| name.starts_with(start))
    });
    files.sort();
    files.iter().map(|file| Ok(String::from_utf8_lossy(&fs::read(file)?).replace("\r\n", "\n"))).collect()
}

/// Files to pack, all in one folder with the name of the archive.
struct Archive {
    name: String,
    /// Mode and content by path, sorted for a deterministic order.
    entries: BTreeMap<String, (u32, Vec<u8>)>,
}

impl Archive {
    /// Starts an archive with the files of a folder of the checkout, and the licenses of Gradmark.
    fn new(top: &Path, name: String, folder: &str) -> Result<Self> {
        let mut archive = Self { name, entries: BTreeMap::new() };
        archive.add_folder("", &top.join(folder))?;
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            archive.add_file(license, &top.join(license))?;
        }
        Ok(archive)
    }

    fn add_program(&mut self, name: &str, bytes: Vec<u8>) {
        self.entries.insert(format!("{name}{}", std::env::consts::EXE_SUFFIX), (0o755, bytes));
    }

    fn add_text(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.entries.insert(path.to_owned(), (0o644, bytes.into()));
    }

    fn add_file(&mut self, path: &str, file: &Path) -> Result<()> {
        self.add_text(path, fs::read(file).with_context(|| format!("cannot pack {}", file.display()))?);
        Ok(())
    }

    /// Adds every file below a folder, except tool files with a leading dot.
    fn add_folder(&mut self, path: &str, folder: &Path) -> Result<()> {
        for file in files_below(folder)? {
            let parts: Vec<_> = file.strip_prefix(folder)?.iter().map(|part| part.to_string_lossy()).collect();
            if !parts.iter().any(|part| part.starts_with('.')) {
                self.add_file(format!("{path}/{}", parts.join("/")).trim_start_matches('/'), &file)?;
            }
        }
        Ok(())
    }

    /// Writes the archive, and its SHA-256 in the format of `sha256sum`, into a folder.
    fn save(&self, out: &Path, unix_seconds: u64) -> Result<()> {
        let name = format!("{}.tar.gz", self.name);
        say::step("Packing", out.join(&name).display().to_string());
        let bytes = self.to_bytes(unix_seconds)?;
        let digest = sha256_hex(&bytes);
        write_whole(&out.join(&name), |to| Ok(to.write_all(&bytes)?))?;
        write_whole(&out.join(format!("{name}.sha256")), |to| Ok(writeln!(to, "{digest}  {name}")?))?;
        say::step("Packed", format!("{name}: {} kB, SHA-256 {digest}", bytes.len() / 1000));
        Ok(())
    }

    /// Packs all entries with the same owner and time. The time in the gzip header is 0.
    fn to_bytes(&self, unix_seconds: u64) -> Result<Vec<u8>> {
        let mut tar = tar::Builder::new(GzBuilder::new().write(Vec::new(), Compression::default()));
        for (path, (mode, bytes)) in &self.entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Regular);
            header.set_mode(*mode);
            header.set_mtime(unix_seconds);
            header.set_uid(0);
            header.set_gid(0);
            header.set_size(u64::try_from(bytes.len())?);
            tar.append_data(&mut header, format!("{}/{path}", self.name), bytes.as_slice())?;
        }
        Ok(tar.into_inner()?.finish()?)
    }
}

/// Returns the time of the commit, so that archives are reproducible.
fn commit_time(top: &Path) -> u64 {
    let text = output_of(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(top));
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| {
        say::warn("no git commit found in this checkout: the files in the archives are dated 1970");
        0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_linked_libraries_with_their_license_texts() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let target = target(top).unwrap();
        let build = |package, features| BuiltPackage { package, features, target: &target };
        let text = license_notices(top, &[build("xtask", &[]), build("engine", &["burn-flex"])]).unwrap();
        for wanted in ["\nburn-flex v", "\nanyhow v1.", ": MIT OR Apache-2.0\n", "hereby granted, free of charge"] {
            assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
        }
        assert!(!text.contains("xtask v") && !text.contains("serde_derive v"), "our package or a macro in\n{text}");
    }

    fn packed() -> Archive {
        let files = ["LICENSE-APACHE", "LICENSE-MIT", "packaging/README.md", "page/js/b.js", "page/.hidden.json"];
        let top = crate::check::tree(&files.map(|file| (file, "a text")));
        let mut archive = Archive::new(top.path(), "server-1.2.3".to_owned(), "packaging").unwrap();
        archive.add_program("leaderboard", b"a program".to_vec());
        archive.add_folder("page", &top.path().join("page")).unwrap();
        archive
    }

    #[test]
    fn saves_every_file_below_one_folder_and_the_digest() {
        let out = tempfile::tempdir().unwrap();
        packed().save(out.path(), 7).unwrap();
        let read = |name: &str| fs::read(out.path().join(name)).unwrap();
        let bytes = read("server-1.2.3.tar.gz");
        assert_eq!(packed().to_bytes(7).unwrap(), bytes, "bytes follow from the contents");
        let digest = format!("{}  server-1.2.3.tar.gz\n", sha256_hex(&bytes));
        assert_eq!(read("server-1.2.3.tar.gz.sha256"), digest.as_bytes());
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let found = tar.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            format!("{} {:o}", entry.path().unwrap().display(), entry.header().mode().unwrap())
        });
        let program = format!("leaderboard{} 755", std::env::consts::EXE_SUFFIX);
        let expected = ["LICENSE-APACHE 644", "LICENSE-MIT 644", "README.md 644", &program, "page/js/b.js 644"];
        assert_eq!(found.collect::<Vec<_>>(), expected.map(|line| format!("server-1.2.3/{line}")));
    }
}
