use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers};

use super::super::layout::{CHANNEL_ALIGNMENT, TensorLayout, arena_elements};
use super::super::recording::BufferRange;
use super::builder::Builder;
use crate::error::EngineError;
use crate::model::{Stages, TensorKind};
use crate::trainer::TrainingJob;
use crate::training::WeightAverage;

/// Buffers that hold all tensors.
pub(super) struct Arenas {
    pub(super) elements: u32,
    pub(super) weights: BufferRange,
    /// The weights that layers read: the trained ones, or their averages.
    pub(super) read: BufferRange,
    pub(super) gradients: BufferRange,
    /// Multipliers of each block of 256 elements.
    pub(super) blocks: BufferRange,
    /// Averages of the weights, if the job wants them.
    pub(super) shadow: Option<BufferRange>,
    /// As many zeros as the longest bias has elements.
    pub(super) zeros: BufferRange,
}

impl Arenas {
    /// Arenas with the initial weights and each block's multipliers.
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    pub(super) fn new(
        job: &TrainingJob,
        layouts: &[TensorLayout],
        stages: &Stages,
        builder: &mut Builder,
    ) -> Result<Self, EngineError> {
        let elements = arena_elements(layouts);
        let mut weights = vec![0.0; elements as usize];
        // What belongs to no tensor is left alone.
        let nobodys = BlockMultipliers::default();
        let mut blocks = vec![nobodys; (elements / BLOCK_ELEMENTS) as usize];
        let tensors = job.model.tensors()?.into_iter().zip(job.initial_weights()?);
        for ((spec, initial), layout) in tensors.zip(layouts) {
            layout.store(&initial, &mut weights);
            if spec.kind != TensorKind::Trained {
                continue;
            }
            let first = (layout.offset / BLOCK_ELEMENTS) as usize;
            blocks[first..first + (layout.span() / BLOCK_ELEMENTS) as usize].fill(BlockMultipliers {
                learning_rate: spec.multipliers.learning_rate as f32,
                weight_decay: (job.optimizer.weight_decay * spec.multipliers.weight_decay) as f32,
                frozen_from: job.frozen_from(&spec.multipliers),
                reserved: 0,
            });
        }
        let widest = stages.values.iter().map(|value| value.stored_channels(CHANNEL_ALIGNMENT)).max().unwrap_or(0);
        let weights_bytes = bytemuck::cast_slice(&weights);
        let weights = builder.bytes("weights", weights_bytes);
        Ok(Self {
            elements,
            weights,
            read: weights,
            gradients: builder.floats("gradients", u64::from(elements)),
            blocks: builder.bytes("block multipliers", bytemuck::cast_slice(&blocks)),
            shadow: job.average.map(|_| builder.bytes("averaged weights", weights_bytes)),
            zeros: builder.floats("zeros", u64::from(widest)),
        })
    }

    /// A part of an arena.
    pub(super) fn part(&self, arena: BufferRange, offset: u32, elements: u32) -> BufferRange {
        BufferRange { buffer: arena.buffer, offset_bytes: 4 * u64::from(offset), bytes: 4 * u64::from(elements) }
    }

    /// From here on, layers read the weights that tests use.
    pub(super) fn use_tested_weights(&mut self, average: Option<WeightAverage>) {
        if let (Some(shadow), true) = (self.shadow, average.is_some_and(|average| average.is_tested())) {
            self.read = shadow;
        }
    }

    /// So many arenas of zeros for what an optimiser remembers.
    pub(super) fn states(&self, count: usize, builder: &mut Builder) -> Vec<BufferRange> {
        (0..count).map(|_| builder.floats("optimiser state", u64::from(self.elements))).collect()
    }
}
