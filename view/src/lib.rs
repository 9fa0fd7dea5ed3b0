//! Results as readers see them: tables in every format, and reports with charts and findings. No I/O, no clock.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

pub mod report;
pub mod table;
pub mod text;
