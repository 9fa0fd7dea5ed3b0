//! What devices that train together tell each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunRecord, WorkloadRecord};

/// What several devices that shared each batch told each other in all timed training, and the seconds that they waited for
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Communication {
    /// That shared each batch.
    pub devices: u32,
    /// Times that all devices told each other something: in a step once for each part of the gradients, and for each batch
    /// normalisation twice.
    pub exchanges: u64,
    /// Read from all devices and written to them.
    pub bytes: u64,
    /// From the end of the last device's work until the host has what all of them found.
    pub reading_seconds: f64,
    /// On the host.
    pub summing_seconds: f64,
    /// Until all devices have the sum.
    pub writing_seconds: f64,
    /// What of the same was done while a device still computed, so that no step waited for it; absent where gradients are
    /// exchanged after the backward pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlapped: Option<ExchangeSeconds>,
}

/// What exchanges take the host, apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeSeconds {
    /// From when a part was found to be computed on all devices until the host had it.
    pub reading_seconds: f64,
    /// On the host.
    pub summing_seconds: f64,
    /// Until the sum was handed over to all devices.
    pub writing_seconds: f64,
}

impl ExchangeSeconds {
    fn add(&mut self, later: &Self) {
        self.reading_seconds += later.reading_seconds;
        self.summing_seconds += later.summing_seconds;
        self.writing_seconds += later.writing_seconds;
    }

    /// All of them.
    pub fn seconds(&self) -> f64 {
        self.reading_seconds + self.summing_seconds + self.writing_seconds
    }
}

impl Communication {
    /// Of so many devices that have told each other nothing yet.
    pub fn among(devices: u32) -> Self {
        Self {
            devices,
            exchanges: 0,
            bytes: 0,
            reading_seconds: 0.0,
            summing_seconds: 0.0,
            writing_seconds: 0.0,
            overlapped: None,
        }
    }

    /// Adds what was told later.
    pub fn add(&mut self, later: &Self) {
        self.exchanges += later.exchanges;
        self.bytes += later.bytes;
        self.reading_seconds += later.reading_seconds;
        self.summing_seconds += later.summing_seconds;
        self.writing_seconds += later.writing_seconds;
        if let Some(overlapped) = &later.overlapped {
            self.overlapped.get_or_insert_default().add(overlapped);
        }
    }

    /// Adds what an exchange took, or a part of it: as something that was waited for, or that was overlapped.
    pub fn spend(&mut self, seconds: ExchangeSeconds, overlapped: bool) {
        if overlapped {
            self.overlapped.get_or_insert_default().add(&seconds);
        } else {
            self.reading_seconds += seconds.reading_seconds;
            self.summing_seconds += seconds.summing_seconds;
            self.writing_seconds += seconds.writing_seconds;
        }
    }

    /// All that was waited for, which is a part of the seconds of training.
    pub fn seconds(&self) -> f64 {
        self.reading_seconds + self.summing_seconds + self.writing_seconds
    }
}

impl WorkloadRecord {
    /// Share of the timed seconds in which devices waited for what they told each other; absent of one device, and of several
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
            overlapped: Some(ExchangeSeconds { reading_seconds: 2.0, summing_seconds: 4.0, writing_seconds: 8.0 }),
            ..Communication::among(2)
        };
        all.add(&later);
        all.add(&later);
        assert_eq!((all.devices, all.exchanges, all.bytes, all.seconds()), (2, 6, 200, 3.5));
        assert_eq!(all.overlapped.unwrap().seconds(), 28.0);
        all.add(&Communication::among(2));
        assert_eq!((all.seconds(), all.overlapped.unwrap().seconds()), (3.5, 28.0));
    }
}
