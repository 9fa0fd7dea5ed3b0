//! What a report is made of.

use results::RunRecord;
use results::kernels::KernelRecord;

/// Runs, and the studies that they belong to, if they belong to any.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub title: String,
    /// More than one where several folders make one report.
    pub studies: Vec<Study>,
    /// In the order in which tables show them.
    pub entries: Vec<Entry>,
    /// Suites of kernels that were measured, in the same order.
    pub kernels: Vec<Kernels>,
    /// Files that were found beside the records and are something else.
    pub others: Vec<String>,
}

/// What was planned.
#[derive(Clone, Debug)]
pub struct Study {
    pub name: String,
    pub title: String,
    pub description: String,
    /// The published table that it repeats.
    pub repeats: Option<String>,
    /// How it differs from that.
    pub differs: Option<String>,
    /// Whether its cells measure kernels, and train nothing.
    pub measures_kernels: bool,
    /// What every limit was multiplied by; 1 where the study was run in full.
    pub scale: f64,
    pub planned_cells: usize,
    pub finished_cells: usize,
}

/// A run that was made, or tried.
#[derive(Clone, Debug)]
pub struct Entry {
    /// For people: the file, and the place in it where it holds several.
    pub place: String,
    /// What was asked for, where that is known beside the record.
    pub asked: Option<String>,
    /// Absent where the run left none.
    pub record: Option<RunRecord>,
    /// Factor by which the study multiplied the length of this cell.
    pub scale: Option<f64>,
    /// Absent where there are figures.
    pub trouble: Option<Trouble>,
}

/// Suites of kernels, measured by one process.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// For people: the file.
    pub place: String,
    /// What was asked for, where that is known beside the record.
    pub asked: Option<String>,
    pub record: KernelRecord,
}

/// Why a run has no figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A word or two, such as `timed out`.
    pub kind: String,
    pub reason: String,
}
