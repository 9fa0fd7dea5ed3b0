//! A study of kernels: small suites on whatever adapter the tests use, killed, gone on with, and reported on.

use super::*;
use crate::support::any_adapter;

const FAST: &str = "suites = [\"launch\", \"gemm\"]\nbudget_seconds = 0.5\nbudget_mib = 4";

/// A study of kernels with these lines, on the adapter of the tests; nothing where there is none.
pub(super) fn study(test: &str, lines: &str) -> Option<Study> {
    let adapter = any_adapter(test)?;
    let adapter = adapter.rsplit(' ').next().unwrap_or("any");
    let study = Study { place: tempfile::tempdir().unwrap() };
    write(&study, &format!("adapters = [\"{adapter}\"]\n{lines}"));
    Some(study)
}

fn write(study: &Study, lines: &str) {
    fs::write(study.file(), format!("title = \"A test of kernels\"\n[[kernels]]\n{lines}\n")).unwrap();
}

fn report(study: &Study) -> (String, String) {
    let finished = Runner::new("report").arg(study.output()).run().expect_status(0);
    (one_line(&finished.stdout), fs::read_to_string(study.output().join("report.html")).unwrap())
}

#[test]
#[ignore = "runs a study of kernels"]
fn suites_are_cells_that_keep_what_the_command_prints_and_make_a_report() {
    let test = "suites_are_cells_that_keep_what_the_command_prints_and_make_a_report";
    let Some(study) = study(test, FAST) else { return };
    let finished = study.runner("--scale 0.2 --json -").run().expect_status(0);
    let document: Value = serde_json::from_str(&finished.stdout).expect("standard output holds one document");
    let shown = one_line(&finished.stderr);
    for part in
        ["(1 of 2", "(2 of 2", "every entry has 0.2 of its seconds", "kernels gemm", "% of the peak in the median"]
    {
        assert!(shown.contains(part), "`{part}` is missing in:\n{}", finished.stderr);
    }
    assert_eq!(study.plan()["cells"].as_array().unwrap().len(), 2);
    for cell in study.cells() {
        assert_eq!((cell["ending"].as_str(), cell["scale"].as_f64()), (Some("completed"), Some(0.2)), "{cell}");
        assert_eq!((&cell["full_limit"]["seconds"], &cell["settings"]["budget_seconds"]), (&0.5.into(), &0.1.into()));
        let record: results::kernels::KernelRecord = serde_json::from_value(cell["record"].clone()).unwrap();
        assert_eq!((record.budget_seconds, record.budget_bytes), (0.1, 4 << 20));
        let suite = cell["settings"]["suite"].as_str().unwrap();
        assert!(record.report.entries.iter().all(|entry| entry.suite.name() == suite));
        assert_eq!(record.report.entries.is_empty(), suite == "launch");
    }
    let of_gemm =
        document["cells"].as_array().unwrap().iter().find(|cell| cell["settings"]["suite"] == "gemm").unwrap();
    let share = of_gemm["kernels"]["peak_share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.5, "{of_gemm}");

    let (found, page) = report(&study);
    for part in ["Matrix products on", "of the measured peak of arithmetic", "an entry has 20 % of its own seconds"] {
        assert!(found.contains(part), "`{part}` is missing in {found}");
    }
    for part in [
        "Percent of the measured peak",
        "Share of the peak over operations",
        "<svg",
        "data:text/csv",
        "512 × 512 × 512",
    ] {
        assert!(page.contains(part), "`{part}` is missing in a page of {} bytes", page.len());
    }
    // What a run of the study leaves is an answer, and stays as it is.
    let before = study.files();
    let again = study.runner("--scale 0.2").run().expect_status(0);
    assert!(one_line(&again.stderr).contains("2 of them finished before"), "{}", again.stderr);
    assert!(again.stdout.contains("of peak"), "{}", again.stdout);
    assert_eq!(study.files(), before);
}

#[test]
fn a_dry_run_knows_time_and_memory_from_the_budgets() {
    let test = "a_dry_run_knows_time_and_memory_from_the_budgets";
    let Some(study) = study(test, "suites = [\"gemm\", \"memory\"]") else { return };
    let estimates = |words: &str| -> Value {
        let finished = study.runner(&format!("--dry-run --json - {words}")).run().expect_status(0);
        let document: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!(document["unknown"], 0);
        let of_gemm = |listed: &&Value| listed["cell"]["settings"]["suite"] == "gemm";
        document["cells"].as_array().unwrap().iter().find(of_gemm).unwrap()["estimate"].clone()
    };
    let (full, short) = (estimates(""), estimates("--scale 0.01"));
    let seconds = |estimate: &Value| estimate["seconds"]["value"].as_f64().unwrap();
    assert_eq!((&full["seconds"]["source"], &full["memory_bytes"]["source"]), (&"budgets".into(), &"budgets".into()));
    assert!(seconds(&full) > 30.0 && seconds(&short) < seconds(&full), "{full} and {short}");
    assert!(full["memory_bytes"]["value"].as_f64().unwrap() <= f64::from(1 << 30), "{full}");
    assert!(!study.output().exists());
    let shown = one_line(&study.runner("--dry-run").run().expect_status(0).stdout);
    for part in ["2 of 2 cells would run: about", "the entries' budgets", "kernels memory", "2 s an entry"] {
        assert!(shown.contains(part), "`{part}` is missing in {shown}");
    }
}

#[test]
fn a_cell_that_fails_is_kept_with_its_reason_and_the_others_go_on() {
    let test = "a_cell_that_fails_is_kept_with_its_reason_and_the_others_go_on";
    let Some(study) =
        study(test, "suites = [\"launch\"]\n[[kernels]]\nsuites = [\"launch\"]\nadapters = [\"no-such-gpu\"]")
    else {
        return;
    };
    let finished = study.runner("").run().expect_status(1);
    assert!(one_line(&finished.stdout).contains("no adapter fits"), "{}", finished.stdout);
    finished.expect_errors(&["1 of 2 cells have no figures", "--retry-failed"]);
    let cells = study.cells();
    let failed = cells.iter().find(|cell| cell["ending"] == "failed").unwrap();
    assert_eq!((&failed["settings"]["adapter"], &failed["record"]), (&"no-such-gpu".into(), &Value::Null));
    assert!(cells.iter().any(|cell| cell["ending"] == "completed"));
    let (found, page) = report(&study);
    assert!(found.contains("1 of 2 cells has no figures: 1 failed") && page.contains("no-such-gpu"), "{found}");
}

#[test]
fn what_is_asked_of_networks_is_refused_and_nothing_is_uploaded() {
    let test = "what_is_asked_of_networks_is_refused_and_nothing_is_uploaded";
    for option in ["--backend wgsl", "--workload-file mine.toml", "--program pytorch", "--remote host", "--calibrate"] {
        let finished = Runner::new(&format!("study kernels --dry-run {option}")).run().expect_status(2);
        finished.expect_errors(&[option.split(' ').next().unwrap(), "for studies that train networks"]);
    }
    let Some(study) = study(test, "suites = [\"launch\"]") else { return };
    let server = leaderboard();
    let finished = study.runner("--upload").arg(&server.url).run().expect_status(0);
    assert!(one_line(&finished.stderr).contains("Nothing will be uploaded"), "{}", finished.stderr);
    assert!(server.received().is_empty());
    for (line, parts) in [
        ("workloads = [\"caffe-mnist\"]", ["line 3, column 1", "unknown field `workloads`"]),
        ("precisions = [\"f16\"]", ["line 3, column 1", "unknown field `precisions`"]),
        ("suites = [\"gru\"]", ["line 3, column 11", "unknown variant `gru`"]),
        ("[[matrix]]\nworkloads = [\"caffe-mnist\"]", ["[[matrix]] and [[kernels]]", "two studies"]),
    ] {
        write(&study, line);
        study.runner("--dry-run").run().expect_status(2).expect_errors(&["mine.toml", parts[0], parts[1]]);
    }
}

#[test]
fn what_the_command_itself_kept_makes_a_report_too() {
    let test = "what_the_command_itself_kept_makes_a_report_too";
    let Some(adapter) = any_adapter(test) else { return };
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("launches.json");
    let line = format!("kernels {} --suite launch --json", adapter.trim_start_matches("--backend wgsl "));
    let finished = Runner::new(&line).arg(&file).run().expect_status(0);
    assert!(finished.stdout.contains("Launches of a small kernel"), "{}", finished.stdout);
    for path in [place.path(), &file] {
        let finished = Runner::new("report --force --output").arg(place.path().join("r.html")).arg(path).run();
        let shown = one_line(&finished.expect_status(0).stdout);
        assert!(shown.contains("What kernels by themselves say"), "{shown}");
    }
    assert!(fs::read_to_string(place.path().join("r.html")).unwrap().contains("Round trip to the device"));
}
