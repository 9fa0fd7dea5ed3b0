//! The tensors of a job on the device, and the update of the weights after the gradients of a step.

use shaders::Stored;
use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers, GradientLimit, Optimizer, RoundWeights};

use super::super::builder::Builder;
use super::super::layout::{CHANNEL_ALIGNMENT, TensorLayout, arena_elements};
use super::super::recording::{BufferRange, Combination, JobPart};
use super::{Exchanging, Planner, gradient_parts};
use crate::model::Stages;
use crate::trainer::TrainingJob;
use crate::training::{Batching, Rule};

/// Buffers that hold all tensors.
pub(in super::super) struct Arenas {
    elements: u32,
    pub(in super::super) weights: BufferRange,
    /// Weights that layers read: the trained ones, or their averages.
    pub(super) read: BufferRange,
    /// Rounded weights that products read, if they do not read the weights directly.
    rounded: Option<BufferRange>,
    /// Like `rounded`, in training.
    pub(in super::super) rounded_weights: Option<BufferRange>,
    stored: Stored,
    pub(in super::super) gradients: BufferRange,
    /// Multipliers of each block of 256 elements.
    blocks: BufferRange,
    pub(in super::super) memories: Vec<BufferRange>,
    /// Averages of the weights, if the job has any.
    pub(in super::super) shadow: Option<BufferRange>,
    /// Zeros, one per element of the longest bias.
    pub(super) zeros: BufferRange,
}

impl Arenas {
    /// Creates arenas with the initial weights and each block's multipliers.
    pub(super) fn new(
        job: &TrainingJob,
        layouts: &[TensorLayout],
        stages: &Stages,
        stored: Stored,
        builder: &mut Builder,
    ) -> Self {
        let elements = arena_elements(layouts);
        let bytes = |each: u64| each * u64::from(elements);
        let widest = stages.values.iter().map(|value| value.stored_channels(CHANNEL_ALIGNMENT)).max().unwrap_or(0);
        let rounded = (stored == Stored::F16)
            .then(|| builder.part("rounded weights", bytes(stored.bytes()), JobPart::RoundedWeights));
        let weights = builder.part("weights", bytes(4), JobPart::Weights);
        let blocks = u64::from(elements / BLOCK_ELEMENTS) * size_of::<BlockMultipliers>() as u64;
        Self {
            elements,
            weights,
            read: weights,
            rounded,
            rounded_weights: rounded,
            stored,
            gradients: builder.floats("gradients", u64::from(elements)),
            blocks: builder.part("block multipliers", blocks, JobPart::BlockMultipliers),
            memories: (0..job.optimizer.rule.states())
                .map(|_| builder.floats("optimiser state", u64::from(elements)))
                .collect(),
            shadow: job.average.map(|_| builder.part("averaged weights", bytes(4), JobPart::Weights)),
            zeros: builder.floats("zeros", u64::from(widest)),
        }
    }

    pub(super) fn part(&self, arena: BufferRange, offset: u32, elements: u32) -> BufferRange {
        BufferRange { buffer: arena.buffer, offset_bytes: 4 * u64::from(offset), bytes: 4 * u64::from(elements) }
    }

    /// Returns the part of the arena that products read.
    pub(super) fn product_part(&self, offset: u32, elements: u32) -> BufferRange {
        let Some(rounded) = self.rounded else { return self.part(self.read, offset, elements) };
        let bytes = |elements: u32| self.stored.bytes() * u64::from(elements);
        BufferRange { buffer: rounded.buffer, offset_bytes: bytes(offset), bytes: bytes(elements) }
    }

    /// Makes layers read the weights used in tests from here on.
    pub(super) fn use_tested_weights(&mut self, job: &TrainingJob, builder: &mut Builder) {
        if let (Some(shadow), true) = (self.shadow, job.average.is_some_and(|average| average.is_tested())) {
            self.read = shadow;
            self.rounded = self.rounded.map(|rounded| builder.zeros("rounded averages", rounded.bytes));
        }
    }

    /// Rounds the weights that layers read for products, if products read rounded weights.
    pub(super) fn round_weights(&self, results: BufferRange, builder: &mut Builder) {
        if let Some(rounded) = self.rounded {
            let params = RoundWeights { elements: self.elements, largest: self.stored.largest(), reserved: [0; 2] };
            let bindings = [self.read, rounded, results];
            builder.dispatch("round_weights", &params, &bindings, u64::from(self.elements / 4));
        }
    }

    /// Rounds the averages before a test. Trained weights were already rounded in training.
    pub(super) fn round_tested_weights(&self, results: BufferRange, builder: &mut Builder) {
        if self.read != self.weights {
            self.round_weights(results, builder);
        }
    }
}

impl Planner<'_> {
    /// Sums gradients across the devices that share the batch: in parts, each as soon as it is computed, or all
    /// together after the backward pass.
    pub(super) fn exchange_gradients(&mut self) {
        let gradients = self.arenas.gradients;
        match self.exchanging {
            None => {}
            Some(Exchanging::Afterwards) => self.builder.exchange(gradients, gradients, Combination::Sum),
            Some(Exchanging::WhileComputing) => {
                let parts = gradient_parts::parts(&self.tensors, gradients, self.builder.dispatches());
                self.builder.exchange_parts(&parts);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    pub(super) fn optimize(&mut self) {
        let rule = self.job.optimizer.rule;
        let constants = rule.constants();
        let params = Optimizer {
            elements: self.arenas.elements,
            decay: constants.decay as f32,
            second_decay: constants.second_decay as f32,
            epsilon: constants.epsilon as f32,
            nesterov: u32::from(constants.nesterov),
            rate_outside: u32::from(constants.nesterov),
            gradient_scale: 1.0 / self.gradient_scale,
            reserved: 0,
        };
        let kernel = match rule {
            Rule::Sgd { .. } | Rule::Nesterov { .. } => "sgd",
            Rule::RmsProp { .. } => "rmsprop",
            Rule::Adadelta { .. } => "adadelta",
            Rule::Adam { decoupled: false, .. } => "adam",
            Rule::Adam { decoupled: true, .. } => "adamw",
        };
        let Arenas { blocks, gradients, weights, .. } = self.arenas;
        let gradients = self.limit_gradients(gradients);
        let mut bindings = vec![blocks, gradients, weights];
        bindings.extend_from_slice(&self.arenas.memories);
        let invocations = u64::from(self.arenas.elements / 4);
        self.builder.dispatch(kernel, &params, &bindings, invocations);
        if let Some(shadow) = self.arenas.shadow {
            self.builder.dispatch("average", &params, &[weights, shadow], invocations);
        }
    }

    /// Limits the norm of all gradients together, in a separate arena because the trainer reports the computed ones.
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    fn limit_gradients(&mut self, gradients: BufferRange) -> BufferRange {
        let Some(limit) = self.job.optimizer.largest_gradient else { return gradients };
        let elements = self.arenas.elements;
        let limited = self.builder.floats("limited gradients", u64::from(elements));
        let params = GradientLimit { elements, limit: limit as f32 * self.gradient_scale, reserved: [0; 2] };
        // A single workgroup adds up all squares.
        self.builder.dispatch("limit_gradients", &params, &[gradients, limited], 1);
        limited
    }
}

/// Upper bound of a logit's largest gradient in f16, which is scaled to between half of this and this. It is the middle
/// of the range of f16: the largest number is 2⁹ times this, the smallest 2⁻³¹ times.
const MAX_LOGIT_GRADIENT: f64 = 128.0;

/// Returns the scale factor of gradients, which preserves small ones in few bits. It is a power of two, so multiplying
/// by it or its inverse rounds nothing. Method: Micikevicius et al., "Mixed Precision Training", ICLR 2018, section
/// 3.2, with a constant factor. They found theirs by experiment; this one follows from the batch, because a sample's
/// share of the mean, 1 / batch, makes gradients small.
#[expect(clippy::cast_possible_truncation, reason = "a power of two within the range of float32")]
pub(super) fn gradient_scale(job: &TrainingJob, stored: Stored) -> f32 {
    if stored == Stored::F32 {
        return 1.0;
    }
    // The gradient of a logit is a difference of probabilities times this.
    let share = if job.loss.summed { 1.0 } else { 1.0 / f64::from(smallest_batch(job)) };
    let largest = share * f64::from(job.loss.logits_scale);
    (MAX_LOGIT_GRADIENT / largest).log2().floor().exp2() as f32
}

/// Returns the size of the smallest batch, which has the largest gradients because of its mean.
fn smallest_batch(job: &TrainingJob) -> u32 {
    let plan = &job.batches;
    let last = plan.samples % plan.batch_size;
    match plan.batching {
        Batching::ShortLast if last > 0 => last,
        Batching::ShortLast | Batching::DropLast | Batching::Wrap => plan.batch_size.min(plan.samples),
    }
}
