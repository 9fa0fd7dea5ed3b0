//! Input of a report.

use results::RunRecord;
use results::kernels::KernelRecord;

/// Runs and measurements of kernels, with the studies that they belong to.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub title: String,
    /// More than one if several folders make one report.
    pub studies: Vec<Study>,
    /// In the order in which tables show them.
    pub entries: Vec<Entry>,
    /// Measurements of kernels, in the same order.
    pub kernels: Vec<Kernels>,
    /// Other files in the folders.
    pub others: Vec<String>,
}

/// Plan of several runs.
#[derive(Clone, Debug)]
pub struct Study {
    pub name: String,
    pub title: String,
    pub description: String,
    /// Published table that it repeats.
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

/// A run, or an attempt.
#[derive(Clone, Debug)]
pub struct Entry {
    /// File, and the place in it if it holds several.
    pub place: String,
    /// Requested run, if that is known without the record.
    pub asked: Option<String>,
    /// Absent if the run left none.
    pub record: Option<RunRecord>,
    /// Factor by which the study multiplied the length of this cell.
    pub scale: Option<f64>,
    /// Absent if there are metrics.
    pub trouble: Option<Trouble>,
}

/// Kernels that one process measured.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// File.
    pub place: String,
    /// Requested run, if that is known without the record.
    pub asked: Option<String>,
    pub record: KernelRecord,
}

/// Reason for missing metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A word or two, such as `timed out`.
    pub kind: String,
    pub reason: String,
}
