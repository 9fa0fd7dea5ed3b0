//! Comparison of stored records, with known measurements in copies of a real record.

use std::fs;
use std::path::Path;

use results::{Outcome, RunRecord, Window};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::*;

/// Returns a record from `seed`, as if twelve windows had trained at about this rate in samples per second.
fn run_at(rate: f64, seed: u32) -> RunRecord {
    let mut record = RECORD.clone();
    record.requested.seed = seed;
    let windows = (0..12).map(|number| {
        let wobble = 1.0 + 0.002 * f64::from(number % 5 - 2);
        Window { steps: 15, samples: 1500, seconds: 1500.0 / (rate * wobble) }
    });
    record.workloads[0].windows = windows.collect();
    record
}

fn keep(folder: &Path, records: &[RunRecord]) {
    fs::create_dir_all(folder).unwrap();
    for (number, record) in records.iter().enumerate() {
        fs::write(folder.join(format!("{number}.json")), serde_json::to_string(record).unwrap()).unwrap();
    }
}

/// Returns a folder with subfolders `base` and `head` of three runs each.
fn sides(head: [f64; 3]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let runs = |rates: [f64; 3], first| (first..).zip(rates).map(|(seed, rate)| run_at(rate, seed)).collect::<Vec<_>>();
    keep(&folder.path().join("base"), &runs([895.0, 900.0, 905.0], 1));
    let mut head = runs(head, 4);
    head.iter_mut().for_each(|record| record.provenance.commit = "abcdef0".to_owned());
    keep(&folder.path().join("head"), &head);
    folder
}

fn runner(folder: &TempDir, arguments: &str) -> Runner {
    let mut runner = Runner::new(&format!("compare {arguments}"));
    runner.command().current_dir(folder.path());
    runner
}

fn compare(folder: &TempDir, arguments: &str) -> RunnerOutput {
    runner(folder, arguments).run()
}

#[test]
fn slower_candidate_ends_with_status_6() {
    let same = sides([893.0, 899.0, 907.0]);
    compare(&same, "--baseline base head --fail-if-slower 5%").expect_status(0).expect_output(&[
        "head against base 3 runs against 3 · commit abcdef0 against",
        "baseline candidate ratio 95 % verdict samples/s samples/s interval",
        "keras-mnist-mlp 900.0 899.6 1.000",
        "tied",
        "commit: ",
        "→ abcdef0",
        "✓ No regression of more than 5 %. 1 compared: 1 tied.",
    ]);
    let slowed = sides([780.0, 785.0, 790.0]);
    let finished = compare(&slowed, "--baseline base head --fail-if-slower 5%").expect_status(6);
    let finished = finished.expect_output(&["✗ A regression. 1 compared: 1 slower."]);
    finished.expect_errors(&["error: keras-mnist-mlp on reference, batches of 16: slower, 0.872 of the baseline's"]);
    compare(&slowed, "--baseline base head").expect_status(0).expect_output(&["1 compared: 1 slower."]);
    compare(&slowed, "--baseline base head --fail-if-slower 50%").expect_status(0).expect_output(&["slightly slower"]);
}

#[test]
fn first_of_several_files_is_the_baseline() {
    let folder = sides([780.0, 1100.0, 905.0]);
    let line = "base/1.json head/0.json head/1.json --fail-if-slower 5% --format csv";
    let finished = compare(&folder, line).expect_status(6);
    let rows: Vec<Vec<&str>> = finished.stdout.lines().map(|line| line.split(',').collect()).collect();
    let verdict = rows[0].iter().position(|name| *name == "verdict").unwrap();
    let cells: Vec<[&str; 3]> = rows[1..].iter().map(|row| [row[0], row[1], row[verdict]]).collect();
    assert_eq!(cells, [["base/1.json", "head/0.json", "slower"], ["base/1.json", "head/1.json", "faster"]]);
    let itself = compare(&folder, "base/1.json base/1.json --fail-if-slower 0%").expect_status(0);
    itself.expect_output(&["three to five runs a side"]);
    compare(&folder, "base/1.json base/1.json base/1.json").expect_status(0).expect_output(&["2 compared: 2 tied."]);
}

#[test]
fn missing_results_fail_if_broken_or_requested() {
    let folder = sides([900.0, 901.0, 902.0]);
    let mut broken = run_at(900.0, 9);
    broken.workloads[0].outcome = Outcome::Diverged { step: 7 };
    keep(&folder.path().join("broken"), &[broken]);
    let parts = &["the candidate failed to train it, but the baseline did not", "from seed 9 the loss at step 7"];
    let found = compare(&folder, "--baseline base broken").expect_status(6);
    found.expect_output(&["✗ A regression. 1 compared: 1 broken."]).expect_errors(parts);

    let mut other = run_at(900.0, 9);
    other.workloads[0].workload = "caffe-mnist".to_owned();
    keep(&folder.path().join("base/more"), &[other]);
    let found = compare(&folder, "--baseline base head").expect_status(0);
    found.expect_output(&["caffe-mnist: only the baseline has it."]);
    let found = compare(&folder, "--baseline base head --fail-if-missing").expect_status(6);
    found.expect_errors(&["caffe-mnist on reference, batches of 16: only the baseline has it"]);
}

#[test]
fn records_of_same_suite_device_and_newest_commit_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let kept = |commit: &str, day: f64, rate: f64| {
        let mut record = run_at(rate, 1);
        record.provenance.commit = commit.to_owned();
        record.provenance.started_unix_seconds = 1.8e9 + day * 86_400.0;
        record
    };
    let mut elsewhere = kept("0ddba11", 3.0, 2000.0);
    elsewhere.device.adapter.name = "Other processor".to_owned();
    let mut newer_suite = kept("0ddba11", 3.0, 2000.0);
    newer_suite.suite.version += 1;
    let candidate = kept("c0ffee0", 4.0, 900.0);
    let all = [kept("0a1b2c3", 1.0, 1200.0), kept("4d5e6f7", 2.0, 905.0), elsewhere, newer_suite, candidate.clone()];
    keep(&folder.path().join("kept"), &all);
    keep(&folder.path().join("new"), &[candidate]);
    let finished = compare(&folder, "new --baseline kept --fail-if-slower 5%").expect_status(0);
    let text = one_line(&finished.stdout);
    let told = "The baseline has 1 of 5 records, from commit 4d5e6f7, the newest of 2 commits. Left out: 1 from other \
                commits, 1 from other devices, 1 from other suites or versions, 1 that are also in the candidate.";
    assert!(text.contains(told), "{}", finished.stdout);
    // Users may specify more of a commit's name than the record contains.
    let older = "new --baseline kept --fail-if-slower 5% --baseline-commit 0a1b2c3d4e";
    compare(&folder, older).expect_status(6).expect_output(&["from commit 0a1b2c3, set with --baseline-commit."]);
    let parts = ["no record of suite quick 1 on", "from commit 9999999 (available commits: 0a1b2c3, 4d5e6f7)"];
    compare(&folder, "new --baseline kept --baseline-commit 9999999").expect_status(2).expect_errors(&parts);
}

#[test]
fn other_devices_are_not_compared_unless_allowed() {
    let folder = sides([780.0, 785.0, 790.0]);
    for number in 0..3 {
        let path = folder.path().join(format!("head/{number}.json"));
        let mut record: RunRecord = read_json(&path);
        record.device.adapter.name = "Other processor".to_owned();
        fs::write(&path, serde_json::to_string(&record).unwrap()).unwrap();
    }
    let files = "head --baseline base/0.json base/1.json base/2.json";
    let parts = ["! Not fully comparable: the devices differ: Other processor, and"];
    compare(&folder, files).expect_status(0).expect_output(&parts);
    let finished = compare(&folder, &format!("{files} --fail-if-slower 5%")).expect_status(2);
    assert_eq!(finished.stdout, "");
    finished.expect_errors(&["the speeds cannot be compared: the devices differ", "--allow-mismatch"]);
    compare(&folder, &format!("{files} --fail-if-slower 5% --allow-mismatch")).expect_status(6);
    let folders = "head --baseline base --fail-if-slower 5%";
    compare(&folder, folders).expect_status(2).expect_errors(&["the baseline has no record", "3 from other devices"]);
    compare(&folder, &format!("{folders} --allow-mismatch")).expect_status(6);
}

#[test]
fn every_format_and_the_document_say_the_same() {
    let folder = sides([780.0, 785.0, 790.0]);
    let line = "--baseline base head --fail-if-slower 5%";
    let markdown = compare(&folder, &format!("{line} --format markdown --json all.json")).expect_status(6).stdout;
    let start = "### ❌ A regression. 1 compared: 1 slower.\n\n**head against base** · ";
    assert!(markdown.starts_with(start), "{markdown}");
    // Each row is one line.
    let row = "\n| keras-mnist-mlp | 900.0 | 785.0 | 0.872 | 0.8";
    for part in [row, " | slower |\n", "<details><summary>Other metrics"] {
        assert!(markdown.contains(part), "`{part}` is missing in:\n{markdown}");
    }
    let document: Value = read_json(&folder.path().join("all.json"));
    let candidate = &document["candidates"][0];
    assert_eq!((&candidate["fails"], &document["schema_version"]), (&true.into(), &1.into()));
    assert_eq!(candidate["records"].as_array().map(Vec::len), Some(3));
    let line_of = &candidate["regressions"]["lines"][0];
    let row: Value = compare(&folder, &format!("{line} --format json-lines")).expect_status(6).json();
    assert_eq!((&row["verdict"], &row["fails"]), (&"slower".into(), &true.into()));
    assert_eq!(row["samples_per_second_ratio_high"], line_of["throughput"]["ratio"]["interval"]["high"]);
    let beside = compare(&folder, &format!("{line} --json -")).expect_status(6);
    beside.json::<Value>();
    beside.expect_errors(&["A regression. 1 compared"]);
}

#[test]
fn records_are_read_from_comparisons_and_standard_input() {
    let folder = sides([780.0, 785.0, 790.0]);
    let records: Vec<RunRecord> = (0..3).map(|seed| run_at(900.0, seed)).collect();
    let document = serde_json::json!({ "schema_version": 1, "comparisons": [], "records": records });
    fs::write(folder.path().join("all.json"), document.to_string()).unwrap();
    compare(&folder, "--baseline all.json head --fail-if-slower 5%").expect_status(6);
    let mut runner = runner(&folder, "--baseline all.json -- -");
    runner.command().stdin(fs::File::open(folder.path().join("all.json")).unwrap());
    runner.run().expect_status(0).expect_output(&["standard input against all.json"]);
    // A file that is named twice counts once.
    let parts = ["head/0.json is the same record as head/0.json and counts once"];
    compare(&folder, "head head/0.json --baseline all.json").expect_status(0).expect_output(&parts);
}

#[cfg(unix)]
#[test]
fn folder_is_read_through_links_and_whatever_the_case() {
    use std::os::unix::fs::symlink;

    let folder = sides([900.0, 901.0, 902.0]);
    let head = folder.path().join("head");
    fs::rename(head.join("0.json"), head.join("0.JSON")).unwrap();
    fs::rename(head.join("1.json"), folder.path().join("elsewhere.json")).unwrap();
    symlink("../elsewhere.json", head.join("1.json")).unwrap();
    // A file reached twice counts once, and other files are ignored.
    symlink(".", head.join("latest")).unwrap();
    symlink("gone", head.join("notes")).unwrap();
    let finished = compare(&folder, "base head --json -").expect_status(0);
    let document: Value = finished.json();
    assert_eq!(document["candidates"][0]["records"].as_array().unwrap().len(), 3, "{document}");
    symlink("gone", head.join("2.more.json")).unwrap();
    compare(&folder, "base head").expect_status(1).expect_errors(&["cannot read head/2.more.json"]);
}

#[test]
fn incomparable_sides_are_refused_with_advice() {
    let folder = sides([900.0, 901.0, 902.0]);
    let path = folder.path();
    let good = fs::read_to_string(path.join("base/0.json")).unwrap();
    fs::create_dir(path.join("empty")).unwrap();
    fs::write(path.join("cut.json"), &good[..good.len() / 2]).unwrap();
    fs::write(path.join("twice.json"), format!("{good}{good}")).unwrap();
    let wrong = good.replace("\"batch_size\":16,\"learning_rate\"", "\"batch_size\":-1,\"learning_rate\"");
    let version = format!("\"schema_version\":{}", results::SCHEMA_VERSION);
    let newer = good.replacen(&version, "\"schema_version\":99", 1);
    for (name, text) in [("wrong", &*wrong), ("newer", &newer), ("steps", "{\"workloads\": []}")] {
        fs::write(path.join(format!("{name}.json")), text).unwrap();
    }
    let mut other = run_at(900.0, 1);
    other.device.backend = "burn-flex".to_owned();
    keep(&path.join("other"), &[other]);
    let cases: [(&str, i32, &[&str]); 15] = [
        ("", 2, &["nothing to compare with", "--baseline"]),
        ("base", 2, &["nothing to compare with", "before.json after.json"]),
        ("--baseline base/0.json base/1.json head/0.json", 2, &["there is no candidate", "after `--`"]),
        ("base empty", 2, &["no records in empty", "--output FOLDER"]),
        ("base no-such-file.json", 1, &["cannot read no-such-file.json", "o such file"]),
        ("base cut.json", 2, &["cut.json is not a record", "EOF while parsing"]),
        ("base twice.json", 2, &["twice.json is not a record", "a file must have a single document"]),
        ("base wrong.json", 2, &["wrong.json is not a record", "in workloads[0].settings.batch_size"]),
        ("base newer.json", 2, &["newer.json is not a record", "version 99, but this program supports version 1"]),
        ("base steps.json", 2, &["steps.json is not a record", "missing field"]),
        ("base other", 2, &["nothing can be compared", "mnist-mlp on burn-flex, batches of 16: only the candidate"]),
        ("--baseline base -- head --fail-if-missing", 2, &["after `--` is a path", "put --fail-if-missing before it"]),
        ("- -", 2, &["standard input", "once"]),
        ("base head --format xml", 2, &["--format", "json-lines"]),
        ("base head --json no-such-folder/all.json", 1, &["cannot write", "no-such-folder"]),
    ];
    expect_refusals_of(|line| runner(&folder, line), &cases);
    // Non-records in a folder are omitted and reported.
    fs::write(path.join("base/package.json"), "{\"name\": \"something\"}").unwrap();
    let parts = ["base/package.json has no records and was left out."];
    compare(&folder, "base head").expect_status(0).expect_output(&parts);
}

#[test]
fn undecided_candidate_passes_with_a_note_on_any_terminal() {
    let folder = sides([700.0, 860.0, 1000.0]);
    compare(&folder, "head --baseline base --fail-if-slower 5%").expect_status(0).expect_output(&[
        "? keras-mnist-mlp: may be slower",
        "can be neither shown nor excluded",
        "No regression is certain",
    ]);
    #[cfg(target_os = "linux")]
    {
        let [base, head] = ["base", "head"].map(|side| folder.path().join(side).display().to_string());
        let arguments = format!("compare --baseline {base} {head} --fail-if-slower 5%");
        let Some(text) = on_a_terminal(&arguments, 60, "NO_COLOR=1", "") else { return };
        assert!(text.contains("may be slower"), "{text}");
        // A path is a single word.
        let lines = text.lines().filter(|line| !line.contains(&base));
        let widest = lines.map(|line| line.trim_end().chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 60), "{widest:?} columns:\n{text}");
    }
}
