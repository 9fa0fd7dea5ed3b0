//! Records for the tests of this crate.

use std::num::NonZero;

use results::kernels::{self, KernelRecord, KernelReport, Pass, Peak};
use results::{
    Adapter, Client, ColdStart, Communication, CurvePoint, Departure, Device, DeviceKind, Epoch, Evaluation, Goal,
    InputMode, InputPipeline, Layout, Length, Outcome, Provenance, Resources, RunRecord, RunSpec, SCHEMA_VERSION,
    Settings, Suite, Target, Warning, Window, WorkloadRecord,
};

use crate::report::findings::{Finding, FindingRule, Kind};
use crate::report::group::Group;
use crate::report::input::{GatheredRuns, Input, ReportEntry, Study};

const WINDOW_SECONDS: f64 = 1.5;
const JITTER: f64 = 0.005;

/// Record of one workload that tests can change.
#[derive(Clone)]
pub(crate) struct MadeRun {
    record: RunRecord,
    rate: f64,
    windows: usize,
    steps: u64,
    accuracies: Vec<f64>,
}

impl MadeRun {
    pub(crate) fn new(workload: &str) -> Self {
        Self { record: record(workload), rate: 10_000.0, windows: 10, steps: 600, accuracies: vec![0.9] }
    }

    fn with(mut self, change: impl FnOnce(&mut RunRecord)) -> Self {
        change(&mut self.record);
        self
    }

    fn with_settings(self, change: impl FnOnce(&mut Settings)) -> Self {
        self.with(|record| change(&mut record.workloads[0].settings))
    }

    pub(crate) fn backend(self, name: &str) -> Self {
        self.with(|record| name.clone_into(&mut record.device.backend))
    }

    pub(crate) fn device(self, name: &str) -> Self {
        self.with(|record| name.clone_into(&mut record.device.adapter.name))
    }

    pub(crate) fn software(self) -> Self {
        let name = self.record.device.adapter.name.clone();
        self.warning(Warning::SoftwareAdapter { name }).with(|record| record.device.adapter.software = true)
    }

    pub(crate) fn warning(self, warning: Warning) -> Self {
        self.with(|record| record.warnings.push(warning))
    }

    pub(crate) fn seed(self, seed: u32) -> Self {
        self.with(|record| record.requested.seed = seed)
    }

    pub(crate) fn batch_size(self, size: u32) -> Self {
        self.with_settings(|settings| settings.batch_size = size)
    }

    pub(crate) fn learning_rate(self, rate: f64) -> Self {
        self.with_settings(|settings| settings.learning_rate = rate)
    }

    pub(crate) fn threads(self, count: u32) -> Self {
        self.with_settings(|settings| settings.threads = Some(count))
    }

    pub(crate) fn layout(self, layout: Layout) -> Self {
        self.with_settings(|settings| settings.layout = Some(layout))
    }

    /// Sets the number of devices, which exchange data for 1.5 s.
    pub(crate) fn devices(self, count: u32) -> Self {
        if count == 1 {
            return self;
        }
        let communication = Communication { reading_seconds: WINDOW_SECONDS, ..Communication::among(count) };
        self.with(|record| {
            record.workloads[0].communication = Some(communication);
            record.departures.push(Departure::Devices { count, logical: true });
        })
    }

    /// Sets the input mode, with 1.5 s of waiting if it is streamed.
    pub(crate) fn input(self, mode: InputMode) -> Self {
        if mode == InputMode::Resident {
            return self;
        }
        let input = InputPipeline { waiting_seconds: WINDOW_SECONDS, ..InputPipeline::new(mode) };
        self.with(|record| {
            record.workloads[0].input = Some(input);
            record.departures.push(Departure::Input { mode });
        })
    }

    pub(crate) fn departure(self, departure: Departure) -> Self {
        self.with(|record| record.departures = vec![departure])
    }

    pub(crate) fn trained_epochs(self, count: u32) -> Self {
        self.trained(Length::Epochs(NonZero::new(count).unwrap()))
    }

    pub(crate) fn trained_steps(self, count: u64) -> Self {
        self.trained(Length::Steps(NonZero::new(count).unwrap()))
    }

    fn trained(self, length: Length) -> Self {
        self.with(|record| record.requested.length = Some(length)).departure(Departure::Length { length })
    }

    pub(crate) fn outcome(self, outcome: Outcome) -> Self {
        self.with(|record| record.workloads[0].outcome = outcome)
    }

    pub(crate) fn without_resources(self) -> Self {
        self.with(|record| record.workloads[0].resources = Resources::default())
    }

    pub(crate) fn cold_start(self, seconds: [Option<f64>; 5]) -> Self {
        let [data_seconds, build_seconds, compiling_seconds, tuning_seconds, first_step_seconds] = seconds;
        let start = ColdStart { data_seconds, build_seconds, compiling_seconds, tuning_seconds, first_step_seconds };
        self.with(|record| record.workloads[0].cold_start = start)
    }

    pub(crate) fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    pub(crate) fn rate(self, rate: f64) -> Self {
        Self { rate, ..self }
    }

    /// Sets the number of windows of 1.5 s each; the first is warm-up.
    pub(crate) fn windows(self, count: usize) -> Self {
        Self { windows: count, ..self }
    }

    pub(crate) fn accuracy(self, share: f64) -> Self {
        self.accuracies(&[share])
    }

    /// Sets the accuracies after equal parts of the training.
    pub(crate) fn accuracies(self, shares: &[f64]) -> Self {
        Self { accuracies: shares.to_vec(), ..self }
    }

    pub(crate) fn record(self) -> RunRecord {
        let Self { mut record, rate, windows, steps, accuracies } = self;
        let workload = &mut record.workloads[0];
        if workload.outcome != Outcome::Completed {
            return record;
        }
        let batch = f64::from(workload.settings.batch_size);
        let window = |number: usize| {
            let rate = rate * (1.0 + JITTER * [0.0, 1.0, -1.0][number % 3]);
            let steps = (rate * WINDOW_SECONDS / batch).round().max(1.0);
            let seconds = steps * batch / rate;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers of a test")]
            let (steps, samples) = (steps as u32, (steps * batch) as u64);
            Window { steps, samples, seconds }
        };
        workload.windows = (0..windows).map(window).collect();
        let seconds_until = |step: u64| step as f64 * batch / rate;
        let count = accuracies.len() as u64;
        for (number, &accuracy) in (1..).zip(&accuracies) {
            let step = steps * number / count;
            let training_seconds = seconds_until(step);
            let loss = 1.0 - accuracy;
            workload.evaluations.push(Evaluation { step, training_seconds, seconds: 0.25, loss, accuracy });
            workload.curve.push(CurvePoint { step, training_seconds, loss, accuracy });
        }
        let samples = f64::from(workload.settings.training_samples);
        let is_finished = |epoch: &u32| f64::from(*epoch) * samples <= steps as f64 * batch;
        let epoch = |epoch| Epoch { epoch, seconds: samples / rate, loss: 0.1, accuracy: 0.9 };
        workload.epochs = (1..).take_while(is_finished).map(epoch).collect();
        record
    }
}

fn record(workload: &str) -> RunRecord {
    let text = str::to_owned;
    let settings = Settings {
        batch_size: 100,
        learning_rate: 0.01,
        training_samples: 60_000,
        test_samples: 10_000,
        chance_accuracy: Some(0.1135),
        parameters: 431_080,
        training_flops_per_sample: 13_182_000,
        device_memory_bytes: 64 << 20,
        ..Settings::default()
    };
    let workload = WorkloadRecord {
        workload: text(workload),
        settings,
        cold_start: ColdStart { first_step_seconds: Some(0.1), ..ColdStart::default() },
        target: Some(Target { goal: Goal::Accuracy(0.98), reached_seconds: None, reached_step: None }),
        resources: Resources {
            cpu_user_percent: Some(180.0),
            cpu_system_percent: Some(12.0),
            resident_memory_average_bytes: Some(200 << 20),
            resident_memory_maximum_bytes: Some(300 << 20),
            ..Resources::default()
        },
        ..WorkloadRecord::default()
    };
    let client = Client { name: text("native-runner"), operating_system: text("Linux"), ..Client::default() };
    let (name, api) = (text("Some CPU"), text("CPU"));
    let adapter = Adapter { name, kind: DeviceKind::Cpu, api, ..Adapter::default() };
    RunRecord {
        schema_version: SCHEMA_VERSION,
        requested: RunSpec { seed: 1, ..RunSpec::default() },
        suite: Suite { name: text("quick"), version: 1 },
        provenance: Provenance { engine_version: text("0.1.0"), commit: text("abc"), client, ..Provenance::default() },
        device: Device { backend: text("burn-flex"), adapter, ..Device::default() },
        workloads: vec![workload],
        ..RunRecord::default()
    }
}

pub(crate) fn found(rule: &FindingRule, runs: impl IntoIterator<Item = MadeRun>) -> Vec<Finding> {
    found_in(rule, &input(runs.into_iter().map(MadeRun::record).collect()))
}

pub(crate) fn found_in(rule: &FindingRule, input: &Input) -> Vec<Finding> {
    (rule.find)(&GatheredRuns::of(input))
}

/// Checks the kind of the first finding, and parts of its text.
#[track_caller]
pub(crate) fn expect(found: &[Finding], kind: Kind, parts: &[&str]) {
    assert_eq!(found.first().map(|found| found.kind), Some(kind), "{found:?}");
    for part in parts {
        assert!(found[0].text.contains(part), "`{part}` is missing in: {}", found[0].text);
    }
}

/// Returns a study of five cells, run at half its length.
pub(crate) fn study() -> Study {
    Study {
        name: "s".to_owned(),
        title: "S".to_owned(),
        scale: 0.5,
        planned_cells: 5,
        finished_cells: 5,
        ..Study::default()
    }
}

/// Runs a test with the groups of these runs.
pub(crate) fn with_groups<T>(runs: impl IntoIterator<Item = MadeRun>, test: impl FnOnce(&[&Group<'_>]) -> T) -> T {
    let records: Vec<RunRecord> = runs.into_iter().map(MadeRun::record).collect();
    let groups = Group::of_records(records.iter());
    test(&groups.iter().collect::<Vec<_>>())
}

pub(crate) fn input(records: Vec<RunRecord>) -> Input {
    let entry = |(number, record)| ReportEntry {
        place: format!("{number}.json"),
        record: Some(record),
        ..ReportEntry::default()
    };
    let entries = records.into_iter().enumerate().map(entry).collect();
    Input { title: "A test".to_owned(), entries, ..Input::default() }
}

/// Returns matrix products measured by a process on a device with a peak of one TFLOP/s: size, pass, and the share of
/// the peak if one was measured.
pub(crate) fn kernels(device: &str, entries: &[(&str, Pass, Option<f64>)]) -> KernelRecord {
    let adapter = Adapter { name: device.to_owned(), ..record("x").device.adapter };
    let timing = |seconds: f64| {
        let windows = [0.99, 1.0, 1.01].map(|factor| results::measured::Window::new(1, factor * seconds)).to_vec();
        kernels::KernelTiming::of(windows).expect("there are windows")
    };
    let mut report = KernelReport::new(adapter);
    report.peaks.arithmetic = Some(Peak {
        title: "Arithmetic, fused multiply-adds".to_owned(),
        unit: kernels::PeakUnit::FlopsPerSecond,
        value: 1e12,
        variant: "8 chains".to_owned(),
        work_per_repetition: 1e9,
        timing: timing(1e-3),
        tried: Vec::new(),
    });
    let entry = |&(size, pass, share): &(&str, Pass, Option<f64>)| {
        let flops: u64 = size.split(" × ").map(|number| number.parse::<u64>().unwrap_or(1)).product::<u64>() * 2;
        let outcome = match share {
            Some(share) => kernels::KernelOutcome::Measured(kernels::KernelFigures {
                flops_per_second: share * 1e12,
                peak_flops_per_second: Some(1e12),
                peak_share: Some(share),
                timing: timing(flops as f64 / (share * 1e12)),
            }),
            None => kernels::KernelOutcome::TooSlow { predicted_seconds: 3.0, allowed_seconds: 0.5 },
        };
        let (suite, size, kernels) = (kernels::KernelSuite::Gemm, size.to_owned(), vec!["dense_forward".to_owned()]);
        kernels::Entry { suite, size, pass, flops, bytes: 768, kernels, outcome }
    };
    report.entries = entries.iter().map(entry).collect();
    KernelRecord {
        report,
        requested_adapter: "any".to_owned(),
        budget_seconds: 2.0,
        budget_bytes: 1 << 30,
        provenance: record("x").provenance,
    }
}

pub(crate) fn input_of_kernels(kernels: Vec<KernelRecord>) -> Input {
    Input { kernels, ..input(Vec::new()) }
}
