//! Results as readers see them: comparisons, charts, tables in every format, reports and cards.
//!
//! [`comparison`] compares backends, and [`regression`] compares runs before and after a change. Nothing here does I/O
//! or reads a clock.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

#[cfg(feature = "cards")]
pub mod card;
pub mod chart;
pub mod comparison;
#[cfg(test)]
#[path = "../../results/src/normal.rs"]
mod normal;
pub mod regression;
#[cfg(feature = "reports")]
pub mod report;
#[cfg(feature = "reports")]
pub mod table;
pub mod text;
