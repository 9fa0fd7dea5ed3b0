//! Tests of the real binary, its output and its exit status.

mod archives;
mod bad_input;
mod benchmark;
mod compare;
mod compare_records;
mod doctor;
mod external;
mod kernels;
mod output;
#[cfg(all(unix, feature = "burn-flex", feature = "burn-remote"))]
mod remote;
mod report;
mod study;
mod support;
mod terminal;
mod upload;
mod workload_file;
