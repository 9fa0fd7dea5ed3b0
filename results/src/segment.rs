//! Data that a run sends to the leaderboard while it trains, so that it cannot be made up afterwards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Phase;

/// One phase of a workload. The next one begins where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Phase of the measurement.
    pub phase: Phase,
    /// Duration in seconds.
    pub seconds: f64,
}

/// A window of training that the leaderboard saw: begun with its beacon and ended with the hash of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Random word from the leaderboard, from which the order of the samples, dropout and augmentation follow.
    pub beacon: Beacon,
    /// [`StateBytes::sha256`] after the last step of the window.
    pub state_sha256: String,
}

/// Sixteen random bytes from the leaderboard, written as 32 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Beacon(pub [u8; 16]);

impl Beacon {
    /// Returns the bytes as four little-endian words.
    pub fn words(self) -> [u32; 4] {
        std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|byte| self.0[4 * i + byte])))
    }
}

impl From<Beacon> for String {
    fn from(beacon: Beacon) -> Self {
        hex(&beacon.0)
    }
}

impl TryFrom<String> for Beacon {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let word = Some(&text).filter(|text| text.len() == 32 && text.bytes().all(is_digit));
        let word = word.and_then(|text| u128::from_str_radix(text, 16).ok());
        word.map(|word| Self(word.to_be_bytes())).ok_or("a beacon has 32 hex digits in lower case")
    }
}

/// Training state in the form that is hashed and uploaded: little-endian float32, tensors in layer order, row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateBytes {
    /// All tensors of the network.
    pub weights: Vec<u8>,
    /// Optimizer state: all tensors of the first buffer, then of the second, then averages of the weights.
    pub memory: Vec<u8>,
}

impl StateBytes {
    #[expect(clippy::len_without_is_empty, reason = "no state is empty")]
    pub fn len(&self) -> usize {
        self.weights.len() + self.memory.len()
    }

    /// Returns the hex SHA-256 of the SHA-256 of the weights followed by the SHA-256 of the memory. Hashing the two
    /// separately lets the leaderboard check weights without the memory.
    pub fn sha256(&self) -> String {
        Self::joined_sha256(&self.weights, Sha256::digest(&self.memory).as_slice())
    }

    /// Computes [`Self::sha256`] from the weights and the SHA-256 of the memory.
    pub fn joined_sha256(weights: &[u8], memory_sha256: &[u8]) -> String {
        let mut digest = Sha256::new();
        digest.update(Sha256::digest(weights));
        digest.update(memory_sha256);
        hex(digest.finalize().as_slice())
    }

    /// Returns the upload body: the whole state, or the weights followed by the SHA-256 of the memory.
    pub fn body(&self, weights_only: bool) -> Vec<u8> {
        let mut body = self.weights.clone();
        match weights_only {
            true => body.extend_from_slice(Sha256::digest(&self.memory).as_slice()),
            false => body.extend_from_slice(&self.memory),
        }
        body
    }
}

/// Returns the hex SHA-256 of the losses of a segment's steps, each as a little-endian float32.
pub fn losses_sha256(losses: &[f32]) -> String {
    let mut digest = Sha256::new();
    losses.iter().for_each(|loss| digest.update(loss.to_le_bytes()));
    hex(digest.finalize().as_slice())
}

/// Serializes the weights: tensors in layer order, row-major, each value as a little-endian float32.
pub fn weights_bytes(tensors: &[Vec<f32>]) -> Vec<u8> {
    tensors.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

/// Formats bytes as hex digits in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beacons_survive_text() {
        let beacon = Beacon(std::array::from_fn(|i| u8::try_from(17 * i).unwrap()));
        let text = String::from(beacon);
        assert_eq!(text, "00112233445566778899aabbccddeeff");
        assert_eq!(Beacon::try_from(text.clone()), Ok(beacon));
        assert_eq!(beacon.words()[0], 0x3322_1100);
        assert_eq!(serde_json::to_value(beacon).unwrap(), text);
        for wrong in [&text[..30], &format!("{text}0"), &text.to_uppercase(), "", "0011223344556677-899aabbccddeeff"] {
            assert!(Beacon::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn weights_are_verified_with_the_hash_of_the_memory() {
        assert_eq!(weights_bytes(&[vec![1.0, -2.0], vec![0.5]]), [0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 63]);
        let state = StateBytes { weights: vec![1, 2, 3, 4], memory: vec![5, 6] };
        let body = state.body(true);
        assert_eq!(StateBytes::joined_sha256(&body[..4], &body[4..]), state.sha256());
        assert_eq!(state.body(false), [1, 2, 3, 4, 5, 6]);
        assert_ne!(StateBytes { memory: vec![6, 5], ..state.clone() }.sha256(), state.sha256());
    }
}
