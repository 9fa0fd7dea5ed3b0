//! Text and JSON output of the doctor.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::*;

fn findings<'a>(report: &'a Value, name: &str) -> Vec<&'a Value> {
    let sections = report["sections"].as_array().unwrap().iter();
    let all = sections.flat_map(|section| section["findings"].as_array().unwrap());
    all.filter(|finding| finding["name"] == name).collect()
}

/// Returns a doctor call that computes nothing, with its JSON on standard output.
fn quick(arguments: &str) -> Runner {
    Runner::new(&format!("doctor --quick --json - {arguments}"))
}

#[test]
#[ignore = "traces a network"]
fn correct_back_end_gives_a_positive_verdict() {
    let Some(adapter) = any_adapter() else { return };
    let sections = ["Program", "System", "Adapters and drivers", "Data", "Correctness", "Verdict", "A run works here"];
    let finished = run(&format!("doctor --backend wgsl {adapter} --json report.json"), 0).expect_output(&sections);
    let report = finished.json_file::<Value>("report.json");
    assert_eq!((&report["schema_version"], &report["engine_version"]), (&json!(1), &json!(env!("CARGO_PKG_VERSION"))));
    let trace = findings(&report, "trace")[0];
    assert_eq!((&trace["severity"], &trace["details"]["backend"]), (&json!("fine"), &json!("wgsl")), "{trace}");
    assert_eq!(trace["details"]["workload"], "caffe-mnist");
    let losses = trace["details"]["correctness"]["losses"].as_array().unwrap();
    assert!(losses.iter().all(|loss| loss.as_f64().is_some_and(|loss| loss > 0.0)), "{trace}");
    let has_limits = |found: &&Value| found["details"]["adapter"]["limits"]["buffer_bytes"].is_u64();
    assert!(findings(&report, "adapter").iter().all(has_limits), "{report}");
    let data_sets = findings(&report, "data_set");
    let mnist = data_sets.iter().find(|found| found["details"]["data_set"] == "mnist").unwrap();
    assert_eq!(mnist["severity"], "fine", "{mnist}");
    let verdict = &report["verdict"];
    assert_eq!((&verdict["trains"], &verdict["tried"]), (&json!(true), &json!(true)), "{verdict}");
    assert!(verdict["command"].as_str().is_some_and(|command| command.starts_with("native-runner")), "{verdict}");
}

#[test]
fn findings_have_severities_and_problems_have_advice() {
    let finished = quick("--adapter").arg("no such gpu").run().expect_status(7);
    let report: Value = finished.json();
    let sections = report["sections"].as_array().unwrap();
    assert!(!sections.is_empty());
    for finding in sections.iter().flat_map(|section| section["findings"].as_array().unwrap()) {
        let severity = finding["severity"].as_str().unwrap();
        assert!(["fine", "note", "warning", "problem"].contains(&severity), "{finding}");
        assert!(finding["sentence"].as_str().is_some_and(|sentence| sentence.ends_with('.')), "{finding}");
        assert!(severity != "problem" || finding["advice"].is_string(), "{finding}");
    }
    assert_eq!(report["verdict"]["tried"], true, "{}", report["verdict"]);
    // Text is written to the other stream.
    finished.expect_errors(&["Adapters and drivers", "no adapter fits `no such gpu`", "Nothing can be trained"]);
}

#[test]
fn quick_doctor_claims_nothing_untested_and_names_missing_data() {
    let empty = tempfile::tempdir().unwrap();
    let command = format!("native-runner fetch-data mnist --data {}", empty.path().display());
    run(&format!("doctor --quick --data {}", empty.path().display()), 7).expect_output(&[&command]);

    if any_adapter().is_none() {
        return;
    }
    let report: Value = quick("").run().expect_status(0).json();
    assert_eq!((&report["verdict"]["trains"], &report["verdict"]["tried"]), (&json!(true), &json!(false)));
    assert_eq!(findings(&report, "traces").len(), 1);
}

/// The loader gets a missing driver, so that there are no adapters.
#[cfg(target_os = "linux")]
#[test]
fn a_machine_without_adapters_is_told_why() {
    let without_adapter = |line| Runner::new(line).env("VK_DRIVER_FILES", "/no/such/icd.json").run();
    without_adapter("doctor --backend wgsl").expect_status(7).expect_output(&[
        "No driver provides an adapter",
        "VK_DRIVER_FILES names missing drivers: /no/such/icd.json",
        "no backend has a device",
    ]);
    // The same error in a run suggests the doctor.
    let parts = ["no adapter fits", "Run `native-runner doctor`"];
    without_adapter("--backend wgsl --steps 1").expect_status(2).expect_errors(&parts);
}

#[test]
fn slow_back_end_is_ended_and_reported_late() {
    let Some(adapter) = any_adapter() else { return };
    let finished = run(&format!("doctor --backend wgsl {adapter} --trace-seconds 0.01"), 7);
    finished.expect_output(&["it did not finish within 0.01 s"]);
}

/// Uses another user's home, name and host.
#[cfg(target_os = "linux")]
#[test]
fn a_report_names_no_person_no_machine_and_no_home() {
    let top = tempfile::tempdir().unwrap();
    let home = top.path().join("somebody");
    fs::create_dir(&home).unwrap();
    let finished = Runner::new("doctor --quick --json report.json")
        .env("HOME", &home)
        .env("USER", "somebody")
        .env("XDG_CACHE_HOME", home.join("cached"))
        .env("GRADMARK_DATA", home.join("sets"))
        .run()
        .expect_status(7);
    let report = fs::read_to_string(finished.folder.path().join("report.json")).unwrap();
    for text in [&finished.stdout, &finished.stderr, &report] {
        assert!(!text.contains("somebody") && !text.contains(&home.display().to_string()), "{text}");
    }
    assert!(report.contains("~/cached/gradmark") && report.contains("~/sets"), "{report}");
    let host = fs::read_to_string(Path::new("/proc/sys/kernel/hostname")).unwrap_or_default();
    // Shorter names are parts of words.
    if host.trim().len() > 6 {
        assert!(!report.contains(host.trim()), "{report}");
    }
}

#[test]
fn a_leaderboard_is_asked_for_its_version_and_its_time() {
    let server = FakeServer::start(|_| {
        let body = json!({ "openapi": "3.1.0", "info": { "title": "Gradmark leaderboard", "version": "0.0.7" } });
        FakeAnswer::http(200, "date: Tue, 15 Nov 1994 08:12:31 GMT\r\n", body.to_string())
    });
    let report: Value = quick("--upload").arg(&server.url).run().json();
    assert_eq!(findings(&report, "leaderboard")[0]["details"]["version"], "0.0.7");
    let clock = findings(&report, "clock")[0];
    assert_eq!(clock["severity"], "warning");
    assert!(clock["details"]["skew_seconds"].as_f64().is_some_and(|seconds| seconds > 1e8), "{clock}");
    assert_eq!(paths(&server.received()), ["GET /api/v1/openapi.json"]);

    let nobody: Value = quick("--upload http://127.0.0.1:9").run().json();
    let found = findings(&nobody, "leaderboard")[0];
    assert_eq!((&found["severity"], &found["details"]["reachable"]), (&json!("problem"), &json!(false)), "{found}");
}
