//! Input of a report.

use results::RunRecord;
use results::kernels::KernelRecord;

/// Runs and measurements of kernels, with the studies that they belong to.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub title: String,
    /// Studies of the report; several if it combines several folders.
    pub studies: Vec<Study>,
    /// Runs in table order.
    pub entries: Vec<ReportEntry>,
    pub kernels: Vec<KernelRecord>,
    /// Other files in the folders.
    pub others: Vec<String>,
}

/// Plan of several runs.
#[derive(Clone, Debug, Default)]
pub struct Study {
    pub name: String,
    pub title: String,
    pub description: String,
    /// Published table that the study repeats.
    pub repeats: Option<String>,
    /// Differences from that table.
    pub differs: Option<String>,
    /// True if its cells measure kernels instead of training.
    pub measures_kernels: bool,
    /// Factor of every limit; 1 if the study was run in full.
    pub scale: f64,
    pub planned_cells: usize,
    pub finished_cells: usize,
}

/// Run, or an attempt at one.
#[derive(Clone, Debug, Default)]
pub struct ReportEntry {
    /// File, and the position in it if it holds several records.
    pub place: String,
    /// Requested run, if known without the record.
    pub asked: Option<String>,
    /// Record of the run; absent if it wrote none.
    pub record: Option<RunRecord>,
    /// Factor that the study applied to the length of this cell.
    pub scale: Option<f64>,
    /// Reason for missing metrics; absent if there are metrics.
    pub trouble: Option<Trouble>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// One or two words, such as `timed out`.
    pub kind: String,
    pub reason: String,
}
