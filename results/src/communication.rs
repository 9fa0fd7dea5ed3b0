//! Data that devices exchange when they train together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunRecord, WorkloadRecord};

/// Data that the devices sharing each batch exchanged in all timed training, and the seconds that they waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Communication {
    /// Number of devices that shared each batch.
    pub devices: u32,
    /// Number of exchanges among all devices: in each step, one for each part of the gradients and two for each batch
    /// normalisation.
    pub exchanges: u64,
    /// Bytes read from all devices and written to them.
    pub bytes: u64,
    /// Seconds from the end of the last device's work until the host has the results of all devices.
    pub reading_seconds: f64,
    /// Seconds that the host took to add up the results.
    pub summing_seconds: f64,
    /// Seconds from then until all devices have the sum.
    pub writing_seconds: f64,
    /// Seconds of exchanges while a device still computed, so that no step waited for them; absent if gradients are
    /// exchanged after the backward pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlapped: Option<ExchangeSeconds>,
}

/// Seconds that the host spends on exchanges, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeSeconds {
    /// Seconds from when all devices have computed a part until the host has it.
    pub reading_seconds: f64,
    /// Seconds that the host takes to add up a part.
    pub summing_seconds: f64,
    /// Seconds until the sum is handed over to all devices.
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
    /// Returns the number of devices that shared each batch.
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
