use engine::Workload;
use results::StateBytes;
use sha2::{Digest, Sha256};

use super::draws::MOST_STATES;

const BYTES_OF_SHA256: u64 = 32;

/// Length of the states of a workload, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateSize {
    weights: u64,
    memory: u64,
}

impl StateSize {
    /// Returns the size of a state of this workload, or zero if its model cannot be built.
    pub(crate) fn of(workload: &Workload) -> Self {
        let tensors = workload.model.tensors().unwrap_or_default();
        let weights: u64 = tensors.iter().map(|tensor| 4 * tensor.elements() as u64).sum();
        let memories = workload.optimizer.rule.states() + usize::from(workload.average.is_some());
        Self { weights, memory: memories as u64 * weights }
    }

    /// Returns the length of [`StateBytes::body`].
    pub(crate) fn of_body(self, weights_only: bool) -> u64 {
        self.weights + if weights_only { BYTES_OF_SHA256 } else { self.memory }
    }

    /// Returns the largest total size of the states requested for a workload.
    pub(crate) fn of_all_wanted(self) -> u64 {
        MOST_STATES * self.of_body(false)
    }

    /// Returns [`StateBytes::sha256`] of a received body, or `None` if it has the wrong length.
    pub(crate) fn sha256(self, body: &[u8], weights_only: bool) -> Option<String> {
        if body.len() as u64 != self.of_body(weights_only) {
            return None;
        }
        let (weights, rest) = body.split_at_checked(usize::try_from(self.weights).ok()?)?;
        Some(match weights_only {
            true => StateBytes::joined_sha256(weights, rest),
            false => StateBytes::joined_sha256(weights, Sha256::digest(rest).as_slice()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_weights_and_memory_or_a_hash_of_it() {
        let size = StateSize { weights: 8, memory: 4 };
        let state = StateBytes { weights: vec![1; 8], memory: vec![2; 4] };
        for weights_only in [false, true] {
            let body = state.body(weights_only);
            assert_eq!(body.len() as u64, size.of_body(weights_only));
            assert_eq!(size.sha256(&body, weights_only), Some(state.sha256()));
            assert_eq!(size.sha256(&body[1..], weights_only), None);
        }
    }

    #[test]
    fn the_size_follows_from_the_network_and_its_optimizer() {
        let size = StateSize::of(&engine::workload("keras-mnist-mlp").unwrap());
        assert_eq!((size.of_body(true), size.of_body(false)), (4 * 669_706 + 32, 8 * 669_706));
    }
}
