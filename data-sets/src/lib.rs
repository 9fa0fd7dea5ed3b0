//! The data sets: fetched, verified against the published originals, and converted once into the compact files that the
//! engine reads and the leaderboard serves.
//!
//! [`Store`] keeps them in a folder.

mod convert;
pub mod files;
mod sources;
mod store;
#[cfg(test)]
mod tests;

pub use sources::Package;
pub use store::{Store, StoreHost};
