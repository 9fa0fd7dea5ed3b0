//! The data sets: fetched, proved to be the published originals, and converted once into the compact files that the
//! engine reads and the leaderboard serves.
//!
//! [`Store`] keeps them in a folder. How an archive gets here is left to [`Download`], and what is said on the way to
//! [`Progress`], because `cargo xtask` and `native-runner` have different means of both.

mod archive;
mod convert;
pub mod files;
mod package;
mod registry;
mod sources;
mod stamp;
mod store;
#[cfg(test)]
mod tests;
mod verify;

pub use package::{Download, Package};
pub use store::{Progress, Store, Trust};
