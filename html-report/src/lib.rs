//! Reports on many runs, as one HTML file without dependencies: tables, plots, and computed findings.
//!
//! [`Report::of`] makes a [`Report`] from an [`Input`]: sections of tables, figures and findings, as data that tests can
//! check. [`Report::html`] writes it, with plots as SVG and their values as CSV. The same input gives the same bytes. Nothing
//! here does I/O or reads a clock.
//!
//! Runs that differ in nothing but their seed are a *group* ([`group`]); everything is about groups. Published results
//! ([`published`]) have their own names and are never mixed with them.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

mod difference;
mod draw;
mod finding;
mod findings;
mod group;
mod html;
mod input;
mod kernels;
mod lines;
mod plot;
mod published;
mod scale;
mod sections;
mod table;
#[cfg(test)]
mod testing;
mod text;

pub use finding::{Finding, Kind};
pub use html::is_own;
pub use input::{Entry, Input, Kernels, Study, Trouble};
pub use kernels::published_kernel_sizes;
pub use published::published_workloads;

/// A report on runs.
pub struct Report {
    document: html::Document,
    findings: Vec<Finding>,
}

impl Report {
    /// Makes the report of these runs.
    pub fn of(input: &Input) -> Self {
        let gathered = group::Gathered::of(input);
        let findings = findings::all(&gathered);
        Self { document: sections::document(&gathered, &findings), findings }
    }

    /// Returns the findings, in the order of the report.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the whole report as one HTML file.
    pub fn html(&self) -> String {
        html::page(&self.document)
    }
}
