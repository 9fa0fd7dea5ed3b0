//! Results of `native-runner kernels`: device peaks and standalone kernels, with all raw samples.

use serde::{Deserialize, Serialize};

use crate::device::{Adapter, Provenance};
use crate::measured::{self, Window};
use crate::statistics::quantile;

/// Version of the layout of [`KernelReport`].
pub const KERNELS_SCHEMA_VERSION: u32 = 1;

/// A group of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Suite")]
pub enum KernelSuite {
    /// Peak of fused multiply-adds.
    Arithmetic,
    /// Peaks of copying and of reading.
    Memory,
    /// Launches of a kernel, and round trips to the device.
    Launch,
    /// Matrix products.
    Gemm,
    /// Convolutions.
    Conv,
    /// Recurrent layers.
    Rnn,
}

names!(KernelSuite { Arithmetic = "arithmetic", Memory = "memory", Launch = "launch", Gemm = "gemm", Conv = "conv", Rnn = "rnn" });

impl KernelSuite {
    pub fn title(self) -> &'static str {
        match self {
            Self::Arithmetic => "Arithmetic",
            Self::Memory => "Memory",
            Self::Launch => "Launches",
            Self::Gemm => "Matrix products",
            Self::Conv => "Convolutions",
            Self::Rnn => "Recurrent layers",
        }
    }
}

/// Forward or backward product of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    Forward,
    WeightGradient,
    InputGradient,
}

impl Pass {
    pub const ALL: [Self; 3] = [Self::Forward, Self::WeightGradient, Self::InputGradient];

    pub fn title(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::WeightGradient => "weight gradient",
            Self::InputGradient => "input gradient",
        }
    }
}

/// Results of all kernel measurements on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelReport {
    pub schema_version: u32,
    pub adapter: Adapter,
    pub peaks: Peaks,
    pub entries: Vec<Entry>,
    /// True if the measurements were cancelled before the end.
    pub cancelled: bool,
}

impl KernelReport {
    pub fn new(adapter: Adapter) -> Self {
        let peaks = Peaks::default();
        Self { schema_version: KERNELS_SCHEMA_VERSION, adapter, peaks, entries: Vec::new(), cancelled: false }
    }
}

/// Device peaks; absent if not requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// FLOP/s of fused multiply-adds in registers, counted as two operations each.
    pub arithmetic: Option<Peak>,
    /// Bytes read and written per second when copying an array larger than the caches.
    pub copy: Option<Peak>,
    /// Bytes read per second when reading such an array.
    pub read: Option<Peak>,
    /// Dependent launches per second, each waiting for the previous one as in a training step.
    pub launches: Option<Peak>,
    /// Seconds from submitting one launch to its completion being known on the host.
    pub round_trip: Option<Peak>,
}

impl Peaks {
    pub fn iter(&self) -> impl Iterator<Item = &Peak> {
        [&self.arithmetic, &self.copy, &self.read, &self.launches, &self.round_trip].into_iter().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeakUnit {
    FlopsPerSecond,
    BytesPerSecond,
    LaunchesPerSecond,
    Seconds,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    pub title: String,
    pub unit: PeakUnit,
    /// Value at the median window.
    pub value: f64,
    /// Variant that reached it.
    pub variant: String,
    /// Work per repetition, in operations, bytes or launches.
    pub work_per_repetition: f64,
    pub timing: KernelTiming,
    /// Variants tried in short windows, of which the best was measured.
    pub tried: Vec<Tried>,
}

/// Value of one variant from a short window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    pub variant: String,
    pub value: f64,
}

/// Time per repetition over several windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelTiming {
    /// Median over the windows, in seconds.
    pub seconds: f64,
    /// Seconds per repetition in the fastest window.
    pub seconds_lowest: f64,
    /// Seconds per repetition in the slowest window.
    pub seconds_highest: f64,
    pub windows: Vec<Window>,
}

impl KernelTiming {
    /// Computes the timing of windows; `None` without windows.
    pub fn of(windows: Vec<Window>) -> Option<Self> {
        let each: Vec<f64> = windows.iter().map(Window::seconds_each).collect();
        let (seconds, seconds_lowest) = (quantile(&each, 0.5)?, quantile(&each, 0.0)?);
        Some(Self { seconds, seconds_lowest, seconds_highest: quantile(&each, 1.0)?, windows })
    }

    /// Returns half the difference between the slowest and fastest windows, relative to the median.
    pub fn relative_spread(&self) -> f64 {
        (self.seconds_highest - self.seconds_lowest) / 2.0 / self.seconds
    }
}

/// Measurement of one pass at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub suite: KernelSuite,
    /// Size, as shown in tables.
    pub size: String,
    pub pass: Pass,
    /// Floating-point operations per repetition, computed from the size.
    pub flops: u64,
    /// Total bytes of all buffers.
    pub bytes: u64,
    /// Names of the kernels that a repetition launches.
    pub kernels: Vec<String>,
    #[serde(flatten)]
    pub outcome: KernelOutcome,
}

/// KernelOutcome of an entry, which is wrong if a result differs from a plain sum.
pub type KernelOutcome = measured::MeasurementOutcome<KernelFigures, Difference>;

/// Metrics of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelFigures {
    pub flops_per_second: f64,
    /// Median arithmetic peak, measured in turns with the windows.
    pub peak_flops_per_second: Option<f64>,
    /// Median share of the peak over the windows, each relative to its own peak.
    pub peak_share: Option<f64>,
    pub timing: KernelTiming,
}

/// Document of `native-runner kernels --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelRecord {
    #[serde(flatten)]
    pub report: KernelReport,
    /// Value of `--adapter`.
    pub requested_adapter: String,
    /// Time budget of one entry.
    pub budget_seconds: f64,
    /// Memory budget of one entry.
    pub budget_bytes: u64,
    pub provenance: Provenance,
}

/// Wrong value in a result.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("value {at} is {found:e} where a plain sum gives {expected:e}")]
pub struct Difference {
    /// Index of the value in the result.
    pub at: u64,
    pub found: f64,
    pub expected: f64,
}

/// Summary of a group of entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSummary {
    pub entries: usize,
    /// Entries with metrics.
    pub measured: usize,
    /// Median share of the measured arithmetic peak; absent if no entry has one.
    pub peak_share: Option<f64>,
    pub peak_share_lowest: Option<f64>,
    pub peak_share_highest: Option<f64>,
    /// Highest rate of any entry.
    pub flops_per_second: Option<f64>,
}

impl KernelSummary {
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let entries: Vec<&Entry> = entries.into_iter().collect();
        let figures: Vec<&KernelFigures> = entries.iter().filter_map(|entry| entry.outcome.measured()).collect();
        let shares: Vec<f64> = figures.iter().filter_map(|figures| figures.peak_share).collect();
        Self {
            entries: entries.len(),
            measured: figures.len(),
            peak_share: quantile(&shares, 0.5),
            peak_share_lowest: quantile(&shares, 0.0),
            peak_share_highest: quantile(&shares, 1.0),
            flops_per_second: figures.iter().map(|figures| figures.flops_per_second).reduce(f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_has_the_median_and_spread_of_windows() {
        let timing = KernelTiming::of([1.0, 2.0, 4.0].map(|seconds| Window::new(2, seconds)).to_vec()).unwrap();
        assert_eq!((timing.seconds, timing.seconds_lowest, timing.seconds_highest), (1.0, 0.5, 2.0));
        assert_eq!(timing.relative_spread(), 0.75);
        assert_eq!(KernelTiming::of(Vec::new()), None);
    }
}
