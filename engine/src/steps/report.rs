use results::{Adapter, Disagreement, Precision, Warning};
use serde::Serialize;

use super::{Contender, Request};
use crate::error::EngineError;
use crate::measure::{self, Spread, Window, median_peaks};
use crate::trainer::TrainerFacts;
use crate::workload::Workload;

const SCHEMA_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepsReport {
    pub schema_version: u32,
    pub seed: u32,
    pub budget_seconds: f64,
    pub budget_bytes: Option<u64>,
    pub checked: bool,
    pub contenders: Vec<Described>,
    pub workloads: Vec<WorkloadSteps>,
    pub cancelled: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Described {
    pub backend: &'static str,
    pub adapter: Adapter,
    pub precision: Precision,
    pub most_steps: Option<u32>,
    pub warnings: Vec<Warning>,
}

impl StepsReport {
    pub(super) fn new(request: &Request, contenders: &[Contender]) -> Self {
        let described = contenders.iter().map(|contender| Described {
            backend: contender.name(),
            adapter: contender.backend.adapter().clone(),
            precision: contender.backend.precision(),
            most_steps: contender.most_steps,
            warnings: contender.backend.facts().warnings.clone(),
        });
        Self {
            schema_version: SCHEMA_VERSION,
            seed: request.seed,
            budget_seconds: request.budget_seconds,
            budget_bytes: request.budget_bytes,
            checked: request.checked,
            contenders: described.collect(),
            workloads: Vec::new(),
            cancelled: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadSteps {
    pub workload: &'static str,
    /// Definition of the workload, unless it is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<serde_json::Value>,
    pub own_batch_size: u32,
    /// Forward and backward operations per sample.
    pub training_flops_per_sample: Option<u64>,
    pub sizes: Vec<Size>,
    pub cliffs: Vec<Cliff>,
}

/// Relative rise in time per sample above which a larger batch size is a cliff.
pub(super) const MIN_CLIFF_RISE: f64 = 0.1;

/// Apparent rise of over a tenth in time per sample from one batch size to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cliff {
    pub backend: &'static str,
    pub from_batch_size: u32,
    pub to_batch_size: u32,
    /// Relative rise in time per sample between consecutive measurements, during which the machine may slow down.
    pub rise: f64,
    /// Rise measured with alternating windows of both sizes. Absent if they do not fit together, the run was canceled,
    /// or the backend trains only a few steps.
    pub rise_in_turns: Option<f64>,
}

impl Cliff {
    /// Returns true if the rise exceeds the limit, preferably measured with alternating windows.
    pub fn is_real(&self) -> bool {
        self.rise_in_turns.unwrap_or(self.rise) > MIN_CLIFF_RISE
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Size {
    pub batch_size: u32,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub backend: &'static str,
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Entry {
    pub(super) fn refused(contender: &Contender, error: &EngineError) -> Self {
        Self { backend: contender.name(), outcome: measure::refused(error) }
    }
}

pub type Outcome = measure::Outcome<Measured, Disagreement>;

/// Metrics of an entry. Rates are medians over the windows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    pub steps_per_second: f64,
    pub samples_per_second: f64,
    /// Half the range of the windows' rates, relative to the median.
    pub relative_spread: f64,
    /// Counted operations per second.
    pub flops_per_second: f64,
    /// Median arithmetic peak of the device, measured between windows.
    pub peak_flops_per_second: Option<f64>,
    /// Median over windows of the share of the window's own peak.
    pub peak_share: Option<f64>,
    /// Throughput relative to the fastest backend at this batch size.
    pub ratio_to_fastest: f64,
    pub device_memory_bytes: u64,
    pub predicted_bytes: Option<u64>,
    /// Time for compiling, choosing kernels, allocating and uploading.
    pub build_seconds: f64,
    /// Part of `build_seconds` for compiling on first use.
    pub compiling_seconds: Option<f64>,
    /// Part of `build_seconds` for choosing kernels, including compiling if both happen at once.
    pub tuning_seconds: Option<f64>,
    pub variants: Vec<String>,
    /// False if the network diverged. Step times remain valid.
    pub losses_are_finite: bool,
    pub windows: Vec<Window>,
}

/// Properties of an entry except its windows.
pub(super) struct Facts {
    pub(super) flops_per_sample: u64,
    pub(super) predicted_bytes: Option<u64>,
    pub(super) build_seconds: f64,
    pub(super) built: TrainerFacts,
}

impl Measured {
    pub(super) fn of(facts: Facts, losses_are_finite: bool, windows: Vec<Window>) -> Option<Self> {
        let samples_per_second = Spread::of(windows.iter().map(Window::rate))?;
        let steps_per_second = Spread::of(windows.iter().map(|window| 1.0 / window.seconds_each()))?.median;
        let flops_per_sample = facts.flops_per_sample as f64;
        let (peak_flops_per_second, peak_share) = median_peaks(&windows, flops_per_sample);
        Some(Self {
            steps_per_second,
            samples_per_second: samples_per_second.median,
            relative_spread: samples_per_second.relative(),
            flops_per_second: samples_per_second.median * flops_per_sample,
            peak_flops_per_second,
            peak_share,
            ratio_to_fastest: 1.0,
            device_memory_bytes: facts.built.device_memory_bytes,
            predicted_bytes: facts.predicted_bytes,
            build_seconds: facts.build_seconds,
            compiling_seconds: facts.built.compiling_seconds,
            tuning_seconds: facts.built.tuning_seconds,
            variants: facts.built.variants,
            losses_are_finite,
            windows,
        })
    }
}

impl Size {
    pub(super) fn compare(&mut self) {
        let rates = self.entries.iter().filter_map(|entry| entry.outcome.measured());
        let fastest = rates.map(|measured| measured.samples_per_second).fold(0.0, f64::max);
        for entry in &mut self.entries {
            if let Outcome::Measured(measured) = &mut entry.outcome {
                measured.ratio_to_fastest = measured.samples_per_second / fastest;
            }
        }
    }
}

impl WorkloadSteps {
    pub(super) fn new(workload: &Workload) -> Self {
        Self {
            workload: workload.name,
            network: workload.described(),
            own_batch_size: workload.batch_size,
            training_flops_per_sample: workload.model.operations().ok().map(|operations| operations.training_flops()),
            sizes: Vec::new(),
            cliffs: Vec::new(),
        }
    }
}
