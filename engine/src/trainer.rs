//! Interface between the training loop and a backend.

use std::sync::Arc;

use async_trait::async_trait;
use results::{Adapter, Communication, InputMode, InputPipeline, Layout, Precision, StateBytes, Warning};
use shaders::params::Step;

use crate::data::{DataSet, Split};
use crate::error::{EngineError, Result};
use crate::measure::Gauge;
use crate::model::{Model, ModelError, Multipliers};
use crate::training::{BatchPlan, EarlyStopping, InputRecipe, Loss, Optimizer, SampleOrder, Segments, WeightAverage};

#[derive(Clone)]
pub struct TrainingJob {
    pub model: Model,
    pub data: Arc<DataSet>,
    pub input: InputRecipe,
    pub loss: Loss,
    pub optimizer: Optimizer,
    pub average: Option<WeightAverage>,
    /// Early-stopping rule, if held-out samples are evaluated.
    pub early_stopping: Option<EarlyStopping>,
    pub batches: BatchPlan,
    /// Number of steps that the schedules span.
    pub planned_steps: u64,
    /// Seed of the weights and, without segments, of the sample order, dropout and augmentation.
    pub seed: u32,
    pub dropout: bool,
    /// Earlier segments, if a leaderboard proves the run. The trainer continues after them.
    pub segments: Segments,
}

impl TrainingJob {
    pub fn initial_weights(&self) -> Result<Vec<Vec<f32>>, ModelError> {
        let channels = self.model.input.channels;
        let tensors = self.model.tensors()?;
        Ok(tensors.iter().map(|tensor| tensor.initial_values(self.seed, &self.data.train, channels)).collect())
    }

    /// Returns the batch and rates of step `number`, with `slot` as the index of its results.
    #[expect(clippy::cast_possible_truncation, reason = "rates are computed in double and rounded once")]
    pub(crate) fn step(&self, number: u64, slot: u32) -> Step {
        let batch = self.batches.step(number);
        let rate = self.optimizer.scheduled_rate(number, self.planned_steps);
        let average = self.average.map(|average| average.step(number, self.planned_steps)).unwrap_or_default();
        let mirrors = batch.offset > 0 || self.batches.order == SampleOrder::File;
        Step {
            // The generator's step lane has 32 bits and wraps after four billion steps.
            step: u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default(),
            seed: self.segments.seed_at(number).unwrap_or(self.seed),
            offset: batch.offset,
            count: batch.count,
            slot,
            training: 1,
            learning_rate: (rate * self.optimizer.correction(number)) as f32,
            decay_rate: rate as f32,
            epoch: batch.epoch,
            average: average.mode,
            average_keep: average.keep as f32,
            linear: self.linear(number),
            mirror_rest: u32::from(mirrors && self.segments.begins_at(number)),
            ..Step::default()
        }
    }

    /// Returns the value of [`Step::linear`], which is 1 until the model's linear phase ends.
    pub(crate) fn linear(&self, number: u64) -> u32 {
        u32::from((number as f64) < self.model.linear_until() * self.planned_steps as f64)
    }

    /// Returns a set's file and the indices of its samples in it.
    pub(crate) fn evaluated(&self, set: EvaluationSet) -> (Vec<u32>, &Split) {
        match set {
            EvaluationSet::Test => ((0..self.data.test.samples()).collect(), &self.data.test),
            EvaluationSet::HeldOut => {
                let trained = self.batches.first..self.batches.first + self.batches.samples;
                let held_out = (0..self.data.train.samples()).filter(|sample| !trained.contains(sample));
                (held_out.collect(), &self.data.train)
            }
        }
    }

    pub(crate) fn evaluated_samples(&self, set: EvaluationSet) -> u32 {
        match set {
            EvaluationSet::Test => self.data.test.samples(),
            EvaluationSet::HeldOut => self.data.train.samples() - self.batches.samples,
        }
    }

    /// Returns the batch size of evaluations that prepare their batches on the host.
    pub(crate) fn test_batch(&self) -> u32 {
        const MIN_BATCH: u32 = 100;
        self.batches.batch_size.max(MIN_BATCH)
    }

    /// Returns the batches of an evaluation after `trained` steps.
    pub(crate) fn test_steps(&self, trained: u64, samples: u32, batch: u32) -> impl Iterator<Item = Step> + use<> {
        let (seed, linear) = (self.seed, self.linear(trained));
        let step = move |offset| Step { offset, count: batch.min(samples - offset), seed, linear, ..Step::default() };
        (0..samples).step_by(batch as usize).map(step)
    }

    /// Returns the first step at which a tensor with these multipliers is frozen.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub(crate) fn frozen_from(&self, multipliers: &Multipliers) -> u32 {
        let step = multipliers.frozen_from.map(|share| share * self.planned_steps as f64);
        step.map_or(u32::MAX, |step| step.ceil() as u32)
    }
}

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

#[async_trait(?Send)]
pub trait Trainer {
    /// Trains the next `steps` steps and returns when the device has finished all of them.
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport>;

    /// Classifies the first `samples` samples of a set, without dropout or augmentation. Held-out samples are available
    /// if the job has early stopping.
    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport>;

    /// Returns all tensors in the model's order and logical layout.
    async fn weights(&mut self) -> Result<Vec<Vec<f32>>>;

    /// Returns the loss gradients of the last training step, in the layout of [`Trainer::weights`], without weight
    /// decay. Gradients of untrained tensors may be zero.
    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>>;

    /// Returns the logits of the first `rows` samples of the last training batch, before its update. The next
    /// evaluation overwrites them.
    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>>;

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

/// Constant properties of a built trainer.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationSet {
    Test,
    /// Samples of the training file that are excluded from training.
    HeldOut,
}

/// Result of one or more training steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Mean loss of each step's batch, before its update.
    pub losses: Vec<f64>,
    /// Samples classified correctly in training mode.
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

/// Result of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestReport {
    /// Mean loss over the samples.
    pub loss: f64,
    pub correct: u64,
    pub samples: u64,
    /// Time of the evaluation, as in [`StepReport::seconds`].
    pub seconds: Option<f64>,
}

impl TestReport {
    /// Returns the share of samples classified correctly, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.samples.max(1) as f64
    }
}
