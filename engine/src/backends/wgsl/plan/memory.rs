//! What a plan will take on a device, known before anything is allocated.

use super::Plan;
use crate::error::EngineError;

impl Plan {
    /// Bytes of all buffers, and of those through which results are read: what a device will have to hold.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.buffers.iter().map(|b| b.bytes).sum::<u64>() + self.staging_bytes().iter().sum::<u64>()
    }

    /// Bytes that are read back at once, of each buffer through which that is done. The first is for the results of as many
    /// steps as there are slots, after a window, and for what devices that share a batch wait for; the others are for what
    /// these tell each other while they compute.
    pub(in super::super) fn staging_bytes(&self) -> Vec<u64> {
        let mut bytes = vec![self.buffers[self.places.results].bytes];
        for exchange in &self.training.exchanges {
            bytes.resize(bytes.len().max(exchange.staging + 1), 0);
            bytes[exchange.staging] = bytes[exchange.staging].max(exchange.read.bytes);
        }
        bytes
    }

    /// Refuses what the device cannot bind.
    pub(super) fn check_bindings(&self, batch_size: u32, largest_binding: u64) -> Result<(), EngineError> {
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
