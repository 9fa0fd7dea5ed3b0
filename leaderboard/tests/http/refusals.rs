//! Refused records, one case for each rule, and records that are accepted with a flag.

use std::num::NonZero;

use results::api::{AcceptedRun, StartedRun, Tier};
use results::{Length, RunRecord, WholeBatch};
use serde_json::{Value, json};

use crate::support::{TestServer, record};

/// An announced run with an honest record, which is changed in one place at a time.
struct Bench {
    server: TestServer,
    started: StartedRun,
    record: RunRecord,
}

impl Bench {
    fn new() -> Self {
        let server = TestServer::start();
        let (started, record) = server.honest_run();
        Self { server, started, record }
    }

    /// Sets the JSON `pointer` to `value` and expects a refusal that names `field`.
    #[track_caller]
    fn refuses(&self, pointer: &str, value: Value, code: &str, field: &str) {
        let mut json = serde_json::to_value(&self.record).unwrap();
        *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is in the record")) = value;
        let answer = self.server.json("PUT", &format!("/api/v1/runs/{}", self.started.run_id), &json);
        answer.assert_refused(422, code, field);
    }

    /// Changes the record, recomputes its summaries, and expects a refusal.
    #[track_caller]
    fn refuses_changed(&self, code: &str, field: &str, change: impl FnOnce(&mut RunRecord)) {
        let mut record = self.record.clone();
        change(&mut record);
        record::summarise(&mut record);
        self.server.upload(&self.started.run_id, &record).assert_refused(422, code, field);
    }

    /// Does the same, and also expects the refusal of an import.
    #[track_caller]
    fn refuses_forged(&self, code: &str, field: &str, change: impl Fn(&mut RunRecord)) {
        self.refuses_changed(code, field, &change);
        let mut imported = RunRecord { run_id: None, nonce: None, ..self.record.clone() };
        change(&mut imported);
        record::summarise(&mut imported);
        imported.requested.seed = imported.requested.seed.wrapping_add(1);
        self.server.import(&imported).assert_refused(422, code, field);
    }

    /// Asserts that the run is still unused after the refusals.
    #[track_caller]
    fn still_accepts_the_honest_record(&self) {
        assert_eq!(self.server.upload(&self.started.run_id, &self.record).status, 201);
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let bench = Bench::new();
    let rows = [
        ("/schema_version", json!(0), "unknown_schema_version", "schema_version"),
        ("/departures", json!([{ "kind": "other_networks" }]), "not_standard", "departures"),
        ("/workloads/0/settings/precision", json!("f16-matrix"), "not_standard", "departures"),
        ("/requested/adapter", json!(""), "empty", "requested.adapter"),
        ("/requested/suite", json!("complete"), "inconsistent", "requested.suite"),
        ("/provenance/wall_seconds", json!(-1), "out_of_range", "provenance.wall_seconds"),
        ("/provenance/wall_seconds", json!(1e9), "out_of_range", "provenance.wall_seconds"),
        ("/provenance/started_unix_seconds", json!(1e12), "out_of_range", "provenance.started_unix_seconds"),
        ("/provenance/commit", json!("c".repeat(65)), "too_long", "provenance.commit"),
        ("/provenance/client/name", json!(""), "empty", "provenance.client.name"),
        ("/provenance/client/logical_processors", json!(0), "out_of_range", "provenance.client.logical_processors"),
        ("/device/backend", json!("WGSL"), "bad_name", "device.backend"),
        ("/device/backend", json!("reference"), "inconsistent", "device.backend"),
        ("/device/adapter/kind", json!("cpu"), "inconsistent", "device.adapter.kind"),
        ("/device/adapter/name", json!("a".repeat(201)), "too_long", "device.adapter.name"),
        ("/device/adapter/driver", json!("\u{1b}[2J"), "control_character", "device.adapter.driver"),
        ("/device/claimed_name", json!("abc\u{202e}cba"), "control_character", "device.claimed_name"),
        ("/workloads", json!([]), "nothing_completed", "workloads"),
        ("/workloads/0/workload", json!("a' OR '1'='1"), "bad_name", "workloads[0].workload"),
        ("/workloads/1/workload", json!("keras-mnist-mlp"), "duplicate_workload", "workloads[1].workload"),
        (
            "/warnings/0",
            json!({"kind": "tab_hidden", "seconds": -1, "paused_seconds": 0}),
            "out_of_range",
            "warnings[0].seconds",
        ),
        ("/warnings/0", json!({"kind": "unregistered", "reason": "r".repeat(301)}), "too_long", "warnings[0].reason"),
    ];
    for (pointer, value, code, field) in rows {
        bench.refuses(pointer, value, code, field);
    }
    bench.still_accepts_the_honest_record();
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let bench = Bench::new();
    for (name, value) in [
        ("batch_size", json!(0)),
        ("batch_size", json!(65_537)),
        ("learning_rate", json!(0)),
        ("learning_rate", json!(-0.1)),
        ("learning_rate", json!(1000.5)),
        ("training_samples", json!(0)),
        ("test_samples", json!(0)),
        ("parameters", json!(0)),
        ("training_flops_per_sample", json!(0)),
        ("training_flops_per_sample", json!(u64::MAX)),
        ("device_memory_bytes", json!(u64::MAX)),
    ] {
        let field = format!("workloads[0].settings.{name}");
        bench.refuses(&format!("/workloads/0/settings/{name}"), value, "out_of_range", &field);
    }
    let larger = json!(60_001);
    bench.refuses("/workloads/1/settings/batch_size", larger, "inconsistent", "workloads[1].settings.batch_size");
    let variants = json!(vec!["v"; 257]);
    bench.refuses("/workloads/1/settings/variants", variants, "too_many", "workloads[1].settings.variants");
    bench.still_accepts_the_honest_record();
}

#[test]
fn raw_samples_that_contradict_each_other_are_refused() {
    let bench = Bench::new();
    let rows = [
        ("windows/1/seconds", json!(-1), "out_of_range", "windows[1].seconds"),
        ("windows/1/samples", json!(128_001), "inconsistent", "windows[1].samples"),
        ("windows/1/samples", json!(468), "inconsistent", "windows[1].samples"),
        ("curve/0/accuracy", json!(1.01), "out_of_range", "curve[0].accuracy"),
        ("curve/0/loss", json!(-1), "out_of_range", "curve[0].loss"),
        ("curve/1/step", json!(469), "not_increasing", "curve[1].step"),
        ("curve/1/step", json!(8476), "inconsistent", "curve[1].step"),
        ("curve/1/training_seconds", json!(0.1), "not_increasing", "curve[1].training_seconds"),
        ("curve/1/training_seconds", json!(8.6), "inconsistent", "curve[1].training_seconds"),
        ("evaluations/0/accuracy", json!(-0.01), "out_of_range", "evaluations[0].accuracy"),
        ("evaluations/0/seconds", json!(1e300), "out_of_range", "evaluations[0].seconds"),
        ("evaluations/1/step", json!(469), "not_increasing", "evaluations[1].step"),
        ("evaluations/1/step", json!(8476), "inconsistent", "evaluations[1].step"),
        ("epochs/0/epoch", json!(2), "not_increasing", "epochs[0].epoch"),
        ("epochs/0/seconds", json!(8.6), "inconsistent", "epochs"),
        ("target/accuracy", json!(1.5), "out_of_range", "target.accuracy"),
        ("target/accuracy", json!(0.9), "inconsistent", "target.reached_step"),
        ("target/reached_step", json!(2000), "inconsistent", "target.reached_step"),
        ("target/reached_step", Value::Null, "inconsistent", "target.reached_step"),
        ("target/reached_seconds", json!(2.0), "inconsistent", "target.reached_seconds"),
        ("first_losses", json!(vec![2.5; 1001]), "too_many", "first_losses"),
        ("cold_start/build_seconds", json!(-0.1), "out_of_range", "cold_start.build_seconds"),
        ("peaks/1/window", json!(10), "inconsistent", "peaks[1].window"),
        ("peaks/0/flops_per_second", json!(0.0), "out_of_range", "peaks[0].flops_per_second"),
        ("peaks/0/copied_bytes_per_second", json!(-1.0), "out_of_range", "peaks[0].copied_bytes_per_second"),
        ("cold_start/compiling_seconds", json!(-0.1), "out_of_range", "cold_start.compiling_seconds"),
        ("resources/cpu_user_percent", json!(-1), "out_of_range", "resources.cpu_user_percent"),
        ("resources/machine_io_wait_percent", json!(-1), "out_of_range", "resources.machine_io_wait_percent"),
        ("resources/samples/1/seconds", json!(0.25), "not_increasing", "resources.samples[1].seconds"),
        ("resources/samples/0/gpu_busy_percent", json!(101), "out_of_range", "resources.samples[0].gpu_busy_percent"),
        ("resources/samples/0/gpu_power_watts", json!(-1), "out_of_range", "resources.samples[0].gpu_power_watts"),
        ("resources/samples/1/gpu_energy_joules", json!(1), "inconsistent", "resources.samples[1].gpu_energy_joules"),
        ("resources/samples/1/gpu_clock_hertz", json!(1e13), "out_of_range", "resources.samples[1].gpu_clock_hertz"),
        ("resources/samples", json!(vec![json!({ "seconds": 1.0 }); 129]), "too_many", "resources.samples"),
        (
            "resources/resident_memory_average_bytes",
            json!(130_000_000),
            "inconsistent",
            "resources.resident_memory_average_bytes",
        ),
    ];
    for (pointer, value, code, field) in rows {
        bench.refuses(&format!("/workloads/1/{pointer}"), value.clone(), code, &format!("workloads[1].{field}"))
    }
    bench.still_accepts_the_honest_record();
}

#[test]
fn refuses_lengths_that_contradict_the_windows() {
    let bench = Bench::new();
    bench.refuses_changed("inconsistent", "workloads[0].windows", |r| r.workloads[0].windows.clear());
    bench.refuses_changed("inconsistent", "workloads[0].windows", |r| {
        r.workloads[0].windows.iter_mut().for_each(|w| w.seconds = 0.0)
    });
    bench.refuses_changed("inconsistent", "workloads[0].epochs", |r| {
        let epoch = r.workloads[0].epochs[0];
        r.workloads[0].epochs = (1..=17).map(|i| results::Epoch { epoch: i, seconds: 0.1, ..epoch }).collect();
    });
    bench.still_accepts_the_honest_record();
}

#[test]
fn refuses_summaries_that_contradict_raw_samples() {
    let bench = Bench::new();
    let summary = serde_json::to_value(&bench.record.workloads[0].summary).unwrap();
    let figures = summary.as_object().unwrap();
    assert_eq!(figures.len(), 18, "every field of the summary is tampered with below");
    for (name, value) in figures {
        let wrong = match value {
            Value::Number(number) if number.is_u64() => json!(number.as_u64().unwrap() + 1),
            Value::Number(number) => json!(number.as_f64().unwrap() * (1.0 + 1e-8)),
            Value::Bool(stable) => json!(!stable),
            other => panic!("{name} is {other}"),
        };
        let field = format!("workloads[0].summary.{name}");
        bench.refuses(&format!("/workloads/0/summary/{name}"), wrong, "summary_mismatch", &field);
    }
    let absent = Value::Null;
    let field = "workloads[0].summary.accuracy";
    bench.refuses("/workloads/0/summary/accuracy", absent, "summary_mismatch", field);
    bench.still_accepts_the_honest_record();
}

#[test]
fn refuses_comparisons_that_contradict_their_losses() {
    let bench = Bench::new();
    let rows = [
        ("losses/0", json!(2.6), "largest_difference", "inconsistent"),
        ("largest_difference", json!(0.0005), "largest_difference", "inconsistent"),
        ("passed", json!(false), "passed", "inconsistent"),
        ("tolerance", json!(0.2), "tolerance", "out_of_range"),
        ("tolerance", json!(0.0011), "tolerance", "out_of_range"),
        ("tolerance", json!(-1e-9), "tolerance", "out_of_range"),
        ("losses", json!([2.5]), "reference_losses", "inconsistent"),
        ("losses", json!([]), "reference_losses", "inconsistent"),
        ("reference_losses", json!([2.5]), "reference_losses", "inconsistent"),
        ("batch_size", json!(0), "batch_size", "out_of_range"),
    ];
    for (pointer, value, field, code) in rows {
        let field = format!("workloads[0].correctness.{field}");
        bench.refuses(&format!("/workloads/0/correctness/{pointer}"), value, code, &field);
    }
    bench.refuses_changed("out_of_range", "workloads[0].correctness.redraws", |r| {
        r.workloads[0].correctness.as_mut().unwrap().redraws = 3
    });
    // No losses on either side.
    bench.refuses_changed("inconsistent", "workloads[0].correctness.reference_losses", |r| {
        let correctness = r.workloads[0].correctness.as_mut().unwrap();
        (correctness.losses, correctness.reference_losses) = (Vec::new(), Vec::new());
    });
    // Infinity is written as the largest number. Two infinite values do not agree.
    bench.refuses_changed("inconsistent", "workloads[0].correctness.largest_difference", |r| {
        let correctness = r.workloads[0].correctness.as_mut().unwrap();
        (correctness.losses[1], correctness.reference_losses[1]) = (f64::MAX, f64::MAX);
    });
    // The disagreement is reported, but the workload is marked as completed.
    bench.refuses_changed("inconsistent", "workloads[0].correctness.passed", |r| {
        let correctness = r.workloads[0].correctness.as_mut().unwrap();
        correctness.losses[1] = 2.0 * correctness.reference_losses[1];
        (correctness.largest_difference, correctness.passed) = (1.0, false);
    });
    bench.still_accepts_the_honest_record();
}

#[test]
fn refuses_whole_batch_results_that_contradict_their_numbers() {
    let bench = Bench::new();
    let whole = |batch_size| WholeBatch {
        batch_size,
        part_size: 16,
        loss: 2.5,
        loss_of_parts: 2.5,
        gradient_difference: 0.01,
        gradient_tolerance: 0.05,
        passed: true,
    };
    type Change = fn(&mut WholeBatch);
    let rows: [(&str, &str, Change); 8] = [
        ("batch_size", "inconsistent", |whole| whole.batch_size += 1),
        ("part_size", "out_of_range", |whole| whole.part_size = 0),
        ("part_size", "out_of_range", |whole| whole.part_size = whole.batch_size + 1),
        ("gradient_difference", "out_of_range", |whole| whole.gradient_difference = -1e-9),
        ("gradient_tolerance", "out_of_range", |whole| whole.gradient_tolerance = 0.06),
        ("passed", "inconsistent", |whole| whole.gradient_difference = 0.06),
        ("passed", "inconsistent", |whole| whole.loss = 2.51),
        ("passed", "inconsistent", |whole| (whole.loss, whole.loss_of_parts) = (f64::MAX, f64::MAX)),
    ];
    for (field, code, change) in rows {
        bench.refuses_changed(code, &format!("workloads[0].correctness.whole_batch.{field}"), |record| {
            let workload = &mut record.workloads[0];
            let mut whole = whole(workload.settings.batch_size);
            change(&mut whole);
            workload.correctness.as_mut().unwrap().whole_batch = Some(whole);
        });
    }
    // The disagreement of the whole batch is reported, but marked as passed.
    bench.refuses_changed("inconsistent", "workloads[0].correctness.passed", |record| {
        let workload = &mut record.workloads[0];
        let wrong = WholeBatch { gradient_difference: 1.0, passed: false, ..whole(workload.settings.batch_size) };
        workload.correctness.as_mut().unwrap().whole_batch = Some(wrong);
    });
    let mut right = bench.record.clone();
    let workload = &mut right.workloads[0];
    workload.correctness.as_mut().unwrap().whole_batch = Some(whole(workload.settings.batch_size));
    assert_eq!(bench.server.upload(&bench.started.run_id, &right).status, 201);
}

#[test]
fn tolerance_depends_on_the_precision_alone() {
    // Off by two percent, which is allowed only for f16.
    let rough = |precision| {
        move |r: &mut RunRecord| {
            let workload = &mut r.workloads[0];
            workload.settings.precision = precision;
            let correctness = workload.correctness.as_mut().unwrap();
            correctness.losses[0] = 2.55;
            correctness.largest_difference = (2.55 - 2.5) / 2.5;
            correctness.tolerance = 0.1;
        }
    };
    let field = "workloads[0].correctness.tolerance";
    let bench = Bench::new();
    bench.refuses_changed("out_of_range", field, rough(results::Precision::F32));
    bench.refuses_changed("out_of_range", field, rough(results::Precision::F64));
    let server = TestServer::start();
    for (number, precision) in [(1, results::Precision::F16), (2, results::Precision::F16Matrix)] {
        let mut record = record::unregistered(number);
        rough(precision)(&mut record);
        record::declare(&mut record);
        assert_eq!(server.import(&record).status, 201);
        record.workloads[0].correctness.as_mut().unwrap().tolerance = 0.11;
        server.import(&record).assert_refused(422, "out_of_range", field);
    }
}

#[test]
fn a_run_of_which_nothing_was_completed_is_refused() {
    let bench = Bench::new();
    let cancelled = |r: &mut RunRecord| r.workloads.iter_mut().for_each(|w| w.outcome = results::Outcome::Cancelled);
    bench.refuses_changed("nothing_completed", "workloads", cancelled);
}

#[test]
fn more_time_than_passed_cannot_be_claimed() {
    let bench = Bench::new();
    let field = "provenance.wall_seconds";
    bench.refuses_changed("time_does_not_fit", field, |r| r.provenance.wall_seconds = 25.0);
    bench.refuses_changed("time_does_not_fit", field, |r| r.provenance.wall_seconds = 10.0);
    bench.refuses_changed("time_does_not_fit", field, |r| record::scale_time(r, 2.0));
    bench.refuses_changed("time_does_not_fit", field, |r| r.workloads[0].windows[0].seconds = 9.0);
    bench.still_accepts_the_honest_record();

    let server = TestServer::start();
    let started = server.begin();
    server.upload(&started.run_id, &record::for_run(&started)).assert_refused(422, "time_does_not_fit", field);
}

#[test]
fn a_browsers_version_is_its_major_version() {
    let server = TestServer::start();
    let browser = |version: &str| {
        let mut record = record::unregistered(1);
        record.provenance.client.kind = results::ClientKind::Browser;
        record.provenance.client.name = "Chrome".to_owned();
        record.provenance.client.version = version.to_owned();
        record
    };
    for precise in ["142.0.7444.59", "Mozilla/5.0 (X11; Linux x86_64)", "142 beta"] {
        server.import(&browser(precise)).assert_refused(422, "too_precise", "provenance.client.version");
    }
    assert_eq!(server.import(&browser("142")).status, 201);
}

#[test]
fn implausible_runs_are_flagged_with_the_reason() {
    type Change = fn(&mut RunRecord);
    let cases: [(Change, &str); 5] = [
        (|r| record::speed_up(r, 100_000), "FLOP/s"),
        (|r| r.workloads[0].correctness = None, "compared"),
        (|r| r.workloads[0].first_losses.clear(), "recomputed"),
        (
            |r| {
                r.requested.target_accuracy = Some(0.5);
                r.workloads[0].evaluations.clear();
                record::reach(&mut r.workloads[0]);
            },
            "evaluated",
        ),
        (|r| r.device.adapter.name = "Google SwiftShader".to_owned(), "swiftshader"),
    ];
    let server = TestServer::start();
    for (change, reason) in cases {
        let run = server.accepted(change);
        assert_eq!(run.tier, Tier::Flagged, "{reason}");
        assert!(run.notes.iter().any(|note| note.to_string().contains(reason)), "{reason}: {:?}", run.notes);
    }
    let mut imported = record::unregistered(3);
    imported.workloads[0].first_losses.clear();
    let run: AcceptedRun = server.import(&imported).parse();
    assert_eq!((run.tier, run.notes.len()), (Tier::Flagged, 2), "both reasons are reported");
}

#[test]
fn bad_learning_is_no_reason_to_refuse() {
    let server = TestServer::start();
    let run = server.accepted(|record| {
        let workload = &mut record.workloads[0];
        workload.curve[1].loss = 2.9;
        workload.evaluations.iter_mut().for_each(|e| (e.accuracy, e.loss) = (0.08, 3.1));
        workload.target.as_mut().unwrap().reached_step = None;
        workload.target.as_mut().unwrap().reached_seconds = None;
    });
    assert_eq!(run.tier, Tier::Checked);
}

#[test]
fn work_that_differs_from_the_network_is_refused() {
    fn settings(record: &mut RunRecord) -> &mut results::Settings {
        &mut record.workloads[0].settings
    }
    let bench = Bench::new();
    let flops = "workloads[0].settings.training_flops_per_sample";
    bench.refuses_forged("wrong_work", flops, |r| settings(r).training_flops_per_sample = 1);
    bench.refuses_forged("wrong_work", flops, |r| settings(r).training_flops_per_sample *= 1000);
    bench.refuses_forged("wrong_work", "workloads[0].settings.parameters", |r| settings(r).parameters = 7850);
    bench.refuses_forged("wrong_work", "workloads[0].settings.test_samples", |r| settings(r).test_samples = 100);
    bench.refuses_forged("wrong_work", "workloads[0].settings.training_samples", |r| {
        settings(r).training_samples = 50_000
    });
    bench.refuses_forged("unknown_workload", "workloads[0].workload", |r| {
        r.workloads[0].workload = "imagenet-in-a-minute".to_owned();
        record::declare(r);
    });
    bench.refuses_forged("network_of_a_file", "workloads[0].network", |r| {
        r.workloads[0].network = Some(serde_json::json!({ "name": "mine" }));
    });
    bench.refuses_forged("unknown_backend", "device.backend", |r| {
        r.device.backend = "warp-drive".to_owned();
        r.requested.backend = r.device.backend.clone();
    });
    // Nonstandard runs also have the network's work.
    bench.refuses_forged("wrong_work", "workloads[0].settings.parameters", |r| {
        r.requested.length = NonZero::new(4).map(Length::Steps);
        record::declare(r);
        r.workloads[0].settings.parameters = 7850;
    });
    bench.refuses_forged("inconsistent", "workloads[0].evaluations[0].training_seconds", |r| {
        r.requested.length = NonZero::new(4).map(Length::Steps);
        record::declare(r);
        r.workloads[0].windows[0].seconds /= 10.0;
    });
    bench.still_accepts_the_honest_record();
}

#[test]
fn undeclared_departures_from_the_suite_are_refused() {
    let bench = Bench::new();
    bench.refuses_forged("not_standard", "workloads[0].settings.batch_size", |r| {
        r.workloads[0].settings.batch_size = 1024;
        record::count_samples(&mut r.workloads[0]);
        r.workloads[0].epochs.clear();
    });
    bench.refuses_forged("not_standard", "workloads[0].settings.learning_rate", |r| {
        r.workloads[0].settings.learning_rate = 0.002
    });
    bench.refuses_forged("not_standard", "workloads[0].target.accuracy", |r| {
        r.workloads[0].target.as_mut().unwrap().accuracy = 0.9;
        record::reach(&mut r.workloads[0]);
    });
    bench.refuses_forged("not_standard", "workloads[0].target", |r| r.workloads[0].target = None);
    bench.refuses_forged("not_standard", "departures", |r| {
        r.device.backend = "reference".to_owned();
        r.requested.backend = r.device.backend.clone();
    });
    bench.refuses_forged("not_standard", "departures", |r| drop(r.workloads.pop()));
    bench.still_accepts_the_honest_record();
}

#[test]
fn courses_of_training_that_the_suite_lacks_are_refused() {
    let bench = Bench::new();
    // Ten times the steps in the same windows.
    bench.refuses_forged("inconsistent", "workloads[0].evaluations[0].step", |r| {
        r.workloads[0].windows.iter_mut().for_each(|window| window.steps *= 10);
        record::count_samples(&mut r.workloads[0]);
    });
    // The slowest windows of the training are missing.
    bench.refuses_forged("inconsistent", "workloads[0].evaluations[1].step", |r| {
        r.workloads[0].windows.remove(1);
        r.workloads[0].peaks.clear();
        record::count_samples(&mut r.workloads[0]);
    });
    // More samples than these steps have, because the last batch of an epoch is short.
    bench.refuses_forged("inconsistent", "workloads[0].windows[1].samples", |r| {
        r.workloads[0].windows.iter_mut().for_each(|window| window.samples = u64::from(window.steps) * 128);
    });
    // Windows with a tenth of their time, and evaluations at the old times.
    let field = "workloads[0].evaluations[0].training_seconds";
    bench.refuses_forged("inconsistent", field, |r| r.workloads[0].windows[0].seconds /= 10.0);
    // The worst evaluations are missing.
    bench.refuses_forged("not_standard", "workloads[0].evaluations[0].step", |r| {
        r.workloads[0].evaluations.remove(0);
    });
    // Training ended at the best accuracy.
    bench.refuses_forged("not_standard", "workloads[0].evaluations[2].step", |r| {
        r.workloads[0].evaluations.pop();
        record::reach(&mut r.workloads[0]);
    });
    bench.refuses_forged("not_standard", "workloads[0].evaluations", |r| {
        r.workloads[0].evaluations.clear();
        record::reach(&mut r.workloads[0]);
    });
    // Training continued after its end.
    bench.refuses_forged("not_standard", "workloads[0].evaluations[4].step", |r| {
        let last = r.workloads[0].evaluations.last().copied().unwrap();
        let (step, training_seconds) = (last.step + 1100, last.training_seconds + 1.1);
        r.workloads[0].evaluations.push(results::Evaluation { step, training_seconds, accuracy: 0.9999, ..last });
    });
    bench.still_accepts_the_honest_record();
}

#[test]
fn partial_suite_run_is_stored_but_not_ranked() {
    let server = TestServer::start();
    let half = server.accepted(|record| {
        record.workloads.pop();
    });
    let list: results::api::RunList = server.get("/api/v1/runs").parse();
    assert!(list.rows.iter().all(|row| row.run_id == half.run_id && !row.ranked) && list.total == 1);
}

#[test]
fn multi_device_runs_are_refused_under_any_label() {
    let server = TestServer::start();
    for (number, devices) in [(1, 2), (2, 1)] {
        let mut record = record::unregistered(number);
        record.workloads[1].communication = Some(results::Communication::among(devices));
        server.import(&record).assert_refused(422, "several_devices", "workloads[1].communication");
    }
}

#[test]
fn streamed_runs_are_refused_under_any_label() {
    let server = TestServer::start();
    for (number, mode) in (1..).zip(results::InputMode::ALL) {
        let mut record = record::unregistered(number);
        record.workloads[1].input = Some(results::InputPipeline::new(mode));
        server.import(&record).assert_refused(422, "streamed_input", "workloads[1].input");
    }
}

#[test]
fn unknown_suite_is_refused_before_training() {
    let server = TestServer::start();
    for (name, version) in [("quick", 2), ("quicker", 1)] {
        let request = results::api::StartRun {
            suite: results::Suite { name: name.to_owned(), version },
            engine_version: record::ENGINE_VERSION.to_owned(),
        };
        server.json("POST", "/api/v1/runs", &request).assert_refused(422, "unknown_suite", "suite");
    }
}
