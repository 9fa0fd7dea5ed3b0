//! Badges: one-line results to embed in other pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Query of a badge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BadgeQuery {
    /// Workload to show the throughput of. If absent, the score is shown, or without one the first completed workload.
    pub workload: Option<String>,
}

/// A badge as shields.io reads it (its "endpoint" layout, version 1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Badge {
    /// Of the layout: 1.
    pub schema_version: u32,
    /// Left: the benchmark, and the workload if one is shown.
    pub label: String,
    /// Right: the device, its score or samples per second, and its tier.
    pub message: String,
    /// CSS color of the right side, which depends on the tier.
    pub color: String,
}
