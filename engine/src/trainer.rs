//! Interface between the training loop and a backend.

use async_trait::async_trait;
use results::{Adapter, Communication, InputMode, InputPipeline, Layout, Precision, StateBytes, Warning};

use crate::error::{EngineError, Result};
use crate::training::Segments;
pub(crate) use crate::training::{EvaluationSet, TrainingJob};

#[async_trait(?Send)]
pub trait Backend {
    fn facts(&self) -> &BackendFacts;
    fn name(&self) -> &'static str {
        self.facts().name
    }
    fn adapter(&self) -> &Adapter {
        &self.facts().adapter
    }
    fn precision(&self) -> Precision {
        self.facts().precision
    }
    fn devices(&self) -> u32 {
        self.facts().devices
    }
    /// Predicts the bytes that [`Backend::build`] allocates, if possible. Fails if the job does not fit.
    fn predicted_bytes(&self, _job: &TrainingJob) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Opens a gauge of the device's peak, if the backend has one.
    async fn gauge(&self) -> Result<Option<Box<dyn Gauge>>> {
        Ok(None)
    }
    /// Frees the memory of a failed workload after its trainer is dropped, and checks that the device still responds.
    async fn recover(&self) -> Result<()> {
        Ok(())
    }
    /// Compiles, allocates and uploads. Steps then allocate nothing.
    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>>;
}

/// Constant properties of an opened backend.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendFacts {
    /// Name that selects the backend.
    pub name: &'static str,
    pub adapter: Adapter,
    pub precision: Precision,
    /// Number of devices that share each batch.
    pub devices: u32,
    /// Number of compute threads, for backends on the processor.
    pub threads: Option<u32>,
    pub input: InputMode,
    /// True if training again from a state gives bit-identical results. A leaderboard can prove only such runs.
    pub repeats_itself: bool,
    pub warnings: Vec<Warning>,
}

impl BackendFacts {
    /// Describes one device with resident data.
    pub fn new(name: &'static str, adapter: Adapter, precision: Precision) -> Self {
        let (devices, threads, input) = (1, None, InputMode::Resident);
        Self { name, adapter, precision, devices, threads, input, repeats_itself: false, warnings: Vec::new() }
    }
}

/// Gauge of a device's peaks. A measurement takes about a tenth of a second and runs close to the windows that it is
/// compared with, because a device's clock varies with heat and other work.
#[async_trait(?Send)]
pub trait Gauge {
    async fn peak_flops_per_second(&mut self) -> Result<f64>;

    /// Measures the copy throughput in bytes per second (read and written). Returns `None` if the device cannot copy.
    async fn copied_bytes_per_second(&mut self) -> Result<Option<f64>> {
        Ok(None)
    }
}

#[async_trait(?Send)]
pub trait Trainer {
    /// Trains the next `steps` steps and returns when the device has finished all of them.
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport>;

    /// Classifies a set's first samples, without dropout or augmentation. Held-out ones need a job with early stopping.
    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport>;

    /// Returns all tensors in the model's order and logical layout.
    async fn weights(&mut self) -> Result<Vec<Vec<f32>>>;

    /// Returns the loss gradients of the last training step, in the layout of [`Trainer::weights`], without weight
    /// decay. Gradients of untrained tensors may be zero.
    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>>;

    /// Returns the logits of the last batch's first `answers` answers, before its update. Evaluations overwrite them.
    async fn logits(&mut self, answers: u32) -> Result<Vec<Vec<f64>>>;

    /// Starts a segment with this seed at the next step. Only for backends with repeatable training.
    fn begin_segment(&mut self, _seed: u32) {}

    /// Returns all state that training changes, laid out like weights. Only for backends with repeatable training.
    async fn state(&mut self) -> Result<StateBytes> {
        Err(EngineError::NotRepeatable)
    }

    /// Restores a state read before step `step` (zero-based). `segments` are the segments of the whole training. Only
    /// for backends with repeatable training.
    async fn restore(&mut self, _state: &StateBytes, _step: u64, _segments: &Segments) -> Result<()> {
        Err(EngineError::NotRepeatable)
    }

    /// Delay in seconds until the end of the device's work is noticed, for platforms that poll for completion.
    fn latency_seconds(&self) -> f64 {
        0.0
    }

    fn facts(&self) -> TrainerFacts {
        TrainerFacts::default()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainerFacts {
    /// Time for the first use of every operation, if that only compiles it.
    pub compiling_seconds: Option<f64>,
    /// Time for choosing kernels, including compilation if both happen at once.
    pub tuning_seconds: Option<f64>,
    /// Number of steps after which tuning stopped without settling.
    pub unsettled_after_steps: Option<u32>,
    pub device_memory_bytes: u64,
    /// Layout of images in memory, if the trainer reports it.
    pub layout: Option<Layout>,
    /// `kernel: variant` for each kernel that has variants.
    pub variants: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Mean loss of each step's batch, before its update.
    pub losses: Vec<f64>,
    /// Correct answers in training mode.
    pub correct: u64,
    pub samples: u64,
    /// Time of the steps, if the backend can separate it from batch preparation. Otherwise the caller's clock is used.
    pub seconds: Option<f64>,
    /// Communication among devices that share each batch.
    pub communication: Option<Communication>,
    /// Transfer of batches in a requested input mode.
    pub input: Option<InputPipeline>,
}

impl StepReport {
    pub(crate) fn add_step(&mut self, loss: f64, correct: u64, samples: u32) {
        self.losses.push(loss);
        self.correct += correct;
        self.samples += u64::from(samples);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestReport {
    /// Mean loss over the answers.
    pub loss: f64,
    pub correct: u64,
    /// Number of answers: one for each sample, or one for each character of its window.
    pub answers: u64,
    /// Time of the evaluation, as in [`StepReport::seconds`].
    pub seconds: Option<f64>,
}

impl TestReport {
    /// Returns the share of correct answers, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.answers.max(1) as f64
    }
}
