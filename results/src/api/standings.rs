//! The places of devices, made from all their proven runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClientKind, Precision, Suite};

/// Number of networks of submitters, each counted once a day, …
const VOICES_FOR_A_PLACE: u64 = 3;
/// … and number of days with a proven run that a device needs for a place.
const DAYS_FOR_A_PLACE: u64 = 2;

/// Query of the places; all but the suite is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StandingsQuery {
    /// Name of the suite; its current version is answered.
    pub suite: String,
    /// f32 where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Only this back end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Only this kind of client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientKind>,
    /// GPUs where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<RankedClass>,
    /// At most this many places of each table, 1 to 500; 50 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What is ranked, each among its own. Programs that act as GPUs are neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankedClass {
    #[default]
    Gpu,
    Processor,
}

impl RankedClass {
    /// As it is written in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Processor => "processor",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Gpu, Self::Processor].into_iter().find(|class| class.name() == name)
    }
}

/// The places of a suite at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standings {
    pub suite: Suite,
    /// The places by score; absent where no run of this version of the suite is frozen as the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreTable>,
    /// One for each workload of the suite, in its order.
    pub tables: Vec<StandingsTable>,
}

/// The places of those who trained every workload of the suite. A score is the geometric mean over the workloads of a
/// device's rate over that of the reference run: 2 is twice as fast as the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreTable {
    /// What the score 1 is.
    pub reference: String,
    /// Lines there are without `limit`.
    pub total: u64,
    /// Their figures are scores.
    pub places: Vec<StandingsPlace>,
}

/// The places of one workload, the first first; empty where nothing is proven yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingsTable {
    pub workload: String,
    /// Lines there are without `limit`.
    pub total: u64,
    pub places: Vec<StandingsPlace>,
}

/// A device with one back end and one kind of client, from all its proven runs. Figures never mix back ends, kinds of
/// client or precisions; lines of a table may differ in the first two, and say so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingsPlace {
    /// From 1. Lines that cannot be told apart share one: 1, 1, 3. Those with fewer than three `submitters` or two `days`
    /// share one behind all others and behind the first hundred.
    pub place: u64,
    /// Runs of one key are of one device.
    pub device_key: String,
    pub device_name: String,
    /// Who says which device it is.
    pub device_source: DeviceSource,
    /// Which devices it may be, by its measured peak: a guess that decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<String>,
    pub backend: String,
    pub client_kind: ClientKind,
    #[serde(flatten)]
    pub figure: FigureOfDevice,
    /// Of the runs that these submitters announced for the suite; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// How many runs stand apart from the others of their line, for a person to look at.
    pub outlier_runs: u64,
    /// Some of them, at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<String>,
    /// The fastest run that does not stand apart.
    pub best_run_id: String,
}

/// What all proven runs of a device come to. Of samples per second, or of scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureOfDevice {
    /// Over networks (/24 or /48), each once a day.
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
    pub runs: u64,
    /// Networks of submitters (/24 or /48), each once a day.
    pub submitters: u64,
    /// Different days of them.
    pub days: u64,
}

/// Returns the number of voices that a device with `voices` voices on `days` days still needs for a place.
pub fn voices_missing(voices: u64, days: u64) -> u64 {
    VOICES_FOR_A_PLACE.saturating_sub(voices).max(DAYS_FOR_A_PLACE.saturating_sub(days))
}

/// How many announced runs came to their end. Where few did, those that did are a lucky choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    pub finished: u64,
    pub announced: u64,
}

/// Who says which device it is, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceSource {
    /// The platform.
    Reported,
    /// The person, and nothing contradicts.
    Claimed,
    /// Nobody: the browser tells no more than the vendor and the architecture, or the measured peak does not fit the name.
    Masked,
}

impl DeviceSource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Claimed => "claimed",
            Self::Masked => "masked",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Reported, Self::Claimed, Self::Masked].into_iter().find(|source| source.name() == name)
    }
}
