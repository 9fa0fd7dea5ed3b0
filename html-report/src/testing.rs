//! Records for the tests of this crate.

use results::{
    Adapter, Client, ClientKind, ColdStart, Communication, CurvePoint, Device, DeviceKind, Epoch, Evaluation,
    InputMode, InputPipeline, Outcome, Precision, Provenance, Resources, RunRecord, SCHEMA_VERSION, Settings, Suite,
    Summary, Target, Warning, Window, WorkloadRecord,
};

use results::kernels::{self, KernelRecord, KernelReport, Pass, Peak};

use crate::group::Group;
use crate::input::{Entry, Input, Kernels};
use crate::run::Run;

/// Seconds of each window.
const WINDOW_SECONDS: f64 = 1.5;
/// How far windows are from each other, as a share.
const JITTER: f64 = 0.005;

/// A record of one workload, changed where a test says so.
pub(crate) struct Made {
    record: RunRecord,
    rate: f64,
    windows: usize,
    steps: u64,
    accuracies: Vec<f64>,
}

impl Made {
    pub(crate) fn new(workload: &str) -> Self {
        Self { record: record(workload), rate: 10_000.0, windows: 10, steps: 600, accuracies: vec![0.9] }
    }

    pub(crate) fn backend(mut self, name: &str) -> Self {
        name.clone_into(&mut self.record.device.backend);
        self
    }

    pub(crate) fn device(mut self, name: &str) -> Self {
        name.clone_into(&mut self.record.device.adapter.name);
        self
    }

    pub(crate) fn software(mut self) -> Self {
        self.record.device.adapter.software = true;
        let name = self.record.device.adapter.name.clone();
        self.record.warnings.push(Warning::SoftwareAdapter { name });
        self
    }

    pub(crate) fn warning(mut self, warning: Warning) -> Self {
        self.record.warnings.push(warning);
        self
    }

    pub(crate) fn seed(mut self, seed: u32) -> Self {
        self.record.seed = seed;
        self
    }

    pub(crate) fn batch_size(mut self, size: u32) -> Self {
        self.record.workloads[0].settings.batch_size = size;
        self
    }

    pub(crate) fn learning_rate(mut self, rate: f64) -> Self {
        self.record.workloads[0].settings.learning_rate = rate;
        self
    }

    pub(crate) fn variants(mut self, variants: &[&str]) -> Self {
        self.record.workloads[0].settings.variants = variants.iter().map(|&variant| variant.to_owned()).collect();
        self
    }

    pub(crate) fn threads(self, count: u32) -> Self {
        self.variants(&[&format!("threads: {count}")])
    }

    /// So many that spent a second and a half on telling each other what they found.
    pub(crate) fn devices(mut self, count: u32) -> Self {
        if count > 1 {
            let told = Communication { reading_seconds: WINDOW_SECONDS, ..Communication::among(count) };
            self.record.workloads[0].communication = Some(told);
            self.record.non_standard.push(format!("{count} devices, logical ones on one software adapter"));
        }
        self
    }

    /// Brought so, with a second and a half of waiting where it is streamed.
    pub(crate) fn input(mut self, mode: InputMode) -> Self {
        if mode != InputMode::Resident {
            let brought = InputPipeline { waiting_seconds: WINDOW_SECONDS, ..InputPipeline::new(mode) };
            self.record.workloads[0].input = Some(brought);
            self.record.non_standard.push(format!("input {}", mode.text()));
        }
        self
    }

    pub(crate) fn non_standard(mut self, terms: &[&str]) -> Self {
        self.record.non_standard = terms.iter().map(|&term| term.to_owned()).collect();
        self
    }

    pub(crate) fn outcome(mut self, outcome: Outcome) -> Self {
        self.record.workloads[0].outcome = outcome;
        self
    }

    pub(crate) fn cold_start(mut self, seconds: [Option<f64>; 5]) -> Self {
        let [data_seconds, build_seconds, compiling_seconds, tuning_seconds, first_step_seconds] = seconds;
        self.record.workloads[0].cold_start =
            ColdStart { data_seconds, build_seconds, compiling_seconds, tuning_seconds, first_step_seconds };
        self
    }

    /// Until the last look at the test set.
    pub(crate) fn steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// Samples per second.
    pub(crate) fn rate(mut self, rate: f64) -> Self {
        self.rate = rate;
        self
    }

    /// Of a second and a half each; the first is warm-up.
    pub(crate) fn windows(mut self, count: usize) -> Self {
        self.windows = count;
        self
    }

    pub(crate) fn accuracy(mut self, share: f64) -> Self {
        self.accuracies = vec![share];
        self
    }

    /// After each equal part of the training.
    pub(crate) fn accuracies(mut self, shares: &[f64]) -> Self {
        self.accuracies = shares.to_vec();
        self
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
    RunRecord {
        schema_version: SCHEMA_VERSION,
        run_id: None,
        nonce: None,
        seed: 1,
        suite: Suite { name: "quick".to_owned(), version: 1 },
        non_standard: Vec::new(),
        provenance: Provenance {
            engine_version: "0.1.0".to_owned(),
            commit: "abc".to_owned(),
            started_unix_seconds: 1_790_000_000.0,
            wall_seconds: 20.0,
            client: Client {
                kind: ClientKind::Native,
                name: "native-runner".to_owned(),
                version: "0.1.0".to_owned(),
                operating_system: "Linux".to_owned(),
                logical_processors: Some(4),
            },
        },
        device: Device {
            requested_adapter: "any".to_owned(),
            requested_backend: "burn-flex".to_owned(),
            backend: "burn-flex".to_owned(),
            adapter: Adapter {
                name: "Some CPU".to_owned(),
                vendor: String::new(),
                architecture: String::new(),
                kind: DeviceKind::Cpu,
                api: "CPU".to_owned(),
                driver: String::new(),
                software: false,
            },
            claimed_name: None,
        },
        workloads: vec![WorkloadRecord {
            workload: workload.to_owned(),
            network: None,
            settings: Settings {
                batch_size: 100,
                learning_rate: 0.01,
                precision: Precision::F32,
                training_samples: 60_000,
                test_samples: 10_000,
                chance_accuracy: Some(0.1135),
                parameters: 431_080,
                training_flops_per_sample: 13_182_000,
                device_memory_bytes: 64 << 20,
                variants: Vec::new(),
            },
            outcome: Outcome::Completed,
            correctness: None,
            cold_start: ColdStart { first_step_seconds: Some(0.1), ..ColdStart::default() },
            first_losses: Vec::new(),
            curve: Vec::new(),
            evaluations: Vec::new(),
            epochs: Vec::new(),
            windows: Vec::new(),
            peaks: Vec::new(),
            timeline: Vec::new(),
            segments: Vec::new(),
            target: Some(Target { accuracy: 0.98, reached_seconds: None, reached_step: None }),
            weight_samples: Vec::new(),
            communication: None,
            input: None,
            resources: Resources {
                cpu_user_percent: Some(180.0),
                cpu_system_percent: Some(12.0),
                resident_memory_average_bytes: Some(200 << 20),
                resident_memory_maximum_bytes: Some(300 << 20),
                ..Resources::default()
            },
            summary: Summary::default(),
        }],
        warnings: Vec::new(),
    }
}

pub(crate) fn groups(records: &[RunRecord]) -> Vec<Group<'_>> {
    Group::of_all(records.iter().flat_map(|record| Run::all_of("a.json", record)))
}

pub(crate) fn input(records: Vec<RunRecord>) -> Input {
    let entry = |(number, record)| Entry {
        place: format!("{number}.json"),
        asked: None,
        record: Some(record),
        scale: None,
        trouble: None,
    };
    let entries = records.into_iter().enumerate().map(entry).collect();
    Input { title: "A test".to_owned(), entries, ..Input::default() }
}

/// What a process measured of matrix products on a device with a peak of a TFLOP/s: size, pass, and the share of the peak
/// that was reached, where one was.
pub(crate) fn kernels(device: &str, entries: &[(&str, Pass, Option<f64>)]) -> Kernels {
    let adapter = Adapter { name: device.to_owned(), ..record("x").device.adapter };
    let timing = |seconds: f64| {
        let windows = [0.99, 1.0, 1.01].map(|factor| results::measured::Window::new(1, factor * seconds)).to_vec();
        kernels::Timing::of(windows).expect("there are windows")
    };
    let mut report = KernelReport::new(adapter);
    report.peaks.arithmetic = Some(Peak {
        title: "Arithmetic, fused multiply-adds".to_owned(),
        unit: kernels::Unit::FlopsPerSecond,
        value: 1e12,
        variant: "8 chains".to_owned(),
        work_per_repetition: 1e9,
        timing: timing(1e-3),
        tried: Vec::new(),
    });
    report.entries = entries.iter().map(|&(size, pass, share)| kernel_entry(size, pass, share, timing)).collect();
    let record = KernelRecord {
        report,
        requested_adapter: "any".to_owned(),
        budget_seconds: 2.0,
        budget_bytes: 1 << 30,
        provenance: record("x").provenance,
    };
    Kernels { place: "kernels.json".to_owned(), asked: None, record }
}

fn kernel_entry(size: &str, pass: Pass, share: Option<f64>, timing: impl Fn(f64) -> kernels::Timing) -> kernels::Entry {
    let flops: u64 = size.split(" × ").map(|number| number.parse::<u64>().unwrap_or(1)).product::<u64>() * 2;
    let outcome = match share {
        Some(share) => kernels::Outcome::Measured(kernels::Figures {
            flops_per_second: share * 1e12,
            peak_flops_per_second: Some(1e12),
            peak_share: Some(share),
            timing: timing(flops as f64 / (share * 1e12)),
        }),
        None => kernels::Outcome::TooSlow { predicted_seconds: 3.0, allowed_seconds: 0.5 },
    };
    let kernels = vec!["dense_forward".to_owned()];
    kernels::Entry { suite: kernels::Suite::Gemm, size: size.to_owned(), pass, flops, bytes: 768, kernels, outcome }
}

/// Nothing but kernels.
pub(crate) fn input_of_kernels(kernels: Vec<Kernels>) -> Input {
    Input { kernels, ..input(Vec::new()) }
}
