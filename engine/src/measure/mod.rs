//! What every measurement shares, whichever asks for it: a run, a comparison, steps per second.

mod gauge;
mod turns;

pub use gauge::Gauge;
pub(crate) use gauge::Peaks;
pub use turns::{Turn, turns};
