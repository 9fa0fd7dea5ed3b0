//! One function for each thing that the program does.

mod benchmark;
mod compare;
mod compare_findings;
mod compare_records;
mod compare_table;
mod contenders;
#[cfg(feature = "wgsl")]
mod doctor;
mod export_records;
mod fetch_data;
mod framework;
mod installation;
#[cfg(feature = "wgsl")]
mod kernels;
mod list;
#[cfg(feature = "wgsl")]
mod profile;
mod report;
mod scaling;
mod selection;
#[cfg(feature = "burn-remote")]
mod serve_device;
mod steps;
mod steps_table;
mod study;
mod submission;
mod trace;
mod upload;

pub(crate) use benchmark::benchmark;
pub(crate) use compare_records::compare_records;
#[cfg(feature = "wgsl")]
pub(crate) use doctor::doctor;
pub(crate) use export_records::export_records;
pub(crate) use fetch_data::fetch_data;
pub(crate) use installation::{completions, manual};
#[cfg(feature = "wgsl")]
pub(crate) use kernels::kernels;
pub(crate) use list::{adapters, backends, data_sets, workloads};
#[cfg(feature = "wgsl")]
pub(crate) use profile::profile;
pub(crate) use report::report;
pub(crate) use scaling::scaling;
#[cfg(feature = "burn-remote")]
pub(crate) use serve_device::serve_device;
pub(crate) use steps::steps;
pub(crate) use study::study;
pub(crate) use trace::trace;
pub(crate) use upload::upload;
