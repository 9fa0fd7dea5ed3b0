//! Plan of a job as plain data: buffers, and recordings of the launches of a step.

mod buffers;
mod layers;
mod planner;
pub(super) mod products;
mod update;

use shaders::params::{Blend, LocalContrast, MirrorOrder, Shuffle, Softmax, SoftmaxTotal, Standardize};

use super::layout::{CHANNEL_ALIGNMENT, TensorLayout};
use super::products::Product;
use super::recording::{BufferPlan, BufferRange, Recording};
use super::tuning::Choices;
use crate::backends::sharing::most_rows;
use crate::error::{EngineError, Result};
use crate::model::{Stage, StageKind};
use crate::preprocessing::GatherKind;
use crate::random::stream;
use crate::trainer::{EvaluationSet, TrainingJob};
use crate::training::{Loss, SampleOrder, TestView};
pub(super) use buffers::Streamed;
use buffers::{Arenas, SplitBuffers};
use planner::{LayerPhase, Planner};
pub(super) use planner::{RESULT_SLOTS, STEP_ROWS, TrainingSetup};

/// Maximum number of answers whose losses a single workgroup of a real GPU computes, one per invocation. On an emulated
/// GPU, a second launch costs more than it saves.
const MAX_ANSWERS_AT_ONCE: u32 = 256;

pub(super) struct Plan {
    pub(super) buffers: Vec<BufferPlan>,
    /// Commands before the first training step of each epoch; empty unless the device shuffles the samples.
    pub(super) shuffle: Recording,
    /// Commands before the first training step of a segment; empty unless the order of the samples is on the device.
    pub(super) mirror: Recording,
    pub(super) training: Recording,
    pub(super) evaluation: Recording,
    /// Like `evaluation`, with held-out samples; empty without early stopping.
    pub(super) held_out: Recording,
    /// Number of samples per run of `evaluation`.
    pub(super) evaluation_rows: u32,
    pub(super) tensors: Vec<TensorLayout>,
    pub(super) arenas: Arenas,
    /// Order of the training samples, if it is on the device.
    pub(super) order: Option<BufferRange>,
    pub(super) logits: BufferRange,
    pub(super) results: BufferRange,
    pub(super) streamed: Option<Streamed>,
    /// Number of stored values per answer's logits.
    pub(super) logits_stride: u32,
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
        planner.pass(LayerPhase::Training);
        planner.softmax(planner.logits());
        planner.pass(LayerPhase::Backward);
        planner.exchange_gradients();
        planner.optimize();
        planner.arenas.round_weights(planner.results, &mut planner.builder);
        let training = planner.builder.take_recording();
        planner.rows = planner.test_rows;
        planner.arenas.use_tested_weights(job, &mut planner.builder);
        let evaluation = planner.evaluation(EvaluationSet::Test);
        let held_out = job.early_stopping.map(|_| planner.evaluation(EvaluationSet::HeldOut)).unwrap_or_default();
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
            logits_stride: planner.stages.logits().stored_channels(CHANNEL_ALIGNMENT),
            gradient_scale: planner.gradient_scale,
        };
        plan.check_bindings(batch_size, largest_binding)?;
        Ok(plan)
    }

    pub(super) fn recordings(&self) -> impl Iterator<Item = &Recording> {
        [&self.training, &self.evaluation, &self.held_out, &self.shuffle, &self.mirror].into_iter()
    }

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

impl Planner<'_> {
    fn shuffle(&mut self) -> Recording {
        let SplitBuffers { order, samples, .. } = self.input.training;
        match self.job.batches.order {
            // Streamed batches come in the order of the epoch.
            _ if self.input.streamed.is_some() => {}
            SampleOrder::Shuffled => {
                let first = self.job.batches.first;
                let params = Shuffle { samples, first, stream: stream::SHUFFLE, reserved: 0 };
                self.builder.dispatch("shuffle", &params, &[order], u64::from(samples));
            }
            SampleOrder::Drawn { .. } => {
                let params = self.job.drawn_windows();
                self.builder.dispatch("draw_windows", &params, &[order], u64::from(samples));
            }
            SampleOrder::File => {}
        }
        self.builder.take_recording()
    }

    /// Records mirroring the rest of the order at the beginning of a segment.
    fn mirror(&mut self) -> Recording {
        if let Some(order) = self.order() {
            let samples = self.input.training.samples;
            let params = MirrorOrder { samples, stream: stream::SEGMENT, reserved: [0; 2] };
            self.builder.dispatch("mirror_order", &params, &[order], u64::from(samples));
        }
        self.builder.take_recording()
    }

    fn order(&self) -> Option<BufferRange> {
        self.input.streamed.is_none().then_some(self.input.training.order)
    }

    fn gather_training(&mut self) {
        let kind = self.input.preprocessing.gather;
        let kind = if self.input.streamed.is_some() { kind.streamed() } else { kind };
        self.gather(self.input.training, kind);
    }

    fn gather_evaluated(&mut self, set: EvaluationSet, view: &TestView) {
        let split = match set {
            EvaluationSet::Test => self.input.test,
            EvaluationSet::HeldOut => self.input.held_out.expect("jobs with early stopping have held-out samples"),
        };
        self.gather(split, self.input.preprocessing.gather.seen(view));
    }

    fn gather(&mut self, split: SplitBuffers, kind: GatherKind) {
        let SplitBuffers { images: [first, second], samples_in_first, labels, order, samples } = split;
        let rows = self.rows;
        let batch = self.rows_of(0, self.values[0].values);
        let batch_labels = self.batch_labels();
        let invocations = self.quads(batch);
        match kind.of(rows, samples, samples_in_first) {
            GatherKind::Plain(params) => {
                let bindings = [first, second, labels, order, batch, batch_labels];
                self.builder.dispatch("gather", &params, &bindings, invocations);
            }
            GatherKind::Augmented(params) => {
                let bindings = [first, second, labels, order, self.input.mean_image, batch, batch_labels];
                self.builder.dispatch("gather_augmented", &params, &bindings, invocations);
            }
            GatherKind::Windows(params) => {
                self.builder.dispatch("gather_windows", &params, &[first, order, batch, batch_labels], invocations);
            }
        }
        // One workgroup per image.
        if let Some(params) = self.input.preprocessing.standardize {
            let params = Standardize { rows, ..params };
            self.builder.dispatch("standardize", &params, &[batch], u64::from(rows) * 64);
        }
        if let Some(params) = self.input.preprocessing.local_contrast {
            let params = LocalContrast { rows, ..params };
            self.builder.dispatch("local_contrast", &params, &[batch], u64::from(rows) * 256);
        }
    }

    /// Records the classification of a batch of test samples over all of their views.
    fn evaluation(&mut self, set: EvaluationSet) -> Recording {
        // Trained weights were already rounded in training, but averages were not.
        if self.arenas.read != self.arenas.weights {
            self.arenas.round_weights(self.results, &mut self.builder);
        }
        let views = self.job.input.test_views;
        for (place, view) in views.iter().enumerate() {
            self.gather_evaluated(set, view);
            self.pass(if place == 0 { LayerPhase::Test } else { LayerPhase::AnotherView });
            if views.len() > 1 {
                let (logits, sum) = (self.logits(), self.blended());
                let quads = u32::try_from(self.quads(logits)).expect("logits are few");
                let first = u32::from(place == 0);
                let params = Blend { elements: 4 * quads, weight: view.weight, first, reserved: 0 };
                self.builder.dispatch("blend", &params, &[logits, sum], u64::from(quads));
            }
        }
        let logits = if views.len() > 1 { self.blended() } else { self.logits() };
        self.softmax(logits);
        self.builder.take_recording()
    }

    fn logits(&self) -> BufferRange {
        let last = self.values.len() - 1;
        self.rows_of(last, self.values[last].values)
    }

    /// Returns the sum over the views of a batch.
    fn blended(&mut self) -> BufferRange {
        let logits = self.logits();
        *self.blended.get_or_insert_with(|| self.builder.zeros("logits of all views", logits.bytes))
    }

    fn pass(&mut self, phase: LayerPhase) {
        let mut stages = self.stages.stages.clone();
        if phase == LayerPhase::Backward {
            stages.reverse();
        }
        stages.iter().for_each(|stage| self.stage(stage, phase));
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
            StageKind::LayerNorm { epsilon, bias } => self.layer_norm(stage, phase, epsilon, bias),
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
            StageKind::Attention { heads, causal } => self.attention(stage, phase, heads, causal),
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
            positions: logits.shape.pixels(),
        };
        let last = self.values.len() - 1;
        let gradient = self.rows_of(last, self.values[last].gradient.expect("logits have a gradient"));
        let (labels, answers) = (self.batch_labels(), self.rows * params.positions);
        if self.choices.abilities.software || answers <= MAX_ANSWERS_AT_ONCE {
            // A single workgroup keeps the sums in its memory.
            let bindings = [logits_read, labels, gradient, self.results];
            return self.builder.dispatch("softmax_cross_entropy", &params, &bindings, 1);
        }
        let parts = answers.div_ceil(64);
        let losses = self.builder.floats("losses of answers", 2 * u64::from(parts));
        let bindings = [logits_read, labels, gradient, losses];
        self.builder.dispatch("softmax_many_answers", &params, &bindings, u64::from(answers));
        let params = SoftmaxTotal { parts, reserved: [0; 3] };
        self.builder.dispatch("softmax_total", &params, &[losses, self.results], 1);
    }
}

#[cfg(test)]
mod tests;
