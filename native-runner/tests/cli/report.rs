//! Records, made shortly, as one HTML file.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Runner, one_line};

/// The quickest back end of this build that needs no adapter.
const BACKEND: &str = if cfg!(feature = "burn-flex") { "burn-flex" } else { "reference" };
const NAME: &str = "<script>alert(1)</script>";

/// A record of a few steps in this file.
fn record(file: &Path, batch_size: u32, seed: u32) {
    let line =
        format!("--backend {BACKEND} --workload keras-mnist-mlp --batch-size {batch_size} --steps 2 --seed {seed}");
    Runner::new(&line).arg("--name").arg(NAME).arg("--json").arg(file).run().expect_status(0);
}

/// A folder with records of two batch sizes.
fn records() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    record(&folder.path().join("a.json"), 16, 1);
    record(&folder.path().join("b.json"), 32, 1);
    folder
}

fn report(folder: &Path) -> Runner {
    Runner::new("report").arg(folder)
}

#[test]
fn records_become_one_file_that_needs_nothing_else() {
    let folder = records();
    let finished = report(folder.path()).run().expect_status(0);
    let text = one_line(&finished.stdout);
    for part in [
        "What 2 runs say",
        "All 2 runs are not standard runs",
        "batch 32 came out",
        "single runs without an interval, so nothing tells it from chance",
        "Every group was trained from a single seed",
        "Written to",
    ] {
        assert!(text.contains(part), "`{part}` is missing in:\n{}", finished.stdout);
    }
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Time per epoch over batch size"), "{}", page.len());
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"));
    for (place, _) in page.match_indices("href=\"") {
        let target = &page[place + 6..];
        assert!(target.starts_with('#') || target.starts_with("data:text/csv;"), "{}", &target[..40]);
    }
    assert!(!page.contains("src=\""));
}

#[test]
fn a_report_takes_the_place_of_a_report_and_of_nothing_else() {
    let folder = records();
    let file = folder.path().join("mine.html");
    fs::write(&file, "<p>my own</p>").unwrap();
    let output = |more: &str| report(folder.path()).arg("--output").arg(&file).args(more).run();
    output("").expect_status(2).expect_errors(&["mine.html is there and is no report", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "<p>my own</p>");
    output("--force").expect_status(0);
    output("--title Again").expect_status(0);
    assert!(fs::read_to_string(&file).unwrap().contains("<h1>Again</h1>"));
}

#[test]
fn standard_output_holds_the_file_alone() {
    let folder = records();
    let finished = report(&folder.path().join("a.json")).args("-o -").run().expect_status(0);
    assert!(finished.stdout.starts_with("<!DOCTYPE html>") && finished.stdout.trim_end().ends_with("</html>"));
    finished.expect_errors(&["What 1 runs say"]);
}

#[test]
fn what_cannot_be_reported_on_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    report(&place.join("missing")).run().expect_status(2).expect_errors(&["there is no", "missing", "--json FILE"]);
    report(place).run().expect_status(2).expect_errors(&["there is nothing to report on in"]);
    fs::write(place.join("notes.json"), "{\"a\": 1}").unwrap();
    report(place).run().expect_status(2).expect_errors(&["there is nothing to report on in"]);
    fs::write(place.join("half.json"), "{\n  \"workloads\": [").unwrap();
    report(place).run().expect_status(2).expect_errors(&["half.json", "line 2"]);
}

/// A folder as `study` leaves it: one cell with a record, one that failed, and one that was not run.
#[test]
fn a_study_has_its_title_its_failures_and_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (cells, kept) = (folder.path().join("cells"), folder.path().join("kept.json"));
    fs::create_dir(&cells).unwrap();
    record(&kept, 16, 1);
    let record: Value = serde_json::from_slice(&fs::read(&kept).unwrap()).unwrap();
    let cell = |id: &str, place: u32| json!({ "id": id, "place": place, "settings": {}, "full_limit": null });
    let plan = json!({
        "schema_version": 1,
        "name": "small",
        "definition": { "title": "What a small study says", "repeats": "Table I of a paper.", "matrix": [] },
        "scale": 0.25,
        "cells": [cell("c", 2), cell("b", 1), cell("a", 0)],
    });
    fs::write(folder.path().join("study.json"), plan.to_string()).unwrap();
    let finished = |ending: &str, reason: Option<&str>, record: Option<&Value>| {
        json!({ "arguments": ["--workload", "caffe-mnist"], "ending": ending, "reason": reason, "record": record })
            .to_string()
    };
    fs::write(cells.join("a.json"), finished("completed", None, Some(&record))).unwrap();
    fs::write(cells.join("b.json"), finished("timed_out", Some("took longer than 9 s"), None)).unwrap();
    let text = one_line(&report(folder.path()).run().expect_status(0).stdout);
    for part in [
        "What a small study says",
        "small: 2 of 3 cells have been run",
        "in small every limit is 25 % of its own",
        "1 of 2 runs has no figures: 1 timed out",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("It repeats: Table I of a paper.") && page.contains("took longer than 9 s"));
}
