//! One function for each thing that the program does.

mod benchmark;
mod list;
mod submission;
mod trace;
mod upload;

pub(crate) use benchmark::benchmark;
pub(crate) use list::{adapters, backends, data_sets, workloads};
pub(crate) use trace::trace;
pub(crate) use upload::upload;
