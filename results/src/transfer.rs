//! Data exchange between devices, and delivery of batches to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunRecord, WorkloadRecord};

/// Data that the devices sharing each batch exchanged in all timed training, and the seconds that they waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

    pub fn seconds(&self) -> f64 {
        self.reading_seconds + self.summing_seconds + self.writing_seconds
    }
}

impl Communication {
    pub fn among(devices: u32) -> Self {
        Self { devices, ..Self::default() }
    }

    pub fn add(&mut self, later: &Self) {
        let Self { devices: _, exchanges, bytes, reading_seconds, summing_seconds, writing_seconds, overlapped } =
            *later;
        self.exchanges += exchanges;
        self.bytes += bytes;
        self.spend(ExchangeSeconds { reading_seconds, summing_seconds, writing_seconds }, false);
        if let Some(overlapped) = overlapped {
            self.spend(overlapped, true);
        }
    }

    /// Adds the seconds of an exchange or part of one.
    pub fn spend(&mut self, seconds: ExchangeSeconds, overlapped: bool) {
        if overlapped {
            self.overlapped.get_or_insert_default().add(&seconds);
        } else {
            self.reading_seconds += seconds.reading_seconds;
            self.summing_seconds += seconds.summing_seconds;
            self.writing_seconds += seconds.writing_seconds;
        }
    }

    /// Returns the seconds that devices spent waiting, which are part of the training time.
    pub fn seconds(&self) -> f64 {
        self.reading_seconds + self.summing_seconds + self.writing_seconds
    }
}

/// Place of the training samples, and the way in which they reach the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputMode {
    /// The data set is on the device, which picks the samples of each batch itself. The standard.
    Resident,
    /// The host gathers the next batches and hands them over while the device computes.
    Prefetch,
    /// The host gathers a batch and writes it to the device, and only then does the device compute.
    Stream,
}

names!(InputMode, "input mode", { Resident = "resident", Prefetch = "prefetch", Stream = "stream" });

impl InputMode {
    /// Returns the text that follows "input" in messages.
    pub fn text(self) -> &'static str {
        match self {
            Self::Resident => "resident on the device",
            Self::Prefetch => "streamed with prefetch",
            Self::Stream => "streamed without prefetch",
        }
    }
}

/// Cost of bringing batches to the device in all timed training, if the data set is not there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputPipeline {
    /// Path of batches to the device.
    pub mode: InputMode,
    /// Number of batches brought to the device.
    pub batches: u64,
    /// Bytes written to the device: samples, labels and sample numbers.
    pub bytes: u64,
    /// Seconds that the host spent gathering the samples of batches.
    pub preparing_seconds: f64,
    /// Seconds of writing batches: without prefetch until the device has them, with prefetch until they are handed
    /// over.
    pub uploading_seconds: f64,
    /// Seconds that the device was idle because its next batch had not arrived. Without prefetch, the sum of
    /// `preparing_seconds` and `uploading_seconds`.
    pub waiting_seconds: f64,
}

impl InputPipeline {
    pub fn new(mode: InputMode) -> Self {
        Self { mode, batches: 0, bytes: 0, preparing_seconds: 0.0, uploading_seconds: 0.0, waiting_seconds: 0.0 }
    }

    pub fn add(&mut self, later: &Self) {
        let Self { mode: _, batches, bytes, preparing_seconds, uploading_seconds, waiting_seconds } = *later;
        self.batches += batches;
        self.bytes += bytes;
        self.preparing_seconds += preparing_seconds;
        self.uploading_seconds += uploading_seconds;
        self.waiting_seconds += waiting_seconds;
    }
}

impl WorkloadRecord {
    /// Returns `waited` as a share of the timed seconds; `None` if nothing was timed.
    fn share_of_timed(&self, waited: Option<f64>) -> Option<f64> {
        let timed: f64 = self.windows.iter().map(|window| window.seconds).sum();
        waited.filter(|_| timed > 0.0).map(|seconds| seconds / timed)
    }

    /// Returns the share of the timed seconds that devices spent waiting for exchanges; `None` if one device trained or
    /// nothing was timed.
    pub fn communication_share(&self) -> Option<f64> {
        self.share_of_timed(self.communication.map(|communication| communication.seconds()))
    }

    /// Returns the share of the timed seconds that the device spent waiting for input; `None` if nothing was streamed
    /// or timed.
    pub fn input_share(&self) -> Option<f64> {
        self.share_of_timed(self.input.map(|input| input.waiting_seconds))
    }
}

impl RunRecord {
    pub fn devices(&self) -> u32 {
        self.workloads.iter().filter_map(|workload| Some(workload.communication?.devices)).max().unwrap_or(1)
    }

    pub fn input_mode(&self) -> InputMode {
        self.workloads.iter().find_map(|workload| Some(workload.input?.mode)).unwrap_or(InputMode::Resident)
    }
}

/// Memory layout of a batch of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Samples, height, width, channels: channels last.
    Nhwc,
    /// Samples, channels, height, width: channels first.
    Nchw,
}

names!(Layout, "layout", { Nhwc = "nhwc", Nchw = "nchw" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_exchanges_are_added_stage_by_stage() {
        let mut all = Communication::among(2);
        let mut later = Communication { exchanges: 3, bytes: 100, ..Communication::among(2) };
        let seconds = ExchangeSeconds { reading_seconds: 0.5, summing_seconds: 0.25, writing_seconds: 1.0 };
        later.spend(seconds, false);
        later.spend(ExchangeSeconds { reading_seconds: 2.0, summing_seconds: 4.0, writing_seconds: 8.0 }, true);
        all.add(&later);
        all.add(&later);
        all.add(&Communication::among(2));
        assert_eq!((all.devices, all.exchanges, all.bytes, all.seconds()), (2, 6, 200, 3.5));
        assert_eq!(all.overlapped.unwrap().seconds(), 28.0);
    }
}
