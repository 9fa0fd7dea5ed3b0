//! Initial contents of a plan's buffers. The plan stores names and sizes. Contents are computed when a buffer is
//! filled, one buffer after the other, so no plan holds a data set.

use std::borrow::Cow;

use half::f16;
use shaders::Stored;
use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers};

use super::super::layout::{TensorLayout, arena_elements, arena_of};
use super::super::recording::{Half, JobPart};
use crate::data::Split;
use crate::error::EngineError;
use crate::model::TensorKind;
use crate::trainer::TrainingJob;

/// Initial contents of the buffers of a job's plan.
pub(in super::super) struct Contents<'a> {
    pub(in super::super) job: &'a TrainingJob,
    pub(in super::super) tensors: &'a [TensorLayout],
    pub(in super::super) stored: Stored,
}

impl JobPart {
    /// Returns true if all jobs that train on a data set share it.
    pub(in super::super) fn is_of_the_data_set(self) -> bool {
        matches!(self, Self::Images(_) | Self::Labels(_))
    }
}

impl<'a> Contents<'a> {
    /// The bytes of a part, in whole words.
    ///
    /// # Errors
    /// A model whose tensors do not fit together.
    pub(in super::super) fn bytes(&self, part: JobPart) -> Result<Cow<'a, [u8]>, EngineError> {
        Ok(match part {
            JobPart::Weights => Cow::Owned(bytemuck::cast_slice(&self.weights()?).to_vec()),
            JobPart::RoundedWeights => Cow::Owned(self.rounded_weights()?),
            JobPart::BlockMultipliers => Cow::Owned(bytemuck::cast_slice(&self.block_multipliers()?).to_vec()),
            JobPart::MeanImage => Cow::Borrowed(bytemuck::cast_slice(self.job.data.mean_image())),
            JobPart::Order(set) => Cow::Owned(bytemuck::cast_slice(&self.job.evaluated(set).0).to_vec()),
            JobPart::FileOrder => Cow::Owned(bytemuck::cast_slice(&self.job.order_before(0)).to_vec()),
            JobPart::Images(half) => in_whole_words(self.half(half)),
            // All machines with WebGPU are little-endian.
            JobPart::Labels(half) => padded(bytemuck::cast_slice(&self.half(half).labels)),
        })
    }

    fn half(&self, half: Half) -> &'a Split {
        match half {
            Half::Training => &self.job.data.train,
            Half::Test => &self.job.data.test,
        }
    }

    fn weights(&self) -> Result<Vec<f32>, EngineError> {
        Ok(arena_of(self.tensors, &self.job.initial_weights()?))
    }

    fn rounded_weights(&self) -> Result<Vec<u8>, EngineError> {
        let weights = self.weights()?;
        Ok(match self.stored {
            Stored::F32 => bytemuck::cast_slice(&weights).to_vec(),
            Stored::F16 => weights.iter().flat_map(|&weight| f16::from_f32(weight).to_le_bytes()).collect(),
        })
    }

    /// Returns the multipliers of all blocks. They leave blocks without a trained tensor unchanged.
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    fn block_multipliers(&self) -> Result<Vec<BlockMultipliers>, EngineError> {
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

/// Returns the images, each padded to a multiple of four bytes.
fn in_whole_words(split: &Split) -> Cow<'_, [u8]> {
    let (features, stored) = features(split);
    if features == stored {
        return padded(&split.images);
    }
    let mut bytes = Vec::with_capacity(split.labels.len() * stored);
    for sample in split.images.chunks_exact(features) {
        bytes.extend(sample);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    Cow::Owned(bytes)
}

/// Pads the bytes to whole words.
fn padded(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.len().is_multiple_of(4) {
        return Cow::Borrowed(bytes);
    }
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    Cow::Owned(padded)
}
