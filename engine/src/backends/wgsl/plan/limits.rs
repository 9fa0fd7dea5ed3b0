//! What the kernels can hold.

use half::f16;
use shaders::Stored;
use shaders::params::LARGEST_HEAD;

use super::super::layout::CHANNEL_ALIGNMENT;
use crate::model::{Model, ModelError, StageKind, Stages, Words};

/// Size of the largest buffer that holds something for each sample of a batch.
pub(super) fn most_bytes_per_sample(stages: &Stages) -> u64 {
    let values = stages.values.iter().map(|value| value.stored_features(CHANNEL_ALIGNMENT));
    let gates = stages.stages.iter().map(|stage| {
        let StageKind::Recurrent(cell) = stage.kind else { return 0 };
        let params = stages.recurrent_params(stage, cell, 1, CHANNEL_ALIGNMENT);
        cell.gates() * params.sequences * params.steps * params.stored_units
    });
    4 * u64::from(values.chain(gates).max().unwrap_or(1))
}

/// Refuses what the kernels cannot hold.
pub(super) fn check(model: &Model, stages: &Stages, stored: Stored) -> Result<(), ModelError> {
    for (layer, stage) in stages.stages.iter().enumerate() {
        let channels = stages.output(stage).shape.channels;
        let reason = match stage.kind {
            StageKind::Attention { heads } if channels / heads > LARGEST_HEAD => {
                format!("heads of {} channels; the kernels hold {LARGEST_HEAD} at most", channels / heads)
            }
            // Numbers of words are stored like activations, and up to here each whole number is one.
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
