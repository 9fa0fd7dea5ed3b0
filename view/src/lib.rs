//! Results as readers see them: charts, tables in every format, and reports with findings. No I/O, no clock.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

pub mod chart;
#[cfg(feature = "reports")]
pub mod report;
#[cfg(feature = "reports")]
pub mod table;
pub mod text;
