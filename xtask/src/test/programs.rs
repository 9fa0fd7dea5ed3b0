//! The test programs that cargo built: some of them run side by side, and what each of them says is counted.

use super::tally::Tally;
use crate::build::{self, Programs};
use crate::say;
use crate::task::Task;
use anyhow::{Context, Result, anyhow};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// The longest first, so that everything is done sooner; nothing else depends on the order.
const LONGEST: [&str; 3] = ["native-runner/cli", "engine/golden", "engine/engine"];

/// Environment variables.
pub(super) type Environment = Vec<(String, PathBuf)>;

/// A test program, and where its crate lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestProgram {
    /// The folder of its crate and its own name, as in `engine/golden`.
    name: String,
    folder: PathBuf,
    executable: PathBuf,
}

impl TestProgram {
    pub(super) fn belongs_to(&self, package: &str) -> bool {
        self.name.split_once('/').is_some_and(|(folder, _)| folder == package)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }
}

/// What came out of test programs.
#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub tally: Tally,
    /// The programs with tests that failed, or that ended too early.
    pub failed: Vec<String>,
}

impl Outcome {
    /// Both together.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.tally += other.tally;
        self.failed.extend(other.failed);
        self
    }
}

/// Builds what a `cargo test` would run: the programs that are tested, and those that test them.
pub(super) fn build(command: &mut Command, what: &str) -> Result<(Programs, Vec<TestProgram>)> {
    let task = Task::build(what);
    let messages = task.follow(command.args(["--no-run", build::MESSAGES]))?;
    task.done("Built");
    Ok((build::programs_in(&messages), tests_in(&messages)))
}

fn tests_in(messages: &str) -> Vec<TestProgram> {
    let test = |message: serde_json::Value| {
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let executable = message["executable"].as_str().filter(|_| is_test)?;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
        let crate_folder = folder.file_name()?.to_string_lossy();
        Some(TestProgram {
            name: format!("{crate_folder}/{}", message["target"]["name"].as_str()?),
            folder: folder.to_path_buf(),
            executable: executable.into(),
        })
    };
    messages.lines().filter_map(|line| test(serde_json::from_str(line).ok()?)).collect()
}

/// Runs them all, `side_by_side` at a time, until `given_up`; one that fails does not keep the others from running.
pub(super) fn run_all(
    mut programs: Vec<TestProgram>,
    environment: &Environment,
    side_by_side: usize,
    given_up: &(impl Fn() -> bool + Sync),
) -> Result<Outcome> {
    programs.sort_by_key(|program| LONGEST.iter().position(|long| program.is(long)).unwrap_or(LONGEST.len()));
    let waiting = Mutex::new(VecDeque::from(programs));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let one_after_another = || {
        let mut outcome = Outcome::default();
        while let Some(program) = next().filter(|_| !given_up()) {
            let mut command = Command::new(&program.executable);
            // Where `cargo test` runs it, and with what it says of itself.
            command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
            command.envs(environment.iter().map(|(name, value)| (name, value)));
            outcome = outcome.and(run(&program.name, command)?);
        }
        Ok(outcome)
    };
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..side_by_side).map(|_| scope.spawn(one_after_another)).collect();
        lanes.into_iter().try_fold(Outcome::default(), |all, lane| {
            let outcome: Result<Outcome> = lane.join().map_err(|_| anyhow!("running tests panicked"))?;
            Ok(all.and(outcome?))
        })
    })
}

/// Runs a test program, shows what it says as it comes, behind its name, and counts it.
pub(super) fn run(name: &str, mut command: Command) -> Result<Outcome> {
    say::step("Testing", name);
    let began = Instant::now();
    let line = |line: &str| say::result(&format!("{name}: {line}"));
    let (tally, well) = follow(&mut command, line).with_context(|| format!("cannot run the tests of {name}"))?;
    let (passed, time) = (tally.passed, say::duration(began.elapsed()));
    say::step(if well { "Tested" } else { "Failed" }, format!("{name}: {passed} passed in {time}"));
    Ok(Outcome { tally, failed: if well { Vec::new() } else { vec![name.to_owned()] } })
}

/// Runs a command to its end; `show` gets each line of what it says. Returns the sum of its results and whether it
/// went well.
fn follow(command: &mut Command, show: impl Fn(&str) + Sync) -> Result<(Tally, bool)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let output = child.stdout.take().context("its output was not piped")?;
    let messages = child.stderr.take().context("its messages were not piped")?;
    // Tests that skip say so on standard error, past the harness.
    let mut tally = thread::scope(|scope| {
        let messages = scope.spawn(|| counted(messages, &show));
        let mut tally = counted(output, &show)?;
        tally += messages.join().map_err(|_| anyhow!("its messages could not be shown"))??;
        anyhow::Ok(tally)
    })?;
    let well = child.wait()?.success();
    // A program that dies halfway prints no closing line.
    tally.failed = tally.failed.max(u32::from(!well));
    Ok((tally, well))
}

/// Shows what a program says as it comes, line by line, and counts it. Lines without a word are left out.
fn counted(said: impl Read, show: &impl Fn(&str)) -> Result<Tally> {
    let mut tally = Tally::default();
    for line in BufReader::new(said).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        tally.add(&line);
        if !line.trim().is_empty() {
            show(line.trim_end());
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const RESULT: &str = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured'";

    #[test]
    fn what_is_skipped_is_counted_from_either_stream_and_shown_as_it_was() {
        let shown = Mutex::new(Vec::new());
        let show = |line: &str| shown.lock().unwrap().push(line.to_owned());
        let skipped = "echo 'SKIPPED one: no adapter' >&2; echo; printf 'SKIPPED two: no adapter\\r\\n'";
        let (tally, well) = follow(&mut shell(&format!("{RESULT}; {skipped}")), show).unwrap();
        assert!(well);
        assert_eq!((tally.programs, tally.passed, tally.skipped["no adapter"]), (1, 2, 2));
        let mut shown = shown.into_inner().unwrap();
        shown.sort();
        assert_eq!(shown.len(), 3, "{shown:?}");
        assert_eq!(shown[..2], ["SKIPPED one: no adapter", "SKIPPED two: no adapter"]);
    }

    #[test]
    fn a_program_that_ends_in_the_middle_is_a_failure() {
        let (tally, well) = follow(&mut shell(&format!("{RESULT}; exit 1")), |_| ()).unwrap();
        assert!(!well);
        assert_eq!((tally.passed, tally.failed), (2, 1));
    }

    /// Test programs that are shell scripts.
    fn scripts(folder: &Path, scripts: &[(&str, String)]) -> Vec<TestProgram> {
        let write = |(name, script): &(&str, String)| {
            let executable = folder.join(name);
            std::fs::write(&executable, format!("#!/bin/sh\n{script}\n")).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&executable, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            TestProgram { name: (*name).to_owned(), folder: folder.to_path_buf(), executable }
        };
        scripts.iter().map(write).collect()
    }

    #[cfg(unix)]
    #[test]
    fn two_programs_run_side_by_side_and_a_failure_keeps_no_other_from_running() {
        let folder = tempfile::tempdir().unwrap();
        // Each of the first two waits for the other one; the third tells where it is and what it was told.
        let wait = |own: &str, other: &str| format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done");
        let programs = scripts(
            folder.path(),
            &[
                ("first", format!("{}; exit 1", wait("a", "b"))),
                ("second", format!("{}; {RESULT}", wait("b", "a"))),
                ("third", format!("[ $PWD = $CARGO_MANIFEST_DIR ] && [ $TOLD = so ] && {RESULT}")),
            ],
        );
        let outcome = run_all(programs, &vec![("TOLD".to_owned(), "so".into())], 2, &|| false).unwrap();
        assert_eq!(outcome.failed, ["first"]);
        assert_eq!((outcome.tally.passed, outcome.tally.failed), (4, 1));
        let programs = scripts(folder.path(), &[("fourth", RESULT.to_owned())]);
        assert_eq!(run_all(programs, &Environment::new(), 1, &|| true).unwrap(), Outcome::default());
    }

    #[test]
    fn test_programs_are_found_in_cargos_messages_and_others_are_not_taken_for_them() {
        let messages = r#"
{"reason":"compiler-artifact","manifest_path":"/g/engine/Cargo.toml","target":{"kind":["lib"],"name":"engine"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/g/engine/Cargo.toml","target":{"kind":["test"],"name":"golden"},"profile":{"test":true},"executable":"/t/deps/golden-0123"}
{"reason":"compiler-artifact","manifest_path":"/g/leaderboard/Cargo.toml","target":{"kind":["bin"],"name":"leaderboard"},"profile":{"test":false},"executable":"/t/leaderboard"}
{"reason":"build-finished","success":true}"#;
        let golden = TestProgram {
            name: "engine/golden".to_owned(),
            folder: "/g/engine".into(),
            executable: "/t/deps/golden-0123".into(),
        };
        assert!(golden.belongs_to("engine") && !golden.belongs_to("engin"));
        assert_eq!(tests_in(messages), [golden]);
    }
}
