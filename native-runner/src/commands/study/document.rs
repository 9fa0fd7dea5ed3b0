//! What `--json` writes at the end of a study: every cell in short. Their files have the records.

use std::path::Path;

use results::Summary;
use results::kernels::KernelSummary;
use serde::Serialize;

use crate::failure::Failure;
use crate::json_output::to_json;
use crate::study::{Cell, Ending, Finished, Plan};

/// Version of the layout.
const DOCUMENT_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    name: &'a str,
    folder: &'a Path,
    scale: f64,
    /// In the order in which they run.
    cells: Vec<InShort<'a>>,
}

#[derive(Serialize)]
struct InShort<'a> {
    #[serde(flatten)]
    cell: &'a Cell,
    /// Absent where it has not been run.
    ending: Option<Ending>,
    reason: Option<&'a str>,
    /// Of its process.
    seconds: Option<f64>,
    /// Of a run.
    summary: Option<&'a Summary>,
    /// Of kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<KernelSummary>,
}

pub(super) fn document<'a>(
    plan: &Plan,
    folder: &Path,
    cells: &[&'a Cell],
    finished: &'a [Finished],
) -> Result<String, Failure> {
    let in_short = |cell: &&'a Cell| {
        let finished = finished.iter().find(|finished| finished.id == cell.id);
        InShort {
            cell,
            ending: finished.map(|finished| finished.ending),
            reason: finished.and_then(|finished| finished.reason.as_deref()),
            seconds: finished.map(|finished| finished.seconds),
            summary: finished.and_then(Finished::workload).map(|workload| &workload.summary),
            kernels: finished.and_then(Finished::kernels).map(|record| KernelSummary::of(&record.report.entries)),
        }
    };
    let cells = cells.iter().map(in_short).collect();
    let (name, scale) = (plan.name.as_str(), plan.scale);
    to_json(&Document { schema_version: DOCUMENT_VERSION, name, folder, scale, cells })
}
