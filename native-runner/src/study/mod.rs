//! Studies: a matrix of runs, or of suites of kernels, that is written down in a file, of which each cell is a process of its
//! own and leaves a file in a folder. `docs/STUDIES.md` describes both for whoever writes the one or reads the other.

mod axis;
mod cell;
mod cells;
mod child;
mod definition;
mod estimate;
mod evidence;
mod finished;
mod folder;
mod kernel_estimate;
mod kernel_matrix;
mod kernel_settings;
mod length;
mod matrix;
mod names;
mod plan;
mod registry;
mod run_settings;
#[cfg(test)]
mod testing;

pub(crate) use axis::{Axis, Filter};
pub(crate) use cell::{Cell, Settings};
pub(crate) use child::Child;
pub(crate) use definition::{Definition, load, schema};
pub(crate) use estimate::{Estimate, Estimator, Guess};
pub(crate) use finished::{Attempt, Ending, Finished, Record, Uploaded};
pub(crate) use folder::Folder;
pub(crate) use length::Length;
pub(crate) use matrix::Machine;
pub(crate) use plan::Plan;
pub(crate) use registry::STUDIES;
pub(crate) use run_settings::RunSettings;
