//! Studies that are killed, as a whole or in a cell, and resumed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::study::*;

/// Settings of cells that are long enough to kill.
const LONG: &str = "limits = [{ seconds = 2 }]\nseeds = [1, 2, 3]";

/// Running study, with the lines of its standard error.
struct Running {
    process: Child,
    lines: Box<dyn Iterator<Item = String>>,
    _folder: TempDir,
}

impl Running {
    fn start(study: &Study) -> Self {
        let mut runner = study.runner("");
        let mut process = runner.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        Self { process, lines: Box::new(lines), _folder: runner.folder }
    }

    fn wait_for(&mut self, part: &str) {
        self.lines.find(|line| line.contains(part)).unwrap_or_else(|| panic!("`{part}` was never said"));
    }

    fn pid(&self) -> i32 {
        self.process.id().try_into().unwrap()
    }

    /// Returns the process id of the running cell.
    fn cell(&self) -> i32 {
        let children = format!("/proc/{0}/task/{0}/children", self.pid());
        let start = Instant::now();
        loop {
            if let Some(child) = fs::read_to_string(&children).unwrap().split_whitespace().next() {
                return child.parse().unwrap();
            }
            assert!(start.elapsed() < Duration::from_secs(20), "no cell was started");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the exit status and the rest of standard error.
    fn end(mut self) -> (Option<i32>, String) {
        let rest: Vec<String> = self.lines.collect();
        (self.process.wait().unwrap().code(), rest.join("\n"))
    }
}

fn send(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

/// Returns true if the process no longer computes; its new parent may not have reaped it yet.
fn has_ended(pid: i32) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
}

/// Kills `study`, which has three cells, in the second one, and resumes it.
fn loses_the_second_cell_only(study: &Study) {
    let mut running = Running::start(study);
    running.wait_for("(2 of 3");
    let cell = running.cell();
    send(running.pid(), Signal::SIGKILL);
    assert_eq!(running.end().0, None);
    let start = Instant::now();
    while !has_ended(cell) {
        assert!(start.elapsed() < Duration::from_secs(10), "the cell outlives the study");
        thread::sleep(Duration::from_millis(50));
    }
    let before = study.files();
    assert_eq!(before.len(), 1, "{:?}", before.keys());

    let finished = study.runner("").run().expect_status(0).expect_errors(&["1 of them already finished"]);
    assert!(!finished.stderr.contains("(1 of 3"), "{}", finished.stderr);
    let after = study.files();
    assert_eq!(after.len(), 3);
    let (name, text) = before.iter().next().unwrap();
    assert_eq!(after[name], *text);
}

#[test]
#[ignore = "runs cells of seconds"]
fn killed_study_loses_only_its_running_cell() {
    loses_the_second_cell_only(&Study::new(LONG));
}

/// Peaks take at least a second each, which leaves time to kill the second cell.
#[test]
#[ignore = "runs cells of seconds"]
fn killed_study_of_kernels_loses_only_its_running_cell() {
    let Some(study) = study_of_kernels("suites = [\"arithmetic\", \"launch\", \"memory\"]") else {
        return;
    };
    loses_the_second_cell_only(&study);
}

#[test]
#[ignore = "runs cells of seconds"]
fn killed_cell_is_kept_and_can_be_retried() {
    let study = Study::new(LONG);
    let mut running = Running::start(&study);
    running.wait_for("(1 of 3");
    send(running.cell(), Signal::SIGKILL);
    let (status, rest) = running.end();
    assert_eq!(status, Some(1), "{rest}");
    assert!(one_line(&rest).contains("was killed (SIGKILL)") && rest.contains("(3 of 3"), "{rest}");
    let endings = |study: &Study| {
        let mut endings: Vec<String> = study.cells().iter().map(|cell| cell["ending"].to_string()).collect();
        endings.sort();
        endings
    };
    assert_eq!(endings(&study), ["\"completed\"", "\"completed\"", "\"failed\""]);
    let killed = study.cells().into_iter().find(|cell| cell["ending"] == "failed").unwrap();
    assert_eq!((&killed["signal"], &killed["exit_status"]), (&"SIGKILL".into(), &Value::Null));

    let before = study.files();
    study.runner("--retry-failed").run().expect_status(0);
    assert_eq!(endings(&study), ["\"completed\""; 3]);
    let changed = study.files().iter().filter(|(name, text)| before[*name] != **text).count();
    assert_eq!(changed, 1);
}

#[test]
fn ctrl_c_ends_the_cell_and_shows_how_to_resume() {
    let study = Study::new(LONG);
    let mut running = Running::start(&study);
    running.wait_for("(2 of 3");
    let cell = running.cell();
    send(running.pid(), Signal::SIGINT);
    let (status, rest) = running.end();
    assert_eq!(status, Some(130), "{rest}");
    assert!(has_ended(cell));
    expect_parts(&rest, &["To resume the study", "--output", "cancelled with 1 of 3 cells finished"]);
    assert_eq!(study.files().len(), 1);
}
