//! An honest runner's record, for modification by the tests.

use engine::{SUITES, Standard, SuiteDefinition};
use results::api::{StartRun, StartedRun};
use results::{
    ClientKind, Compared, CurvePoint, DeviceKind, Disagreement, Epoch, Evaluation, FailureCause, Goal, Outcome,
    PeakSample, RunRecord, SCHEMA_VERSION, Settings, Stretch, Suite, Target, WeightSample, Window, WorkloadRecord,
    summary,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const ENGINE_VERSION: &str = "0.1.0";

const SUITE: SuiteDefinition = SUITES[0];
/// The network that is faster to verify …
pub(crate) const SMALL: &str = "keras-mnist-mlp";
/// … and the other one of the suite.
pub(crate) const LARGE: &str = "caffe-mnist";
const STEP_SECONDS: f64 = 0.001;
const MEASURED: usize = 6;

pub(crate) fn suite() -> Suite {
    suite_of(&SUITE)
}

fn suite_of(suite: &SuiteDefinition) -> Suite {
    Suite { name: suite.name.to_owned(), version: suite.version }
}

pub(crate) fn start() -> StartRun {
    start_of(&SUITE)
}

pub(crate) fn start_of(suite: &SuiteDefinition) -> StartRun {
    StartRun { suite: suite_of(suite), engine_version: ENGINE_VERSION.to_owned(), network: None }
}

pub(crate) fn for_run(started: &StartedRun) -> RunRecord {
    RunRecord { run_id: Some(started.run_id.clone()), nonce: Some(started.nonce.clone()), ..unregistered(started.seed) }
}

/// Returns an honest record of a run that no leaderboard knows.
pub(crate) fn unregistered(seed: u32) -> RunRecord {
    of_suite(&SUITE, seed)
}

pub(crate) fn of_suite(suite: &SuiteDefinition, seed: u32) -> RunRecord {
    let workloads: Vec<WorkloadRecord> = suite.workloads.iter().map(|name| workload(suite, name)).collect();
    let mut record = parse(json!({
        "schema_version": SCHEMA_VERSION,
        "requested": {
            "suite": suite.name, "backend": "wgsl", "adapter": "discrete", "precision": "f32",
            "seed": seed, "seed_source": "leaderboard",
        },
        "suite": suite_of(suite),
        "departures": [],
        "provenance": {
            "engine_version": ENGINE_VERSION, "commit": "unknown", "started_unix_seconds": 1.8e9, "wall_seconds": 20.0,
            "client": {
                "kind": "native", "name": "native-runner", "version": "0.1.0", "operating_system": "Linux",
                "logical_processors": 16,
            },
        },
        "device": {
            "backend": "wgsl",
            "adapter": {
                "name": "Example GPU 9000", "vendor": "example", "architecture": "nine", "kind": "discrete",
                "api": "Vulkan", "driver": "example 1.2.3", "software": false,
            },
        },
        "workloads": workloads,
        "warnings": [{ "kind": "no_wake_lock" }],
    }));
    summarise(&mut record);
    record
}

pub(crate) fn parse<T: DeserializeOwned>(document: Value) -> T {
    serde_json::from_value(document).unwrap()
}

pub(crate) fn declare(record: &mut RunRecord) {
    record.departures = engine::departures(record, engine::suite(&record.suite.name).unwrap());
}

/// Returns a workload that trains for a millisecond per step, as in the suite, with six further windows of 1.1 seconds.
fn workload(suite: &SuiteDefinition, name: &str) -> WorkloadRecord {
    let standard = Standard::of(suite, name).unwrap();
    let model = &standard.workload.model;
    let looks = standard.workload.evaluations_per_epoch * suite.epochs;
    let marks: Vec<u64> = (1..=looks).map(|number| standard.evaluation_step(number)).collect();
    let seconds = |step: u64| step as f64 * STEP_SECONDS;
    let befores = std::iter::once(0).chain(marks.iter().copied());
    let steps = befores.zip(&marks).map(|(before, mark)| u32::try_from(mark - before).unwrap());
    let steps: Vec<u32> = steps.chain([1100; MEASURED]).collect();
    let window = |&steps: &u32| Window { steps, samples: 0, seconds: seconds(steps.into()) };
    let accuracies = [0.9, 0.94, 0.96].into_iter().chain(std::iter::repeat(0.985));
    let look = |((place, &step), accuracy): ((u32, &u64), f64)| {
        let loss = match standard.workload.target {
            Goal::Accuracy(_) => 1.0 - accuracy,
            Goal::Loss(target) => target * (1.5 - 0.1 * f64::from(place)),
        };
        Evaluation { step, training_seconds: seconds(step), seconds: 0.1, loss, accuracy }
    };
    let point = |&step: &u64| CurvePoint { step, training_seconds: seconds(step), loss: 0.1, accuracy: 0.97 };
    let epoch = |epoch: u32| {
        let steps = standard.batches.steps_of_epochs(epoch) - standard.batches.steps_of_epochs(epoch - 1);
        Epoch { epoch, seconds: seconds(steps), loss: 0.4, accuracy: 0.9 }
    };
    let last = u32::try_from(steps.len()).unwrap() - 1;
    let peak = |window| PeakSample { window, flops_per_second: 2e12, copied_bytes_per_second: Some(4e11) };
    let samples = [0.5, 1.0].map(|seconds| {
        json!({
            "seconds": seconds, "gpu_busy_percent": 98.0, "gpu_power_watts": 100.0,
            "gpu_energy_joules": 100.0 * seconds, "gpu_clock_hertz": 1.5e9,
        })
    });
    let right = |compared| Disagreement { compared, largest_difference: 0.0, tolerance: 1e-3 };
    let mut record = WorkloadRecord {
        workload: name.to_owned(),
        settings: Settings {
            batch_size: standard.workload.batch_size,
            learning_rate: standard.workload.optimizer.learning_rate,
            training_samples: standard.batches.samples,
            test_samples: standard.test_samples,
            chance_accuracy: Some(0.1135),
            parameters: model.parameters().unwrap(),
            training_flops_per_sample: model.operations().unwrap().training_flops(),
            device_memory_bytes: 70_000_000,
            variants: vec!["matmul: tile-64x64".to_owned()],
            ..Settings::default()
        },
        correctness: parse(json!({
            "batch_size": 16, "redraws": 0, "losses": [2.5, 2.25], "reference_losses": [2.5, 2.25], "tolerance": 1e-3,
            "largest_difference": 0.0, "differences": Compared::OF_FIRST_STEPS.map(right), "passed": true,
        })),
        cold_start: parse(json!({
            "data_seconds": 0.5, "build_seconds": 0.5, "compiling_seconds": 0.25, "tuning_seconds": 0.25,
            "first_step_seconds": 0.01,
        })),
        first_losses: vec![2.5, 2.25, 2.0],
        curve: marks.iter().map(point).collect(),
        evaluations: (0..).zip(&marks).zip(accuracies).map(look).collect(),
        epochs: (1..=suite.epochs).map(epoch).collect(),
        windows: steps.iter().map(window).collect(),
        peaks: vec![peak(last - 1), peak(last)],
        target: Some(Target { goal: standard.workload.target, reached_seconds: None, reached_step: None }),
        weight_samples: vec![WeightSample { tensor: 0, index: 7, value: 0.125 }],
        resources: parse(json!({
            "cpu_user_percent": 35.0, "machine_io_wait_percent": 0.5, "resident_memory_average_bytes": 100_000_000,
            "resident_memory_maximum_bytes": 120_000_000, "samples": samples,
        })),
        ..WorkloadRecord::default()
    };
    reach(&mut record);
    count_samples_of(suite, &mut record);
    record
}

/// Sets the target's moment to the first evaluation that reaches it.
pub(crate) fn reach(record: &mut WorkloadRecord) {
    let target = record.target.as_mut().unwrap();
    let first = record.evaluations.iter().find(|evaluation| target.goal.is_reached(evaluation));
    target.reached_step = first.map(|evaluation| evaluation.step);
    target.reached_seconds = first.map(|evaluation| evaluation.training_seconds);
}

pub(crate) fn diverge(record: &mut WorkloadRecord) {
    record.outcome = Outcome::Diverged { step: 5000 };
    record.evaluations.clear();
    reach(record);
}

/// Reason of a network that [`fail`]ed.
pub(crate) const OUT_OF_MEMORY: &str = "the device ran out of memory: a test took all of it; try a smaller batch size";

/// Changes the record to the engine's record of a network that did not fit on the device.
pub(crate) fn fail(record: &mut WorkloadRecord, timeline: Vec<Stretch>) {
    let tried = std::mem::take(record);
    *record = WorkloadRecord {
        workload: tried.workload,
        settings: Settings { chance_accuracy: None, ..tried.settings },
        outcome: Outcome::failed(FailureCause::OutOfMemory, OUT_OF_MEMORY),
        timeline,
        target: tried.target.map(|target| Target { reached_seconds: None, reached_step: None, ..target }),
        resources: tried.resources,
        ..WorkloadRecord::default()
    };
}

pub(crate) fn count_samples(record: &mut WorkloadRecord) {
    count_samples_of(&SUITE, record);
}

fn count_samples_of(suite: &SuiteDefinition, record: &mut WorkloadRecord) {
    let batches = Standard::of(suite, &record.workload).unwrap().batches;
    let batches = engine::BatchPlan { batch_size: record.settings.batch_size, ..batches };
    let mut step = 0;
    for window in &mut record.windows {
        let before = batches.samples_of_steps(step);
        step += u64::from(window.steps);
        window.samples = batches.samples_of_steps(step) - before;
    }
}

/// Returns the windows after the training, which are only measured.
pub(crate) fn measured(record: &mut WorkloadRecord) -> &mut [Window] {
    let first = record.windows.len() - MEASURED;
    &mut record.windows[first..]
}

pub(crate) fn speed_up(record: &mut RunRecord, factor: u32) {
    for workload in &mut record.workloads {
        measured(workload).iter_mut().for_each(|window| window.steps *= factor);
        count_samples(workload);
    }
}

pub(crate) fn on(device: &str, factor: u32) -> impl Fn(&mut RunRecord) {
    move |record| {
        record.device.adapter.name = device.to_owned();
        speed_up(record, factor);
    }
}

pub(crate) fn in_software(record: &mut RunRecord) {
    let adapter = &mut record.device.adapter;
    (adapter.software, adapter.kind) = (true, DeviceKind::Cpu);
    adapter.name = "llvmpipe (LLVM 15)".to_owned();
    record.requested.adapter = "cpu".to_owned();
}

pub(crate) fn on_backend(record: &mut RunRecord, backend: &str) {
    record.requested.backend = backend.to_owned();
    record.device.backend = backend.to_owned();
}

pub(crate) fn in_browser(record: &mut RunRecord) {
    let client = &mut record.provenance.client;
    (client.kind, client.name, client.version) = (ClientKind::Browser, "Chrome".to_owned(), "142".to_owned());
    record.requested.adapter = "browser".to_owned();
    let adapter = &mut record.device.adapter;
    [adapter.name, adapter.vendor, adapter.architecture, adapter.api] =
        ["nvidia ampere", "nvidia", "ampere", "WebGPU"].map(str::to_owned);
    adapter.kind = DeviceKind::Unknown;
}

pub(crate) fn summarise(record: &mut RunRecord) {
    for workload in &mut record.workloads {
        workload.summary = summary::summarise(workload);
    }
}

/// Scales the run: every second of it becomes `factor` seconds.
pub(crate) fn scale_time(record: &mut RunRecord, factor: f64) {
    record.provenance.wall_seconds *= factor;
    for workload in &mut record.workloads {
        let cold = &mut workload.cold_start;
        let starts = [&mut cold.build_seconds, &mut cold.compiling_seconds, &mut cold.tuning_seconds];
        starts.into_iter().flatten().for_each(|seconds| *seconds *= factor);
        workload.windows.iter_mut().for_each(|window| window.seconds *= factor);
        workload.epochs.iter_mut().for_each(|epoch| epoch.seconds *= factor);
        workload.curve.iter_mut().for_each(|point| point.training_seconds *= factor);
        for evaluation in &mut workload.evaluations {
            evaluation.training_seconds *= factor;
            evaluation.seconds *= factor;
        }
        reach(workload);
    }
    summarise(record);
}
