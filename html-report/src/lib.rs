//! What many runs say together, as one HTML file that needs nothing else: tables, plots, and findings that are computed.
//!
//! [`Report::of`] makes a [`Report`] from an [`Input`]: sections of tables, figures and findings, as data that tests can
//! look at. [`Report::html`] writes it down, with plots as SVG and their figures as CSV. The same input gives the same
//! bytes. Nothing here does I/O or reads a clock.
//!
//! Runs that differ in nothing but their seed are a *group* ([`group`]); everything is told of groups. What is published
//! ([`published`]) stands beside them under its own name and is never mixed with them.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

mod csv;
mod difference;
mod findings;
mod gathered;
mod group;
mod html;
mod input;
mod kernels;
mod lines;
mod plot;
mod published;
mod published_kernels;
mod report;
mod run;
mod sections;
#[cfg(test)]
mod testing;
mod text;

pub use findings::{Finding, Kind};
pub use html::is_own;
pub use input::{Entry, Input, Kernels, Study, Trouble};
pub use published::workload_names as published_workloads;
pub use published_kernels::sizes as published_kernel_sizes;
pub use report::Report;
