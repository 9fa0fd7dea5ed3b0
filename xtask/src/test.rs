//! `cargo xtask test`: every test, the browser's included, after everything they need is in place.

mod axe;
mod programs;
mod tally;

use crate::build::{self, Programs};
use crate::setup::vulkan::{self, Driver};
use crate::setup::{self, Wanted};
use crate::workspace::{FEATURES, cargo};
use crate::{check, data, dist, fetch, lint, page, say};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use data_sets::{Store, Trust};
use programs::{Environment, Outcome, TestProgram};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

#[derive(Args)]
pub(crate) struct Options {
    /// Test only these crates, and skip the checks
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
    /// Leave out the tests that drive a browser, and building the page for them
    #[arg(long)]
    no_browser: bool,
    /// Build the page without Burn, which takes minutes to compile when the engine has changed, and leave out the tests
    /// that train with it in a browser
    #[arg(long)]
    no_burn_page: bool,
}

const BROWSER_TESTS: &str = "browser-tests";
const LEADERBOARD: &str = "leaderboard";
const NATIVE_RUNNER: &str = "native-runner";
/// What `cargo xtask` itself is made of, and compiled for it before the tests of the others: built together with those
/// it would share their choice of features, and be compiled again by the next `cargo xtask`.
const APART: [&str; 2] = ["xtask", "page-tools"];

/// The programs that tests of other crates start, and whose tests those are.
const STARTED_BY: [(&str, &str, &[&str]); 2] = [
    ("leaderboard", "GRADMARK_LEADERBOARD", &["native-runner", BROWSER_TESTS]),
    ("native-runner", "GRADMARK_NATIVE_RUNNER", &[BROWSER_TESTS]),
];

/// Tests of other crates that need the page as well.
const ALSO_WITH_THE_PAGE: &str = "native-runner/archives";
/// How many test programs run beside those that need the page: many of their tests wait for a time to pass, or compute
/// in one thread.
const SIDE_BY_SIDE: usize = 2;

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let started = Instant::now();
    let selection = Selection::new(&check::crate_names(top)?, options)?;
    let store = data::store(top, None)?;
    setup::system(Wanted {
        download: store.needs_download(),
        browsers: selection.holds(BROWSER_TESTS),
        software_vulkan: !selection.others.is_empty(),
        postgres: selection.holds(LEADERBOARD),
    })?;
    setup::wasm_target(top)?;
    if selection.all {
        lint::format(top)?;
        lint::promises(top)?;
    }
    fetch::dependencies(top);
    let session = Session { top, store: &store, selection: &selection, options, given_up: AtomicBool::new(false) };
    conclude(&session.in_two_lanes()?, started)
}

/// What is to be tested, and with what.
struct Session<'a> {
    top: &'a Path,
    store: &'a Store,
    selection: &'a Selection,
    options: &'a Options,
    /// Set when something went wrong that makes the remaining tests pointless.
    given_up: AtomicBool,
}

/// What the lane of the page gets from the other one: the tests that need the page, and what they are told.
type WithThePage = (Vec<TestProgram>, Environment);

impl Session<'_> {
    /// What is for the browser is built and tested beside what is for this machine, because each of them often waits
    /// for one core, or for a time to pass.
    fn in_two_lanes(&self) -> Result<Outcome> {
        let (send_tools, tools) = mpsc::channel();
        let (send_tests, tests) = mpsc::channel();
        thread::scope(|scope| {
            let data = scope.spawn(|| self.prepare_data());
            let page = scope.spawn(move || {
                let outcome = self.lane_of_the_page(&tools, &tests);
                self.given_up.fetch_or(outcome.is_err(), Ordering::Relaxed);
                outcome
            });
            let machine = self.lane_of_this_machine(send_tools, send_tests, data);
            let page = page.join().map_err(|_| anyhow!("testing the page panicked"))?;
            // The first of these is the cause of what follows it.
            Ok(machine?.and(page?))
        })
    }

    fn lane_of_this_machine(
        &self,
        send_tools: mpsc::Sender<PathBuf>,
        send_tests: mpsc::Sender<WithThePage>,
        data: thread::ScopedJoinHandle<'_, Result<()>>,
    ) -> Result<Outcome> {
        if self.selection.holds(BROWSER_TESTS) {
            // Nobody waits for it where the page is up to date.
            let _ = send_tools.send(page::tools(self.top)?);
        }
        drop(send_tools);
        let (mut tests, environment) = self.build()?;
        data.join().map_err(|_| anyhow!("preparing the data sets panicked"))??;
        let with_the_page = tests.extract_if(.., |test| self.needs_the_page(test)).collect();
        // Where the page could not be built nobody waits for them.
        let _ = send_tests.send((with_the_page, environment.clone()));
        drop(send_tests);
        for package in &self.selection.apart {
            let mut command = cargo(self.top);
            let (_, apart) = programs::build(
                command.args(["test", "--release", "--package", package]),
                &format!("the tests of {package}"),
            )?;
            tests.extend(apart);
        }
        if self.selection.all {
            lint::host(self.top)?;
        }
        let outcome = self.run_all(tests, &environment, SIDE_BY_SIDE)?;
        if self.selection.others.is_empty() {
            return Ok(outcome);
        }
        let mut documentation = self.selection.cargo_test(self.top);
        documentation.arg("--doc").envs(environment);
        Ok(outcome.and(programs::run("documentation", documentation)?))
    }

    fn lane_of_the_page(
        &self,
        tools: &mpsc::Receiver<PathBuf>,
        tests: &mpsc::Receiver<WithThePage>,
    ) -> Result<Outcome> {
        let Self { top, selection, .. } = *self;
        if selection.holds(BROWSER_TESTS) {
            let tools = || tools.recv().context("there is no wasm-bindgen");
            page::build_complete(top, !self.options.no_burn_page, tools)?;
            if selection.all {
                say::step("Checking", "the size of the page");
                check::page(top)?;
            }
        }
        if selection.all {
            lint::browser(top)?;
        }
        // None come when something went wrong in the other lane, which reports it.
        let Ok((tests, mut environment)) = tests.recv() else { return Ok(Outcome::default()) };
        if tests.iter().any(|test| test.is(ALSO_WITH_THE_PAGE)) && selection.holds(BROWSER_TESTS) {
            let archives = packed(top, self.store, &environment)?;
            environment.push(("GRADMARK_ARCHIVES".to_owned(), archives));
        }
        self.run_all(tests, &environment, 1)
    }

    fn run_all(&self, tests: Vec<TestProgram>, environment: &Environment, side_by_side: usize) -> Result<Outcome> {
        programs::run_all(tests, environment, side_by_side, &|| self.given_up.load(Ordering::Relaxed))
    }

    fn needs_the_page(&self, test: &TestProgram) -> bool {
        test.belongs_to(BROWSER_TESTS) || (test.is(ALSO_WITH_THE_PAGE) && self.selection.holds(BROWSER_TESTS))
    }

    fn prepare_data(&self) -> Result<()> {
        if self.selection.others.is_empty() { Ok(()) } else { data::prepare(self.store, Trust::Nothing) }
    }

    /// Builds the tests; returns them and what they are told.
    fn build(&self) -> Result<(Vec<TestProgram>, Environment)> {
        if self.selection.others.is_empty() {
            return Ok(Default::default());
        }
        let (mut built, tests) = programs::build(&mut self.selection.cargo_test(self.top), "the tests")?;
        Ok((tests, self.environment(&mut built)?))
    }

    /// What the tests are told: where the data, the page and the programs are, and which Vulkan driver to use.
    fn environment(&self, built: &mut Programs) -> Result<Environment> {
        let mut environment = vec![("GRADMARK_DATA".to_owned(), self.store.folder().to_path_buf())];
        if self.selection.holds(BROWSER_TESTS) {
            environment.push(("GRADMARK_PAGE".to_owned(), page::folder(self.top)));
            environment.extend(axe::script().map(|script| ("GRADMARK_AXE".to_owned(), script)));
        }
        if self.options.no_burn_page {
            environment.push(("GRADMARK_NO_BURN_PAGE".to_owned(), "1".into()));
        }
        for (program, variable, starters) in STARTED_BY {
            if starters.iter().any(|starter| self.selection.holds(starter)) {
                environment.push((variable.to_owned(), program_path(self.top, program, built)?));
            }
        }
        if self.selection.holds(NATIVE_RUNNER) {
            match page::frameworks::bundles(self.top) {
                Ok(bundles) => environment.push(("GRADMARK_FRAMEWORKS".to_owned(), bundles)),
                Err(error) => {
                    say::warn(format!("TensorFlow.js and jax-js are not held to the golden traces: {error:#}"))
                }
            }
        }
        environment.extend(driver_of_the_tests().map(|icd| ("VK_DRIVER_FILES".to_owned(), icd)));
        Ok(environment)
    }
}

/// The Vulkan driver that the loader has to be pointed to, if it has to be.
fn driver_of_the_tests() -> Option<PathBuf> {
    let chosen = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some());
    match vulkan::choose(Path::new("/"), chosen) {
        Driver::AsItIs(why) => {
            say::step("Vulkan", format!("drivers as the system has them: {why}"));
            None
        }
        Driver::Software(icd) => {
            let told = format!("VK_DRIVER_FILES={}", icd.display());
            say::step("Vulkan", format!("llvmpipe alone, because no GPU shows itself: {told}"));
            Some(icd)
        }
    }
}

/// The crates to test.
struct Selection {
    /// Those that are tested by themselves, by name.
    apart: Vec<String>,
    /// The others, by name.
    others: Vec<String>,
    /// Whether `others` are all others, or all but the browser tests.
    all: bool,
}

impl Selection {
    fn new(known: &[String], options: &Options) -> Result<Self> {
        if let Some(unknown) = options.crates.iter().find(|name| !known.contains(name)) {
            bail!("there is no crate {unknown} in this workspace; there are {}", known.join(", "));
        }
        let all = options.crates.is_empty();
        let wanted =
            |name: &String| (all || options.crates.contains(name)) && !(options.no_browser && name == BROWSER_TESTS);
        let (apart, others): (Vec<String>, Vec<String>) =
            known.iter().filter(|name| wanted(name)).cloned().partition(|name| APART.contains(&name.as_str()));
        if apart.is_empty() && others.is_empty() {
            bail!("with --no-browser nothing is left to test");
        }
        Ok(Self { apart, others, all })
    }

    fn holds(&self, name: &str) -> bool {
        self.apart.iter().chain(&self.others).any(|other| other == name)
    }

    /// The one `cargo test` for all crates but xtask. One command, because cargo then chooses the features of shared
    /// dependencies once for all of them; crate by crate, many would be compiled in several variants.
    fn cargo_test(&self, top: &Path) -> Command {
        let mut command = cargo(top);
        command.args(["test", "--release"]);
        if self.all {
            command.arg("--workspace").args(APART.iter().flat_map(|name| ["--exclude", name]));
            if !self.holds(BROWSER_TESTS) {
                command.args(["--exclude", BROWSER_TESTS]);
            }
        } else {
            for name in &self.others {
                command.args(["--package", name]);
            }
        }
        let features = FEATURES.iter().filter(|(name, _)| self.holds(name));
        command.args(features.flat_map(|(_, features)| ["--features", features]));
        command
    }
}

/// Packs what was just built as `cargo xtask dist` does, for the test that unpacks the archives elsewhere and uses them.
fn packed(top: &Path, store: &Store, environment: &[(String, PathBuf)]) -> Result<PathBuf> {
    let built = |variable: &str| {
        let found = environment.iter().find(|(name, _)| name == variable);
        found.map(|(_, path)| path.as_path()).with_context(|| format!("{variable} is not known"))
    };
    let parts = dist::Parts {
        native_runner: Some(dist::Program {
            path: built("GRADMARK_NATIVE_RUNNER")?,
            features: &["burn-flex", "burn-remote"],
        }),
        server: Some(dist::Program { path: built("GRADMARK_LEADERBOARD")?, features: &[] }),
        page: &page::folder(top),
        data: Some(store.folder()),
    };
    let folder = top.join(".cache/archives");
    dist::pack(top, &parts, &folder)?;
    Ok(folder)
}

/// Cargo builds a crate's programs together with its integration tests; when that crate is not selected, or has no
/// such tests, the program is built here.
fn program_path(top: &Path, program: &str, built: &mut Programs) -> Result<PathBuf> {
    match built.remove(program) {
        Some(path) => Ok(path),
        None => build::program_with(top, program, &[]),
    }
}

/// # Errors
/// When a test failed, or when none ran at all.
fn conclude(outcome: &Outcome, started: Instant) -> Result<()> {
    let Outcome { tally, failed } = outcome;
    let summary = format!("{tally} ({})", say::duration(started.elapsed()));
    if tally.passed == 0 && failed.is_empty() {
        bail!("no test ran at all: {summary}");
    }
    if failed.is_empty() {
        say::step("Passed", summary);
        Ok(())
    } else {
        bail!("tests of {} failed: {summary}", failed.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<String> {
        ["results", "engine", "browser-tests", "xtask"].map(str::to_owned).to_vec()
    }

    fn select(crates: &[&str], no_browser: bool) -> Result<Selection> {
        let crates = crates.iter().map(|&name| name.to_owned()).collect();
        Selection::new(&known(), &Options { crates, no_browser, no_burn_page: false })
    }

    fn arguments(selection: &Selection) -> Vec<String> {
        selection.cargo_test(Path::new(".")).get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn everything_is_one_cargo_command_without_xtask() {
        let all = select(&[], false).unwrap();
        assert!(all.holds("xtask") && all.holds("browser-tests"));
        let features = ["--features", "engine/burn-flex"];
        assert_eq!(
            arguments(&all),
            [&["test", "--release", "--workspace", "--exclude", "xtask", "--exclude", "page-tools"], &features[..]]
                .concat()
        );
    }

    #[test]
    fn without_a_browser_its_tests_are_left_out() {
        let rest = select(&[], true).unwrap();
        assert!(!rest.holds("browser-tests"));
        assert!(arguments(&rest).windows(2).any(|pair| pair == ["--exclude", "browser-tests"]));
        assert!(select(&["browser-tests"], true).is_err());
    }

    #[test]
    fn a_crate_that_does_not_exist_is_named_with_those_that_do() {
        let error = select(&["engin"], false).err().unwrap().to_string();
        assert!(error.contains("engin ") && error.contains("results, engine"), "{error}");
    }

    #[test]
    fn chosen_crates_are_tested_alone() {
        let chosen = select(&["engine"], false).unwrap();
        let package = ["test", "--release", "--package", "engine", "--features", "engine/burn-flex"];
        assert_eq!(arguments(&chosen), package);
        let plain = select(&["results"], false).unwrap();
        assert_eq!(arguments(&plain), ["test", "--release", "--package", "results"]);
        assert!(!chosen.holds("xtask"));
    }

    #[test]
    fn no_test_at_all_is_a_failure() {
        assert!(conclude(&Outcome::default(), Instant::now()).is_err());
    }
}
