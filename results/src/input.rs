//! Ways in which the samples of each batch reach the device.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunRecord, WorkloadRecord};

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

impl InputMode {
    pub const ALL: [Self; 3] = [Self::Resident, Self::Prefetch, Self::Stream];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Prefetch => "prefetch",
            Self::Stream => "stream",
        }
    }

    /// In words that follow "input".
    pub fn text(self) -> &'static str {
        match self {
            Self::Resident => "resident on the device",
            Self::Prefetch => "streamed with prefetch",
            Self::Stream => "streamed without prefetch",
        }
    }
}

impl FromStr for InputMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|mode| mode.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("there is no input mode `{text}`; there are: {known}")
        })
    }
}

/// Cost of bringing batches to the device in all timed training, if the data set does not lie there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputPipeline {
    /// Way in which batches reach the device.
    pub mode: InputMode,
    /// Number of batches brought to the device.
    pub batches: u64,
    /// Bytes written to the device: samples, labels and sample numbers.
    pub bytes: u64,
    /// Seconds in which the host gathered the samples of batches.
    pub preparing_seconds: f64,
    /// Seconds of writing batches: without prefetch until the device has them, with prefetch until they are handed
    /// over.
    pub uploading_seconds: f64,
    /// Seconds in which the device was idle because its next batch was not there. Without prefetch, the sum of
    /// `preparing_seconds` and `uploading_seconds`.
    pub waiting_seconds: f64,
}

impl InputPipeline {
    /// That has brought nothing yet.
    pub fn new(mode: InputMode) -> Self {
        Self { mode, batches: 0, bytes: 0, preparing_seconds: 0.0, uploading_seconds: 0.0, waiting_seconds: 0.0 }
    }

    /// Adds what was brought later.
    pub fn add(&mut self, later: &Self) {
        self.batches += later.batches;
        self.bytes += later.bytes;
        self.preparing_seconds += later.preparing_seconds;
        self.uploading_seconds += later.uploading_seconds;
        self.waiting_seconds += later.waiting_seconds;
    }
}

impl WorkloadRecord {
    /// Share of the timed seconds in which the device waited for its input; absent where nothing was streamed, or nothing
    /// timed.
    pub fn input_share(&self) -> Option<f64> {
        let timed: f64 = self.windows.iter().map(|window| window.seconds).sum();
        self.input.filter(|_| timed > 0.0).map(|input| input.waiting_seconds / timed)
    }
}

impl RunRecord {
    /// Returns the way in which batches reached the device.
    pub fn input_mode(&self) -> InputMode {
        let modes = self.workloads.iter().filter_map(|workload| workload.input);
        modes.map(|input| input.mode).next().unwrap_or(InputMode::Resident)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_brought_later_is_added() {
        let mut all = InputPipeline::new(InputMode::Prefetch);
        let later = InputPipeline {
            batches: 3,
            bytes: 100,
            preparing_seconds: 0.5,
            uploading_seconds: 0.25,
            waiting_seconds: 0.125,
            ..all
        };
        all.add(&later);
        all.add(&later);
        let seconds = (all.preparing_seconds, all.uploading_seconds, all.waiting_seconds);
        assert_eq!((all.batches, all.bytes, seconds), (6, 200, (1.0, 0.5, 0.25)));
    }

    #[test]
    fn every_mode_is_found_by_its_name_and_others_are_told_which_there_are() {
        for mode in InputMode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        let error = "streamed".parse::<InputMode>().unwrap_err();
        assert_eq!(error, "there is no input mode `streamed`; there are: resident, prefetch, stream");
    }
}
