//! What devices that train together tell each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunRecord, WorkloadRecord};

/// What several devices that shared each batch told each other in all timed training, and the seconds that it took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Communication {
    pub devices: u32,
    /// Times that all devices waited for each other: once a step for gradients, and for each batch normalisation twice.
    pub exchanges: u64,
    /// Read from all devices and written to them.
    pub bytes: u64,
    /// From the end of the last device's work until the host has what all of them found.
    pub reading_seconds: f64,
    /// On the host.
    pub summing_seconds: f64,
    /// Until all devices have the sum.
    pub writing_seconds: f64,
}

impl Communication {
    /// Of so many devices that have told each other nothing yet.
    pub fn among(devices: u32) -> Self {
        Self { devices, exchanges: 0, bytes: 0, reading_seconds: 0.0, summing_seconds: 0.0, writing_seconds: 0.0 }
    }

    /// Adds what was told later.
    pub fn add(&mut self, later: &Self) {
        self.exchanges += later.exchanges;
        self.bytes += later.bytes;
        self.reading_seconds += later.reading_seconds;
        self.summing_seconds += later.summing_seconds;
        self.writing_seconds += later.writing_seconds;
    }

    /// All of them; they are a part of the seconds of training.
    pub fn seconds(&self) -> f64 {
        self.reading_seconds + self.summing_seconds + self.writing_seconds
    }
}

impl WorkloadRecord {
    /// Share of the timed seconds in which devices told each other what they found; absent of one device, and of several
    /// that timed nothing.
    pub fn communication_share(&self) -> Option<f64> {
        let timed: f64 = self.windows.iter().map(|window| window.seconds).sum();
        self.communication.filter(|_| timed > 0.0).map(|communication| communication.seconds() / timed)
    }
}

impl RunRecord {
    /// How many devices shared each batch.
    pub fn devices(&self) -> u32 {
        let told = self.workloads.iter().filter_map(|workload| workload.communication);
        told.map(|communication| communication.devices).max().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_later_is_added_and_its_parts_are_the_whole() {
        let mut all = Communication::among(2);
        let later = Communication {
            exchanges: 3,
            bytes: 100,
            reading_seconds: 0.5,
            summing_seconds: 0.25,
            writing_seconds: 1.0,
            ..Communication::among(2)
        };
        all.add(&later);
        all.add(&later);
        assert_eq!((all.devices, all.exchanges, all.bytes, all.seconds()), (2, 6, 200, 3.5));
    }
}
