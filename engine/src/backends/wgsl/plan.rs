//! From a job to buffers and recordings, all of it data: what a step launches, and on what.

mod arenas;
mod attention;
mod builder;
mod contents;
mod convolution;
mod dense;
mod gradient_parts;
mod input;
mod limits;
mod memories;
mod memory;
mod normalization;
mod optimizer;
mod pooling;
mod ranges;
mod recurrent;
mod scale;
mod streamed;
pub(super) mod weight_gradient;
mod words;

use shaders::params::{Blend, Softmax, StepResult};

use super::choices::Choices;
use super::layout::{CHANNEL_ALIGNMENT, TensorLayout, tensor_layouts};
use super::products::Product;
use super::recording::{BufferPlan, BufferRange, Recording, STEP_STRIDE_BYTES};
use super::setup::{Exchanging, Setup};
use crate::backends::sharing::most_rows;
use crate::error::EngineError;
use crate::model::{PoolKind, StageKind, Stages};
use crate::trainer::{EvaluationSet, TrainingJob};
use crate::training::Loss;
use arenas::Arenas;
use builder::Builder;
pub(super) use contents::Contents;
use input::Input;
pub(super) use streamed::Streamed;

/// Steps of which the results fit on the device before they are read: those of a window, of any but the fastest.
pub(super) const RESULT_SLOTS: u32 = 65_536;
/// Steps that the step table holds. It is written over and over, after what was submitted before has read it.
pub(super) const STEP_ROWS: u32 = 1024;
/// Tests classify at least so many samples at once, because the batches of some recipes are tiny.
const TEST_ROWS: u32 = 100;

/// Everything that a device must hold and do for one job.
pub(super) struct Plan {
    pub(super) buffers: Vec<BufferPlan>,
    /// What precedes the first training step of each epoch, for jobs that shuffle.
    pub(super) shuffle: Option<Recording>,
    /// Commands before the first training step of a segment, if the order of the samples is on the device.
    pub(super) mirror: Option<Recording>,
    pub(super) training: Recording,
    pub(super) evaluation: Recording,
    /// The same with held-out samples, for jobs with early stopping.
    pub(super) held_out: Option<Recording>,
    /// Samples of one run of `evaluation`.
    pub(super) evaluation_rows: u32,
    /// All products of both recordings, whose kernels come in variants.
    pub(super) products: Vec<Product>,
    pub(super) tensors: Vec<TensorLayout>,
    pub(super) places: Places,
    /// Where the host puts the batches that are trained on, where it does.
    pub(super) streamed: Option<Streamed>,
    /// Stored values of a row of logits.
    pub(super) logits_stride: u32,
    /// What the gradients on the device are multiplied by.
    pub(super) gradient_scale: f32,
}

/// Buffers that the trainer itself reads or writes, as places in the list.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) params: usize,
    pub(super) steps: usize,
    pub(super) weights: usize,
    /// What products read of the weights in training, if that is not the weights themselves.
    pub(super) rounded_weights: Option<usize>,
    /// Buffers of the optimiser's memories, followed by averages of the weights if the job has any.
    pub(super) memories: Vec<usize>,
    /// Buffer with the order of the training samples, if it is on the device.
    pub(super) order: Option<usize>,
    pub(super) gradients: usize,
    pub(super) logits: usize,
    pub(super) results: usize,
}

impl Plan {
    /// Plans `job` for a device that binds at most `largest_binding` bytes at once, with the chosen kernels.
    ///
    /// # Errors
    /// A layer that these kernels cannot hold, or buffers that the device cannot bind, with both numbers.
    pub(super) fn new(job: &TrainingJob, largest_binding: u64, choices: &Choices) -> Result<Self, EngineError> {
        Self::with(job, Setup::STANDARD, largest_binding, choices)
    }

    /// The same for another setup.
    pub(super) fn with(
        job: &TrainingJob,
        setup: Setup,
        largest_binding: u64,
        choices: &Choices,
    ) -> Result<Self, EngineError> {
        let mut planner = Planner::new(job, setup, largest_binding, choices)?;
        planner.rows = most_rows(job.batches.batch_size, setup.devices);
        let (shuffle, mirror) = (planner.shuffle(), planner.mirror());
        planner.gather_training();
        planner.forward(Forward::Training);
        planner.softmax(planner.logits());
        planner.backward();
        planner.exchange_gradients();
        planner.optimize();
        planner.round_weights();
        let training = planner.builder.take_recording();
        planner.rows = planner.test_rows;
        planner.arenas.use_tested_weights(job, &mut planner.builder);
        let evaluation = planner.evaluation(EvaluationSet::Test);
        let held_out = job.early_stopping.map(|_| planner.evaluation(EvaluationSet::HeldOut));
        let plan = planner.finish(Recordings { shuffle, mirror, training, evaluation, held_out });
        plan.check_bindings(most_rows(job.batches.batch_size, setup.devices), largest_binding)?;
        Ok(plan)
    }
}

impl Plan {
    /// What will be launched.
    pub(super) fn recordings(&self) -> impl Iterator<Item = &Recording> {
        let others = [&self.held_out, &self.shuffle, &self.mirror];
        [&self.training, &self.evaluation].into_iter().chain(others.into_iter().flatten())
    }
}

/// What a plan launches, until it is whole.
struct Recordings {
    shuffle: Option<Recording>,
    mirror: Option<Recording>,
    training: Recording,
    evaluation: Recording,
    held_out: Option<Recording>,
}

/// A plan in the making.
struct Planner<'a> {
    job: &'a TrainingJob,
    choices: &'a Choices,
    stages: Stages,
    tensors: Vec<TensorLayout>,
    builder: Builder,
    arenas: Arenas,
    input: Input,
    steps: usize,
    results: usize,
    labels: BufferRange,
    values: Vec<ValueBuffers>,
    /// What a stage keeps from its forward for its backward: buffers of its own choice.
    kept: Vec<Vec<BufferRange>>,
    /// For each tensor, whether a stage has left its gradient there: another may share the tensor.
    has_gradient: Vec<bool>,
    /// Sum of the logits of all views, once it is needed.
    blended: Option<BufferRange>,
    /// Samples of the recording that is being made.
    rows: u32,
    test_rows: u32,
    gradient_scale: f32,
    /// How several devices share each batch; `None` of one.
    exchanging: Option<Exchanging>,
}

/// What a pass through the layers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forward {
    Training,
    Test,
    /// Another view of samples that are tested.
    AnotherView,
}

/// Buffers of one activation.
struct ValueBuffers {
    /// Place of the buffer with the values themselves.
    values: usize,
    /// Place of the buffer with their gradient; the data needs none.
    gradient: Option<usize>,
    /// Whether the gradient holds what a stage of the backward pass left there.
    contributed: bool,
}

impl<'a> Planner<'a> {
    fn new(
        job: &'a TrainingJob,
        setup: Setup,
        largest_binding: u64,
        choices: &'a Choices,
    ) -> Result<Self, EngineError> {
        let stages = job.model.stages(job.dropout)?;
        let stored = choices.stored();
        limits::check(&job.model, &stages, stored)?;
        let tensors = tensor_layouts(&job.model, &stages)?;
        let mut builder = Builder::default();
        let batch = most_rows(job.batches.batch_size, setup.devices);
        let most = u32::try_from(largest_binding / limits::most_bytes_per_sample(&stages)).unwrap_or(u32::MAX);
        let test_rows = batch.max(TEST_ROWS.min(job.data.test.samples()).min(most));
        let steps = builder.uniform("steps", u64::from(STEP_ROWS * STEP_STRIDE_BYTES));
        let results = builder.zeros("results", u64::from(RESULT_SLOTS) * size_of::<StepResult>() as u64).buffer;
        let arenas = Arenas::new(job, &tensors, &stages, stored, &mut builder);
        let labels = builder.floats("batch labels", u64::from(test_rows));
        let input = Input::new(job, &stages, setup.input, largest_binding, &mut builder)?;
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
            kept: vec![Vec::new(); stages.stages.len()],
            has_gradient: vec![false; tensors.len()],
            blended: None,
            job,
            choices,
            stages,
            tensors,
            builder,
            arenas,
            input,
            steps,
            results,
            labels,
            values,
            rows: 0,
            test_rows,
            gradient_scale: scale::gradient_scale(job, stored),
            exchanging: (setup.devices > 1).then_some(setup.exchanging),
        })
    }

    /// Classifies a batch of samples that are not trained on, over all views of them.
    fn evaluation(&mut self, set: EvaluationSet) -> Recording {
        self.arenas.round_tested_weights(self.results, &mut self.builder);
        let views = self.job.input.test_views;
        for (place, view) in views.iter().enumerate() {
            self.gather_evaluated(set, view);
            self.forward(if place == 0 { Forward::Test } else { Forward::AnotherView });
            if views.len() > 1 {
                self.blend(view.weight, place == 0);
            }
        }
        let logits = if views.len() > 1 { self.blended() } else { self.logits() };
        self.softmax(logits);
        self.builder.take_recording()
    }

    /// Logits of the recording being made.
    fn logits(&self) -> BufferRange {
        let last = self.values.len() - 1;
        self.rows_of(last, self.values[last].values)
    }

    /// Sum over the views of a batch.
    fn blended(&mut self) -> BufferRange {
        let logits = self.logits();
        *self.blended.get_or_insert_with(|| self.builder.zeros("logits of all views", logits.bytes))
    }

    fn blend(&mut self, weight: f32, first: bool) {
        let (logits, sum) = (self.logits(), self.blended());
        let elements = u32::try_from(self.elements(logits)).expect("logits are few");
        let params = Blend { elements, weight, first: u32::from(first), reserved: 0 };
        self.builder.dispatch("blend", &params, &[logits, sum], u64::from(elements / 4));
    }

    fn forward(&mut self, forward: Forward) {
        let rows = self.rows;
        for index in 0..self.stages.stages.len() {
            let stage = self.stages.stages[index].clone();
            match stage.kind {
                StageKind::Dense { bias, per_pixel } => self.dense_forward(&stage, per_pixel, bias),
                StageKind::Conv2d { window, bias } => {
                    self.conv2d_forward(&stage, window, bias);
                }
                StageKind::Pool { kind: PoolKind::Max, window } => {
                    self.max_pool_forward(index, &stage, window);
                }
                StageKind::Pool { kind: PoolKind::Average, window } => {
                    self.average_pool_forward(&stage, window);
                }
                StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                    let constants = [bias, alpha, beta];
                    let params = self.stages.local_response_params(&stage, radius, constants, rows, CHANNEL_ALIGNMENT);
                    self.local_response_forward(&stage, params);
                }
                StageKind::BatchNorm { epsilon, keep, activation } => {
                    let constants = (epsilon, keep);
                    let params = self.stages.batch_norm_params(&stage, constants, activation, rows, CHANNEL_ALIGNMENT);
                    self.batch_norm_forward(index, &stage, params, forward);
                }
                StageKind::LayerNorm { epsilon } => self.layer_norm_forward(index, &stage, epsilon),
                StageKind::Recurrent(cell) => self.recurrent_forward(index, &stage, cell),
                StageKind::Embedding(words) => self.embedding_forward(&stage, words),
                StageKind::SentenceSum { words } => self.sentence_sum_forward(&stage, words),
                StageKind::WordScores => self.word_scores_forward(&stage),
                StageKind::PixelProducts => self.pixel_products_forward(&stage),
                StageKind::Softmax { linear_start } => self.softmax_forward(&stage, linear_start),
                StageKind::Transpose => self.transpose_forward(&stage),
                StageKind::Concatenate => self.concatenate_forward(&stage),
                StageKind::Add => self.add_forward(&stage),
                StageKind::PositionEmbedding => self.position_forward(&stage),
                StageKind::Attention { heads } => self.attention_forward(index, &stage, heads),
                StageKind::Gelu => self.gelu_forward(&stage),
            }
        }
    }

    /// Gradients of all stages, last first.
    fn backward(&mut self) {
        let rows = self.rows;
        for index in (0..self.stages.stages.len()).rev() {
            let stage = self.stages.stages[index].clone();
            match stage.kind {
                StageKind::Dense { bias, per_pixel } => self.dense_backward(&stage, per_pixel, bias),
                StageKind::Conv2d { window, bias } => {
                    self.conv2d_backward(&stage, window, bias);
                }
                StageKind::Pool { kind: PoolKind::Max, window } => {
                    self.max_pool_backward(index, &stage, window);
                }
                StageKind::Pool { kind: PoolKind::Average, window } => {
                    self.average_pool_backward(&stage, window);
                }
                StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                    let constants = [bias, alpha, beta];
                    let params = self.stages.local_response_params(&stage, radius, constants, rows, CHANNEL_ALIGNMENT);
                    self.local_response_backward(&stage, params);
                }
                StageKind::BatchNorm { epsilon, keep, activation } => {
                    let constants = (epsilon, keep);
                    let params = self.stages.batch_norm_params(&stage, constants, activation, rows, CHANNEL_ALIGNMENT);
                    self.batch_norm_backward(index, &stage, params);
                }
                StageKind::LayerNorm { epsilon } => self.layer_norm_backward(index, &stage, epsilon),
                StageKind::Recurrent(cell) => self.recurrent_backward(index, &stage, cell),
                StageKind::Embedding(words) => self.embedding_backward(&stage, words),
                StageKind::SentenceSum { words } => self.sentence_sum_backward(&stage, words),
                StageKind::WordScores => self.word_scores_backward(&stage),
                StageKind::PixelProducts => self.pixel_products_backward(&stage),
                StageKind::Softmax { linear_start } => self.softmax_backward(&stage, linear_start),
                StageKind::Transpose => self.transpose_backward(&stage),
                StageKind::Concatenate => self.concatenate_backward(&stage),
                StageKind::Add => self.add_backward(&stage),
                StageKind::PositionEmbedding => self.position_backward(&stage),
                StageKind::Attention { heads } => self.attention_backward(index, &stage, heads),
                StageKind::Gelu => self.gelu_backward(&stage),
            }
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
        let results = self.builder.whole(self.results);
        // One workgroup: the sums stay in its memory.
        self.builder.dispatch("softmax_cross_entropy", &params, &[logits_read, labels, gradient, results], 1);
    }

    fn finish(self, recordings: Recordings) -> Plan {
        let Recordings { shuffle, mirror, training, evaluation, held_out } = recordings;
        let logits = self.values.last().map_or(0, |value| value.values);
        let logits_stride = self.stages.logits().stored_features(CHANNEL_ALIGNMENT);
        let products = self.builder.products().to_vec();
        let order = self.order();
        let memories = self.arenas.memories.iter().chain(&self.arenas.shadow).map(|range| range.buffer).collect();
        let (buffers, params) = self.builder.finish();
        Plan {
            buffers,
            shuffle,
            mirror,
            training,
            evaluation,
            held_out,
            evaluation_rows: self.test_rows,
            products,
            streamed: self.input.streamed,
            tensors: self.tensors,
            places: Places {
                params,
                steps: self.steps,
                weights: self.arenas.weights.buffer,
                rounded_weights: self.arenas.rounded_weights.map(|range| range.buffer),
                memories,
                order,
                gradients: self.arenas.gradients.buffer,
                logits,
                results: self.results,
            },
            logits_stride,
            gradient_scale: self.gradient_scale,
        }
    }
}

/// Tiles of 8 × 8 that cover a matrix; each is one invocation's work.
pub(super) fn tiles(rows: u32, columns: u32) -> u64 {
    u64::from(rows.div_ceil(8)) * u64::from(columns.div_ceil(8))
}

#[cfg(test)]
mod omission;
#[cfg(test)]
pub(super) use omission::Omission;
#[cfg(test)]
mod tests;
