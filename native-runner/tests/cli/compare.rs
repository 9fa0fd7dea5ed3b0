//! Short comparisons of backends, on the adapter of the tests.

use std::fs;

use results::{Departure, Outcome, RunRecord};
use serde_json::Value;
use view::comparison::{Agreement, Comparison, Row, RowOutcome};

use crate::support::*;

/// The fastest other backend of this build.
const OTHER: &str = if cfg!(feature = "burn-flex") { "burn-flex" } else { "reference" };
const SMALL: &str = "--batch-size 16 --seed 5";

fn comparison(document: &Value, index: usize) -> Comparison {
    serde_json::from_value(document["comparisons"][index].clone()).expect("the document holds this comparison")
}

fn records(document: &Value) -> Vec<RunRecord> {
    serde_json::from_value(document["records"].clone()).expect("the document holds records")
}

#[test]
fn two_back_ends_share_a_table_and_records_are_kept() {
    let Some(adapter) = any_adapter() else { return };
    let line = format!("{adapter} --backend wgsl,{OTHER} {SMALL} --steps 2 --seeds 2 --json all.json --output runs");
    let finished = Runner::new(&line).tiny().run().expect_status(0).expect_output(&[
        "tiny 2 steps · batches of 16 · 2 seeds",
        "epoch training testing accuracy",
        "MiB MiB",
    ]);
    let text = one_line(&finished.stdout);
    let told = text.contains("burn-flex: rustc, fusion off, autotune off, threads ");
    assert_eq!(told, OTHER == "burn-flex", "{}", finished.stdout);
    // Weights and batches are the same, so that only rounding differs.
    assert!(text.contains("✓ Final accuracies: no difference found; "), "{}", finished.stdout);
    expect_parts(
        &finished.stderr,
        &["wgsl", OTHER, "5, 6 (set with --seed)", "on wgsl, seed 6 (4 of 4)", &format!("on {OTHER}, seed 6 (3 of 4)")],
    );

    let folder = finished.folder.path();
    let document: Value = finished.json_file("all.json");
    assert_eq!((&document["schema_version"], &document["cancelled"]), (&1.into(), &false.into()));
    let found = comparison(&document, 0);
    let Agreement::Agree { evidence } = &found.agreement else { panic!("{:?}", found.agreement) };
    assert_eq!((evidence.seeds.as_slice(), evidence.step, evidence.is_final), ([5, 6].as_slice(), 2, true));
    assert!(evidence.largest_same_seed_difference < 0.01, "{evidence:?}");
    let names: Vec<String> = found.rows.iter().map(|row| row.contender.to_string()).collect();
    assert_eq!(names, ["wgsl", OTHER]);
    let ratio = |row: &Row| row.figures.as_ref().unwrap().training.unwrap().to_fastest.unwrap();
    let ratios: Vec<f64> = found.rows.iter().map(ratio).collect();
    assert!(ratios.iter().all(|ratio| *ratio >= 1.0) && ratios.contains(&1.0), "{ratios:?}");

    let records = records(&document);
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_eq!(record.device.backend, record.requested.backend);
        let network = record.workloads[0].network.as_ref().unwrap();
        assert!(network["name"] == "tiny" && network["model"]["nodes"].is_array(), "{network}");
        let is_file = |of: &Departure| matches!(of, Departure::NetworkFile { .. });
        assert!(record.departures.iter().any(is_file), "{:?}", record.departures);
        let name = format!("tiny-{}-f32-{}.json", record.device.backend, record.requested.seed);
        assert_eq!(read_json::<RunRecord>(&folder.join("runs").join(name)), *record);
    }
}

#[test]
fn all_compares_every_usable_back_end() {
    let Some(adapter) = any_adapter() else { return };
    let line = format!("{SMALL} --backend all --workload keras-mnist-mlp --steps 1 --seeds 1 --json - --output runs");
    let finished = Runner::new(&line).args(&adapter).run().expect_status(0);
    let document: Value = finished.json();
    let rows = comparison(&document, 0).rows;
    let names: Vec<&str> = rows.iter().map(|row| row.contender.backend.as_str()).collect();
    assert!(names.contains(&"wgsl") && !names.contains(&"reference"), "{names:?}");
    assert_eq!(names.contains(&"burn-flex"), cfg!(feature = "burn-flex"), "{names:?}");
    // The adapter was chosen for the backends with a choice.
    for record in records(&document) {
        let asked = record.requested.adapter;
        assert_eq!(asked == "any", record.device.backend == "burn-flex", "{asked}");
    }
    // No build has every feature, because some need the compilers of one vendor each.
    expect_parts(&finished.stderr, &["not built", "burn-rocm", "epoch training testing", "one standard deviation"]);
    let alone = names.len() == 1;
    let refusal = "Accuracies were not compared: fewer than two back ends";
    assert_eq!(finished.stderr.contains(refusal), alone, "{}", finished.stderr);
    let server = leaderboard();
    let file = finished.folder.path().join("runs/keras-mnist-mlp-wgsl-f32-5.json");
    run(&format!("upload --yes {} --to {}", file.display(), server.url), 0);
    assert_eq!(paths(&server.received()), ["POST /api/v1/runs/import"]);
}

#[test]
fn diverged_back_end_is_a_row_with_status_3() {
    let line = format!("--backend reference {SMALL} --steps 3 --seeds 2 --learning-rate 1e30 --json -");
    let finished = Runner::new(&line).tiny().run().expect_status(3);
    let document: Value = finished.json();
    let found = comparison(&document, 0);
    assert!(matches!(found.rows[0].outcome, RowOutcome::Diverged { .. }), "{:?}", found.rows[0]);
    assert!(found.rows[0].figures.is_none());
    assert_eq!(records(&document).len(), 2);
    finished.expect_errors(&[
        "reference: from seed",
        "the loss at step",
        "reference, seed 5: tiny diverged",
        "--learning-rate",
    ]);
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below_a_file = format!("--backend reference --seeds 2 --output {}/runs", file.display());
    let without_data = format!("--backend reference --seeds 2 --data {}", folder.path().display());
    let cases: [(&str, i32, &[&str]); 11] = [
        ("--backend reference,abacus", 2, &["abacus", "reference"]),
        ("--backend all --adapter no-such-gpu", 2, &["no adapter fits", "no-such-gpu"]),
        ("--backend reference --seeds 2 --adapter no-such-gpu", 2, &["no adapter fits", "no-such-gpu"]),
        ("--backend all --upload http://127.0.0.1:9", 2, &["uploads nothing", "--output"]),
        ("--backend reference --output runs", 2, &["single run", "--json"]),
        ("--backend reference --seeds 0", 2, &["--seeds", "0"]),
        ("--backend reference --seeds 2 --batch-size 0", 2, &["batch size", "from 1 to 60000"]),
        ("--backend reference --seeds 2 --workload no-such-net", 2, &["no-such-net", "caffe-mnist"]),
        ("--backend reference --seeds 2 --json no-such-folder/all.json", 1, &["cannot write", "no-such-folder"]),
        (&below_a_file, 1, &["cannot write", "runs"]),
        (&without_data, 1, &["mnist-train.bin", "cargo xtask data"]),
    ];
    expect_refusals_of(|line| Runner::new("--workload keras-mnist-mlp --steps 1").args(line), &cases);
}

#[test]
#[cfg(unix)]
fn a_cancelled_comparison_keeps_what_is_finished() {
    let Some(adapter) = any_adapter() else { return };
    let line = format!("{adapter} --backend wgsl {SMALL} --steps 2 --seeds 100 --json all.json --output runs");
    let finished = Runner::new(&line).tiny().interrupt_after("seed 7 (3 of 100)").expect_status(130);
    let finished = finished.expect_errors(&["cancelled; the results so far are above"]);
    assert!(finished.stdout.contains("testing"), "there is a table all the same");

    let folder = finished.folder.path();
    let document: Value = finished.json_file("all.json");
    assert_eq!(document["cancelled"], true);
    let records = records(&document);
    let completed = records.iter().filter(|record| record.workloads[0].outcome == Outcome::Completed).count();
    assert!((2..100).contains(&completed), "{completed}");
    assert_eq!(fs::read_dir(folder.join("runs")).unwrap().count(), records.len());
    let rows = comparison(&document, 0).rows;
    assert_eq!(rows[0].figures.as_ref().unwrap().seeds.len(), completed);
}
