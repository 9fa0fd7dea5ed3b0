//! Refused records, one case for each rule, and records that are accepted with a flag.

use std::num::NonZero;

use results::{
    Communication, Correctness, Epoch, Evaluation, Goal, InputMode, InputPipeline, Length, Outcome, Settings,
    WholeBatch,
};
use serde_json::{Value, json};

use crate::support::*;

/// An announced run with an honest record, which is changed in one place at a time.
struct RefusalBench {
    server: TestServer,
    started: StartedRun,
    record: RunRecord,
}

impl RefusalBench {
    fn new() -> Self {
        let server = TestServer::start();
        let (started, record) = server.honest_run();
        Self { server, started, record }
    }

    /// Sets the JSON `pointer` to `value` and expects a refusal that names `field`. An empty field means the
    /// field of the pointer.
    #[track_caller]
    fn refuses(&self, pointer: &str, value: Value, code: &str, field: &str) {
        let mut json = serde_json::to_value(&self.record).unwrap();
        *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is in the record")) = value;
        let answer = self.server.json("PUT", &format!("/api/v1/runs/{}", self.started.run_id), &json);
        let same = || pointer[1..].replace("/0", "[0]").replace("/1", "[1]").replace('/', ".");
        answer.assert_refused(422, code, &if field.is_empty() { same() } else { field.to_owned() });
    }

    /// Changes the record, recomputes its summaries, and expects a refusal.
    #[track_caller]
    fn refuses_upload(&self, code: &str, field: &str, change: impl Fn(&mut RunRecord)) {
        let mut record = self.record.clone();
        change(&mut record);
        record::summarise(&mut record);
        self.server.upload(&self.started.run_id, &record).assert_refused(422, code, field);
    }

    /// Does the same, and also expects the refusal of an import.
    #[track_caller]
    fn refuses_changed(&self, code: &str, field: &str, change: impl Fn(&mut RunRecord)) {
        self.refuses_upload(code, field, &change);
        let mut imported = RunRecord { run_id: None, nonce: None, ..self.record.clone() };
        change(&mut imported);
        record::summarise(&mut imported);
        imported.requested.seed = imported.requested.seed.wrapping_add(1);
        self.server.import(&imported).assert_refused(422, code, field);
    }

    /// Asserts that each changed record is refused with a code and a field, and that the run is still unused.
    #[track_caller]
    fn refuses_all(&self, cases: &[(&str, &str, Edit<RunRecord>)]) {
        for (code, field, change) in cases {
            self.refuses_changed(code, field, change);
        }
        self.still_accepts_the_honest_record();
    }

    #[track_caller]
    fn still_accepts_the_honest_record(&self) {
        assert_eq!(self.server.upload(&self.started.run_id, &self.record).status, 201);
    }
}

fn first(record: &mut RunRecord) -> &mut WorkloadRecord {
    &mut record.workloads[0]
}

fn settings(record: &mut RunRecord) -> &mut Settings {
    &mut first(record).settings
}

fn correctness(record: &mut RunRecord) -> &mut Correctness {
    first(record).correctness.as_mut().unwrap()
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let bench = RefusalBench::new();
    let hidden = json!({"kind": "tab_hidden", "seconds": -1, "paused_seconds": 0});
    bench.refuses("/schema_version", json!(0), "unknown_schema_version", "");
    bench.refuses("/departures", json!([{ "kind": "other_networks" }]), "not_standard", "");
    bench.refuses("/workloads/0/settings/precision", json!("f16-matrix"), "not_standard", "departures");
    bench.refuses("/requested/adapter", json!(""), "empty", "");
    bench.refuses("/requested/suite", json!("complete"), "inconsistent", "");
    bench.refuses("/provenance/wall_seconds", json!(-1), "out_of_range", "");
    bench.refuses("/provenance/wall_seconds", json!(1e9), "out_of_range", "");
    bench.refuses("/provenance/started_unix_seconds", json!(1e12), "out_of_range", "");
    bench.refuses("/provenance/commit", json!("c".repeat(65)), "too_long", "");
    bench.refuses("/provenance/client/name", json!(""), "empty", "");
    bench.refuses("/provenance/client/logical_processors", json!(0), "out_of_range", "");
    bench.refuses("/device/backend", json!("WGSL"), "bad_name", "");
    bench.refuses("/device/backend", json!("reference"), "inconsistent", "");
    bench.refuses("/device/adapter/kind", json!("cpu"), "inconsistent", "");
    bench.refuses("/device/adapter/name", json!("a".repeat(201)), "too_long", "");
    bench.refuses("/device/adapter/driver", json!("\u{1b}[2J"), "control_character", "");
    bench.refuses("/device/claimed_name", json!("abc\u{202e}cba"), "control_character", "");
    bench.refuses("/workloads", json!([]), "nothing_completed", "");
    bench.refuses("/workloads/0/workload", json!("a' OR '1'='1"), "bad_name", "");
    bench.refuses("/workloads/1/workload", json!("keras-mnist-mlp"), "duplicate_workload", "");
    bench.refuses("/warnings/0", hidden, "out_of_range", "warnings[0].seconds");
    let unregistered = json!({"kind": "unregistered", "reason": "r".repeat(301)});
    bench.refuses("/warnings/0", unregistered, "too_long", "warnings[0].reason");
    let refuses = |name: &str, value: Value| {
        bench.refuses(&format!("/workloads/0/settings/{name}"), value, "out_of_range", "");
    };
    refuses("batch_size", json!(0));
    refuses("batch_size", json!(65_537));
    refuses("learning_rate", json!(0));
    refuses("learning_rate", json!(-0.1));
    refuses("learning_rate", json!(1000.5));
    refuses("training_samples", json!(0));
    refuses("test_samples", json!(0));
    refuses("parameters", json!(0));
    refuses("training_flops_per_sample", json!(0));
    refuses("training_flops_per_sample", json!(u64::MAX));
    refuses("device_memory_bytes", json!(u64::MAX));
    bench.still_accepts_the_honest_record();
}

#[test]
fn raw_samples_that_contradict_each_other_are_refused() {
    let bench = RefusalBench::new();
    let refuses = |pointer: &str, value: Value, code: &str, field: &str| {
        bench.refuses(&format!("/workloads/1/{pointer}"), value, code, field);
    };
    refuses("settings/batch_size", json!(60_001), "inconsistent", "");
    refuses("settings/variants", json!(vec!["v"; 257]), "too_many", "");
    refuses("windows/1/seconds", json!(-1), "out_of_range", "");
    refuses("windows/1/samples", json!(128_001), "inconsistent", "");
    refuses("windows/1/samples", json!(468), "inconsistent", "");
    refuses("curve/0/accuracy", json!(1.01), "out_of_range", "");
    refuses("curve/0/loss", json!(-1), "out_of_range", "");
    refuses("curve/1/step", json!(469), "not_increasing", "");
    refuses("curve/1/step", json!(8476), "inconsistent", "");
    refuses("curve/1/training_seconds", json!(0.1), "not_increasing", "");
    refuses("curve/1/training_seconds", json!(8.6), "inconsistent", "");
    refuses("evaluations/0/accuracy", json!(-0.01), "out_of_range", "");
    refuses("evaluations/0/seconds", json!(1e300), "out_of_range", "");
    refuses("evaluations/1/step", json!(469), "not_increasing", "");
    refuses("evaluations/1/step", json!(8476), "inconsistent", "");
    refuses("epochs/0/epoch", json!(2), "not_increasing", "");
    refuses("epochs/0/seconds", json!(8.6), "inconsistent", "workloads[1].epochs");
    refuses("target/accuracy", json!(1.5), "out_of_range", "");
    refuses("target/accuracy", json!(0.9), "inconsistent", "workloads[1].target.reached_step");
    refuses("target/reached_step", json!(2000), "inconsistent", "");
    refuses("target/reached_step", Value::Null, "inconsistent", "");
    refuses("target/reached_seconds", json!(2.0), "inconsistent", "");
    refuses("first_losses", json!(vec![2.5; 1001]), "too_many", "");
    refuses("cold_start/build_seconds", json!(-0.1), "out_of_range", "");
    refuses("peaks/1/window", json!(10), "inconsistent", "");
    refuses("peaks/0/flops_per_second", json!(0.0), "out_of_range", "");
    refuses("peaks/0/copied_bytes_per_second", json!(-1.0), "out_of_range", "");
    refuses("cold_start/compiling_seconds", json!(-0.1), "out_of_range", "");
    refuses("resources/cpu_user_percent", json!(-1), "out_of_range", "");
    refuses("resources/machine_io_wait_percent", json!(-1), "out_of_range", "");
    refuses("resources/samples/1/seconds", json!(0.25), "not_increasing", "");
    refuses("resources/samples/0/gpu_busy_percent", json!(101), "out_of_range", "");
    refuses("resources/samples/0/gpu_power_watts", json!(-1), "out_of_range", "");
    refuses("resources/samples/1/gpu_energy_joules", json!(1), "inconsistent", "");
    refuses("resources/samples/1/gpu_clock_hertz", json!(1e13), "out_of_range", "");
    refuses("resources/samples", json!(vec![json!({ "seconds": 1.0 }); 129]), "too_many", "");
    refuses("resources/resident_memory_average_bytes", json!(130_000_000), "inconsistent", "");
    bench.refuses_all(&[
        ("inconsistent", "workloads[0].windows", |r| first(r).windows.clear()),
        ("inconsistent", "workloads[0].windows", |r| first(r).windows.iter_mut().for_each(|w| w.seconds = 0.0)),
        ("inconsistent", "workloads[0].epochs", |r| {
            let epoch = first(r).epochs[0];
            first(r).epochs =
                (1..=17).map(|epoch_number| Epoch { epoch: epoch_number, seconds: 0.1, ..epoch }).collect();
        }),
        ("nothing_completed", "workloads", |r| r.workloads.iter_mut().for_each(|w| w.outcome = Outcome::Cancelled)),
    ]);
}

#[test]
fn refuses_summaries_that_contradict_raw_samples() {
    let bench = RefusalBench::new();
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
        bench.refuses(&format!("/workloads/0/summary/{name}"), wrong, "summary_mismatch", "");
    }
    bench.refuses("/workloads/0/summary/accuracy", Value::Null, "summary_mismatch", "");
    bench.still_accepts_the_honest_record();
}

#[test]
fn refuses_comparisons_that_contradict_their_losses() {
    let bench = RefusalBench::new();
    let refuses = |pointer: &str, value: Value, field: &str, code: &str| {
        let field = format!("workloads[0].correctness.{field}");
        bench.refuses(&format!("/workloads/0/correctness/{pointer}"), value, code, &field);
    };
    refuses("losses/0", json!(2.6), "largest_difference", "inconsistent");
    refuses("largest_difference", json!(0.0005), "largest_difference", "inconsistent");
    refuses("passed", json!(false), "passed", "inconsistent");
    refuses("tolerance", json!(0.2), "tolerance", "out_of_range");
    refuses("tolerance", json!(0.0011), "tolerance", "out_of_range");
    refuses("tolerance", json!(-1e-9), "tolerance", "out_of_range");
    refuses("losses", json!([2.5]), "reference_losses", "inconsistent");
    refuses("losses", json!([]), "reference_losses", "inconsistent");
    refuses("reference_losses", json!([2.5]), "reference_losses", "inconsistent");
    refuses("batch_size", json!(0), "batch_size", "out_of_range");
    bench.refuses_all(&[
        ("out_of_range", "workloads[0].correctness.redraws", |r| correctness(r).redraws = 3),
        // No losses on either side.
        ("inconsistent", "workloads[0].correctness.reference_losses", |r| {
            correctness(r).losses.clear();
            correctness(r).reference_losses.clear();
        }),
        // Infinity is written as the largest number. Two infinite values do not agree.
        ("inconsistent", "workloads[0].correctness.largest_difference", |r| {
            (correctness(r).losses[1], correctness(r).reference_losses[1]) = (f64::MAX, f64::MAX);
        }),
        // The disagreement is reported, but the workload is marked as completed.
        ("inconsistent", "workloads[0].correctness.passed", |r| {
            correctness(r).losses[1] = 2.0 * correctness(r).reference_losses[1];
            (correctness(r).largest_difference, correctness(r).passed) = (1.0, false);
        }),
    ]);
}

#[test]
fn refuses_whole_batch_results_that_contradict_their_numbers() {
    let bench = RefusalBench::new();
    let with_whole = |record: &mut RunRecord, change: fn(&mut WholeBatch)| {
        let mut whole = record::parse(json!({
            "batch_size": settings(record).batch_size, "part_size": 16, "loss": 2.5, "loss_of_parts": 2.5,
            "gradient_difference": 0.01, "gradient_tolerance": 0.05, "passed": true,
        }));
        change(&mut whole);
        correctness(record).whole_batch = Some(whole);
    };
    let refuses = |field: &str, code: &str, change: Edit<WholeBatch>| {
        bench.refuses_changed(code, &format!("workloads[0].correctness.{field}"), |record| with_whole(record, change));
    };
    refuses("whole_batch.batch_size", "inconsistent", |whole| whole.batch_size += 1);
    refuses("whole_batch.part_size", "out_of_range", |whole| whole.part_size = 0);
    refuses("whole_batch.part_size", "out_of_range", |whole| whole.part_size = whole.batch_size + 1);
    refuses("whole_batch.gradient_difference", "out_of_range", |whole| whole.gradient_difference = -1e-9);
    refuses("whole_batch.gradient_tolerance", "out_of_range", |whole| whole.gradient_tolerance = 0.06);
    refuses("whole_batch.passed", "inconsistent", |whole| whole.gradient_difference = 0.06);
    refuses("whole_batch.passed", "inconsistent", |whole| whole.loss = 2.51);
    refuses("whole_batch.passed", "inconsistent", |whole| (whole.loss, whole.loss_of_parts) = (f64::MAX, f64::MAX));
    // The disagreement of the whole batch is reported, but marked as passed.
    refuses("passed", "inconsistent", |whole| (whole.gradient_difference, whole.passed) = (1.0, false));
    let mut right = bench.record.clone();
    with_whole(&mut right, |_| {});
    assert_eq!(bench.server.upload(&bench.started.run_id, &right).status, 201);
}

#[test]
fn tolerance_depends_on_precision_and_browsers_have_major_versions() {
    let server = TestServer::start();
    let import = |precision: Precision, tolerance: f64| {
        let mut record = record::unregistered(1);
        settings(&mut record).precision = precision;
        // Off by two percent, which is allowed only for f16.
        let correctness = correctness(&mut record);
        correctness.losses[0] = 2.55;
        (correctness.largest_difference, correctness.tolerance) = ((2.55 - 2.5) / 2.5, tolerance);
        record::declare(&mut record);
        server.import(&record)
    };
    for precision in [Precision::F32, Precision::F64] {
        import(precision, 0.1).assert_refused(422, "out_of_range", "workloads[0].correctness.tolerance");
    }
    for precision in [Precision::F16, Precision::F16Matrix] {
        assert_eq!(import(precision, 0.1).status, 201);
        import(precision, 0.11).assert_refused(422, "out_of_range", "workloads[0].correctness.tolerance");
    }

    let import = |version: &str| {
        let mut record = record::unregistered(1);
        record::in_browser(&mut record);
        record.provenance.client.version = version.to_owned();
        server.import(&record)
    };
    for precise in ["142.0.7444.59", "Mozilla/5.0 (X11; Linux x86_64)", "142 beta"] {
        import(precise).assert_refused(422, "too_precise", "provenance.client.version");
    }
    assert_eq!(import("142").status, 201);
}

#[test]
fn more_time_than_passed_cannot_be_claimed() {
    let bench = RefusalBench::new();
    let refuses =
        |change: Edit<RunRecord>| bench.refuses_upload("time_does_not_fit", "provenance.wall_seconds", change);
    refuses(|r| r.provenance.wall_seconds = 25.0);
    refuses(|r| r.provenance.wall_seconds = 10.0);
    refuses(|r| record::scale_time(r, 2.0));
    refuses(|r| first(r).windows[0].seconds = 9.0);
    bench.still_accepts_the_honest_record();
    let started = bench.server.begin();
    let at_once = bench.server.upload(&started.run_id, &record::for_run(&started));
    at_once.assert_refused(422, "time_does_not_fit", "provenance.wall_seconds");
}

#[test]
fn implausible_runs_are_flagged_with_the_reason() {
    let server = TestServer::start();
    let flags = |reason: &str, change: Edit<RunRecord>| {
        assert_tier(&server.accepted(change).verdict, Tier::Flagged, reason);
    };
    flags("FLOP/s", |r| record::speed_up(r, 100_000));
    flags("compared", |r| first(r).correctness = None);
    flags("recomputed", |r| first(r).first_losses.clear());
    flags("evaluated", |r| {
        r.requested.target_accuracy = Some(0.5);
        first(r).evaluations.clear();
        record::reach(first(r));
    });
    flags("swiftshader", |r| r.device.adapter.name = "Google SwiftShader".to_owned());
    let mut imported = record::unregistered(3);
    first(&mut imported).first_losses.clear();
    let run: AcceptedRun = server.import(&imported).parse();
    assert_eq!((run.verdict.tier, run.verdict.notes.len()), (Tier::Flagged, 2), "both reasons are reported");
}

#[test]
fn runs_that_learned_badly_or_in_part_are_accepted_unranked() {
    let server = TestServer::start();
    let bad = server.accepted(|record| {
        let workload = first(record);
        workload.curve[1].loss = 2.9;
        workload.evaluations.iter_mut().for_each(|e| (e.accuracy, e.loss) = (0.08, 3.1));
        record::reach(workload);
    });
    assert_eq!(bad.verdict.tier, Tier::Checked);
    let half = server.accepted(|record| drop(record.workloads.pop()));
    let list = server.list("");
    assert!(list.rows.iter().all(|row| !row.ranked) && list.total == 3);
    assert_eq!(list.rows.iter().filter(|row| row.run_id == half.run_id).count(), 1);
}

#[test]
fn work_that_differs_from_the_network_is_refused() {
    let flops = "workloads[0].settings.training_flops_per_sample";
    RefusalBench::new().refuses_all(&[
        ("wrong_work", flops, |r| settings(r).training_flops_per_sample = 1),
        ("wrong_work", flops, |r| settings(r).training_flops_per_sample *= 1000),
        ("wrong_work", "workloads[0].settings.parameters", |r| settings(r).parameters = 7850),
        ("wrong_work", "workloads[0].settings.test_samples", |r| settings(r).test_samples = 100),
        ("wrong_work", "workloads[0].settings.training_samples", |r| settings(r).training_samples = 50_000),
        ("unknown_workload", "workloads[0].workload", |r| {
            first(r).workload = "imagenet-in-a-minute".to_owned();
            record::declare(r);
        }),
        ("network_of_a_file", "workloads[0].network", |r| first(r).network = Some(json!({ "name": "mine" }))),
        ("unknown_backend", "device.backend", |r| record::on_backend(r, "warp-drive")),
        // Nonstandard runs also have the network's work.
        ("wrong_work", "workloads[0].settings.parameters", |r| {
            r.requested.length = NonZero::new(4).map(Length::Steps);
            record::declare(r);
            settings(r).parameters = 7850;
        }),
        ("inconsistent", "workloads[0].evaluations[0].training_seconds", |r| {
            r.requested.length = NonZero::new(4).map(Length::Steps);
            record::declare(r);
            first(r).windows[0].seconds /= 10.0;
        }),
        ("several_devices", "workloads[0].communication", |r| first(r).communication = Some(Communication::among(2))),
        ("several_devices", "workloads[0].communication", |r| first(r).communication = Some(Communication::among(1))),
        ("streamed_input", "workloads[0].input", |r| first(r).input = Some(InputPipeline::new(InputMode::Resident))),
        ("streamed_input", "workloads[0].input", |r| first(r).input = Some(InputPipeline::new(InputMode::Prefetch))),
        ("streamed_input", "workloads[0].input", |r| first(r).input = Some(InputPipeline::new(InputMode::Stream))),
    ]);
}

#[test]
fn undeclared_departures_and_other_courses_of_training_are_refused() {
    RefusalBench::new().refuses_all(&[
        ("not_standard", "workloads[0].settings.batch_size", |r| {
            settings(r).batch_size = 1024;
            record::count_samples(first(r));
            first(r).epochs.clear();
        }),
        ("not_standard", "workloads[0].settings.learning_rate", |r| settings(r).learning_rate = 0.002),
        ("not_standard", "workloads[0].target.accuracy", |r| {
            first(r).target.as_mut().unwrap().goal = Goal::Accuracy(0.9);
            record::reach(first(r));
        }),
        ("not_standard", "workloads[0].target", |r| first(r).target = None),
        ("not_standard", "departures", |r| record::on_backend(r, "reference")),
        ("not_standard", "departures", |r| drop(r.workloads.pop())),
        // Training with ten times the steps in the same windows.
        ("inconsistent", "workloads[0].evaluations[0].step", |r| {
            first(r).windows.iter_mut().for_each(|window| window.steps *= 10);
            record::count_samples(first(r));
        }),
        // The slowest windows of the training are missing.
        ("inconsistent", "workloads[0].evaluations[1].step", |r| {
            first(r).windows.remove(1);
            first(r).peaks.clear();
            record::count_samples(first(r));
        }),
        // More samples than these steps have, because the last batch of an epoch is short.
        ("inconsistent", "workloads[0].windows[1].samples", |r| {
            first(r).windows.iter_mut().for_each(|window| window.samples = u64::from(window.steps) * 128);
        }),
        // Windows with a tenth of their time, and evaluations at the old times.
        ("inconsistent", "workloads[0].evaluations[0].training_seconds", |r| first(r).windows[0].seconds /= 10.0),
        // The worst evaluations are missing.
        ("not_standard", "workloads[0].evaluations[0].step", |r| {
            first(r).evaluations.remove(0);
        }),
        // Training ended at the best accuracy.
        ("not_standard", "workloads[0].evaluations[2].step", |r| {
            first(r).evaluations.pop();
            record::reach(first(r));
        }),
        ("not_standard", "workloads[0].evaluations", |r| {
            first(r).evaluations.clear();
            record::reach(first(r));
        }),
        // Training continued after its end.
        ("not_standard", "workloads[0].evaluations[4].step", |r| {
            let last = *first(r).evaluations.last().unwrap();
            let (step, training_seconds) = (last.step + 1100, last.training_seconds + 1.1);
            first(r).evaluations.push(Evaluation { step, training_seconds, accuracy: 0.9999, ..last });
        }),
    ]);
}
