//! Requested run and its departures from the suite.

use std::fmt;
use std::num::NonZero;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{InputMode, Layout, Precision};

/// The requested run, as the command line, the page's address or a cell of a study gave it. An absent setting is left
/// to the suite, the workload or the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Name of the suite, such as `quick`.
    pub suite: String,
    /// Names of the workloads; empty for all of the suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
    /// Name of the back end.
    pub backend: String,
    /// Adapter: `any`, `discrete`, an index, part of a name, or `browser`.
    pub adapter: String,
    /// Number format of activations and products.
    pub precision: Precision,
    /// Seed that determines the initial weights, the order of samples, augmentation and dropout.
    pub seed: u32,
    /// Origin of the seed.
    pub seed_source: SeedSource,
    /// Length of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Length>,
    /// Samples in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u32>,
    /// Learning rate before any schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
    /// Test accuracy to time, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_accuracy: Option<f64>,
    /// Features of the device that our kernels do not use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Feature>,
    /// Number of devices that share each batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<NonZero<u32>>,
    /// True to exchange gradients while others are computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<bool>,
    /// Number of threads of a back end that computes on the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZero<usize>>,
    /// Path of batches to the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputMode>,
    /// Layout of images in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
}

/// Origin of a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeedSource {
    /// Person or program that requested the run.
    Chosen,
    /// The leaderboard, when the run was registered.
    Leaderboard,
    /// The client, at random.
    #[default]
    Random,
}

/// Length of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Passes over the training set. Windows that measure the throughput may follow.
    Epochs(NonZero<u32>),
    /// Exact number of steps.
    Steps(NonZero<u64>),
    /// Seconds of training.
    Seconds(Positive),
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Epochs(epochs) => write!(f, "{epochs} epoch{}", if epochs.get() == 1 { "" } else { "s" }),
            Self::Steps(steps) => write!(f, "{steps} step{}", if steps.get() == 1 { "" } else { "s" }),
            Self::Seconds(seconds) => write!(f, "{seconds} s of training"),
        }
    }
}

/// Finite number above 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Positive(f64);

impl Positive {
    /// Returns the number, unless it is zero, negative or not finite.
    pub const fn new(number: f64) -> Option<Self> {
        if number > 0.0 && number.is_finite() { Some(Self(number)) } else { None }
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Positive {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        Self::new(number).ok_or_else(|| format!("{number} is not a number above 0"))
    }
}

impl std::str::FromStr for Positive {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<f64>().ok().and_then(Self::new).ok_or("it must be a number above 0")
    }
}

impl fmt::Display for Positive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for Positive {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Positive".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "A finite number above 0.", "type": "number", "exclusiveMinimum": 0 })
    }
}

/// Feature of a device that our kernels use where it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Exchange of values between the invocations of a subgroup.
    Subgroups,
    /// 16-bit floating-point numbers.
    F16,
    /// Times of single dispatches.
    Timestamps,
    /// Features and limits of core WebGPU. Without them, the device is in WebGPU's compatibility mode.
    Core,
}

names!(Feature { Subgroups = "subgroups", F16 = "f16", Timestamps = "timestamps", Core = "core" });

/// One departure of a run from its suite.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Departure {
    /// Networks of the suite were left out.
    #[error("{trained} of the suite's {networks} networks")]
    LeftOut {
        /// Number of the suite's networks that were trained.
        trained: usize,
        /// Number of networks in the suite.
        networks: usize,
    },
    /// Networks were trained that are not in the suite.
    #[error("networks that are not in the suite")]
    OtherNetworks,
    /// A network came from a file.
    #[error("{workload} is a network from a file ({digest})")]
    NetworkFile {
        /// Name of the network.
        workload: String,
        /// Digest of the network and its recipe, which distinguishes networks of the same name.
        digest: String,
    },
    /// A batch size was requested.
    #[error("batch size {size}")]
    BatchSize {
        /// Samples in a batch.
        size: u32,
    },
    /// A workload trained in smaller batches, because the device lacks memory.
    #[error("{workload} in batches of {size} instead of {usual}")]
    FittedBatch {
        /// Name of the network.
        workload: String,
        /// Samples in a batch.
        size: u32,
        /// Samples in a batch of the suite.
        usual: u32,
    },
    /// A learning rate was requested.
    #[error("learning rate {rate:?}")]
    LearningRate {
        /// Learning rate before any schedule.
        rate: f64,
    },
    /// A length of training was requested.
    #[error("{length}")]
    Length {
        /// Length of training.
        length: Length,
    },
    /// A target accuracy was requested.
    #[error("target accuracy {accuracy}")]
    TargetAccuracy {
        /// Share of the test set, 0 to 1.
        accuracy: f64,
    },
    /// Computed in a precision without a ranking.
    #[error("computed in {}", .precision.name())]
    Precision {
        /// Number format of activations and products.
        precision: Precision,
    },
    /// Trained by the reference, which other back ends are compared with.
    #[error("the reference back end is not ranked")]
    Reference,
    /// Trained by an external program.
    #[error("trained by the external program {program}")]
    External {
        /// Name of the program.
        program: String,
    },
    /// A layout of images was requested.
    #[error("layout {}", .layout.name())]
    Layout {
        /// Layout of images in memory.
        layout: Layout,
    },
    /// Our kernels did not use a feature of the device.
    #[error("without {}", .feature.name())]
    Without {
        /// Feature of the device.
        feature: Feature,
    },
    /// The data set was not on the device.
    #[error("input {}", .mode.text())]
    Input {
        /// Path of batches to the device.
        mode: InputMode,
    },
    /// Several devices shared each batch.
    #[error("{count} {}", if *.logical { "logical devices on one software adapter" } else { "devices" })]
    Devices {
        /// Number of devices.
        count: u32,
        /// True for logical devices on one software adapter.
        logical: bool,
    },
    /// The overlap of exchanges and computing was chosen.
    #[error("overlap {}", if *.on { "on" } else { "off" })]
    Overlap {
        /// True if devices exchanged gradients while they computed others.
        on: bool,
    },
}
