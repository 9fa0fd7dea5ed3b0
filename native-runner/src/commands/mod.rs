//! One function for each command of the program.

pub(crate) mod benchmark;
pub(crate) mod compare;
pub(crate) mod compare_records;
pub(crate) mod compare_table;
pub(crate) mod export_records;
pub(crate) mod installation;
pub(crate) mod kernels;
pub(crate) mod list;
pub(crate) mod profile;
pub(crate) mod report;
pub(crate) mod scaling;
#[cfg(feature = "burn-remote")]
pub(crate) mod serve_device;
pub(crate) mod steps;
pub(crate) mod study;
pub(crate) mod trace;
pub(crate) mod upload;
