//! What is compared with what.

use results::{ClientKind, Precision, Suite};
use serde::{Deserialize, Serialize};

/// Runs are compared inside a category, and never across: not a browser with the command line, not f16 with f32.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    pub suite: Suite,
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    pub client_kind: ClientKind,
}

/// One proven run of a workload, as far as its place depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenRun {
    pub run_id: String,
    /// Samples per second, more than 0: the median over the run's windows.
    pub rate: f64,
    /// Word of [`super::SubmitterSalt`] for the /24 or /48 from which it was announced on that day, or for the address
    /// itself if it is the host's own machine. Absent if unknown.
    pub voice: Option<String>,
    /// The day of that word, in days since 1970-01-01 UTC.
    pub day: u32,
}
