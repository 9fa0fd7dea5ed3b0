//! Record of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::OPEN_SUITE;
use crate::text::is_plain;
use crate::{
    Communication, Correctness, Departure, Device, InputPipeline, Layout, Precision, Provenance, Resources, RunSpec,
    Segment, Stretch, Warning,
};

/// Version of the layout of [`RunRecord`]. Readers reject unknown versions.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of a suite on one device with one back end, as it is saved, shown and uploaded. Times are in seconds, memory
/// is in bytes, and accuracies are shares from 0 to 1. A value that the run does not have is left out or `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Version of the record's layout. A reader refuses versions that it does not know.
    pub schema_version: u32,
    /// Id of the run on the leaderboard; absent if the run was not registered before it started.
    pub run_id: Option<String>,
    /// Single-use token that the leaderboard issued together with `run_id`.
    pub nonce: Option<String>,
    /// Requested run.
    pub requested: RunSpec,
    /// Suite that was trained. `departures` lists departures from it.
    pub suite: Suite,
    /// Departures from the suite, computed from the other fields; empty for a standard run. A run with any of them is
    /// shown but not ranked. The leaderboard computes them again.
    pub departures: Vec<Departure>,
    /// Program that made the record, and time of the run.
    pub provenance: Provenance,
    /// Device that trained.
    pub device: Device,
    /// Workloads of the run, in training order.
    pub workloads: Vec<WorkloadRecord>,
    /// Conditions that were not ideal.
    pub warnings: Vec<Warning>,
}

impl RunRecord {
    /// Returns true if the run used only the suite's settings.
    pub fn is_standard(&self) -> bool {
        self.departures.is_empty()
    }

    /// Returns true for a run of the open class that departs from it only by its network, which every such run brings.
    pub fn is_of_open_class(&self) -> bool {
        let is_network = |departure: &Departure| matches!(departure, Departure::NetworkFile { .. });
        self.suite.name == OPEN_SUITE && self.departures.len() == 1 && self.departures.iter().all(is_network)
    }

    /// Returns true if a leaderboard can prove the run: it used only the settings of its suite, or of the open class.
    pub fn follows_rules(&self) -> bool {
        self.is_standard() || self.is_of_open_class()
    }

    /// Returns the seconds that the run was paused, over all workloads.
    pub fn paused_seconds(&self) -> f64 {
        let stretches = self.workloads.iter().flat_map(|workload| &workload.timeline);
        stretches.filter(|stretch| stretch.phase == Phase::Paused).map(|stretch| stretch.seconds).sum()
    }

    /// Joins the departures with `separator`.
    pub fn departures_text(&self, separator: &str) -> String {
        self.departures.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
    }
}

/// A versioned list of workloads. Scores of different versions are never compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name of the suite, such as `quick`.
    pub name: String,
    /// Version of the suite, which changes with the recipes of its workloads.
    pub version: u32,
}

/// One workload of a run: its settings, the raw samples, and the summary computed from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadRecord {
    /// Name of the network, such as `caffe-mnist`.
    pub workload: String,
    /// Network and recipe that were read from a file, in the layout of `native-runner workloads --json`; absent for
    /// built-in networks. Leaderboards accept such a run only in the suite `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<serde_json::Value>,
    /// Settings of the training.
    pub settings: Settings,
    /// Outcome of the workload.
    pub outcome: Outcome,
    /// Comparison with the plain reference back end, made before anything was timed; absent if the workload could not
    /// be trained.
    pub correctness: Option<Correctness>,
    /// Seconds of the one-time work at the start.
    pub cold_start: ColdStart,
    /// Losses of the first steps, in order, each before the update of its step. Evidence for a replay of the run.
    pub first_losses: Vec<f32>,
    /// Training curve: mean loss and accuracy between one point and the next.
    pub curve: Vec<CurvePoint>,
    /// Passes over the test set, in order.
    pub evaluations: Vec<Evaluation>,
    /// Finished passes over the training set, in order.
    pub epochs: Vec<Epoch>,
    /// Timed stretches of training, in order.
    pub windows: Vec<Window>,
    /// Peak performance of the device, measured in turns with windows; empty if the back end does not measure it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<PeakSample>,
    /// Phases of the workload, in order and without gaps.
    pub timeline: Vec<Stretch>,
    /// The leaderboard's view of each window, in order; empty if it did not see all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    /// Accuracy or loss to reach, and when it was reached; absent if the workload has none.
    pub target: Option<Target>,
    /// Some of the final weights, chosen by the seed. Evidence for a replay of the run.
    pub weight_samples: Vec<WeightSample>,
    /// Data that the devices sharing each batch exchanged, and the seconds it took; absent if one device trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub communication: Option<Communication>,
    /// Cost of bringing batches to the device; absent if the data set is on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputPipeline>,
    /// Use of the machine during the training.
    pub resources: Resources,
    /// Metrics computed from the other fields of this workload. The leaderboard recomputes them.
    pub summary: Summary,
}

/// Metrics computed from the raw samples of a workload. A metric that the run does not have is absent,
/// never zero. A window counts if at least a second of training came before it and its steps take at least a second at
/// the speed of the window before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Training throughput in samples per second: the median over the counted windows.
    pub samples_per_second: Option<f64>,
    /// Lower end of the 95 % interval of `samples_per_second`, in samples per second.
    pub samples_per_second_low: Option<f64>,
    /// Upper end of the 95 % interval of `samples_per_second`, in samples per second.
    pub samples_per_second_high: Option<f64>,
    /// Seconds per step: the median of the means over each counted window.
    pub step_seconds_p50: Option<f64>,
    /// Seconds per step: the 95th percentile of the means over each counted window.
    pub step_seconds_p95: Option<f64>,
    /// Floating-point operations per second: those that the network needs for a training sample, times
    /// `samples_per_second`.
    pub flops_per_second: Option<f64>,
    /// Floating-point operations per second as a share of the device's measured peak: the median over the windows after
    /// which the peak was measured. 1 is the peak.
    pub share_of_peak: Option<f64>,
    /// Seconds of training for one pass over the training set: the median over the finished epochs.
    pub seconds_per_epoch: Option<f64>,
    /// Seconds of all timed training, with what is trained only to be measured, evaluation excluded.
    pub training_seconds: f64,
    /// Seconds of the last pass over the test set.
    pub testing_seconds: Option<f64>,
    /// Share of correct answers in the last pass over the test set, 0 to 1. A sample has one answer, or one for each
    /// character of a text.
    pub accuracy: Option<f64>,
    /// Mean loss in the last pass over the test set, in nats for each answer.
    pub test_loss: Option<f64>,
    /// Seconds of training until the target was first seen, evaluation excluded.
    pub seconds_to_target: Option<f64>,
    /// Throughput of the slowest counted window divided by the fastest one's, 0 to 1.
    pub sustained_ratio: Option<f64>,
    /// Energy in joules that the training device used per training sample during timed training; absent if the device
    /// does not report its energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules_per_sample: Option<f64>,
    /// Energy in joules for as many samples as the training set has; absent if `joules_per_sample` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules_per_epoch: Option<f64>,
    /// Training samples per joule, the same as samples per second for each watt; absent if `joules_per_sample` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_per_joule: Option<f64>,
    /// True if at least five windows count and the half-width of the throughput's 95 % interval is at most 2.5 % of its
    /// median.
    pub stable: bool,
    /// Number of counted windows.
    pub measured_windows: u32,
    /// Number of steps in all windows.
    pub steps: u64,
    /// Number of training samples in all windows.
    pub samples: u64,
}

impl WorkloadRecord {
    /// Returns the seconds of training until the last evaluation, without evaluations; `None` if nothing was evaluated.
    pub fn training_seconds(&self) -> Option<f64> {
        self.evaluations.last().map(|last| last.training_seconds)
    }
}

/// Settings of a training run, default or requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Samples in a batch.
    pub batch_size: u32,
    /// Learning rate before any schedule.
    pub learning_rate: f64,
    /// Number format of activations and products.
    pub precision: Precision,
    /// Samples in the training set. For a text, the windows of characters that an epoch draws.
    pub training_samples: u32,
    /// Samples in the test set. For a text, its windows of characters, one after the other.
    pub test_samples: u32,
    /// Share of the test set's labels that belong to its most frequent class, 0 to 1: the accuracy of always answering
    /// that class. Absent if the workload could not be trained.
    pub chance_accuracy: Option<f64>,
    /// Number of trainable parameters.
    pub parameters: u64,
    /// Floating-point operations that one training sample needs, forward and backward, counted from the network's
    /// shapes. A multiply-add counts as two.
    pub training_flops_per_sample: u64,
    /// Memory that the back end allocated on the device, in bytes; 0 if that is not known.
    pub device_memory_bytes: u64,
    /// Number of threads of a back end that computes on the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Layout of images in memory, if an external program reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Name of the variant of each tuned kernel as `kernel: variant`, in order of use, and other settings of the back
    /// end.
    pub variants: Vec<String>,
}

/// Seconds of the work that is done once, up to the first timed step. A part that did not happen, or that the back end
/// does not tell apart, is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColdStart {
    /// Seconds spent reading or fetching the data set and checking it.
    pub data_seconds: Option<f64>,
    /// Seconds spent compiling shaders, making pipelines and buffers, and uploading data and weights, without
    /// `compiling_seconds` and `tuning_seconds`.
    pub build_seconds: Option<f64>,
    /// Seconds of a first step and a first test whose results are discarded, on a back end that compiles an operation
    /// when it is first used. Absent if the back end also chooses kernels then: `tuning_seconds` includes the
    /// compiling.
    pub compiling_seconds: Option<f64>,
    /// Seconds spent choosing kernel variants. On a back end that chooses them while training, the seconds of all
    /// discarded steps until steps no longer get faster, compiling included.
    pub tuning_seconds: Option<f64>,
    /// Seconds of the first step that is not discarded.
    pub first_step_seconds: Option<f64>,
}

impl ColdStart {
    /// Returns the total without data loading, which does not depend on the backend.
    pub fn seconds(&self) -> Option<f64> {
        let parts = [self.build_seconds, self.compiling_seconds, self.tuning_seconds, self.first_step_seconds];
        let parts: Vec<f64> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.iter().sum())
    }
}

/// One point of the training curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Steps done so far.
    pub step: u64,
    /// Seconds of training so far, evaluation excluded.
    pub training_seconds: f64,
    /// Mean training loss since the previous point.
    pub loss: f64,
    /// Share of correct answers in training since the previous point, 0 to 1.
    pub accuracy: f64,
}

/// One pass over the test set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// Steps done before this pass.
    pub step: u64,
    /// Seconds of training before this pass, evaluation excluded.
    pub training_seconds: f64,
    /// Seconds that this pass took.
    pub seconds: f64,
    /// Mean loss of all answers.
    pub loss: f64,
    /// Share of correct answers, 0 to 1. A sample has one answer, or one for each character of a text.
    pub accuracy: f64,
}

/// One finished pass over the training set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Epoch {
    /// Number of the epoch, from 1.
    pub epoch: u32,
    /// Seconds of training in this epoch, evaluation excluded.
    pub seconds: f64,
    /// Mean training loss over this epoch.
    pub loss: f64,
    /// Share of correct answers in training over this epoch, 0 to 1.
    pub accuracy: f64,
}

/// A stretch of training between two clock readings, both taken while the device's queue was empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Steps between the two readings.
    pub steps: u32,
    /// Training samples in these steps.
    pub samples: u64,
    /// Seconds between the two readings.
    pub seconds: f64,
}

/// Peak performance of the device, measured just after a window because clocks of devices change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeakSample {
    /// Place of that window in `windows`, from 0.
    pub window: u32,
    /// Floating-point operations per second of independent chains of fused multiply-adds in f32, each counted as two
    /// operations.
    pub flops_per_second: f64,
    /// Bytes per second that copying a large array reads and writes; absent if the device has no room for one.
    pub copied_bytes_per_second: Option<f64>,
}

/// Result on the test set that training is timed to reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Smallest share of correct answers on the test set, 0 to 1.
    Accuracy(f64),
    /// Largest mean loss on the test set.
    Loss(f64),
}

impl Goal {
    pub fn is_reached(self, evaluation: &Evaluation) -> bool {
        match self {
            Self::Accuracy(accuracy) => evaluation.accuracy >= accuracy,
            Self::Loss(loss) => evaluation.loss <= loss,
        }
    }

    /// Returns the name of the number: `accuracy` or `loss`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy(_) => "accuracy",
            Self::Loss(_) => "loss",
        }
    }

    pub fn number(self) -> f64 {
        match self {
            Self::Accuracy(number) | Self::Loss(number) => number,
        }
    }
}

/// The goal of the training, and when it was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Accuracy or loss to reach.
    #[serde(flatten)]
    pub goal: Goal,
    /// Seconds of training until the target was first seen, evaluation excluded; absent if it was not reached.
    pub reached_seconds: Option<f64>,
    /// Steps done when the target was first seen; absent if it was not reached.
    pub reached_step: Option<u64>,
}

/// One weight after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightSample {
    /// Number of the tensor in layer order, from 0.
    pub tensor: u32,
    /// Row-major position in the tensor, from 0.
    pub index: u32,
    /// Value of the weight.
    pub value: f32,
}

/// The way in which a workload ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The workload was trained and measured to its end.
    #[default]
    Completed,
    /// The loss was not a finite number, or was above a thousand times the first step's loss.
    Diverged {
        /// Steps done before that loss.
        step: u64,
    },
    /// The back end disagreed with the reference, so nothing was timed.
    Incorrect,
    /// The run was cancelled during this workload.
    Cancelled,
    /// The workload could not be trained here, for a reason that does not affect the other workloads of the run. It has
    /// no metrics.
    Failed {
        /// Cause of the failure.
        cause: FailureCause,
        /// Description of the failure, in one line of at most 300 characters.
        reason: String,
    },
}

impl Outcome {
    /// Maximum length of a reason in characters; longer ones are truncated.
    pub const MAX_REASON_CHARACTERS: usize = 300;

    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Diverged { .. } => "diverged",
            Self::Incorrect => "incorrect",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }

    /// Returns the reason why the workload could not be trained.
    pub fn failure(&self) -> Option<&str> {
        if let Self::Failed { reason, .. } = self { Some(reason) } else { None }
    }

    /// Creates the outcome of a workload that could not be trained. Driver messages are long and span several lines, so
    /// the record keeps only the beginning, on one line.
    pub fn failed(cause: FailureCause, message: &str) -> Self {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain: String = message.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
        let mut reason = one_line(&plain);
        if reason.chars().count() > Self::MAX_REASON_CHARACTERS {
            reason = reason.chars().take(Self::MAX_REASON_CHARACTERS - 1).chain(['…']).collect();
        }
        Self::Failed { cause, reason }
    }
}

/// Cause that kept a workload from being trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The workload needs more than the device allows. Its sizes show that before anything is allocated.
    DoesNotFit,
    /// The device ran out of memory.
    OutOfMemory,
    /// The device or its driver refused a part of the work, such as a kernel.
    DeviceRefused,
    /// The data set could not be loaded.
    Data,
    /// The back end lacks something that the network needs.
    Unsupported,
}

/// A part of the measurement of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading or fetching the data set and checking it.
    LoadingData,
    /// Compiling kernels, choosing among them, and uploading data and weights.
    Building,
    /// Comparing the back end with the plain reference.
    Checking,
    /// Steps that no window counts.
    WarmingUp,
    /// Training in timed windows, until the limit of the workload.
    Training,
    /// Classifying samples that are not trained on.
    Testing,
    /// Writing a text with the language model that trains.
    Writing,
    /// More timed windows after training, until the throughput has settled.
    Measuring,
    /// Measuring the peak performance of the device.
    MeasuringPeak,
    /// Hashing the state for the leaderboard, training parts again that it asks for, and sending it states.
    Proving,
    /// Waiting because the page is hidden.
    Paused,
}

impl Phase {
    pub fn title(self) -> &'static str {
        match self {
            Self::LoadingData => "loading the data",
            Self::Building => "compiling kernels",
            Self::Checking => "checking results",
            Self::WarmingUp => "warming up",
            Self::Training => "training",
            Self::Testing => "testing",
            Self::Writing => "writing a text",
            Self::Measuring | Self::MeasuringPeak => "measuring",
            Self::Proving => "proving the run",
            Self::Paused => "waiting",
        }
    }

    /// Returns true if the phase consists mainly of timed training windows.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Training | Self::Measuring)
    }
}
