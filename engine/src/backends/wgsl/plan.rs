//! Plan of a job as plain data: buffers, and recordings of the launches of a step.

mod arenas;
mod contents;
mod gradient_parts;
mod input;
mod layers;
mod products;
mod ranges;
pub(super) mod weight_gradient;

use half::f16;
use results::InputMode;
use shaders::Stored;
use shaders::params::{Blend, MAX_HEAD_SIZE, Softmax, StepResult};

use super::builder::Builder;
use super::layout::{CHANNEL_ALIGNMENT, TensorLayout, tensor_layouts};
use super::products::Product;
use super::recording::{BufferPlan, BufferRange, Recording};
use super::tuning::Choices;
use crate::backends::sharing::most_rows;
use crate::error::{EngineError, Result};
use crate::model::{Model, ModelError, Stage, StageKind, Stages, Words};
use crate::trainer::{EvaluationSet, TrainingJob};
use crate::training::Loss;
pub(super) use arenas::Arenas;
use arenas::gradient_scale;
pub(super) use contents::Contents;
use input::BatchInput;
pub(super) use input::Streamed;

/// Number of steps whose results fit on the device before they are read: a whole window on any but the fastest device.
pub(super) const RESULT_SLOTS: u32 = 65_536;
/// Number of rows in the step table. Rows are overwritten after earlier submissions have read them.
pub(super) const STEP_ROWS: u32 = 1024;
/// Minimum number of samples per test batch, because the batches of some recipes are tiny.
const MIN_TEST_ROWS: u32 = 100;

/// Settings of training that are not part of the job.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrainingSetup {
    /// Number of devices that share each batch.
    pub(super) devices: u32,
    /// Time at which devices exchange their gradients.
    pub(super) exchanging: Exchanging,
    pub(super) input: InputMode,
}

/// Time at which devices that share each batch exchange their gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchanging {
    /// All gradients together, after the backward pass.
    Afterwards,
    /// In parts, each as soon as it is computed, while the devices compute the others.
    WhileComputing,
}

impl TrainingSetup {
    /// One device, which holds the data set.
    pub(super) const STANDARD: Self =
        Self { devices: 1, exchanging: Exchanging::Afterwards, input: InputMode::Resident };

    /// One of several devices that share each batch.
    pub(super) fn of_devices(devices: u32, exchanging: Exchanging) -> Self {
        Self { devices, exchanging, ..Self::STANDARD }
    }

    pub(super) fn of_input(input: InputMode) -> Self {
        Self { input, ..Self::STANDARD }
    }
}

/// Buffers and commands of a device for one job.
pub(super) struct Plan {
    pub(super) buffers: Vec<BufferPlan>,
    /// Commands before the first training step of each epoch, for jobs that shuffle.
    pub(super) shuffle: Option<Recording>,
    /// Commands before the first training step of a segment, if the order of the samples is on the device.
    pub(super) mirror: Option<Recording>,
    pub(super) training: Recording,
    pub(super) evaluation: Recording,
    /// Like `evaluation`, with held-out samples, for jobs with early stopping.
    pub(super) held_out: Option<Recording>,
    /// Number of samples per run of `evaluation`.
    pub(super) evaluation_rows: u32,
    pub(super) tensors: Vec<TensorLayout>,
    pub(super) arenas: Arenas,
    /// Order of the training samples, if it is on the device.
    pub(super) order: Option<BufferRange>,
    pub(super) logits: BufferRange,
    pub(super) results: BufferRange,
    /// Buffers for streamed batches, if the host streams them.
    pub(super) streamed: Option<Streamed>,
    /// Number of stored values per row of logits.
    pub(super) logits_stride: u32,
    /// Scale factor of gradients on the device.
    pub(super) gradient_scale: f32,
}

impl Plan {
    /// Plans `job` with the chosen kernels for a device that binds at most `largest_binding` bytes at once.
    ///
    /// # Errors
    /// A layer beyond the kernels' limits, or buffers that the device cannot bind, with both numbers.
    pub(super) fn new(
        job: &TrainingJob,
        setup: TrainingSetup,
        largest_binding: u64,
        choices: &Choices,
    ) -> Result<Self> {
        let mut planner = Planner::new(job, setup, largest_binding, choices)?;
        let batch_size = most_rows(job.batches.batch_size, setup.devices);
        planner.rows = batch_size;
        let (shuffle, mirror) = (planner.shuffle(), planner.mirror());
        planner.gather_training();
        planner.forward(LayerPhase::Training);
        planner.softmax(planner.logits());
        planner.backward();
        planner.exchange_gradients();
        planner.optimize();
        planner.arenas.round_weights(planner.results, &mut planner.builder);
        let training = planner.builder.take_recording();
        planner.rows = planner.test_rows;
        planner.arenas.use_tested_weights(job, &mut planner.builder);
        let evaluation = planner.evaluation(EvaluationSet::Test);
        let held_out = job.early_stopping.map(|_| planner.evaluation(EvaluationSet::HeldOut));
        let (order, logits) = (planner.order(), planner.logits());
        let plan = Self {
            buffers: planner.builder.finish(),
            shuffle,
            mirror,
            training,
            evaluation,
            held_out,
            evaluation_rows: planner.test_rows,
            streamed: planner.input.streamed,
            tensors: planner.tensors,
            arenas: planner.arenas,
            order,
            logits,
            results: planner.results,
            logits_stride: planner.stages.logits().stored_features(CHANNEL_ALIGNMENT),
            gradient_scale: planner.gradient_scale,
        };
        plan.check_bindings(batch_size, largest_binding)?;
        Ok(plan)
    }

    pub(super) fn recordings(&self) -> impl Iterator<Item = &Recording> {
        let others = [&self.held_out, &self.shuffle, &self.mirror];
        [&self.training, &self.evaluation].into_iter().chain(others.into_iter().flatten())
    }

    /// Returns the products of all recordings, whose kernels come in variants.
    pub(super) fn products(&self) -> Vec<Product> {
        self.recordings().flat_map(|recording| &recording.dispatches).filter_map(|launch| launch.product).collect()
    }

    /// Returns the device memory of all buffers, including staging buffers, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.buffers.iter().map(|b| b.bytes).sum::<u64>() + self.staging_bytes().iter().sum::<u64>()
    }

    /// Returns the size of each staging buffer in bytes. The first holds the results of all slots after a window, and
    /// exchanges that devices wait for. The others serve exchanges that overlap with computing.
    pub(super) fn staging_bytes(&self) -> Vec<u64> {
        let mut bytes = vec![self.results.bytes];
        for exchange in &self.training.exchanges {
            bytes.resize(bytes.len().max(exchange.staging + 1), 0);
            bytes[exchange.staging] = bytes[exchange.staging].max(exchange.read.bytes);
        }
        bytes
    }

    /// Refuses buffers that the device cannot bind.
    fn check_bindings(&self, batch_size: u32, largest_binding: u64) -> Result<()> {
        let dispatches = self.training.dispatches.iter().chain(&self.evaluation.dispatches);
        let largest = dispatches.flat_map(|dispatch| &dispatch.bindings).max_by_key(|range| range.bytes);
        match largest {
            Some(range) if range.bytes > largest_binding => Err(EngineError::DoesNotFit {
                what: format!(
                    "with batches of {batch_size} samples, the part of `{}` that one kernel sees",
                    self.buffers[range.buffer].name
                ),
                needed_bytes: range.bytes,
                allowed_bytes: largest_binding,
            }),
            _ => Ok(()),
        }
    }
}

/// A plan in the making.
struct Planner<'a> {
    job: &'a TrainingJob,
    choices: &'a Choices,
    stages: Stages,
    tensors: Vec<TensorLayout>,
    builder: Builder,
    arenas: Arenas,
    input: BatchInput,
    results: BufferRange,
    labels: BufferRange,
    values: Vec<ValueBuffers>,
    /// Buffers that each stage keeps from its forward to its backward pass, by output value.
    kept: Vec<Vec<BufferRange>>,
    /// True for each tensor with a gradient in the arena from an earlier stage that shares it.
    has_gradient: Vec<bool>,
    /// Sum of the logits of all views, allocated on first use.
    blended: Option<BufferRange>,
    /// Number of samples in the current recording.
    rows: u32,
    test_rows: u32,
    gradient_scale: f32,
    /// Exchange of several devices that share each batch; `None` for one.
    exchanging: Option<Exchanging>,
}

/// A pass through all layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerPhase {
    Training,
    Test,
    /// Another view of test samples.
    AnotherView,
    Backward,
}

struct ValueBuffers {
    /// Index of the buffer with the values.
    values: usize,
    /// Index of the buffer with their gradient; `None` for the data.
    gradient: Option<usize>,
    /// True once a stage of the backward pass has written the gradient.
    contributed: bool,
}

impl<'a> Planner<'a> {
    fn new(job: &'a TrainingJob, setup: TrainingSetup, largest_binding: u64, choices: &'a Choices) -> Result<Self> {
        let stages = job.model.stages(job.dropout)?;
        let stored = choices.abilities.stored;
        check_limits(&job.model, &stages, stored)?;
        let tensors = tensor_layouts(&job.model, &stages)?;
        let mut builder = Builder::new(STEP_ROWS);
        let batch = most_rows(job.batches.batch_size, setup.devices);
        let most = u32::try_from(largest_binding / max_bytes_per_sample(&stages)).unwrap_or(u32::MAX);
        let test_rows = batch.max(MIN_TEST_ROWS.min(job.data.test.samples()).min(most));
        let results = builder.zeros("results", u64::from(RESULT_SLOTS) * size_of::<StepResult>() as u64);
        let arenas = Arenas::new(job, &tensors, &stages, stored, &mut builder);
        let labels = builder.floats("batch labels", u64::from(test_rows));
        let input = BatchInput::new(job, &stages, setup.input, largest_binding, &mut builder)?;
        let mut values = Vec::with_capacity(stages.values.len());
        for (index, value) in stages.values.iter().enumerate() {
            let features = u64::from(value.stored_features(CHANNEL_ALIGNMENT));
            let name = if index == 0 { "batch" } else { "activation" };
            let mut buffer = |name, rows: u32| builder.zeros(name, stored.bytes() * u64::from(rows) * features).buffer;
            let gradient = (index > 0).then(|| buffer("activation gradient", batch));
            let values_buffer = buffer(name, test_rows);
            values.push(ValueBuffers { values: values_buffer, gradient, contributed: false });
        }
        // The kernel of the loss writes a gradient of zeros for each row of a test.
        if let Some(logits) = values.last_mut() {
            let features = u64::from(stages.logits().stored_features(CHANNEL_ALIGNMENT));
            let bytes = stored.bytes() * u64::from(test_rows) * features;
            logits.gradient = Some(builder.zeros("logits gradient", bytes).buffer);
        }
        Ok(Self {
            kept: vec![Vec::new(); stages.values.len()],
            has_gradient: vec![false; tensors.len()],
            blended: None,
            job,
            choices,
            stages,
            tensors,
            builder,
            arenas,
            input,
            results,
            labels,
            values,
            rows: 0,
            test_rows,
            gradient_scale: gradient_scale(job, stored),
            exchanging: (setup.devices > 1).then_some(setup.exchanging),
        })
    }

    /// Records the classification of a batch of test samples over all of their views.
    fn evaluation(&mut self, set: EvaluationSet) -> Recording {
        self.arenas.round_tested_weights(self.results, &mut self.builder);
        let views = self.job.input.test_views;
        for (place, view) in views.iter().enumerate() {
            self.gather_evaluated(set, view);
            self.forward(if place == 0 { LayerPhase::Test } else { LayerPhase::AnotherView });
            if views.len() > 1 {
                self.blend(view.weight, place == 0);
            }
        }
        let logits = if views.len() > 1 { self.blended() } else { self.logits() };
        self.softmax(logits);
        self.builder.take_recording()
    }

    /// Returns the logits of the current recording.
    fn logits(&self) -> BufferRange {
        let last = self.values.len() - 1;
        self.rows_of(last, self.values[last].values)
    }

    /// Returns the sum over the views of a batch.
    fn blended(&mut self) -> BufferRange {
        let logits = self.logits();
        *self.blended.get_or_insert_with(|| self.builder.zeros("logits of all views", logits.bytes))
    }

    fn blend(&mut self, weight: f32, first: bool) {
        let (logits, sum) = (self.logits(), self.blended());
        let quads = u32::try_from(self.quads(logits)).expect("logits are few");
        let params = Blend { elements: 4 * quads, weight, first: u32::from(first), reserved: 0 };
        self.builder.dispatch("blend", &params, &[logits, sum], u64::from(quads));
    }

    fn forward(&mut self, phase: LayerPhase) {
        for stage in &self.stages.stages.clone() {
            self.stage(stage, phase);
        }
    }

    /// Records the gradients of all stages, last first.
    fn backward(&mut self) {
        for stage in self.stages.stages.clone().iter().rev() {
            self.stage(stage, LayerPhase::Backward);
        }
    }

    fn stage(&mut self, stage: &Stage, phase: LayerPhase) {
        match stage.kind {
            StageKind::Dense { bias, per_pixel } => self.dense(stage, phase, per_pixel, bias),
            StageKind::Conv2d { window, bias } => self.conv2d(stage, phase, window, bias),
            StageKind::Pool { kind, window } => self.pool(stage, phase, kind, window),
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                self.local_response(stage, phase, radius, [bias, alpha, beta]);
            }
            StageKind::BatchNorm { epsilon, keep, activation } => {
                let params = self.sized(stage).batch_norm((epsilon, keep), activation);
                if phase == LayerPhase::Backward {
                    self.batch_norm_backward(stage, params);
                } else {
                    self.batch_norm_forward(stage, phase, params);
                }
            }
            StageKind::LayerNorm { epsilon } => self.layer_norm(stage, phase, epsilon),
            StageKind::Recurrent(cell) => self.recurrent(stage, phase, cell),
            StageKind::Embedding(words) => self.embedding(stage, phase, words),
            StageKind::SentenceSum { words } => self.sentence_sum(stage, phase, words),
            StageKind::WordScores => self.word_scores(stage, phase),
            StageKind::PixelProducts => self.pixel_products(stage, phase),
            StageKind::Softmax { linear_start } => self.softmax_layer(stage, phase, linear_start),
            StageKind::Transpose => self.transpose(stage, phase),
            StageKind::Concatenate => self.concatenate(stage, phase),
            StageKind::Add => self.add(stage, phase),
            StageKind::PositionEmbedding => self.position(stage, phase),
            StageKind::Attention { heads } => self.attention(stage, phase, heads),
            StageKind::Gelu => self.gelu(stage, phase),
        }
    }

    fn softmax(&mut self, logits_read: BufferRange) {
        let logits = self.stages.logits();
        let Loss { label_smoothing, summed, logits_scale } = self.job.loss;
        let params = Softmax {
            rows: self.rows,
            classes: logits.shape.channels,
            stride: logits.stored_channels(CHANNEL_ALIGNMENT),
            summed: u32::from(summed),
            label_smoothing,
            logits_scale,
            gradient_scale: self.gradient_scale,
            reserved: 0,
        };
        let last = self.values.len() - 1;
        let gradient = self.rows_of(last, self.values[last].gradient.expect("logits have a gradient"));
        let labels = BufferRange { bytes: 4 * u64::from(self.rows), ..self.labels };
        let bindings = [logits_read, labels, gradient, self.results];
        // A single workgroup keeps the sums in its memory.
        self.builder.dispatch("softmax_cross_entropy", &params, &bindings, 1);
    }
}

/// Returns the largest number of bytes per sample in any buffer.
fn max_bytes_per_sample(stages: &Stages) -> u64 {
    let values = stages.values.iter().map(|value| value.stored_features(CHANNEL_ALIGNMENT));
    let gates = stages.stages.iter().map(|stage| {
        let StageKind::Recurrent(cell) = stage.kind else { return 0 };
        let params = stages.sized(stage, 1, CHANNEL_ALIGNMENT).recurrent(cell);
        cell.gates() * params.sequences * params.steps * params.stored_units
    });
    4 * u64::from(values.chain(gates).max().unwrap_or(1))
}

/// Refuses layers that the kernels cannot hold.
fn check_limits(model: &Model, stages: &Stages, stored: Stored) -> Result<(), ModelError> {
    for (layer, stage) in stages.stages.iter().enumerate() {
        let channels = stages.output(stage).shape.channels;
        let reason = match stage.kind {
            StageKind::Attention { heads } if channels / heads > MAX_HEAD_SIZE => {
                format!("heads of {} channels; the kernels hold {MAX_HEAD_SIZE} at most", channels / heads)
            }
            // Word numbers are stored like activations, and whole numbers are exact up to this limit.
            StageKind::Embedding(Words { vocabulary, .. })
                if stored == Stored::F16 && vocabulary > 1 << f16::MANTISSA_DIGITS =>
            {
                format!(
                    "a vocabulary of {vocabulary} words; in f16 the kernels hold {} at most",
                    1 << f16::MANTISSA_DIGITS
                )
            }
            _ => continue,
        };
        return Err(ModelError::Unsupported { model: model.name, layer, reason });
    }
    Ok(())
}

#[cfg(test)]
pub(super) use tests::Omission;
#[cfg(test)]
mod tests;
