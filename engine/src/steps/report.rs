use results::statistics::quantile;
use results::{Adapter, Disagreement, Precision, Warning};
use serde::Serialize;

use crate::measure::{self, Window, median, median_peaks};

pub(super) const SCHEMA_VERSION: u32 = 1;

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
    pub entries: Vec<EntrantSteps>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntrantSteps {
    pub backend: &'static str,
    #[serde(flatten)]
    pub outcome: StepsOutcome,
}

pub type StepsOutcome = measure::MeasurementOutcome<Measured, Disagreement>;

/// Metrics of an entry. Rates are medians over the windows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    pub steps_per_second: f64,
    pub samples_per_second: f64,
    /// Half the range of the windows' rates, relative to the median.
    pub relative_spread: f64,
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

impl Measured {
    pub(super) fn with_windows(self, windows: Vec<Window>, flops_per_sample: f64) -> Option<Self> {
        let rates: Vec<f64> = windows.iter().map(Window::rate).collect();
        let [lowest, samples_per_second, highest] = [0.0, 0.5, 1.0].map(|place| quantile(&rates, place));
        let samples_per_second = samples_per_second?;
        let (peak_flops_per_second, peak_share) = median_peaks(&windows, flops_per_sample);
        Some(Self {
            steps_per_second: median(windows.iter().map(|window| 1.0 / window.seconds_each()))?,
            samples_per_second,
            relative_spread: (highest? - lowest?) / 2.0 / samples_per_second,
            flops_per_second: samples_per_second * flops_per_sample,
            peak_flops_per_second,
            peak_share,
            ratio_to_fastest: 1.0,
            windows,
            ..self
        })
    }
}

impl Size {
    pub(super) fn compare(&mut self) {
        let rates = self.entries.iter().filter_map(|entry| entry.outcome.measured());
        let fastest = rates.map(|measured| measured.samples_per_second).fold(0.0, f64::max);
        for entry in &mut self.entries {
            if let StepsOutcome::Measured(measured) = &mut entry.outcome {
                measured.ratio_to_fastest = measured.samples_per_second / fastest;
            }
        }
    }
}
