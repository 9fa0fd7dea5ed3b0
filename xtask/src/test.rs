//! `cargo xtask test`: every test, the browser's included, after everything they need is in place.

use crate::build::{self, Programs};
use crate::setup::vulkan::{self, Driver};
use crate::setup::{self, Wanted};
use crate::tally::Tally;
use crate::task::Task;
use crate::workspace::{FEATURES, cargo};
use crate::{data, dist, fetch, lint, page, say};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use data_sets::{Store, Trust};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
/// What `cargo xtask` itself is made of, and compiled for it before the tests of the others: built together with those
/// it would share their choice of features, and be compiled again by the next `cargo xtask`.
const APART: [&str; 2] = ["xtask", "page-tools"];

/// The programs that tests of other crates start, and whose tests those are.
const STARTED_BY: [(&str, &str, &[&str]); 2] = [
    ("leaderboard", "GRADMARK_LEADERBOARD", &["native-runner", BROWSER_TESTS]),
    ("native-runner", "GRADMARK_NATIVE_RUNNER", &[BROWSER_TESTS]),
];

pub(crate) fn run(top: &Path, options: &Options) -> Result<()> {
    let started = Instant::now();
    let selection = Selection::new(&crate::check::crate_names(top)?, options)?;
    let browser = selection.holds(BROWSER_TESTS);
    let store = data::store(top, None)?;
    setup::system(Wanted { download: store.needs_download(), browser, software_vulkan: !selection.others.is_empty() })?;
    setup::wasm_target(top)?;
    let checks = options.crates.is_empty();
    if checks {
        lint::format(top)?;
        lint::promises(top)?;
    }
    let mut programs = prepare(top, &store, &selection, options)?;
    if checks && browser {
        say::step("Checking", "the size of the page");
        crate::check::page(top)?;
    }

    let mut tally = Tally::default();
    let mut failed = Vec::new();
    for package in &selection.apart {
        say::step("Testing", package);
        let well = run_tests(cargo(top).args(["test", "--release", "--package", package]), &mut tally)?;
        failed.extend((!well).then_some(package.as_str()));
    }
    if !selection.others.is_empty() {
        let mut environment = environment(top, &store, &selection, &mut programs)?;
        if options.no_burn_page {
            environment.push(("GRADMARK_NO_BURN_PAGE".to_owned(), "1".into()));
        }
        say::step("Testing", selection.others.join(", "));
        let mut command = selection.cargo_test(top);
        command.arg("--no-fail-fast").envs(environment);
        failed.extend((!run_tests(&mut command, &mut tally)?).then_some("the workspace"));
    }
    conclude(&tally, &failed, started)
}

/// Gets everything that the tests need, and checks what can be checked meanwhile: what is for the browser beside what
/// is for this machine, because each of them often waits for one core. Returns the programs for this machine.
fn prepare(top: &Path, store: &Store, selection: &Selection, options: &Options) -> Result<Programs> {
    fetch::dependencies(top);
    let (sender, tools) = mpsc::channel();
    let checks = options.crates.is_empty();
    let browser = selection.holds(BROWSER_TESTS);
    thread::scope(|scope| {
        let data = scope.spawn(|| data::prepare(store, Trust::Nothing));
        let page = scope.spawn(move || {
            if browser {
                page::build_complete(top, !options.no_burn_page, || tools.recv().context("there is no wasm-bindgen"))?;
            }
            if checks { lint::browser(top) } else { Ok(()) }
        });
        let host = || {
            if browser {
                // Nobody waits for it where the page is up to date.
                let _ = sender.send(page::tools(top)?);
            }
            let built = selection.build(top)?;
            if checks {
                lint::host(top)?;
            }
            Ok(built)
        };
        let host: Result<Programs> = host();
        drop(sender);
        let data = data.join().map_err(|_| anyhow!("preparing the data sets panicked"))?;
        let page = page.join().map_err(|_| anyhow!("building the page panicked"))?;
        // The first of these is the cause of what follows it.
        let host = host?;
        page?;
        data?;
        Ok(host)
    })
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

    /// Builds the tests, and the programs that come with them.
    fn build(&self, top: &Path) -> Result<Programs> {
        if self.others.is_empty() {
            return Ok(Programs::new());
        }
        let task = Task::build("the tests");
        let programs = build::programs_in(&task.follow(self.cargo_test(top).args(["--no-run", build::MESSAGES]))?);
        task.done("Built");
        Ok(programs)
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

/// What the tests are told: where the data, the page and the programs are, and which Vulkan driver to use.
fn environment(
    top: &Path,
    store: &Store,
    selection: &Selection,
    built: &mut Programs,
) -> Result<Vec<(String, PathBuf)>> {
    let mut environment = vec![("GRADMARK_DATA".to_owned(), store.folder().to_path_buf())];
    if selection.holds(BROWSER_TESTS) {
        environment.push(("GRADMARK_PAGE".to_owned(), page::folder(top)));
    }
    for (program, variable, starters) in STARTED_BY {
        if starters.iter().any(|starter| selection.holds(starter)) {
            environment.push((variable.to_owned(), program_path(top, program, built)?));
        }
    }
    if selection.holds(BROWSER_TESTS) && selection.holds("native-runner") {
        environment.push(("GRADMARK_ARCHIVES".to_owned(), packed(top, store, &environment)?));
    }
    let chosen = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some());
    match vulkan::choose(Path::new("/"), chosen) {
        Driver::AsItIs(why) => say::step("Vulkan", format!("drivers as the system has them: {why}")),
        Driver::Software(icd) => {
            say::step(
                "Vulkan",
                format!("llvmpipe alone, because no GPU shows itself: VK_DRIVER_FILES={}", icd.display()),
            );
            environment.push(("VK_DRIVER_FILES".to_owned(), icd));
        }
    }
    Ok(environment)
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

/// Runs a `cargo test`, shows its output as it comes, and counts the results. Returns whether all went well.
fn run_tests(command: &mut Command, tally: &mut Tally) -> Result<bool> {
    // Tests that skip say so on the standard error, past the harness, and cargo is there, too.
    if say::colours_wanted() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    count(command, tally, &mut std::io::stdout(), std::io::stderr())
}

/// Runs `command`, shows its output in `shown` and its messages in `aside`, and counts what both say.
fn count(
    command: &mut Command,
    tally: &mut Tally,
    shown: &mut impl Write,
    mut aside: impl Write + Send + 'static,
) -> Result<bool> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start cargo")?;
    let output = child.stdout.take().context("cargo's output was not piped")?;
    let messages = child.stderr.take().context("cargo's messages were not piped")?;
    let messages = std::thread::spawn(move || {
        let mut tally = Tally::default();
        show(messages, &mut aside, &mut tally).map(|()| tally)
    });
    show(output, shown, tally)?;
    let said = messages.join().map_err(|_| anyhow!("cargo's messages could not be shown"))??;
    tally.take_skipped_of(said);
    Ok(child.wait()?.success())
}

/// Shows output as it comes, line by line, and counts what it says.
fn show(output: impl Read, shown: &mut impl Write, tally: &mut Tally) -> Result<()> {
    for line in BufReader::new(output).split(b'\n') {
        let mut line = line?;
        tally.add(&String::from_utf8_lossy(&line));
        line.push(b'\n');
        shown.write_all(&line)?;
        shown.flush()?;
    }
    Ok(())
}

/// # Errors
/// When a test failed, or when none ran at all.
fn conclude(tally: &Tally, failed: &[&str], started: Instant) -> Result<()> {
    let seconds = started.elapsed().as_secs();
    let summary = format!("{tally} ({} min {:02} s)", seconds / 60, seconds % 60);
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
    fn what_is_skipped_is_counted_from_either_stream_and_shown_as_it_was() {
        let mut tally = Tally::default();
        let script = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured'; \
                      echo 'SKIPPED one: no adapter' >&2; echo 'SKIPPED two: no adapter' >&2";
        // Not into the streams that these tests' own results are counted from.
        let mut shell = |script, shown: &mut Vec<u8>| {
            count(Command::new("sh").args(["-c", script]), &mut tally, shown, std::io::sink()).unwrap()
        };
        let mut shown = Vec::new();
        assert!(shell(script, &mut shown));
        assert!(!shell("echo last; exit 1", &mut shown));
        assert!(shown.ends_with(b"measured\nlast\n"), "{shown:?}");
        assert_eq!((tally.passed, tally.skipped["no adapter"]), (2, 2));
        let mut shown = Vec::new();
        show(&b"a\r\n\xffb"[..], &mut shown, &mut tally).unwrap();
        assert_eq!(shown, b"a\r\n\xffb\n");
    }

    #[test]
    fn no_test_at_all_is_a_failure() {
        assert!(conclude(&Tally::default(), &[], Instant::now()).is_err());
    }
}
