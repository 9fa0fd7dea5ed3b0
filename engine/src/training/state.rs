use results::{StateBytes, weights_bytes};

use crate::error::EngineError;
use crate::model::ModelError;
use crate::trainer::TrainingJob;

impl TrainingJob {
    /// Returns the state before the first step: start values, memories of zeros, and averages that are the weights.
    ///
    /// # Errors
    /// A model whose tensors do not fit together.
    pub fn initial_state(&self) -> Result<StateBytes, ModelError> {
        let weights = weights_bytes(&self.initial_weights()?);
        let mut memory = vec![0; self.optimizer.rule.states() * weights.len()];
        if self.average.is_some() {
            memory.extend_from_slice(&weights);
        }
        Ok(StateBytes { weights, memory })
    }

    /// Returns the tensors of a state: first the weights, then each memory. Returns `None` if the state has the wrong
    /// length for this job, or numbers that are not finite.
    ///
    /// # Errors
    /// A model whose tensors do not fit together.
    pub(crate) fn split_state(&self, state: &StateBytes) -> Result<Option<Vec<Vec<Vec<f32>>>>, ModelError> {
        let lengths: Vec<usize> = self.model.tensors()?.iter().map(|tensor| tensor.elements()).collect();
        let memories = self.optimizer.rule.states() + usize::from(self.average.is_some());
        let bytes = 4 * lengths.iter().sum::<usize>();
        if state.weights.len() != bytes || state.memory.len() != memories * bytes {
            return Ok(None);
        }
        let words = state.weights.chunks_exact(4).chain(state.memory.chunks_exact(4));
        let mut values = words.map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let mut list = || lengths.iter().map(|&length| values.by_ref().take(length).collect()).collect();
        let lists: Vec<Vec<Vec<f32>>> = (0..=memories).map(|_| list()).collect();
        let finite = lists.iter().flatten().flatten().all(|value| value.is_finite());
        Ok(finite.then_some(lists))
    }

    /// Returns [`Self::split_state`] of a state that a trainer of this job restores.
    pub(crate) fn tensors_of_state(&self, state: &StateBytes) -> Result<Vec<Vec<Vec<f32>>>, EngineError> {
        self.split_state(state)?.ok_or_else(|| EngineError::InvalidSetting {
            what: "the state to go back to",
            allowed: "finite numbers, as many as this network and its optimizer have".to_owned(),
            value: format!("{} + {} bytes", state.weights.len(), state.memory.len()),
        })
    }
}
