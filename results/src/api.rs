//! The leaderboard's wire format, version 1, as both sides speak it.
//!
//! | call | request | answer |
//! |---|---|---|
//! | `POST /api/v1/runs` | [`StartRun`] | [`StartedRun`] |
//! | `POST /api/v1/runs/{id}/laps` | [`OpenLap`] | [`OpenedLap`] |
//! | `POST /api/v1/runs/{id}/segments` | [`CommitSegment`] | [`CommittedSegment`] |
//! | `POST /api/v1/runs/{id}/proof` | [`ProvePart`] | [`ProofWanted`] |
//! | `PUT /api/v1/runs/{id}/states/{workload}/{step}` | a wanted state as bytes; header `Authorization: Bearer <nonce>` | nothing, 204 |
//! | `PUT /api/v1/runs/{id}` | [`RunRecord`] | [`AcceptedRun`] |
//! | `POST /api/v1/runs/import` | [`RunRecord`] of a run that was not registered | [`AcceptedRun`] |
//! | `GET /api/v1/runs` | query of [`ListRuns`] | [`RunList`] |
//! | `GET /api/v1/standings` | query of [`StandingsQuery`] | [`Standings`] |
//! | `GET /api/v1/distribution` | query of [`DistributionQuery`] | [`Distribution`] |
//! | `GET /api/v1/devices/{key}` | – | [`DeviceSummary`] |
//! | `GET /api/v1/moderation` | query of [`ModerationQuery`] | [`ModerationLog`] |
//! | `GET /api/v1/devices/{key}/history` | query of [`DeviceHistoryQuery`] | [`DeviceHistory`] |
//! | `GET /api/v1/compare` | query of [`ComparingQuery`] | [`Comparing`] |
//! | `GET /api/v1/runs/{id}` | – | [`StoredRun`] |
//! | `GET /api/v1/runs/{id}/standing` | – | [`RunStanding`] |
//! | `GET /api/v1/runs/{id}/verdict` | – | [`Verdict`] |
//! | `GET /api/v1/runs/{id}/badge.svg` | query of [`BadgeQuery`](crate::badge::BadgeQuery) | a small picture |
//! | `GET /api/v1/runs/{id}/badge.json` | the same | [`Badge`](crate::badge::Badge), for shields.io |
//! | `GET /api/v1/runs/{id}/card.png`, `card.svg` | – | a picture of 1200 × 630 pixels |
//! | `DELETE /api/v1/runs/{id}` | header `Authorization: Bearer <deletion secret>` | nothing, 204 |
//! | `POST /api/v1/comparisons` | [`SharedComparison`] | [`AcceptedComparison`] |
//! | `GET /api/v1/comparisons/{id}` | – | [`StoredComparison`] |
//! | `DELETE /api/v1/comparisons/{id}` | header `Authorization: Bearer <deletion secret>` | nothing, 204 |
//! | `GET /api/v1/schema` | – | JSON Schema of [`RunRecord`] |
//! | `GET /api/v1/openapi.json` | – | this API as an OpenAPI document; as a page at `GET /api` |
//! | `GET /api/v1/data-sets` | – | [`DataSetList`] |
//! | `GET /api/v1/export` | query of [`ExportQuery`](crate::open_data::ExportQuery) | all visible runs, or those of a list, as a file |
//! | `GET /api/v1/export/about` | – | [`ExportAbout`](crate::open_data::ExportAbout) |
//! | `GET /api/v1/snapshots` | – | [`SnapshotList`](crate::open_data::SnapshotList) |
//!
//! An accepted record is answered with 201. The same record with the same nonce, sent again within
//! ten minutes because the answer was lost, is answered with 200 and a further deletion secret; any
//! other second record of a run is refused as `already_submitted`. An import may name itself with the header
//! [`IDEMPOTENCY_KEY`]: the same record with the same key, sent again at any time, is answered with 200 and the secret that
//! was lost.
//!
//! Every refusal is an [`ErrorBody`] with an HTTP status of 4xx or 5xx.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod comparing;
mod comparisons;
mod devices;
mod distribution;
mod history;
mod list;
mod moderation;
mod note;
mod proof;
mod standings;

pub use comparing::{
    ComparedFigure, ComparedSide, ComparedWorkload, Comparing, ComparingQuery, SideDifference, SideVerdict,
};
pub use comparisons::{AcceptedComparison, SharedComparison, StoredComparison};
pub use devices::{BrowserTaxOfDevice, CategoryFigure, DeviceSummary};
pub use distribution::{Distribution, DistributionQuery, RateBin, RunStanding, WorkloadStanding};
pub use history::{DeviceHistory, DeviceHistoryQuery, HistoryCategory, HistoryLine};
pub use list::{ListRuns, RunList, RunSort};
pub use moderation::{Deed, ModerationEntry, ModerationLog, ModerationQuery};
pub use note::UsualNote;
pub use proof::{
    CommitSegment, CommittedSegment, OpenLap, OpenedLap, PartHashes, ProofWanted, ProvePart, WantedHashes, WantedState,
};
pub use standings::{
    Completion, DeviceSource, FigureOfDevice, RankedClass, ScoreTable, Standings, StandingsPlace, StandingsQuery,
    StandingsTable, voices_missing,
};

use crate::{Adapter, ClientKind, Precision, RunRecord, Suite, Summary};

/// Header of an import, with a random word that its client keeps to itself until it has an answer.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// How many ASCII characters such a word has.
pub const IDEMPOTENCY_KEY_LENGTHS: std::ops::RangeInclusive<usize> = 32..=128;

/// Registers a run before it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    pub suite: Suite,
    /// Version of the engine that will run.
    pub engine_version: String,
}

/// What the server gives a run to start with.
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

/// What the leaderboard makes of a run at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    pub tier: Tier,
    /// Why the run has this tier, one sentence each.
    pub notes: Vec<String>,
    /// Whether the leaderboard still computes parts of the run again, after which the tier may change.
    pub being_verified: bool,
}

/// The answer to an accepted record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedRun {
    pub run_id: String,
    pub tier: Tier,
    /// Why the run has this tier, one sentence each; empty when there is nothing to say.
    pub notes: Vec<String>,
    /// Whether the leaderboard now computes parts of the run again, after which the tier may change ([`Verdict`]).
    pub being_verified: bool,
    /// Path of the result's own page on this server.
    pub permalink: String,
    /// Whoever holds this may delete the run; it is shown once and stored only as a hash.
    pub deletion_secret: String,
    /// Path of the page that deletes the run; the secret is in its fragment, which browsers never send.
    pub deletion_link: String,
}

/// How far a result has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The server saw every segment in time and computed random parts of the training again. Only such runs are ranked.
    Proven,
    /// All bounds and summaries hold, and not all of the rest could be shown.
    Checked,
    /// No seed from the server.
    Unverified,
    /// Something is implausible; a person will look.
    Flagged,
    Hidden,
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Checked => "checked",
            Self::Unverified => "unverified",
            Self::Flagged => "flagged",
            Self::Hidden => "hidden",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Proven, Self::Checked, Self::Unverified, Self::Flagged, Self::Hidden]
            .into_iter()
            .find(|tier| tier.name() == name)
    }
}

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
    /// Whether the row takes part in the default ranking.
    pub ranked: bool,
    pub submitted_unix_seconds: f64,
    pub summary: Summary,
}

/// One run as stored, without its nonce.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredRun {
    pub run_id: String,
    pub tier: Tier,
    pub notes: Vec<String>,
    pub submitted_unix_seconds: f64,
    /// Whether the leaderboard still computes parts of the run again.
    pub being_verified: bool,
    /// Metrics of each workload of the record, in its order, as the leaderboard lists them: limited by its own clock,
    /// and with the accuracy that it computed itself. Empty if they are the record's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<Summary>,
    pub record: RunRecord,
}

impl StoredRun {
    /// Returns the run with the listed metrics in its record.
    #[must_use]
    pub fn into_listed(mut self) -> Self {
        for (workload, listed) in self.record.workloads.iter_mut().zip(self.listed.drain(..)) {
            workload.summary = listed;
        }
        self
    }

    /// Returns the run with the listed metrics in its record, without copying it if they are the record's own.
    pub fn as_listed(&self) -> Cow<'_, Self> {
        if self.listed.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(self.clone().into_listed()) }
    }
}

/// The data sets whose files networks are trained on, as the server has them at this moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataSetList {
    pub data_sets: Vec<ServedDataSet>,
}

/// Whether a page can fetch a data set from this server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedDataSet {
    /// As `reference/data-sets.json` calls it, such as `cifar10`.
    pub name: String,
    /// Why the server cannot hand it out, as a part of a sentence; absent where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Every refusal: a code for programs, a plain sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// Stable, such as `out_of_range`.
    pub code: String,
    /// What is wrong and what to do.
    pub message: String,
    /// The field at fault, as a path such as `workloads[0].settings.batch_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}
