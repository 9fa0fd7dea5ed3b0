//! Records, made shortly, as one HTML file.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{Runner, TINY, one_line};

/// The quickest back end of this build that needs no adapter.
const BACKEND: &str = if cfg!(feature = "burn-flex") { "burn-flex" } else { "reference" };
const NAME: &str = "<script>alert(1)</script>";

/// A record of a few steps in this file.
fn record(file: &Path, batch_size: u32, seed: u32) {
    let line = format!("--backend {BACKEND} --batch-size {batch_size} --steps 2 --seed {seed}");
    Runner::new(&line).tiny().arg("--name").arg(NAME).arg("--json").arg(file).run().expect_status(0);
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
        "All 2 runs had no window long enough to count",
        "Every group was trained from a single seed",
        "Written to",
    ] {
        assert!(text.contains(part), "`{part}` is missing in:\n{}", finished.stdout);
    }
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Throughput over batch size"), "{}", page.len());
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
    finished.expect_errors(&["What a run says"]);
}

#[test]
fn what_cannot_be_reported_on_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    report(&place.join("missing")).run().expect_status(1).expect_errors(&["cannot read", "missing"]);
    report(place).run().expect_status(2).expect_errors(&["there is nothing to report on in"]);
    fs::write(place.join("notes.json"), "{\"a\": 1}").unwrap();
    report(place).run().expect_status(2).expect_errors(&["there is nothing to report on in"]);
    fs::write(place.join("half.json"), "{\n  \"workloads\": [").unwrap();
    report(place).run().expect_status(2).expect_errors(&["half.json", "line 2"]);
}

#[test]
fn a_study_has_its_title_its_failures_and_what_is_missing() {
    let place = tempfile::tempdir().unwrap();
    let (file, folder) = (place.path().join("small.toml"), place.path().join("out"));
    // Nothing on the processor multiplies with matrix units.
    let text = format!(
        "title = \"What a small study says\"\nrepeats = \"Table I of a paper.\"\n[[matrix]]\n\
         workloads = ['{TINY}']\nbackends = [\"{BACKEND}\"]\nprecisions = [\"f32\", \"f16-matrix\"]\n\
         batch_sizes = [16, 32]\nlimits = [{{ steps = 8 }}]\n"
    );
    fs::write(&file, text).unwrap();
    let study = Runner::new("study --scale 0.25 --only batch-size=16").arg(&file).arg("--output").arg(&folder);
    study.run().expect_status(1);
    let text = one_line(&report(&folder).run().expect_status(0).stdout);
    for part in [
        "What a small study says",
        "small: 2 of 4 cells have been run",
        "in small every limit is 25 % of its own",
        "1 of 2 runs has no figures: 1 failed",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("What it repeats: Table I of a paper.") && page.contains("f16-matrix"), "{}", page.len());
}
