//! Error codes of the API's refusals.

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
