use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::summary::MINIMUM_WINDOWS;
use crate::text::is_plain;
use crate::{
    Checkpoint, Communication, Correctness, Device, InputPipeline, Precision, Provenance, Resources, Stretch, Warning,
};

/// Version of the layout of [`RunRecord`]. A reader refuses versions that it does not know.
pub const SCHEMA_VERSION: u32 = 5;
/// Records of layouts from here on can still be read: what came later is absent from them.
pub const OLDEST_SCHEMA_VERSION: u32 = 2;

/// One run of a suite on one device with one back end: what is saved, shown and uploaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Layout version, [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The leaderboard's id of this run, when it gave one before the run started.
    pub run_id: Option<String>,
    /// The single-use word that the leaderboard gave together with the id.
    pub nonce: Option<String>,
    /// Seed of weights, shuffles and dropout. A run is a function of its seed.
    pub seed: u32,
    /// Suite that was trained; `non_standard` lists departures from it.
    pub suite: Suite,
    /// Why the run may be shown but not ranked; empty for a standard run.
    pub non_standard: Vec<String>,
    /// By what program, and when.
    pub provenance: Provenance,
    /// Device that trained.
    pub device: Device,
    /// In the order in which they were trained.
    pub workloads: Vec<WorkloadRecord>,
    /// Conditions that were not ideal.
    pub warnings: Vec<Warning>,
}

impl RunRecord {
    /// Whether the run used nothing but the suite's own settings.
    pub fn is_standard(&self) -> bool {
        self.non_standard.is_empty()
    }

    /// The limit of training that was asked for in place of the suite's, as `non_standard` has it: `2 epochs`.
    pub fn length(&self) -> Option<&str> {
        let is_limit = |term: &&String| {
            let (number, what) = term.split_once(' ').unwrap_or_default();
            number.parse::<f64>().is_ok() && ["epochs", "steps", "s of training"].contains(&what)
        };
        self.non_standard.iter().find(is_limit).map(String::as_str)
    }
}

/// A versioned list of workloads. Scores of different versions are never compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Such as `quick`.
    pub name: String,
    /// Changes with the recipes of its workloads.
    pub version: u32,
}

/// One workload of a run: settings, raw samples, and the summary made from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadRecord {
    /// The network's name, such as `caffe-mnist`.
    pub workload: String,
    /// The network with its whole recipe, where it was read from a file and no program has it built in, in the layout of
    /// `native-runner workloads --json`. Such a run is never ranked, and no leaderboard takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<serde_json::Value>,
    /// Settings of the training.
    pub settings: Settings,
    /// Outcome of the workload.
    pub outcome: Outcome,
    /// Comparison with the plain reference back end, made before anything was timed.
    pub correctness: Option<Correctness>,
    /// One-time work before the first timed step.
    pub cold_start: ColdStart,
    /// Losses of the first steps, one each, before the update of that step: evidence for a replay.
    pub first_losses: Vec<f32>,
    /// Mean training loss and accuracy between marks.
    pub curve: Vec<CurvePoint>,
    /// Evaluations, in order.
    pub evaluations: Vec<Evaluation>,
    /// Every finished pass over the training set, in order.
    pub epochs: Vec<Epoch>,
    /// Every stretch of training that was timed, in order.
    pub windows: Vec<Window>,
    /// What the device could do at best, measured in turns with windows; nothing where the back end cannot tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<PeakSample>,
    /// What the time went into, from the first phase to the last, without gaps; nothing in records of layout 2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Stretch>,
    /// What the leaderboard was told on the way; nothing where there was none to tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<Checkpoint>,
    /// The accuracy to reach; absent where the workload has none.
    pub target: Option<Target>,
    /// A few of the final weights, chosen by the seed: evidence.
    pub weight_samples: Vec<WeightSample>,
    /// What several devices that shared each batch told each other; absent where one device trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub communication: Option<Communication>,
    /// What bringing batches to the device took; absent where the back end brings its input as it always does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputPipeline>,
    /// Use of the machine.
    pub resources: Resources,
    /// Recomputable from the fields above; the server does recompute it.
    pub summary: Summary,
}

/// The figures that are shown, which [`crate::summary`] computes. Absent means that the run does not have them, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Median over the counted windows, and the 95 % interval of that median.
    pub samples_per_second: Option<f64>,
    /// Lower end of that interval.
    pub samples_per_second_low: Option<f64>,
    /// Upper end of that interval.
    pub samples_per_second_high: Option<f64>,
    /// Seconds per step, as a mean over each counted window: their median and 95th percentile.
    pub step_seconds_p50: Option<f64>,
    /// Of the means over the counted windows.
    pub step_seconds_p95: Option<f64>,
    /// Arithmetic that the network needs, done per second.
    pub flops_per_second: Option<f64>,
    /// That over the device's peak, for each window after which the peak was measured: their median.
    pub share_of_peak: Option<f64>,
    /// Median over the finished epochs.
    pub seconds_per_epoch: Option<f64>,
    /// All timed training, evaluation excluded.
    pub training_seconds: f64,
    /// The last pass over the test set.
    pub testing_seconds: Option<f64>,
    /// Of the last pass over the test set, 0 to 1.
    pub accuracy: Option<f64>,
    /// Of the last pass over the test set, mean over its samples.
    pub test_loss: Option<f64>,
    /// Training seconds until the target accuracy was first seen.
    pub seconds_to_target: Option<f64>,
    /// Worst over best counted window.
    pub sustained_ratio: Option<f64>,
    /// Energy of the device that trains, of timed training alone. This and what follows from it is absent from records of
    /// layouts before 5, and where nobody tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules_per_sample: Option<f64>,
    /// That of a pass over the training set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules_per_epoch: Option<f64>,
    /// Samples per second for each watt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_joule: Option<f64>,
    /// Whether there were enough windows and they agreed.
    pub stable: bool,
    /// Windows that count.
    pub measured_windows: u32,
    /// All steps that were trained.
    pub steps: u64,
    /// All samples that were trained on.
    pub samples: u64,
}

impl WorkloadRecord {
    /// Seconds of training until the last evaluation, without evaluations. Windows that are trained after it, only
    /// to be measured, do not count. Absent where nothing was tested.
    pub fn training_seconds(&self) -> Option<f64> {
        self.evaluations.last().map(|last| last.training_seconds)
    }
}

impl Summary {
    /// Samples per second over the counted windows. Its interval needs [`MINIMUM_WINDOWS`] of them.
    pub fn throughput(&self) -> Option<Estimate> {
        let low = self.samples_per_second_low.filter(|_| self.measured_windows as usize >= MINIMUM_WINDOWS);
        Estimate::new(self.samples_per_second, low, self.samples_per_second_high)
    }

    /// Samples over seconds of all timed training, warm-up included: what is left where no window counts.
    pub fn samples_per_second_of_all_training(&self) -> Option<f64> {
        (self.samples > 0 && self.training_seconds > 0.0).then(|| self.samples as f64 / self.training_seconds)
    }

    /// Half-width of the throughput's interval over its median; absent without a figure.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = (self.samples_per_second_low?, self.samples_per_second_high?);
        Some((high - low) / 2.0 / self.samples_per_second?)
    }
}

/// What was trained with, whether default or asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Samples in a batch.
    pub batch_size: u32,
    /// Before any schedule.
    pub learning_rate: f64,
    /// Number format of activations and products.
    pub precision: Precision,
    /// Samples of the training set.
    pub training_samples: u32,
    /// Samples of the test set.
    pub test_samples: u32,
    /// Share of the test set that belongs to its most frequent class: the accuracy of always answering that. Absent in
    /// records of layout 1.
    pub chance_accuracy: Option<f64>,
    /// Trainable parameters.
    pub parameters: u64,
    /// Floating-point operations that one training sample needs (forward and backward), from shapes.
    pub training_flops_per_sample: u64,
    /// Bytes that the engine allocated on the device.
    pub device_memory_bytes: u64,
    /// Name of the variant of each tuned kernel, `kernel: variant`, in order of use.
    pub variants: Vec<String>,
}

impl Settings {
    /// Threads of a back end that computes on the processor.
    pub fn threads(&self) -> Option<u32> {
        self.variants.iter().find_map(|variant| variant.split_once("threads: ")?.1.parse().ok())
    }

    /// Layout of images in memory, `nhwc` or `nchw`, if an external program reported it.
    pub fn layout(&self) -> Option<&str> {
        self.variants.iter().find_map(|variant| variant.strip_prefix("layout: "))
    }
}

/// How a workload ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    Completed,
    /// At this step the loss was no finite number, or a thousand times that of the first step.
    Diverged {
        step: u64,
    },
    /// The back end disagreed with the reference, so nothing was timed.
    Incorrect,
    Cancelled,
    /// It could not be trained here, for a reason of its own: the other workloads of the run went on. It has no figures.
    /// Absent from records of layouts before 4.
    Failed {
        cause: FailureCause,
        /// One sentence, or a part of one, in a single line of at most 300 characters.
        reason: String,
    },
}

impl Outcome {
    /// Longer reasons are cut.
    pub const MOST_REASON_CHARACTERS: usize = 300;

    /// As tables show it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Diverged { .. } => "diverged",
            Self::Incorrect => "incorrect",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }

    /// A workload that could not be trained. Drivers explain themselves at length and in several lines: of that a record
    /// keeps the beginning, in one line.
    pub fn failed(cause: FailureCause, message: &str) -> Self {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain: String = message.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
        let mut reason = one_line(&plain);
        if reason.chars().count() > Self::MOST_REASON_CHARACTERS {
            reason = reason.chars().take(Self::MOST_REASON_CHARACTERS - 1).chain(['…']).collect();
        }
        Self::Failed { cause, reason }
    }
}

/// What kept a workload from being trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The sizes alone say that the device cannot hold it.
    DoesNotFit,
    OutOfMemory,
    /// The device, or its driver, refused a part of its work, such as a kernel.
    DeviceRefused,
    /// Its data set could not be loaded.
    Data,
    /// The back end lacks something that the network needs.
    Unsupported,
}

/// What happened once, before the first timed step; seconds each, absent when it did not happen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColdStart {
    /// Reading or fetching the data set and checking it.
    pub data_seconds: Option<f64>,
    /// Compiling shaders, making pipelines and buffers, uploading data and weights; without what is told apart below.
    pub build_seconds: Option<f64>,
    /// A first step and a first test that are forgotten, by a back end that compiles when an operation is first used.
    /// Absent where it also chooses kernels then, because it compiles each that it tries.
    pub compiling_seconds: Option<f64>,
    /// Choosing kernel variants. Where that happens while training: forgotten steps from the very first, which compile
    /// as well, until they no longer get faster.
    pub tuning_seconds: Option<f64>,
    /// The first step that is not forgotten.
    pub first_step_seconds: Option<f64>,
}

/// One point of the training curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Steps done so far.
    pub step: u64,
    /// Training seconds so far, evaluation excluded.
    pub training_seconds: f64,
    /// Mean loss since the previous point.
    pub loss: f64,
    /// Share of training samples since the previous point that were classified correctly, 0 to 1.
    pub accuracy: f64,
}

/// One pass over the test set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// Steps done before it.
    pub step: u64,
    /// Training seconds before it, evaluation excluded.
    pub training_seconds: f64,
    /// Seconds that this pass took.
    pub seconds: f64,
    /// Mean over the test set.
    pub loss: f64,
    /// Share of the test set, 0 to 1.
    pub accuracy: f64,
}

/// One finished pass over the training set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Epoch {
    /// From 1.
    pub epoch: u32,
    /// Training seconds of this epoch, evaluation excluded.
    pub seconds: f64,
    /// Mean training loss over this epoch.
    pub loss: f64,
    /// Share of its training samples that were classified correctly, 0 to 1.
    pub accuracy: f64,
}

/// A stretch of training between two clock readings; the queue was empty at both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Steps between the two readings.
    pub steps: u32,
    /// Training samples in these steps.
    pub samples: u64,
    /// Between the two readings.
    pub seconds: f64,
}

/// The peak of a device just after a window: what can be had at best of a device whose clock wanders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeakSample {
    /// Place of the window in the list of windows, from 0.
    pub window: u32,
    /// Of independent chains of fused multiply-adds in f32, each counted as two operations.
    pub flops_per_second: f64,
    /// Bytes that copying a large array reads and writes; absent where there is no room for one.
    pub copied_bytes_per_second: Option<f64>,
}

/// The accuracy to reach, and when it was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Share of the test set, 0 to 1.
    pub accuracy: f64,
    /// Training seconds, evaluation excluded; absent when the target was not reached.
    pub reached_seconds: Option<f64>,
    /// Steps done when it was first seen.
    pub reached_step: Option<u64>,
}

/// One final weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightSample {
    /// Number of the tensor in layer order.
    pub tensor: u32,
    /// Row-major position in the tensor.
    pub index: u32,
    /// After the last step.
    pub value: f32,
}
