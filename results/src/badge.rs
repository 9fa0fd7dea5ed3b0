//! Badges: a result in one line, for other pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Query of a badge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BadgeQuery {
    /// The workload whose speed is shown; the run's first completed one when absent.
    pub workload: Option<String>,
}

/// A badge as shields.io reads it (its "endpoint" layout, version 1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Badge {
    /// Of the layout: 1.
    pub schema_version: u32,
    /// Left: the benchmark and the workload.
    pub label: String,
    /// Right: the device, its samples per second, and its tier.
    pub message: String,
    /// CSS color of the right side, which depends on the tier.
    pub color: String,
}
