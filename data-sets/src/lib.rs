//! The data sets: fetched, verified to be the published originals, and converted once into the compact files that the
//! engine reads and the leaderboard serves.
//!
//! [`Store`] keeps them in a folder. [`Download`] and [`Progress`] are interfaces because `cargo xtask` and `native-runner`
//! download and report in different ways.

mod convert;
pub mod files;
mod sources;
mod store;
#[cfg(test)]
mod tests;

pub use sources::{Download, Package};
pub use store::{Progress, Store, Trust};
