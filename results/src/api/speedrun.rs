//! The speedrun: the shortest proven time to a workload's target, for each class of devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunRow;
use crate::{ClientKind, Goal, Suite};

/// Query of the speedrun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpeedrunQuery {
    /// `gpt-nano` where none is named.
    pub workload: Option<String>,
}

/// Records of a workload, from proven runs that may be ranked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Speedrun {
    pub workload: String,
    /// Suite of the runs. If several have the workload, it is the one with the fewest networks.
    pub suite: Suite,
    /// Accuracy or loss to reach.
    pub goal: Goal,
    /// Classes with a run that reached the target.
    pub classes: Vec<SpeedrunClass>,
}

/// Devices of one form in one kind of client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedrunClass {
    pub form: DeviceForm,
    pub client_kind: ClientKind,
    /// The record, then the runs that were the record before it, newest first: at most twenty.
    pub records: Vec<SpeedrunRecord>,
}

/// A run that was faster than all earlier ones of its class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedrunRecord {
    pub engine_version: String,
    /// The run, with the time in `summary.seconds_to_target`.
    pub run: RunRow,
}

/// Form of the machine, as far as its record shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceForm {
    /// A phone or a tablet: a device with Android or iOS.
    Phone,
    /// A machine with a battery, or with a GPU for laptops.
    Laptop,
    /// Any other machine, also one whose browser hides its GPU and its battery.
    Desktop,
    /// A machine with a GPU for data centers.
    Server,
}

names!(DeviceForm { Phone = "phone", Laptop = "laptop", Desktop = "desktop", Server = "server" });
