use shaders::Stored;
use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers, RoundWeights};

use super::super::layout::{CHANNEL_ALIGNMENT, TensorLayout, arena_elements};
use super::super::recording::{BufferRange, JobPart};
use super::builder::Builder;
use crate::model::Stages;
use crate::trainer::TrainingJob;

/// Buffers that hold all tensors.
pub(super) struct Arenas {
    pub(super) elements: u32,
    pub(super) weights: BufferRange,
    /// The weights that layers read: the trained ones, or their averages.
    pub(super) read: BufferRange,
    /// What products read of them, if that is not the weights themselves.
    rounded: Option<BufferRange>,
    /// The same of training.
    pub(super) rounded_weights: Option<BufferRange>,
    stored: Stored,
    pub(super) gradients: BufferRange,
    /// Multipliers of each block of 256 elements.
    pub(super) blocks: BufferRange,
    /// Memories of the optimiser.
    pub(super) memories: Vec<BufferRange>,
    /// Averages of the weights, if the job wants them.
    pub(super) shadow: Option<BufferRange>,
    /// As many zeros as the longest bias has elements.
    pub(super) zeros: BufferRange,
}

impl Arenas {
    /// Arenas with the initial weights and each block's multipliers.
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

    /// A part of an arena.
    pub(super) fn part(&self, arena: BufferRange, offset: u32, elements: u32) -> BufferRange {
        BufferRange { buffer: arena.buffer, offset_bytes: 4 * u64::from(offset), bytes: 4 * u64::from(elements) }
    }

    /// A part of what products read.
    pub(super) fn product_part(&self, offset: u32, elements: u32) -> BufferRange {
        let Some(rounded) = self.rounded else { return self.part(self.read, offset, elements) };
        let bytes = |elements: u32| self.stored.bytes() * u64::from(elements);
        BufferRange { buffer: rounded.buffer, offset_bytes: bytes(offset), bytes: bytes(elements) }
    }

    /// From here on, layers read the weights that tests use.
    pub(super) fn use_tested_weights(&mut self, job: &TrainingJob, builder: &mut Builder) {
        if let (Some(shadow), true) = (self.shadow, job.average.is_some_and(|average| average.is_tested())) {
            self.read = shadow;
            self.rounded = self.rounded.map(|rounded| builder.zeros("rounded averages", rounded.bytes));
        }
    }

    /// Rounds the weights that layers read for products, if products want that.
    pub(super) fn round_weights(&self, results: usize, builder: &mut Builder) {
        if let Some(rounded) = self.rounded {
            let params = RoundWeights { elements: self.elements, largest: self.stored.largest(), reserved: [0; 2] };
            let bindings = [self.read, rounded, builder.whole(results)];
            builder.dispatch("round_weights", &params, &bindings, u64::from(self.elements / 4));
        }
    }

    /// The same before a test. The trained weights were rounded when they were trained.
    pub(super) fn round_tested_weights(&self, results: usize, builder: &mut Builder) {
        if self.read != self.weights {
            self.round_weights(results, builder);
        }
    }
}
