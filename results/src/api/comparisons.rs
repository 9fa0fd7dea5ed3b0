//! Comparisons of back ends that somebody shares: records that stand together, and in no list, ranking or export.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunRecord;
use crate::comparison::Refused;

/// What is shared: everything from which the tables of the comparison are made, by whoever looks at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedComparison {
    /// One for each back end and seed, in the order in which they were made. Back ends may be of any name.
    pub records: Vec<RunRecord>,
    /// Back ends that could not train.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// A comparison that is kept. Nobody has checked more than that its records do not contradict themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredComparison {
    pub comparison_id: String,
    /// When it was handed in, since 1970 UTC.
    pub submitted_unix_seconds: f64,
    pub comparison: SharedComparison,
}

/// Answer to a comparison that is kept from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedComparison {
    pub comparison_id: String,
    /// Path of its page.
    pub permalink: String,
    /// Path of the page that deletes it, with the secret as fragment, which browsers keep to themselves.
    pub deletion_link: String,
    /// What deletes it; only its hash is kept here.
    pub deletion_secret: String,
}
