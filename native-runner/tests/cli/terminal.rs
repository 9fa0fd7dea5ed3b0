//! Colors, bars and questions on a real pseudo-terminal, and closed or full standard streams.
#![cfg(target_os = "linux")]

use std::fs;
use std::fs::OpenOptions;
use std::io;
use std::path::PathBuf;

use results::RunRecord;
use tempfile::TempDir;

use crate::support::{Finished, Runner, TINY, computed_once, leaderboard, on_a_terminal, paths, read_json};

const SHORT: &str = "--backend reference --steps 2 --batch-size 16 --seed 1";

/// Returns the record that a failed run stored.
fn kept(finished: &Finished) -> RunRecord {
    let files = fs::read_dir(&finished.folder).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect();
    let [file] = kept.as_slice() else { panic!("{kept:?}") };
    assert!(finished.stderr.contains(&*file.file_name().unwrap().to_string_lossy()), "{}", finished.stderr);
    read_json(file)
}

#[test]
fn run_goes_on_where_standard_error_is_closed() {
    let mut runner = Runner::new(&format!("{SHORT} -v --json result.json")).tiny();
    // The reader is dropped immediately.
    runner.command().stderr(io::pipe().unwrap().1);
    let finished = runner.run().expect_status(0);
    assert!(finished.stdout.contains("Verdict"), "{}", finished.stdout);
    assert!(finished.folder.path().join("result.json").exists());
}

#[test]
fn record_is_written_after_stdout_closes() {
    let mut runner = Runner::new(&format!("{SHORT} --json result.json")).tiny();
    runner.command().stdout(io::pipe().unwrap().1);
    let finished = runner.run().expect_status(0);
    assert!(finished.folder.path().join("result.json").exists());
}

#[test]
fn full_disk_costs_neither_the_figures_nor_the_record() {
    let finished = Runner::new(&format!("{SHORT} --json /dev/full")).tiny().run().expect_status(1);
    assert!(finished.stdout.contains("Verdict"), "{}", finished.stdout);
    assert_eq!(kept(&finished).requested.seed, 1);
    for (line, figures) in [("--json -", true), ("", false)] {
        let mut runner = Runner::new(&format!("{SHORT} {line}")).tiny();
        runner.command().stdout(OpenOptions::new().write(true).open("/dev/full").unwrap());
        let finished = runner.run().expect_status(1);
        let finished = finished.expect_errors(&["standard output: ", "A copy of the results is in"]);
        assert_eq!(finished.stderr.contains("Verdict"), figures, "{}", finished.stderr);
        assert_eq!(kept(&finished).requested.seed, 1);
    }
}

/// Returns true for text with commands that set colors or weights.
fn has_colours(text: &str) -> bool {
    text.split("\u{1b}[")
        .skip(1)
        .any(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'))
}

#[test]
fn colours_are_for_terminals_and_no_color_turns_them_off() {
    let Some(coloured) = on_a_terminal("workloads", 80, &[], "") else { return };
    assert!(has_colours(&coloured), "{coloured:?}");
    let plain = on_a_terminal("workloads", 80, &[("NO_COLOR", "1")], "").unwrap();
    assert!(!has_colours(&plain), "{plain:?}");
    let piped = Runner::new("workloads").run().expect_status(0).stdout;
    assert!(!piped.contains('\u{1b}'), "{piped:?}");
}

#[test]
fn a_narrow_terminal_gets_narrow_lines() {
    let Some(text) = on_a_terminal("workloads", 50, &[("NO_COLOR", "1")], "") else { return };
    let widest = text.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
    assert!(widest <= 50, "{widest} columns:\n{text}");
}

#[test]
fn a_bar_is_drawn_on_a_terminal_and_nowhere_else() {
    let run = "--backend reference --steps 3 --batch-size 16 --learning-rate 1e30";
    let Some(text) = on_a_terminal(&format!("{run} --workload-file '{TINY}'"), 80, &[("NO_COLOR", "1")], "") else {
        return;
    };
    assert!(text.contains('━') || text.contains('─'), "{text:?}");
    assert!(text.contains("checking results"), "{text:?}");
    assert!(!has_colours(&text), "{text:?}");
    let piped = Runner::new(run).tiny().run().expect_status(3).stderr;
    assert!(!piped.contains('\u{1b}') && !piped.contains("checking results"), "{piped:?}");
}

/// Returns a record in a file. Its run diverged, which is irrelevant here and makes it fast.
fn record() -> (TempDir, PathBuf) {
    let record = computed_once("record-of-a-run-that-diverged", || {
        let line = "--backend reference --workload keras-mnist-mlp --steps 3 --batch-size 16 --learning-rate 1e30";
        Runner::new(line).args("--json -").run().expect_status(3).stdout
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, record).unwrap();
    (folder, path)
}

#[test]
fn record_is_shown_on_request_and_uploaded_after_yes() {
    let (_folder, path) = record();
    let server = leaderboard();
    let arguments = format!("upload {} --to {}", path.display(), server.url);
    let Some(text) = on_a_terminal(&arguments, 100, &[], "s\ny\n") else { return };
    let question = "Upload this record? [y]es, [N]o, [s]how it first";
    assert_eq!(text.matches(question).count(), 2, "{text}");
    let before = text.split(question).next().unwrap();
    assert!(before.contains("open data under CC0"), "it is not said before it is asked:\n{text}");
    assert!(text.contains(&format!("\"schema_version\": {}", results::SCHEMA_VERSION)), "{text}");
    assert!(text.contains("/runs/run-2"), "{text}");
    let received = server.received();
    assert_eq!(paths(&received), ["POST /api/v1/runs/import"]);
    let shown = text.replace('\r', "");
    assert!(shown.contains(&received[0].body), "what was shown is not what was sent:\n{shown}");
}

#[test]
fn no_answer_and_a_no_upload_nothing() {
    let (_folder, path) = record();
    let server = leaderboard();
    let arguments = format!("upload {} --to {}", path.display(), server.url);
    for typed in ["\n", "n\n", "what?\nno\n"] {
        let Some(text) = on_a_terminal(&arguments, 100, &[], typed) else { return };
        assert!(text.contains("Not uploaded."), "{typed:?}: {text}");
    }
    assert!(server.received().is_empty());
}
