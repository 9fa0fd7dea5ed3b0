//! What every measurement shares, whichever asks for it: a run, a comparison, steps per second, kernels.

mod event;
mod gauge;
mod observer;
mod phase;
mod turns;

pub use event::Event;
pub use gauge::Gauge;
pub(crate) use gauge::Peaks;
pub use observer::Observer;
pub use phase::Phase;
pub use turns::{Turn, turns};
