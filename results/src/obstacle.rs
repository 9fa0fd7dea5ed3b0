//! Why a figure takes part in no ranking, whoever vouches for its run.

use std::fmt;

use crate::software::may_be_a_program;
use crate::summary::has_learned;
use crate::{RunRecord, Warning, WorkloadRecord};

/// What stands in the way of ranking a completed workload of a standard run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// There are too few windows, or they do not agree.
    NotSteady,
    NotLearned,
    TabHidden,
    CoarseTimer,
    GeneratedData,
    /// The browser hides what the adapter is, and it is no faster than a program that acts as a GPU.
    PerhapsSoftware,
    /// Several devices trained together, and the others of a ranking are one each.
    SeveralDevices,
    /// Batches came from the host, and in all others of a ranking the data set lies on the device.
    StreamedInput,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSteady => "not steady enough",
            Self::NotLearned => "no better than chance",
            Self::TabHidden => "the tab was hidden",
            Self::CoarseTimer => "the clock is too coarse",
            Self::GeneratedData => "trained on generated data",
            Self::SeveralDevices => "several devices trained it together",
            Self::StreamedInput => "batches were streamed from the host",
            Self::PerhapsSoftware => "the adapter may be a program",
        })
    }
}

/// The first obstacle to ranking this workload of this run; nothing where there is none.
pub fn obstacle(record: &RunRecord, workload: &WorkloadRecord) -> Option<Obstacle> {
    let warned = record.warnings.iter().find_map(|warning| match warning {
        Warning::TabHidden { .. } => Some(Obstacle::TabHidden),
        Warning::CoarseTimer { .. } => Some(Obstacle::CoarseTimer),
        Warning::GeneratedData { workload: name } if *name == workload.workload => Some(Obstacle::GeneratedData),
        _ => None,
    });
    match () {
        () if !workload.summary.stable => Some(Obstacle::NotSteady),
        () if !has_learned(workload) => Some(Obstacle::NotLearned),
        () if workload.communication.is_some() => Some(Obstacle::SeveralDevices),
        () if workload.input.is_some() => Some(Obstacle::StreamedInput),
        () if may_be_a_program(record) => Some(Obstacle::PerhapsSoftware),
        () => warned,
    }
}
