//! Initial contents of a plan's buffers. The plan stores names and sizes. Contents are computed when a buffer is
//! filled, one buffer after the other, so no plan holds a data set.

use std::borrow::Cow;

use half::f16;
use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers};

use super::layout::{TensorLayout, arena_elements, arena_of};
use super::recording::JobPart;
use crate::data::Split;
use crate::error::Result;
use crate::model::TensorKind;
use crate::trainer::TrainingJob;

pub(super) struct Contents<'a> {
    pub(super) job: &'a TrainingJob,
    pub(super) tensors: &'a [TensorLayout],
}

impl<'a> Contents<'a> {
    /// The bytes of a part, in whole words.
    ///
    /// # Errors
    /// A model whose tensors do not fit together.
    pub(super) fn bytes(&self, part: JobPart) -> Result<Cow<'a, [u8]>> {
        Ok(match part {
            JobPart::Weights => Cow::Owned(bytemuck::cast_slice(&self.weights()?).to_vec()),
            // Only plans for f16 round weights.
            JobPart::RoundedWeights => {
                Cow::Owned(self.weights()?.iter().flat_map(|&weight| f16::from_f32(weight).to_le_bytes()).collect())
            }
            JobPart::BlockMultipliers => Cow::Owned(bytemuck::cast_slice(&self.block_multipliers()?).to_vec()),
            JobPart::MeanImage => Cow::Borrowed(bytemuck::cast_slice(self.job.data.mean_image())),
            JobPart::Order(set) => Cow::Owned(bytemuck::cast_slice(&self.job.evaluated(set).0).to_vec()),
            JobPart::FileOrder => Cow::Owned(bytemuck::cast_slice(&self.job.order_before(0)).to_vec()),
            JobPart::Images(half) => {
                let split = half.of(&self.job.data);
                let length = if self.job.data.definition.is_text() { split.images.len() } else { features(split).0 };
                in_whole_words(&split.images, length)
            }
            JobPart::Labels(half) => {
                // All machines with WebGPU are little-endian.
                let labels = bytemuck::cast_slice(&half.of(&self.job.data).labels);
                in_whole_words(labels, labels.len())
            }
        })
    }

    fn weights(&self) -> Result<Vec<f32>> {
        Ok(arena_of(self.tensors, &self.job.initial_weights()?))
    }

    /// Returns the multipliers of all blocks. They leave blocks without a trained tensor unchanged.
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    fn block_multipliers(&self) -> Result<Vec<BlockMultipliers>> {
        let job = self.job;
        let mut blocks = vec![BlockMultipliers::default(); (arena_elements(self.tensors) / BLOCK_ELEMENTS) as usize];
        for (spec, layout) in job.model.tensors()?.into_iter().zip(self.tensors) {
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
        Ok(blocks)
    }
}

/// Returns the size of a sample in bytes, without and with padding to whole words.
pub(super) fn features(split: &Split) -> (usize, usize) {
    let features = split.images.len() / split.labels.len().max(1);
    (features, features.next_multiple_of(4))
}

/// Pads each record of `length` bytes to whole words.
fn in_whole_words(bytes: &[u8], length: usize) -> Cow<'_, [u8]> {
    if length.is_multiple_of(4) {
        return Cow::Borrowed(bytes);
    }
    let stored = length.next_multiple_of(4);
    let mut padded = Vec::with_capacity(bytes.len() / length * stored);
    for record in bytes.chunks_exact(length) {
        padded.extend(record);
        padded.resize(padded.len() + stored - length, 0);
    }
    Cow::Owned(padded)
}
