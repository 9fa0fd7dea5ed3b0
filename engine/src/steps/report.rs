//! What was measured, with every raw sample.

use results::{Adapter, Disagreement, Precision, Warning};
use serde::Serialize;

use super::{Contender, Request};
use crate::error::EngineError;
use crate::measure::{self, Spread, Window, of_peak};
use crate::trainer::Preparation;
use crate::workload::Workload;

/// Version of the layout of [`StepsReport`].
const SCHEMA_VERSION: u32 = 1;

/// Everything that [`super::measure`] found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepsReport {
    pub schema_version: u32,
    pub seed: u32,
    pub budget_seconds: f64,
    pub budget_bytes: Option<u64>,
    /// Whether first losses were held to the plain reference before anything was timed.
    pub checked: bool,
    pub contenders: Vec<Described>,
    pub workloads: Vec<WorkloadSteps>,
    /// Whether it was stopped before its end.
    pub cancelled: bool,
}

/// A back end that took part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Described {
    pub backend: &'static str,
    pub adapter: Adapter,
    pub precision: Precision,
    pub most_steps: Option<u32>,
    /// What is not ideal about it here.
    pub warnings: Vec<Warning>,
}

impl StepsReport {
    pub(super) fn new(request: &Request, contenders: &[Contender]) -> Self {
        let described = contenders.iter().map(|contender| Described {
            backend: contender.name(),
            adapter: contender.backend.adapter().clone(),
            precision: contender.backend.precision(),
            most_steps: contender.most_steps,
            warnings: contender.backend.warnings(),
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

/// One workload at each of its batch sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadSteps {
    pub workload: &'static str,
    /// The whole workload, where it is not built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<serde_json::Value>,
    /// The batch size of its recipe.
    pub own_batch_size: u32,
    /// Operations that one sample needs, forward and backward.
    pub training_flops_per_sample: Option<u64>,
    pub sizes: Vec<Size>,
    /// Batch sizes whose samples take longer than those of the size before.
    pub cliffs: Vec<Cliff>,
}

/// Where the batch grows, the time per sample may rise by this share; what rises more is a cliff.
pub(super) const CLIFF: f64 = 0.1;

/// From one batch size to the next, the time per sample seemed to rise by more than a tenth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cliff {
    pub backend: &'static str,
    pub from_batch_size: u32,
    pub to_batch_size: u32,
    /// Rise of the time per sample, as a share of that at the smaller batch, from the figures of the two sizes. They
    /// were measured one after the other, and meanwhile the machine may have become slower.
    pub rise: f64,
    /// The same, measured once more with windows of both sizes in turns. Absent where that was not possible: both do
    /// not fit at once, it was cancelled, or the back end trains only a few steps.
    pub rise_in_turns: Option<f64>,
}

impl Cliff {
    /// Whether the better of the two looks found one.
    pub fn is_real(&self) -> bool {
        self.rise_in_turns.unwrap_or(self.rise) > CLIFF
    }
}

/// Every back end at one batch size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Size {
    pub batch_size: u32,
    /// In the order of the contenders.
    pub entries: Vec<Entry>,
}

/// One back end on one workload at one batch size.
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

/// What became of an entry. Where it is wrong, it does not compute what the reference does.
pub type Outcome = measure::Outcome<Measured, Disagreement>;

/// The figures of an entry. Rates are medians over the windows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    pub steps_per_second: f64,
    pub samples_per_second: f64,
    /// Half the distance of the fastest window from the slowest, as a share of the median; 0 for a single window.
    pub relative_spread: f64,
    /// Operations that the network needs, per second.
    pub flops_per_second: f64,
    /// Peak of the device's arithmetic, measured in turns with the windows: the median.
    pub peak_flops_per_second: Option<f64>,
    /// Share of that peak: the median over the windows, each with its own peak.
    pub peak_share: Option<f64>,
    /// Samples per second as a share of those of the fastest back end at this batch size; 1 for that one.
    pub ratio_to_fastest: f64,
    pub device_memory_bytes: u64,
    /// What the back end said before it allocated, where it can.
    pub predicted_bytes: Option<u64>,
    /// Compiling, choosing kernels, allocating and uploading.
    pub build_seconds: f64,
    /// Of `build_seconds`: using every operation for the first time, where only that compiles it.
    pub compiling_seconds: Option<f64>,
    /// Of `build_seconds`: choosing among kernels, with compiling them where both happen at once.
    pub tuning_seconds: Option<f64>,
    /// Compiler, kernel variants and whatever else the back end says about itself.
    pub variants: Vec<String>,
    /// Whether every loss was a number; a network that diverged takes its steps in the same time, but learns nothing.
    pub losses_are_finite: bool,
    pub windows: Vec<Window>,
}

/// What is known of an entry apart from its windows.
pub(super) struct Facts {
    pub(super) flops_per_sample: u64,
    pub(super) device_memory_bytes: u64,
    pub(super) predicted_bytes: Option<u64>,
    pub(super) build_seconds: f64,
    pub(super) preparation: Preparation,
    pub(super) variants: Vec<String>,
}

impl Measured {
    /// `None` without windows.
    pub(super) fn of(facts: Facts, losses_are_finite: bool, windows: Vec<Window>) -> Option<Self> {
        let samples_per_second = Spread::of(windows.iter().map(Window::rate))?;
        let steps_per_second = Spread::of(windows.iter().map(|window| 1.0 / window.seconds_each()))?.median;
        let flops_per_sample = facts.flops_per_sample as f64;
        let (peak_flops_per_second, peak_share) = of_peak(&windows, flops_per_sample);
        Some(Self {
            steps_per_second,
            samples_per_second: samples_per_second.median,
            relative_spread: samples_per_second.relative(),
            flops_per_second: samples_per_second.median * flops_per_sample,
            peak_flops_per_second,
            peak_share,
            ratio_to_fastest: 1.0,
            device_memory_bytes: facts.device_memory_bytes,
            predicted_bytes: facts.predicted_bytes,
            build_seconds: facts.build_seconds,
            compiling_seconds: facts.preparation.compiling_seconds,
            tuning_seconds: facts.preparation.tuning_seconds,
            variants: facts.variants,
            losses_are_finite,
            windows,
        })
    }
}

impl Size {
    /// Sets every entry's ratio to the fastest.
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
