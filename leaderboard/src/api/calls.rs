//! All calls of the API: route, handler and documentation in one table.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{Html, IntoResponse};
use results::RunRecord;
use results::api::{
    AcceptedComparison, AcceptedRun, CommitSegment, CommittedSegment, Comparing, ComparingQuery, DataSetList,
    DeviceHistory, DeviceHistoryQuery, DeviceSummary, Distribution, DistributionQuery, ListRuns, ModerationLog,
    ModerationQuery, OpenLap, OpenQuery, OpenTable, OpenedLap, ProofWanted, ProvePart, RunList, RunStanding,
    SharedComparison, Speedrun, SpeedrunQuery, Standings, StandingsQuery, StartRun, StartedRun, StoredComparison,
    StoredRun, Verdict,
};
use results::badge::{Badge, BadgeQuery};
use results::open_data::{ExportAbout, ExportQuery, SnapshotList};
use serde_json::Value;

use super::call::{Call, DELETE, GET, POST, PUT, RefusalCodes, UNKNOWN_DEVICE, UNKNOWN_RUN, call};
use super::{
    compare, comparisons, devices, export, list, list_data_sets, open, openapi, pictures, runs, segments, speedrun,
    standings, submissions,
};

/// Codes of refused records.
const RECORD: &[RefusalCodes] = &[
    ("422", &["bad_hash", "bad_name", "control_character", "duplicate_workload", "empty"]),
    ("422", &["inconsistent", "network_of_a_file", "not_finite", "not_increasing", "nothing_completed"]),
    ("422", &["out_of_range", "summary_mismatch", "time_does_not_fit", "too_long", "too_many", "too_precise"]),
    ("422", &["unknown_backend", "unknown_schema_version", "unknown_workload", "wrong_segment", "wrong_work"]),
];

/// Refusals of requests that a run sends during and after training.
const TRAINING: &[RefusalCodes] = &[
    ("403", &["wrong_nonce"]),
    ("409", &["already_submitted", "unexpected_segment"]),
    ("410", &["expired"]),
    ("422", &["bad_hash", "bad_name", "control_character", "not_provable", "out_of_range", "too_long", "too_many"]),
    ("422", &["not_finite", "unknown_workload", "wrong_losses"]),
    ("429", &["too_many_segments"]),
];

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| openapi::document(all()));

async fn show_document() -> impl IntoResponse {
    static TEXT: LazyLock<String> = LazyLock::new(|| format!("{:#}", *DOCUMENT));
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str())
}

async fn show_page() -> Html<&'static str> {
    static TEXT: LazyLock<String> = LazyLock::new(|| openapi::page(&DOCUMENT));
    Html(TEXT.as_str())
}

pub(super) fn all() -> impl Iterator<Item = Call> {
    [runs_and_lists(), runs_in_training(), pictures(), devices_and_tables(), open_data()].into_iter().flatten()
}

fn runs_and_lists() -> Vec<Call> {
    vec![
        call(GET, "/v1/runs", list::show)
            .about("Lists the results that match a query: fastest first for a single workload, otherwise newest first")
            .query::<ListRuns>()
            .answers::<RunList>("200", "A page of results"),
        call(POST, "/v1/runs", submissions::start)
            .about("Registers a run before it starts")
            .takes::<StartRun>()
            .answers::<StartedRun>("201", "The id, nonce and seed of the run")
            .refuses(&[("422", &["bad_name", "bad_text", "fixed_setting", "missing_network", "network_of_a_file"])])
            .refuses(&[(
                "422",
                &["network_too_large", "not_a_network", "not_provable", "other_data_set", "out_of_range"],
            )])
            .refuses(&[("422", &["sees_later_characters", "too_long", "unknown_suite"])])
            .refuses(&[("503", &["too_many_open_runs"])]),
        call(POST, "/v1/runs/import", submissions::import)
            .about("Imports the record of a run that was not registered")
            .takes::<RunRecord>()
            .answers::<AcceptedRun>("201", "The record was stored as unverified")
            .answers::<AcceptedRun>("200", "The same record and `Idempotency-Key` header as before: the same response")
            .refuses(RECORD)
            .refuses(&[("400", &["bad_idempotency_key"]), ("409", &["already_submitted"]), ("410", &["deleted"])])
            .refuses(&[("503", &["too_many_imports"])]),
        call(GET, "/v1/runs/{id}", runs::show)
            .about("Returns a run with all stored data")
            .answers::<StoredRun>("200", "The run"),
        call(PUT, "/v1/runs/{id}", submissions::upload)
            .about("Uploads the record of a registered run")
            .takes::<RunRecord>()
            .answers::<AcceptedRun>("200", "The same record was uploaded a moment ago; returns another deletion secret")
            .answers::<AcceptedRun>("201", "The record was stored")
            .refuses(RECORD)
            .refuses(&[("403", &["wrong_nonce"]), ("409", &["already_submitted"])])
            .refuses(&[("410", &["deleted", "expired"])])
            .refuses(&[(
                "422",
                &["other_network", "wrong_engine_version", "wrong_run_id", "wrong_seed", "wrong_suite"],
            )]),
        call(DELETE, "/v1/runs/{id}", runs::delete)
            .about("Permanently deletes a run")
            .bearer("deletion_secret")
            .answer("204", "The run was deleted", None),
        call(GET, "/v1/moderation", list::moderation_log)
            .about("Returns the actions of moderators with their reasons, newest first")
            .query::<ModerationQuery>()
            .answers::<ModerationLog>("200", "A page of the log"),
    ]
}

fn runs_in_training() -> Vec<Call> {
    vec![
        call(POST, "/v1/runs/{id}/laps", segments::open_lap)
            .about("Starts a lap: consecutive segments of training with nothing between them")
            .takes::<OpenLap>()
            .answers::<OpenedLap>("200", "The beacons of the lap's first two segments")
            .refuses(TRAINING),
        call(POST, "/v1/runs/{id}/segments", segments::commit)
            .about("Commits to the state at the end of a segment")
            .takes::<CommitSegment>()
            .answers::<CommittedSegment>(
                "200",
                "The beacon of the segment after the next one, unless the lap ends, and the draws of this segment",
            )
            .refuses(TRAINING),
        call(POST, "/v1/runs/{id}/proof", segments::prove)
            .about("Ends the training of a workload, and sends requested hashes")
            .takes::<ProvePart>()
            .answers::<ProofWanted>("200", "The hashes or states to send next")
            .refuses(TRAINING),
        call(PUT, "/v1/runs/{id}/states/{workload}/{step}", segments::show)
            .about("Sends a requested state")
            .takes_bytes()
            .bearer("nonce")
            .answer("204", "The state was stored until its verification", None)
            .refuses(&[("401", &["missing_nonce"]), ("403", &["wrong_nonce"])])
            .refuses(&[("409", &["already_submitted", "unexpected_segment"]), ("410", &["expired"])])
            .refuses(&[("422", &["bad_name", "not_provable", "unknown_workload", "wrong_state"])]),
        call(GET, "/v1/runs/{id}/verdict", runs::verdict)
            .about("Returns the current tier of a run")
            .answers::<Verdict>("200", "The tier, and the reasons for it"),
    ]
}

fn pictures() -> Vec<Call> {
    const NO_WORKLOAD: &[RefusalCodes] = &[("404", &["unknown_workload"])];
    vec![
        call(GET, "/v1/runs/{id}/badge.svg", pictures::badge_svg)
            .about("Returns a badge: a one-line result as an image")
            .query::<BadgeQuery>()
            .gives("The image", "image/svg+xml")
            .refuses(NO_WORKLOAD),
        call(GET, "/v1/runs/{id}/badge.json", pictures::badge_json)
            .about("Returns a badge in the JSON format of shields.io")
            .query::<BadgeQuery>()
            .answers::<Badge>("200", "The text of the badge")
            .refuses(NO_WORKLOAD),
        call(GET, "/v1/runs/{id}/card.png", pictures::card_png)
            .about("Returns a result as a 1200 × 630 pixel image, for link previews")
            .gives("The image", "image/png"),
        call(GET, "/v1/runs/{id}/card.svg", pictures::card_svg)
            .about("Returns the same image as SVG, which programs render with their own fonts")
            .gives("The image", "image/svg+xml"),
        call(GET, "/v1/card.png", pictures::start_card)
            .about("Returns an image of the same size for links to the start page")
            .gives("The image", "image/png"),
    ]
}

fn devices_and_tables() -> Vec<Call> {
    vec![
        call(GET, "/v1/runs/{id}/standing", standings::of_run)
            .about("Compares a run with all proven runs, and returns its score")
            .answers::<RunStanding>("200", "The position among proven runs for each workload, and the score"),
        call(GET, "/v1/standings", standings::show)
            .about("Ranks devices, in all tables of a suite at once")
            .query::<StandingsQuery>()
            .answers::<Standings>("200", "One table per network"),
        call(GET, "/v1/speedrun", speedrun::show)
            .about("Returns the shortest proven time to the target of a workload for each class of devices, and its history")
            .query::<SpeedrunQuery>()
            .answers::<Speedrun>("200", "The records of each class that has one"),
        call(GET, "/v1/open", open::show)
            .about("Returns the proven runs of the open class with the lowest losses on the test set of a data set")
            .query::<OpenQuery>()
            .answers::<OpenTable>("200", "The runs, lowest loss first"),
        call(GET, "/v1/distribution", standings::show_distribution)
            .about("Returns the distribution of rates among the proven runs of a workload")
            .query::<DistributionQuery>()
            .answers::<Distribution>("200", "The number of runs in each bin"),
        call(GET, "/v1/devices/{key}", devices::show)
            .about("Summarizes all runs of a device")
            .answers::<DeviceSummary>("200", "The metrics of the device, and its latest runs"),
        call(GET, "/v1/devices/{key}/history", devices::show_history)
            .about("Summarizes the latest proven runs of a device by engine version, driver or month")
            .query::<DeviceHistoryQuery>()
            .answers::<DeviceHistory>("200", "The groups of one category, with their metrics"),
        call(GET, "/v1/compare", compare::show)
            .about("Compares two to four runs or devices, with ratios to the first")
            .query::<ComparingQuery>()
            .answers::<Comparing>("200", "The metrics, and the differences")
            .refuses(&[UNKNOWN_RUN, UNKNOWN_DEVICE]),
        call(POST, "/v1/comparisons", comparisons::share)
            .about("Shares a comparison of backends; its records do not count as runs and are not ranked")
            .takes::<SharedComparison>()
            .answers::<AcceptedComparison>("201", "The comparison was stored")
            .answers::<AcceptedComparison>(
                "200",
                "The same comparison and `Idempotency-Key` header as before: the same response",
            )
            .refuses(RECORD)
            .refuses(&[("400", &["bad_idempotency_key"]), ("503", &["too_many_imports"])])
            .refuses(&[("422", &["not_standard", "several_devices", "streamed_input", "too_few", "unknown_suite"])]),
        call(GET, "/v1/comparisons/{id}", comparisons::show)
            .about("Returns a comparison of backends with its records")
            .answers::<StoredComparison>("200", "The comparison"),
        call(DELETE, "/v1/comparisons/{id}", comparisons::delete)
            .about("Permanently deletes a comparison")
            .bearer("deletion_secret")
            .answer("204", "The comparison was deleted", None),
    ]
}

fn open_data() -> Vec<Call> {
    vec![
        call(GET, "/", show_page).about("Returns this documentation as a page").gives("The page", "text/html"),
        call(GET, "/v1/data-sets", list_data_sets)
            .about("Lists the data sets, and whether the server has them")
            .answers::<DataSetList>("200", "All data sets"),
        call(GET, "/v1/export", export::all)
            .about("Exports all visible results as one file, or a filtered and sorted list of them, under CC0")
            .query::<ExportQuery>()
            .gives(
                "A table (format=csv), a table with types (format=parquet), or JSON documents (format=jsonl)",
                "text/csv",
            ),
        call(GET, "/v1/export/about", export::about)
            .about("Describes the columns of an export, its license and the number of runs")
            .answers::<ExportAbout>("200", "The description"),
        call(GET, "/v1/snapshots", export::list_snapshots)
            .about("Lists the daily exports under /snapshots/, if the host enabled them")
            .answers::<SnapshotList>("200", "The names, sizes and checksums of the files"),
        call(GET, "/v1/schema", runs::schema)
            .about("Returns the JSON Schema of a run record")
            .gives("The schema", "application/schema+json"),
        call(GET, "/v1/openapi.json", show_document)
            .about("Returns this API as an OpenAPI document")
            .gives("The document", "application/json"),
    ]
}
