//! Colors, bars and questions on a real pseudo-terminal, and closed or full standard streams.
#![cfg(target_os = "linux")]

use std::fs;
use std::fs::OpenOptions;
use std::io;

use results::RunRecord;

use crate::support::*;

const SHORT: &str = "--backend reference --steps 2 --batch-size 16 --seed 1";

/// Returns the record that a failed run stored.
fn kept(finished: &RunnerOutput) -> RunRecord {
    let files = fs::read_dir(&finished.folder).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect();
    let [file] = kept.as_slice() else { panic!("{kept:?}") };
    assert!(finished.stderr.contains(&*file.file_name().unwrap().to_string_lossy()), "{}", finished.stderr);
    read_json(file)
}

#[test]
fn run_goes_on_where_an_output_is_closed() {
    // The readers are dropped immediately.
    let mut runner = Runner::new(&format!("{SHORT} -v --json result.json")).tiny();
    runner.command().stderr(io::pipe().unwrap().1);
    let without_stderr = runner.run().expect_status(0).expect_output(&["Verdict"]);
    let mut runner = Runner::new(&format!("{SHORT} --json result.json")).tiny();
    runner.command().stdout(io::pipe().unwrap().1);
    for finished in [without_stderr, runner.run().expect_status(0)] {
        assert!(finished.folder.path().join("result.json").exists());
    }
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
fn terminal_gets_colours_unless_turned_off_and_its_width() {
    let Some(coloured) = on_a_terminal("workloads", 80, "", "") else { return };
    assert!(has_colours(&coloured), "{coloured:?}");
    let plain = on_a_terminal("workloads", 50, "NO_COLOR=1", "").unwrap();
    assert!(!has_colours(&plain), "{plain:?}");
    let widest = plain.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
    assert!(widest <= 50, "{widest} columns:\n{plain}");
    let piped = run("workloads", 0).stdout;
    assert!(!piped.contains('\u{1b}'), "{piped:?}");
}

#[test]
fn a_bar_is_drawn_on_a_terminal_and_nowhere_else() {
    let run = "--backend reference --steps 3 --batch-size 16 --learning-rate 1e30";
    let arguments = format!("{run} --workload-file '{TINY}'");
    let Some(text) = on_a_terminal(&arguments, 80, "NO_COLOR=1", "") else { return };
    assert!(text.contains('━') || text.contains('─'), "{text:?}");
    assert!(text.contains("checking results"), "{text:?}");
    assert!(!has_colours(&text), "{text:?}");
    let piped = Runner::new(run).tiny().run().expect_status(3).stderr;
    assert!(!piped.contains('\u{1b}') && !piped.contains("checking results"), "{piped:?}");
}

#[test]
fn record_is_uploaded_only_after_yes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, serde_json::to_string(&*RECORD).unwrap()).unwrap();
    let server = leaderboard();
    let arguments = format!("upload {} --to {}", path.display(), server.url);
    for typed in ["\n", "n\n", "what?\nno\n"] {
        let Some(text) = on_a_terminal(&arguments, 100, "", typed) else { return };
        assert!(text.contains("Not uploaded."), "{typed:?}: {text}");
    }
    assert!(server.received().is_empty());

    let text = on_a_terminal(&arguments, 100, "", "s\ny\n").unwrap();
    let question = "Upload this record? [y]es, [N]o, [s]how it first";
    assert_eq!(text.matches(question).count(), 2, "{text}");
    let before = text.split(question).next().unwrap();
    assert!(before.contains("open data under CC0"), "it is not said before it is asked:\n{text}");
    assert!(text.contains(&format!("\"schema_version\": {}", results::SCHEMA_VERSION)), "{text}");
    assert!(text.contains("/runs/run-2"), "{text}");
    let received = server.received();
    assert_eq!(paths(&received), ["POST /api/v1/runs/import"]);
    let (shown, sent) = (text.replace('\r', ""), String::from_utf8(received[0].body.clone()).unwrap());
    assert!(shown.contains(&sent), "what was shown is not what was sent:\n{shown}");
}
