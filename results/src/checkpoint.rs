//! Reports of a run to the leaderboard while it goes on, so that nothing can be made up afterwards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Phase, WorkloadRecord};

/// One phase of a workload. The next one begins where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Phase of the measurement.
    pub phase: Phase,
    /// Duration in seconds.
    pub seconds: f64,
}

/// State of the training as sent to the leaderboard: before the first step, at each pass over the test set, and
/// after the last window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Steps done so far.
    pub step: u64,
    /// SHA-256, in hex, of the weights at this step: all tensors in layer order, row-major, as little-endian f32.
    pub weights_sha256: String,
    /// SHA-256, in hex, of the record's windows, curve, evaluations and first losses up to this step.
    pub measured_sha256: String,
    /// Loss of the next batch, before that step's update; absent if no step followed.
    pub next_loss: Option<f64>,
}

/// The weights as bytes: every tensor in layer order, row-major, each value as a little-endian float32.
pub fn weights_bytes(tensors: &[Vec<f32>]) -> Vec<u8> {
    tensors.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

/// SHA-256 of [`weights_bytes`], in hex.
pub fn weights_sha256(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).as_slice())
}

/// SHA-256, in hex, of everything that `record` says of its first `step` steps: windows, curve, losses, and looks at the
/// test set. It is the same of the record as it was at that step and of the finished one.
pub fn measured_sha256(record: &WorkloadRecord, step: u64) -> String {
    let mut digest = Digester::default();
    digest.text(&record.workload);
    let mut end = 0;
    let windows = record.windows.iter().take_while(|window| {
        end += u64::from(window.steps);
        end <= step
    });
    digest.list(windows, |digest, window| {
        digest.whole(u64::from(window.steps)).whole(window.samples).number(window.seconds);
    });
    digest.list(record.curve.iter().take_while(|point| point.step <= step), |digest, point| {
        digest.whole(point.step).number(point.training_seconds).number(point.loss).number(point.accuracy);
    });
    digest.list(record.evaluations.iter().take_while(|look| look.step <= step), |digest, look| {
        digest.whole(look.step).number(look.training_seconds).number(look.seconds);
        digest.number(look.loss).number(look.accuracy);
    });
    let losses = usize::try_from(step).unwrap_or(usize::MAX);
    digest.list(record.first_losses.iter().take(losses), |digest, &loss| {
        digest.number(f64::from(loss));
    });
    hex(digest.0.finalize().as_slice())
}

/// Numbers as the bytes that they have, so that no way of writing them can make a difference.
#[derive(Default)]
struct Digester(Sha256);

impl Digester {
    fn whole(&mut self, value: u64) -> &mut Self {
        self.0.update(value.to_le_bytes());
        self
    }

    fn number(&mut self, value: f64) -> &mut Self {
        self.0.update(value.to_le_bytes());
        self
    }

    fn text(&mut self, text: &str) {
        self.whole(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    /// The length comes last: it is not known before.
    fn list<T>(&mut self, items: impl Iterator<Item = T>, each: impl Fn(&mut Self, T)) {
        let mut length = 0;
        for item in items {
            each(self, item);
            length += 1;
        }
        self.whole(length);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
