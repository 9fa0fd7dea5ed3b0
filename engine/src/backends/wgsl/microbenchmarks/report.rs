//! What was measured, with every raw sample.

use std::fmt;

use results::Adapter;
use serde::Serialize;

pub use super::super::products::Pass;
use crate::measure::{self, Spread, Window};

/// Version of the layout of [`KernelReport`].
pub(super) const SCHEMA_VERSION: u32 = 2;

/// A group of measurements that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
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

impl Suite {
    /// Every suite, in the order in which they run.
    pub const ALL: [Self; 6] = [Self::Arithmetic, Self::Memory, Self::Launch, Self::Gemm, Self::Conv, Self::Rnn];

    /// The word that chooses it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Memory => "memory",
            Self::Launch => "launch",
            Self::Gemm => "gemm",
            Self::Conv => "conv",
            Self::Rnn => "rnn",
        }
    }
}

/// Everything that [`super::measure`] found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    pub schema_version: u32,
    pub adapter: Adapter,
    pub peaks: Peaks,
    pub entries: Vec<Entry>,
    /// Whether it was stopped before its end.
    pub cancelled: bool,
}

impl KernelReport {
    pub(super) fn new(adapter: Adapter) -> Self {
        let peaks = Peaks::default();
        Self { schema_version: SCHEMA_VERSION, adapter, peaks, entries: Vec::new(), cancelled: false }
    }
}

/// What the device can do at best; absent where it was not asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Peaks {
    /// Operations per second of fused multiply-adds in registers, two operations each.
    pub arithmetic: Option<Peak>,
    /// Bytes per second, those read and those written, of copying an array larger than caches.
    pub copy: Option<Peak>,
    /// Bytes per second of reading such an array.
    pub read: Option<Peak>,
    /// Launches per second, each waiting for the one before, as those of a training step do.
    pub launches: Option<Peak>,
    /// Seconds from submitting one launch to knowing that it is done.
    pub round_trip: Option<Peak>,
}

impl Peaks {
    /// Those that were measured.
    pub fn iter(&self) -> impl Iterator<Item = &Peak> {
        [&self.arithmetic, &self.copy, &self.read, &self.launches, &self.round_trip].into_iter().flatten()
    }
}

/// Of what there is so much in a second; or how many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    FlopsPerSecond,
    BytesPerSecond,
    LaunchesPerSecond,
    Seconds,
}

/// A best value of the device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Peak {
    pub title: &'static str,
    pub unit: Unit,
    /// From the median of the windows.
    pub value: f64,
    /// How it was reached.
    pub variant: String,
    /// What a repetition does, in the unit's numerator: operations, bytes or launches.
    pub work_per_repetition: f64,
    pub timing: Timing,
    /// Variants that were looked at shortly, of which the best was measured.
    pub tried: Vec<Tried>,
}

/// A variant's value from one short window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    pub variant: String,
    pub value: f64,
}

/// Windows of one thing, over and over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Of one repetition: median over the windows.
    pub seconds: f64,
    /// Of one repetition, in the fastest window.
    pub seconds_lowest: f64,
    /// Of one repetition, in the slowest window.
    pub seconds_highest: f64,
    pub windows: Vec<Window>,
}

impl Timing {
    /// `None` without windows.
    pub(super) fn of(windows: Vec<Window>) -> Option<Self> {
        let each = Spread::of(windows.iter().map(Window::seconds_each))?;
        Some(Self { seconds: each.median, seconds_lowest: each.lowest, seconds_highest: each.highest, windows })
    }

    /// Half the distance of the slowest window from the fastest, as a share of the median.
    pub fn relative_spread(&self) -> f64 {
        Spread { lowest: self.seconds_lowest, median: self.seconds, highest: self.seconds_highest }.relative()
    }
}

/// One pass of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub suite: Suite,
    /// The size, as tables show it.
    pub size: String,
    pub pass: Pass,
    /// Floating-point operations of a repetition, counted from the size.
    pub flops: u64,
    /// Bytes of all buffers.
    pub bytes: u64,
    /// Names of the kernels that a repetition launches.
    pub kernels: Vec<String>,
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What became of an entry. Where it is wrong, a result is not what a plain sum gives.
pub type Outcome = measure::Outcome<Figures, Difference>;

/// The figures of an entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    pub flops_per_second: f64,
    /// Peak of arithmetic, measured in turns with the windows: the median.
    pub peak_flops_per_second: Option<f64>,
    /// Share of that peak: the median over the windows, each with its own peak.
    pub peak_share: Option<f64>,
    pub timing: Timing,
}

/// A value that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Place of the value in the result.
    pub at: u64,
    pub found: f64,
    pub expected: f64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value {} is {:e} where a plain sum gives {:e}", self.at, self.found, self.expected)
    }
}
