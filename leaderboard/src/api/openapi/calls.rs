//! Every call of the API, as the document and the page tell of it: a line or two each. A test holds the list to the routes.

use results::RunRecord;
use results::api::{
    AcceptedComparison, AcceptedRun, CommitSegment, CommittedSegment, Comparing, ComparingQuery, DataSetList,
    DeviceHistory, DeviceHistoryQuery, DeviceSummary, Distribution, DistributionQuery, ListRuns, ModerationLog,
    ModerationQuery, OpenLap, OpenedLap, ProofWanted, ProvePart, RunList, RunStanding, SharedComparison, Standings,
    StandingsQuery, StartRun, StartedRun, StoredComparison, StoredRun, Verdict,
};
use results::badge::{Badge, BadgeQuery};
use results::open_data::{ExportAbout, ExportQuery, SnapshotList};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use utoipa::openapi::path::HttpMethod;

/// Makes the schema of a type known to the document and returns a reference to it.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

pub(super) struct Call {
    pub(super) method: HttpMethod,
    /// As the router has it, below `/api`.
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    /// The type that reads the query, and its name.
    pub(super) query: Option<Shape>,
    /// What `Authorization: Bearer …` takes.
    pub(super) bearer: Option<&'static str>,
    pub(super) body: Option<Content>,
    /// What is answered when all is well, with each status.
    pub(super) answers: &'static [(&'static str, &'static str, Option<Content>)],
    /// Codes of refusals by their status, beside those that any call may meet.
    pub(super) refusals: &'static [Refusal],
}

#[derive(Clone, Copy)]
pub(super) enum Content {
    Json(Shape),
    /// Of this media type, without a schema.
    Other(&'static str),
}

fn shape_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What most calls are: reading, without anything of their own.
const READING: Call = Call {
    method: HttpMethod::Get,
    path: "",
    summary: "",
    query: None,
    bearer: None,
    body: None,
    answers: &[],
    refusals: &[],
};

const ACCEPTED: Option<Content> = Some(Content::Json(shape_of::<AcceptedRun>));
const RECORD_BODY: Option<Content> = Some(Content::Json(shape_of::<RunRecord>));

pub(super) const CALLS: &[Call] = &[
    Call {
        path: "/",
        summary: "This API as a page for people",
        answers: &[("200", "The page", Some(Content::Other("text/html")))],
        ..READING
    },
    Call {
        path: "/v1/runs",
        summary: "Results that fit a query, page by page: of one workload the fastest first, otherwise the newest",
        query: Some(shape_of::<ListRuns>),
        answers: &[("200", "A page of them", Some(Content::Json(shape_of::<RunList>)))],
        refusals: &[BAD_QUERY],
        ..READING
    },
    Call {
        method: HttpMethod::Post,
        path: "/v1/runs",
        summary: "Registers a run before it starts",
        body: Some(Content::Json(shape_of::<StartRun>)),
        answers: &[("201", "Id, nonce and seed of the run", Some(Content::Json(shape_of::<StartedRun>)))],
        refusals: &[
            ("422", &["bad_name", "out_of_range", "too_long", "unknown_suite"]),
            ("503", &["too_many_open_runs"]),
        ],
        ..READING
    },
    Call {
        method: HttpMethod::Post,
        path: "/v1/runs/import",
        summary: "Hands in the record of a run that was not registered",
        body: RECORD_BODY,
        answers: &[
            ("201", "The record is stored as unverified", ACCEPTED),
            ("200", "The same record with the same header `Idempotency-Key`: its answer again", ACCEPTED),
        ],
        refusals: &[
            ("400", &["bad_idempotency_key"]),
            ("409", &["already_submitted"]),
            ("410", &["deleted"]),
            ("422", RECORD),
            ("503", &["too_many_imports"]),
        ],
        ..READING
    },
    Call {
        path: "/v1/runs/{id}",
        summary: "A run with everything that is stored of it",
        answers: &[("200", "The run", Some(Content::Json(shape_of::<StoredRun>)))],
        refusals: &[UNKNOWN_RUN],
        ..READING
    },
    Call {
        method: HttpMethod::Put,
        path: "/v1/runs/{id}",
        summary: "Hands in the record of a registered run",
        body: RECORD_BODY,
        answers: &[
            ("200", "The same record came a moment ago; this is a further deletion secret", ACCEPTED),
            ("201", "The record is stored", ACCEPTED),
        ],
        refusals: &[
            ("403", &["wrong_nonce"]),
            UNKNOWN_RUN,
            ("409", &["already_submitted"]),
            ("410", &["deleted", "expired"]),
            ("422", RECORD),
            ("422", &["wrong_engine_version", "wrong_run_id", "wrong_seed", "wrong_suite"]),
        ],
        ..READING
    },
    Call {
        method: HttpMethod::Delete,
        path: "/v1/runs/{id}",
        summary: "Deletes a run for ever",
        bearer: Some("deletion_secret"),
        answers: &[("204", "It is gone", None)],
        refusals: &[("401", &["missing_secret"]), ("403", &["wrong_secret"]), UNKNOWN_RUN],
        ..READING
    },
    Call {
        method: HttpMethod::Post,
        path: "/v1/runs/{id}/laps",
        summary: "Begins a lap: segments of training that follow each other with nothing in between",
        body: Some(Content::Json(shape_of::<OpenLap>)),
        answers: &[("200", "Beacons of its first two segments", Some(Content::Json(shape_of::<OpenedLap>)))],
        refusals: TRAINING,
        ..READING
    },
    Call {
        method: HttpMethod::Post,
        path: "/v1/runs/{id}/segments",
        summary: "Commits to the state with which a segment ended",
        body: Some(Content::Json(shape_of::<CommitSegment>)),
        answers: &[(
            "200",
            "Beacon of the segment after the next one, unless the lap ends, and the draws that fall on this segment",
            Some(Content::Json(shape_of::<CommittedSegment>)),
        )],
        refusals: TRAINING,
        ..READING
    },
    Call {
        method: HttpMethod::Post,
        path: "/v1/runs/{id}/proof",
        summary: "Ends the training of a workload, and sends hashes that are wanted",
        body: Some(Content::Json(shape_of::<ProvePart>)),
        answers: &[("200", "Hashes or states that are wanted next", Some(Content::Json(shape_of::<ProofWanted>)))],
        refusals: TRAINING,
        ..READING
    },
    Call {
        method: HttpMethod::Put,
        path: "/v1/runs/{id}/states/{workload}/{step}",
        summary: "Sends a state that is wanted",
        bearer: Some("nonce"),
        body: Some(Content::Other("application/octet-stream")),
        answers: &[("204", "It is kept until it has been looked at", None)],
        refusals: &[
            ("401", &["missing_nonce"]),
            ("403", &["wrong_nonce"]),
            UNKNOWN_RUN,
            ("409", &["already_submitted", "unexpected_segment"]),
            ("410", &["expired"]),
            ("422", &["bad_name", "not_provable", "unknown_workload", "wrong_state"]),
        ],
        ..READING
    },
    Call {
        path: "/v1/runs/{id}/verdict",
        summary: "How far a run is trusted by now",
        answers: &[("200", "Its tier, and why", Some(Content::Json(shape_of::<Verdict>)))],
        refusals: &[UNKNOWN_RUN],
        ..READING
    },
    Call {
        path: "/v1/runs/{id}/standing",
        summary: "Where a run stands among all proven ones, and its score",
        answers: &[("200", "Its share of each workload", Some(Content::Json(shape_of::<RunStanding>)))],
        refusals: &[UNKNOWN_RUN],
        ..READING
    },
    Call {
        path: "/v1/runs/{id}/badge.svg",
        summary: "A result in one line, as a picture",
        query: Some(shape_of::<BadgeQuery>),
        answers: &[("200", "The picture", Some(Content::Other("image/svg+xml")))],
        refusals: &[BAD_QUERY, UNKNOWN_RUN, ("404", &["unknown_workload"])],
        ..READING
    },
    Call {
        path: "/v1/runs/{id}/badge.json",
        summary: "A result in one line, as shields.io reads it",
        query: Some(shape_of::<BadgeQuery>),
        answers: &[("200", "What the badge says", Some(Content::Json(shape_of::<Badge>)))],
        refusals: &[BAD_QUERY, UNKNOWN_RUN, ("404", &["unknown_workload"])],
        ..READING
    },
    Call {
        path: "/v1/runs/{id}/card.png",
        summary: "A result as a picture of 1200 × 630 pixels, for previews of links",
        answers: &[("200", "The picture", Some(Content::Other("image/png")))],
        refusals: &[UNKNOWN_RUN],
        ..READING
    },
    Call {
        path: "/v1/runs/{id}/card.svg",
        summary: "The same picture for programs that draw it themselves, with the fonts that they have",
        answers: &[("200", "The picture", Some(Content::Other("image/svg+xml")))],
        refusals: &[UNKNOWN_RUN],
        ..READING
    },
    Call {
        path: "/v1/standings",
        summary: "The places of devices, all tables of a suite at once",
        query: Some(shape_of::<StandingsQuery>),
        answers: &[("200", "A table for each network", Some(Content::Json(shape_of::<Standings>)))],
        refusals: &[BAD_QUERY],
        ..READING
    },
    Call {
        path: "/v1/distribution",
        summary: "How many proven runs of a workload have which rate",
        query: Some(shape_of::<DistributionQuery>),
        answers: &[("200", "Their number in each bin", Some(Content::Json(shape_of::<Distribution>)))],
        refusals: &[BAD_QUERY],
        ..READING
    },
    Call {
        path: "/v1/devices/{key}",
        summary: "What all runs of a device come to",
        answers: &[("200", "Its figures, and its latest runs", Some(Content::Json(shape_of::<DeviceSummary>)))],
        refusals: &[("404", &["unknown_device"])],
        ..READING
    },
    Call {
        path: "/v1/moderation",
        summary: "What moderators did and why, the newest first",
        query: Some(shape_of::<ModerationQuery>),
        answers: &[("200", "A page of the log", Some(Content::Json(shape_of::<ModerationLog>)))],
        refusals: &[BAD_QUERY],
        ..READING
    },
    Call {
        path: "/v1/devices/{key}/history",
        summary: "What the latest proven runs of a device come to by engine version, by driver and by month",
        query: Some(shape_of::<DeviceHistoryQuery>),
        answers: &[("200", "The groups of one category", Some(Content::Json(shape_of::<DeviceHistory>)))],
        refusals: &[BAD_QUERY, ("404", &["unknown_device"])],
        ..READING
    },
    Call {
        path: "/v1/compare",
        summary: "Two to four runs, or devices, side by side, with ratios to the first",
        query: Some(shape_of::<ComparingQuery>),
        answers: &[("200", "Figures, and what differs", Some(Content::Json(shape_of::<Comparing>)))],
        refusals: &[BAD_QUERY, UNKNOWN_RUN, ("404", &["unknown_device"])],
        ..READING
    },
    Call {
        method: HttpMethod::Post,
        path: "/v1/comparisons",
        summary: "Shares a comparison of back ends, whose records are no runs and rank nowhere",
        body: Some(Content::Json(shape_of::<SharedComparison>)),
        answers: &[
            ("201", "It is kept", Some(Content::Json(shape_of::<AcceptedComparison>))),
            (
                "200",
                "The same comparison with the same header `Idempotency-Key`: its answer again",
                Some(Content::Json(shape_of::<AcceptedComparison>)),
            ),
        ],
        refusals: &[
            ("400", &["bad_idempotency_key"]),
            ("422", RECORD),
            ("422", &["not_standard", "several_devices", "streamed_input", "too_few", "unknown_suite"]),
            ("503", &["too_many_imports"]),
        ],
        ..READING
    },
    Call {
        path: "/v1/comparisons/{id}",
        summary: "A comparison of back ends, with the records that its tables are made from",
        answers: &[("200", "The comparison", Some(Content::Json(shape_of::<StoredComparison>)))],
        refusals: &[UNKNOWN_COMPARISON],
        ..READING
    },
    Call {
        method: HttpMethod::Delete,
        path: "/v1/comparisons/{id}",
        summary: "Deletes a comparison for ever",
        bearer: Some("deletion_secret"),
        answers: &[("204", "It is gone", None)],
        refusals: &[("401", &["missing_secret"]), ("403", &["wrong_secret"]), UNKNOWN_COMPARISON],
        ..READING
    },
    Call {
        path: "/v1/data-sets",
        summary: "Which data sets the server can hand out to pages",
        answers: &[("200", "All of them", Some(Content::Json(shape_of::<DataSetList>)))],
        ..READING
    },
    Call {
        path: "/v1/export",
        summary: "All visible results as one file, or those of a list with its filters and order, under CC0",
        query: Some(shape_of::<ExportQuery>),
        answers: &[(
            "200",
            "A table (format=csv), one with types (format=parquet), or a JSON document a line (format=jsonl)",
            Some(Content::Other("text/csv")),
        )],
        refusals: &[BAD_QUERY],
        ..READING
    },
    Call {
        path: "/v1/export/about",
        summary: "What the columns of an export mean, its licence, and how many runs there are",
        answers: &[("200", "All of that", Some(Content::Json(shape_of::<ExportAbout>)))],
        ..READING
    },
    Call {
        path: "/v1/snapshots",
        summary: "Exports of the last days that lie ready under /snapshots/, where the host keeps them",
        answers: &[("200", "Their names, sizes and sums", Some(Content::Json(shape_of::<SnapshotList>)))],
        ..READING
    },
    Call {
        path: "/v1/schema",
        summary: "The JSON Schema of a run record",
        answers: &[("200", "The schema", Some(Content::Other("application/schema+json")))],
        ..READING
    },
    Call {
        path: "/v1/openapi.json",
        summary: "This API as an OpenAPI document",
        answers: &[("200", "The document", Some(Content::Other("application/json")))],
        ..READING
    },
];

/// A status with the codes that it may carry.
pub(super) type Refusal = (&'static str, &'static [&'static str]);

/// Refusals of every call.
pub(super) const ANY: &[Refusal] =
    &[("408", &["timeout", "too_slow"]), ("429", &["too_many_requests"]), ("500", &["internal"]), ("503", &["busy"])];
/// Refusals of calls with a body.
pub(super) const WITH_BODY: &[Refusal] =
    &[("400", &["broken_body"]), ("413", &["too_large"]), ("415", &["wrong_content_type"])];
/// Refusals of calls with a JSON body.
pub(super) const WITH_JSON: &[Refusal] =
    &[("400", &["malformed_json", "missing_field", "out_of_range", "unknown_field", "wrong_type"])];
/// Refusals of calls that write.
pub(super) const WRITING: &[Refusal] = &[("503", &["read_only"]), ("507", &["full"])];

/// Codes with which validation refuses a record.
pub(super) const RECORD: &[&str] = &[
    "bad_hash",
    "bad_name",
    "control_character",
    "duplicate_workload",
    "empty",
    "incomplete_suite",
    "inconsistent",
    "network_of_a_file",
    "not_finite",
    "not_increasing",
    "nothing_completed",
    "out_of_range",
    "summary_mismatch",
    "time_does_not_fit",
    "too_long",
    "too_many",
    "too_precise",
    "unknown_backend",
    "unknown_schema_version",
    "unknown_workload",
    "wrong_segment",
    "wrong_work",
];

pub(super) const UNKNOWN_RUN: Refusal = ("404", &["unknown_run"]);
/// Refusals of requests that a run sends while it trains and right after.
pub(super) const TRAINING: &[Refusal] = &[
    ("403", &["wrong_nonce"]),
    UNKNOWN_RUN,
    ("409", &["already_submitted", "unexpected_segment"]),
    ("410", &["expired"]),
    ("422", &["bad_hash", "bad_name", "control_character", "not_provable", "out_of_range", "too_long", "too_many"]),
    ("422", &["not_finite", "unknown_workload", "wrong_losses"]),
    ("429", &["too_many_segments"]),
];
pub(super) const UNKNOWN_COMPARISON: Refusal = ("404", &["unknown_comparison"]);
pub(super) const BAD_QUERY: Refusal = ("400", &["bad_query"]);
