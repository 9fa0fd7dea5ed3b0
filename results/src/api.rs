//! Wire format of the leaderboard, version 1, shared by server and clients.
//!
//! `leaderboard/src/api/calls.rs` lists the calls with their requests and answers, and a server describes them at
//! `GET /api/v1/openapi.json`.
//!
//! An accepted record returns 201. A client that lost the response can resend the same record with the same nonce
//! within ten minutes, which returns 200 and another deletion secret. Any other second record of a run is refused as
//! `already_submitted`. An import can set the header [`IDEMPOTENCY_KEY`]: resending the same record with the same key
//! at any time returns 200 and the lost secret.
//!
//! Every refusal is an [`ErrorBody`] with an HTTP status of 4xx or 5xx.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod comparisons;
mod devices;
mod open;
mod proof;
mod speedrun;

pub use comparisons::{
    AcceptedComparison, ComparedFigure, ComparedSide, ComparedWorkload, Comparing, ComparingQuery, SharedComparison,
    SideDifference, SideVerdict, StoredComparison,
};
pub use devices::{
    BrowserTaxOfDevice, CategoryFigure, Completion, DeviceHistory, DeviceHistoryQuery, DeviceSource, DeviceSummary,
    Distribution, DistributionQuery, FigureOfDevice, HistoryCategory, HistoryLine, RankedClass, RateBin, RunStanding,
    ScoreRank, ScoreTable, Standings, StandingsPlace, StandingsQuery, StandingsTable, WorkloadStanding, voices_missing,
};
pub use open::{OPEN_SUITE, OpenEntry, OpenQuery, OpenTable};
pub use proof::{
    CommitSegment, CommittedSegment, OpenLap, OpenedLap, PartHashes, ProofWanted, ProvePart, WantedHashes, WantedState,
};
pub use speedrun::{DeviceForm, Speedrun, SpeedrunClass, SpeedrunQuery, SpeedrunRecord};

use crate::{Adapter, ClientKind, Precision, RunRecord, Suite, Summary};

/// Idempotency header of an import: a random word that the client keeps secret until the response.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Allowed lengths of the idempotency key, in ASCII characters.
pub const IDEMPOTENCY_KEY_LENGTHS: std::ops::RangeInclusive<usize> = 32..=128;

/// Registers a run before it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    pub suite: Suite,
    /// Version of the engine that will run.
    pub engine_version: String,
    /// Network and recipe, in the layout of the record's `network`. Only in the suite `open`, which requires it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<serde_json::Value>,
}

/// Id and seed of a registered run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartedRun {
    pub run_id: String,
    /// Single-use; goes into the record.
    pub nonce: String,
    /// Seed of weights, shuffles and dropout; the run must use it.
    pub seed: u32,
    /// After this moment (seconds since 1970 UTC) the run is no longer accepted.
    pub expires_unix_seconds: f64,
}

/// Current verdict of the leaderboard on a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    pub tier: Tier,
    /// Reasons of this tier; empty if none is worth reporting.
    pub notes: Vec<Note>,
    /// True while the leaderboard computes parts of the run again, after which the tier may change.
    pub being_verified: bool,
}

/// The answer to an accepted record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedRun {
    pub run_id: String,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Path of the result's own page on this server.
    pub permalink: String,
    /// Secret that allows deleting the run; it is shown once and stored only as a hash.
    pub deletion_secret: String,
    /// Path of the page that deletes the run; the secret is in its fragment, which browsers never send.
    pub deletion_link: String,
}

/// Degree to which a result has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The server saw every segment in time and computed random parts of the training again. Only such runs are ranked.
    Proven,
    /// All bounds and summaries hold, but not everything else could be verified.
    Checked,
    /// No seed from the server.
    Unverified,
    /// Something is implausible; a person will check it.
    Flagged,
    Hidden,
}

names!(Tier, "tier", {
    Proven = "proven", Checked = "checked", Unverified = "unverified", Flagged = "flagged", Hidden = "hidden"
});

/// One workload of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRow {
    pub run_id: String,
    pub workload: String,
    pub backend: String,
    pub adapter: Adapter,
    pub claimed_name: Option<String>,
    pub client_kind: ClientKind,
    /// `Chrome 142`, `native-runner 0.1.0`.
    pub client: String,
    pub operating_system: String,
    pub batch_size: u32,
    pub precision: Precision,
    pub tier: Tier,
    pub standard: bool,
    /// True if the row takes part in the default ranking.
    pub ranked: bool,
    pub submitted_unix_seconds: f64,
    pub summary: Summary,
}

/// One run as stored, without its nonce.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredRun {
    pub run_id: String,
    pub tier: Tier,
    pub notes: Vec<Note>,
    pub submitted_unix_seconds: f64,
    /// True while the leaderboard computes parts of the run again.
    pub being_verified: bool,
    /// Metrics of each workload of the record, in its order, as the leaderboard lists them: limited by its own clock,
    /// and with the accuracy and loss that it computed itself. Empty if they are the record's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<Summary>,
    pub record: RunRecord,
}

impl StoredRun {
    /// Replaces the metrics in the record with the listed ones.
    #[must_use]
    pub fn into_listed(mut self) -> Self {
        for (workload, listed) in self.record.workloads.iter_mut().zip(self.listed.drain(..)) {
            workload.summary = listed;
        }
        self
    }

    /// Returns the run with the listed metrics in its record, without a copy if they are the record's own.
    pub fn as_listed(&self) -> Cow<'_, Self> {
        if self.listed.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(self.clone().into_listed()) }
    }
}

/// The data sets whose files networks are trained on, as the server has them at this moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataSetList {
    pub data_sets: Vec<ServedDataSet>,
}

/// Availability of a data set on this server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedDataSet {
    /// Name in `reference/data-sets.json`, such as `cifar10`.
    pub name: String,
    /// Reason why the server cannot send it, as a part of a sentence; absent if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Body of every error response: a code for programs and a message for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// Stable, such as `out_of_range`.
    pub code: String,
    /// Problem and advice.
    pub message: String,
    /// The field at fault, as a path such as `workloads[0].settings.batch_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

/// Query of the list. All fields are optional; rows match every filter that is set.
///
/// Results of one workload come fastest first. Rates of different workloads cannot be compared, so that a list without a
/// workload has the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListRuns {
    /// Only this workload.
    pub workload: Option<String>,
    /// Only this back end.
    pub backend: Option<String>,
    /// Only this precision. A ranking of a workload has one, by default f32.
    pub precision: Option<Precision>,
    /// Only runs of this suite, in any version.
    pub suite: Option<String>,
    /// Only the device of this key.
    pub device: Option<String>,
    /// Only devices of this vendor, if the platform reports it.
    pub vendor: Option<String>,
    /// Only this family of browsers, such as `Firefox`.
    pub browser: Option<String>,
    /// Only this family of operating systems, such as `Linux`.
    pub system: Option<String>,
    /// Only this kind of client.
    pub client: Option<ClientKind>,
    /// Only this tier. Hidden runs are in no list.
    pub tier: Option<Tier>,
    /// First day, such as `2026-11-23`; days are in UTC, by the upload of runs.
    pub since: Option<String>,
    /// Last day.
    pub until: Option<String>,
    /// Only results that may be ranked: standard, hardware, of windows that agree and a network that learned, and `proven`.
    pub ranked: bool,
    /// Class of ranked devices, GPUs if not named; only together with `ranked`.
    pub class: Option<RankedClass>,
    /// Order of the rows: by default `fastest` if `workload` is set, otherwise `newest`.
    pub sort: Option<RunSort>,
    /// At most this many rows, 1 to 500; 100 when absent.
    pub limit: Option<u32>,
    /// `next` of another page of the same query, which continues there. Newer rows do not shift pages.
    pub cursor: Option<String>,
    /// Number of rows to skip, at most 10,000; `cursor` and the export have no such limit.
    pub offset: Option<u32>,
}

/// The order of a list. All but the newest and the oldest compare results of one workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunSort {
    /// By samples per second; rows without a throughput come last.
    Fastest,
    /// By time of upload, the newest first.
    Newest,
    /// By time of upload, the oldest first: a request with the last cursor gets newer rows.
    Oldest,
    /// By the result on the test set, the best first: the highest accuracy, or the lowest loss of a workload whose
    /// target is a loss. Rows without a result come last.
    Accuracy,
    /// By training time until the target was first seen; only results that reached it.
    TimeToAccuracy,
}

names!(RunSort { Fastest = "fastest", Newest = "newest", Oldest = "oldest", Accuracy = "accuracy", TimeToAccuracy = "time_to_accuracy" });

impl RunSort {
    /// Returns true if the order compares metrics, which requires results of one workload.
    pub fn needs_workload(self) -> bool {
        !matches!(self, Self::Newest | Self::Oldest)
    }
}

/// One page of the leaderboard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    /// Fewer than `limit` if no more exist, or if the leaderboard reached its limit of results to check per response;
    /// `next` then continues from there.
    pub rows: Vec<RunRow>,
    /// Number of rows without `limit`, `offset` and `cursor`, counted up to 5,000. If several filters that each match
    /// more are combined, the number is unknown, and this is the number of rows found so far.
    pub total: u64,
    /// True if more than `total` exist, or may exist.
    pub more_than_total: bool,
    /// The `cursor` of the next page; absent after the last row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Query of the moderation log. All fields are optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModerationQuery {
    /// At most this many entries, 1 to 500; 100 when absent.
    pub limit: Option<u32>,
    /// Number of entries to skip, at most 10,000.
    pub offset: Option<u32>,
}

/// A page of the moderation log, the newest entry first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModerationLog {
    pub entries: Vec<ModerationEntry>,
    /// Number of entries without `limit` and `offset`, counted up to 10,000.
    pub total: u64,
    /// True if more than `total` exist.
    pub more_than_total: bool,
}

/// An action of a moderator on a run or a device. It outlives the run and contains nothing of its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModerationEntry {
    pub done_unix_seconds: f64,
    pub deed: Deed,
    /// The run, for actions on runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// True if the run has a page now.
    pub run_is_visible: bool,
    /// Tier of the run since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The device that was merged into another one, or separated from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_key: Option<String>,
    /// The other device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into_device_key: Option<String>,
    /// Reason in the moderator's words, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An action of moderators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Took a run off the lists and its own page.
    Hide,
    /// Gave a hidden or flagged run its computed tier back.
    Restore,
    /// Marked a run as doubtful, so that it is not ranked.
    Flag,
    /// Gave a run a tier.
    SetTier,
    /// Deleted a run permanently.
    Remove,
    /// Counts a device's runs for another one.
    MergeDevices,
    /// Counts them for the device again.
    SeparateDevices,
}

names!(Deed { Hide = "hide", Restore = "restore", Flag = "flag", SetTier = "set_tier", Remove = "remove", MergeDevices = "merge_devices", SeparateDevices = "separate_devices" });

/// A note of the leaderboard on a run. Its `Display` is the English sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Note {
    /// The device may be a software adapter.
    #[error(
        "The browser hides the adapter, and it is no faster than a processor can be: it may be a software adapter, so \
         it is shown and not ranked. A browser that names the GPU's maker, or native-runner, gets it ranked."
    )]
    PerhapsSoftware,
    /// The seed is not from this leaderboard.
    #[error("The seed did not come from this leaderboard, so nothing shows when the run was made.")]
    SeedFromElsewhere,
    /// Only a part was computed again.
    #[error(
        "This run could be computed again in part only, because its weights are not kept. Nothing that was found \
         contradicts it."
    )]
    ComputedInPart,
    /// The run could not be computed again.
    #[error("This run could not be computed again, whatever the reason.")]
    NotComputed,
    /// This workload failed.
    #[error("{workload} could not be trained on this device and is left out of the table.")]
    NotTrained { workload: String },
    /// This workload was not completed.
    #[error("{workload} was not completed and is left out of the table.")]
    NotCompleted { workload: String },
    /// A leaderboard cannot prove this workload.
    #[error(
        "{workload}: a leaderboard cannot prove networks whose images alternate from epoch to epoch, so this one is \
         not ranked."
    )]
    NotProvable { workload: String },
    /// The states of this workload are larger than the leaderboard accepts.
    #[error(
        "{workload}: a leaderboard cannot prove networks whose weights and optimizer memories are this large, so this \
         one is not ranked."
    )]
    LargeStates { workload: String },
    /// Another run of this submitter on this day was flagged.
    #[error("Another run of this submitter on this day was flagged.")]
    OtherFlagged,
    /// A moderator flagged the run; `reason` is empty if none was given.
    #[error("A moderator flagged this run{}", end_with_reason(.reason))]
    Moderated { reason: String },
    /// A finding of a check.
    #[error("{sentence}")]
    Finding { sentence: String },
}

impl Note {
    pub fn finding(sentence: impl Into<String>) -> Self {
        Self::Finding { sentence: sentence.into() }
    }
}

fn end_with_reason(reason: &str) -> String {
    match reason {
        "" => " and gave no reason.".to_owned(),
        _ if reason.ends_with(['.', '!', '?', '…']) => format!(": {reason}"),
        _ => format!(": {reason}."),
    }
}
