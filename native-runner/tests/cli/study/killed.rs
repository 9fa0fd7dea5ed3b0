//! Studies that are killed, as a whole or in a cell, and resumed.

use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::study::*;
use crate::support::*;

/// Settings of cells that are long enough to kill.
const LONG: &str = "limits = [{ seconds = 2 }]\nseeds = [1, 2, 3]";

/// Starts the study, and returns it with the process id of its cell with this number of three.
fn start(study: &StudyFiles, number: u32) -> (Running, Pid) {
    let mut running = study.runner("").start();
    running.wait_for(&format!("({number} of 3"));
    let children = format!("/proc/{0}/task/{0}/children", running.pid());
    let start = Instant::now();
    loop {
        if let Some(child) = fs::read_to_string(&children).unwrap().split_whitespace().next() {
            return (running, Pid::from_raw(child.parse().unwrap()));
        }
        assert!(start.elapsed() < Duration::from_secs(20), "no cell was started");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns true if the process no longer computes; its new parent may not have reaped it yet.
fn has_ended(pid: Pid) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
}

/// Kills `study`, which has three cells, in the second one, and resumes it.
fn loses_the_second_cell_only(study: &StudyFiles) {
    let (running, cell) = start(study, 2);
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().status, None);
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
    loses_the_second_cell_only(&StudyFiles::new(LONG));
    // Peaks take at least a second each, which leaves time to kill the second cell.
    if let Some(study) = study_of_kernels("suites = [\"arithmetic\", \"launch\", \"memory\"]") {
        loses_the_second_cell_only(&study);
    }
}

#[test]
#[ignore = "runs cells of seconds"]
fn killed_cell_is_kept_and_can_be_retried() {
    let study = StudyFiles::new(LONG);
    let (running, cell) = start(&study, 1);
    kill(cell, Signal::SIGKILL).unwrap();
    let finished = running.end().expect_status(1).expect_errors(&["was killed (SIGKILL)", "(3 of 3"]);
    let endings = |study: &StudyFiles| {
        let mut endings: Vec<String> = study.cells().iter().map(|cell| cell["ending"].to_string()).collect();
        endings.sort();
        endings
    };
    assert_eq!(endings(&study), ["\"completed\"", "\"completed\"", "\"failed\""], "{}", finished.stderr);
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
    let study = StudyFiles::new(LONG);
    let (running, cell) = start(&study, 2);
    running.signal(Signal::SIGINT);
    let parts = &["To resume the study", "--output", "cancelled with 1 of 3 cells finished"];
    running.end().expect_status(130).expect_errors(parts);
    assert!(has_ended(cell));
    assert_eq!(study.files().len(), 1);
}
