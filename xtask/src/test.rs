//! `cargo xtask test`: the tests, in two sizes, and all their prerequisites.

use crate::setup::{self, Wanted};
use crate::workspace::{self, BURN_FEATURES, cargo};
use crate::{check, data, dist, page, say};
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use data_sets::files::{sha256_hex, temporary_name, unpack, write_whole};
use data_sets::{Package, Store, StoreHost};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{fs, thread};

#[derive(Args)]
pub(crate) struct Options {
    /// Test only these crates, without the checks
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
    /// Run everything, including Burn, PostgreSQL, Firefox, the other long tests, and clippy
    #[arg(long)]
    all: bool,
    /// Skip the browser tests and the build of the page
    #[arg(long)]
    no_browser: bool,
}

const BROWSER_TESTS: &str = "browser-tests";
/// Crates that cargo builds separately, because together it would select other features for shared dependencies.
const TOOLS: [&str; 2] = ["xtask", "page-hooks"];
/// Tests that only `--all` runs, for the closing line. CONTRIBUTING.md has the details.
const LONG_TESTS: &str = "Burn, PostgreSQL, Firefox, full-size golden traces, skipped launches, other frameworks, axe on \
                          every state, archives, the tools' own tests and clippy";
/// Modules of tests for SQLite files.
const SQLITE_ONLY: [&str; 2] = ["full_disk::", "sqlite_file::"];
/// Module of the tests that need a PostgreSQL server, which run separately.
const POSTGRES: &str = "postgres_server::";
const NOT_POSTGRES: &str = "not test(/^postgres_server::/)";

type Environment = Vec<(&'static str, PathBuf)>;

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let started = Instant::now();
    let known = workspace::metadata(top)?.packages.into_iter().map(|package| package.name.to_string()).collect();
    let selection = Selection::new(known, options)?;
    let store = data::store(top, None)?;
    setup::system(Wanted {
        download: store.needs_download(),
        chromium: selection.has(BROWSER_TESTS),
        firefox: selection.has(BROWSER_TESTS) && options.all,
        software_vulkan: cfg!(target_os = "linux"),
        postgres: selection.has("leaderboard") && options.all && cfg!(target_os = "linux"),
    })?;
    setup::wasm_target(top)?;
    if selection.is_whole {
        check::format(top)?;
        check::sources(top)?;
    }
    workspace::fetch_dependencies(top);
    let needs_hooks = selection.has(BROWSER_TESTS) || (options.all && selection.has("native-runner"));
    let hooks = needs_hooks.then(|| page::hooks(top)).transpose()?;
    build(top, &store, &selection, hooks.as_deref().filter(|_| selection.has(BROWSER_TESTS)))?;
    if selection.is_whole && selection.has(BROWSER_TESTS) {
        check::page(top)?;
    }
    let environment = environment(top, &store, &selection, hooks.as_deref())?;
    let skipped = top.join(".cache/skipped");
    fs::write(&skipped, "").with_context(|| format!("cannot write {}", skipped.display()))?;
    let mut failed = Vec::new();
    for (name, mut command) in selection.commands(top) {
        say::step("Testing", name);
        command.envs(environment.iter().cloned()).env("GRADMARK_SKIPPED", &skipped);
        if let Err(error) = workspace::run(&mut command, name) {
            failed.push(format!("{error:#}"));
        }
    }
    if options.all && selection.is_whole {
        let lints = check::host(top).and_then(|()| check::browser(top));
        failed.extend(lints.err().map(|error| format!("{error:#}")));
    }
    for (reason, count) in count_skipped(&fs::read_to_string(&skipped)?) {
        say::step("Skipped", format!("{count} × {reason}"));
    }
    let time = say::duration(started.elapsed());
    if !failed.is_empty() {
        bail!("{} ({time})", failed.join("\n"));
    }
    let adds = if options.all { String::new() } else { format!("; `cargo xtask test --all` adds {LONG_TESTS}") };
    say::step("Passed", format!("in {time}{adds}"));
    Ok(())
}

/// Builds the tests, the programs that they start, and the page, and prepares the data sets, in parallel.
fn build(top: &Path, store: &Store, selection: &Selection, hooks: Option<&Path>) -> Result<()> {
    thread::scope(|scope| {
        let data = scope.spawn(|| data::prepare(store, false));
        let build_page = if selection.all { page::build_with_burn } else { page::build };
        let page = scope.spawn(move || hooks.map_or(Ok(()), |hooks| build_page(top, hooks)));
        let tests = selection.build(top);
        data.join().map_err(|_| anyhow!("preparing the data sets panicked"))??;
        page.join().map_err(|_| anyhow!("building the page panicked"))??;
        tests
    })
}

/// Returns the environment of the tests: paths of the data, the page and the programs, and the Vulkan driver.
fn environment(top: &Path, store: &Store, selection: &Selection, hooks: Option<&Path>) -> Result<Environment> {
    let (runner, leaderboard) =
        (workspace::program(top, "release", "native-runner")?, workspace::program(top, "release", "leaderboard")?);
    let mut environment = vec![
        ("GRADMARK_DATA", store.folder.clone()),
        ("GRADMARK_PAGE", page::folder(top)),
        ("GRADMARK_LEADERBOARD", leaderboard.clone()),
        ("GRADMARK_NATIVE_RUNNER", runner.clone()),
    ];
    if let Some(driver) = setup::software_driver() {
        say::step("Vulkan", format!("llvmpipe, because no GPU was found: VK_DRIVER_FILES={}", driver.display()));
        environment.push(("VK_DRIVER_FILES", driver));
        if !selection.all {
            // llvmpipe compiles a shader in half the time for vectors of four lanes. Its cache is kept separate,
            // because cached shaders would also be used for wider vectors and be slower there.
            environment.push(("LP_NATIVE_VECTOR_WIDTH", "128".into()));
            environment.push(("MESA_SHADER_CACHE_DIR", top.join(".cache/llvmpipe")));
        }
    }
    if !selection.all {
        return Ok(environment);
    }
    if selection.has(BROWSER_TESTS) {
        match find_axe() {
            Ok(script) => environment.push(("GRADMARK_AXE", script)),
            // The tests that need it report that they are skipped.
            Err(error) => say::warn(format!("accessibility is not tested: {error:#}")),
        }
    }
    if let Some(hooks) = hooks.filter(|_| selection.has("native-runner")) {
        match page::frameworks(top, hooks) {
            Ok(bundles) => environment.push(("GRADMARK_FRAMEWORKS", bundles)),
            Err(error) => say::warn(format!("TensorFlow.js and jax-js are not compared with golden traces: {error:#}")),
        }
        if selection.has(BROWSER_TESTS) {
            let archives = top.join(".cache/archives");
            let parts = dist::DistParts {
                native_runner: Some(&runner),
                features: &["burn-flex", "burn-remote"],
                server: Some(&leaderboard),
                data: Some(&store.folder),
            };
            dist::pack(top, &parts, &archives)?;
            environment.push(("GRADMARK_ARCHIVES", archives));
        }
    }
    Ok(environment)
}

/// Counts skipped tests, or parts of tests, by reason. Tests write a line `NAME: REASON` each.
fn count_skipped(lines: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for line in lines.lines() {
        *counts.entry(line.split_once(": ").map_or(line, |(_, reason)| reason)).or_default() += 1;
    }
    counts
}

/// Returns the number of concurrent tests. It exceeds the number of processors, because many tests wait for programs.
fn test_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from) + 2
}

/// Crates to test, and the extent of the tests.
struct Selection {
    crates: Vec<String>,
    /// True for all crates, or all except the browser tests.
    is_whole: bool,
    all: bool,
    has_nextest: bool,
}

impl Selection {
    fn new(known: Vec<String>, options: &Options) -> Result<Self> {
        if let Some(unknown) = options.crates.iter().find(|name| !known.contains(name)) {
            bail!("no crate {unknown} in this workspace; its crates are {}", known.join(", "));
        }
        let is_whole = options.crates.is_empty();
        let mut crates = if is_whole { known } else { options.crates.clone() };
        // The tools' own tests are long tests, unless they are requested.
        crates.retain(|name| !(is_whole && !options.all && TOOLS.contains(&name.as_str())));
        crates.retain(|name| !(options.no_browser && name == BROWSER_TESTS));
        if crates.is_empty() {
            bail!("--no-browser leaves nothing to test");
        }
        let nextest = Command::new("cargo").args(["nextest", "--version"]).output();
        let has_nextest = nextest.is_ok_and(|output| output.status.success());
        Ok(Self { crates, is_whole, all: options.all, has_nextest })
    }

    fn has(&self, name: &str) -> bool {
        self.crates.iter().any(|other| other == name)
    }

    /// Returns the cargo arguments that select these crates. One command covers all crates except the tools, so that
    /// cargo chooses the features of shared dependencies once.
    fn packages(&self, tools: bool) -> Vec<&str> {
        let wanted = |name: &&str| TOOLS.contains(name) == tools;
        let mut arguments = vec!["--release"];
        for name in self.crates.iter().map(String::as_str).filter(wanted) {
            arguments.extend(["--package", name]);
        }
        if self.all && !tools {
            let features = BURN_FEATURES.iter().filter(|(name, _)| self.has(name));
            arguments.extend(features.flat_map(|(_, features)| ["--features", features]));
        }
        arguments
    }

    /// Returns true if any of these crates is a tool (or, for `false`, is not one).
    fn has_any(&self, tools: bool) -> bool {
        self.crates.iter().any(|name| TOOLS.contains(&name.as_str()) == tools)
    }

    fn build(&self, top: &Path) -> Result<()> {
        let verbs = ["Building", "Built"];
        for tools in [false, true].into_iter().filter(|tools| self.has_any(*tools)) {
            say::follow(verbs, "the tests", self.test_command(top, tools).arg("--no-run"))?;
        }
        // Cargo builds the programs of a crate only with the crate's own tests.
        for program in ["leaderboard", "native-runner"].into_iter().filter(|name| !self.has(name)) {
            if self.has(BROWSER_TESTS) || (program == "leaderboard" && self.has("native-runner")) {
                say::follow(verbs, program, cargo(top).args(["build", "--release", "--package", program]))?;
            }
        }
        Ok(())
    }

    fn test_command(&self, top: &Path, tools: bool) -> Command {
        let mut command = cargo(top);
        command.args(if self.has_nextest { &["nextest", "run"][..] } else { &["test"] });
        command.args(self.packages(tools)).arg("--tests");
        command
    }

    /// Returns the commands that run the tests, by name.
    fn commands(&self, top: &Path) -> Vec<(&'static str, Command)> {
        let mut commands = Vec::new();
        for (name, tools) in [("the tests", false), ("the tools' own tests", true)] {
            if !self.has_any(tools) {
                continue;
            }
            let mut command = self.test_command(top, tools);
            command.arg("--no-fail-fast");
            if self.has_nextest {
                command.arg("--test-threads").arg(test_threads().to_string());
            }
            match (self.has_nextest, self.all || tools) {
                (_, false) => {}
                (true, true) => drop(command.args(["--run-ignored", "all", "-E", NOT_POSTGRES])),
                (false, true) => drop(command.args(["--", "--include-ignored", "--skip", POSTGRES])),
            }
            commands.push((name, command));
        }
        if self.all && self.has("leaderboard") {
            // One process, because its tests share a PostgreSQL server.
            let mut command = cargo(top);
            command.arg("test").args(self.packages(false)).args(["--test", "http", "--", "--include-ignored"]);
            command.arg("--test-threads").arg(test_threads().to_string());
            command.args(SQLITE_ONLY.iter().flat_map(|name| ["--skip", name]));
            command.env("GRADMARK_TEST_DATABASE", "postgres");
            commands.push(("the leaderboard on PostgreSQL", command));
        }
        commands
    }
}

/// axe-core, which browser tests use to find accessibility problems: one script of an npm package, in the user's cache.
const AXE: Package = Package { name: "axe-core", version: "4.14.0" };
const AXE_SCRIPT: &str = "package/axe.min.js";
const AXE_SHA256: &str = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878";

/// Returns the path of axe-core's script, which it downloads if necessary.
fn find_axe() -> Result<PathBuf> {
    let script = workspace::cache()?.join(format!("{}-{}.js", AXE.name, AXE.version));
    if fs::read(&script).is_ok_and(|text| sha256_hex(&text) == AXE_SHA256) {
        return Ok(script);
    }
    say::step("Fetching", format!("{AXE} for the browser tests"));
    let archive = temporary_name(&script);
    fs::create_dir_all(workspace::cache()?).context("cannot create the cache folder")?;
    let files = data::programs().download(&AXE, &archive).and_then(|()| unpack(&archive, &[AXE_SCRIPT]));
    // A temporary file that cannot be removed does no harm.
    let _ = fs::remove_file(&archive);
    save_axe(&files.with_context(|| format!("cannot fetch {AXE}"))?[AXE_SCRIPT], &script)?;
    Ok(script)
}

/// Writes the script, if it is the published one.
fn save_axe(text: &[u8], script: &Path) -> Result<()> {
    ensure!(sha256_hex(text) == AXE_SHA256, "{AXE_SCRIPT} of {AXE} is not the published one");
    write_whole(script, |out| Ok(out.write_all(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(crates: &[&str], all: bool, no_browser: bool) -> Result<Selection> {
        let known = ["results", "engine", BROWSER_TESTS, "xtask"].map(str::to_owned).to_vec();
        let crates = crates.iter().map(|&name| name.to_owned()).collect();
        Selection::new(known, &Options { crates, all, no_browser })
    }

    #[test]
    fn only_all_builds_burn_and_the_tools() {
        let small = select(&[], false, true).unwrap();
        assert_eq!(small.packages(false), ["--release", "--package", "results", "--package", "engine"]);
        assert!(!small.has("xtask") && !small.has(BROWSER_TESTS));
        let all = select(&[], true, true).unwrap();
        let packages = ["--release", "--package", "results", "--package", "engine", "--features", "engine/burn-flex"];
        assert_eq!(all.packages(false), packages);
        assert_eq!(all.packages(true), ["--release", "--package", "xtask"]);
    }

    #[test]
    fn an_unknown_crate_is_named_with_the_known_ones() {
        let error = select(&["engin"], false, false).err().unwrap().to_string();
        assert!(error.contains("engin ") && error.contains("results, engine"), "{error}");
        assert!(select(&[BROWSER_TESTS], false, true).is_err(), "nothing is left");
    }

    #[test]
    fn skipped_tests_are_counted_by_reason() {
        let counts = count_skipped("add: no adapter: none at all\npool: no adapter: none at all\nno name\n");
        assert_eq!(counts, BTreeMap::from([("no adapter: none at all", 2), ("no name", 1)]));
    }

    #[test]
    fn refuses_an_axe_script_that_is_not_the_published_one() {
        let script = std::env::temp_dir().join("gradmark-axe-test.js");
        assert!(save_axe(b"alert()", &script).unwrap_err().to_string().contains("is not the published one"));
        assert!(!script.exists());
    }
}
