//! The page's training worker, and the messages between it and the page.
//!
//! The worker runs [`engine::run`] away from the page's thread. Page and worker exchange
//! [`ToWorker`] and [`FromWorker`] as JSON text, one message each. They use the browser's own
//! `Worker` rather than gloo-worker's bridge, because that bridge hides the worker: it could be
//! neither stopped by force nor asked why it crashed.

mod messages;
#[cfg(all(target_arch = "wasm32", feature = "training"))]
mod training;
mod trouble;

pub use messages::{FromWorker, Limit, Loaded, Order, Registration, ToWorker};
#[cfg(all(target_arch = "wasm32", feature = "training"))]
pub use training::start;
pub use trouble::Trouble;
