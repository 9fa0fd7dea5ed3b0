//! What every measurement shares, whichever asks for it: a run, a comparison, steps per second, kernels.
//!
//! Each of them is a policy: what is measured, in which order, and what its figures are. How a window is timed and how long
//! it is, how those that are compared take turns, what the device's peak is beside them, what is announced meanwhile, and
//! how a measurement can end: that is here, once.

mod contest;
mod event;
mod length;
mod observer;
mod outcome;
mod peaks;
mod turns;
mod window;

pub use crate::gauge::Gauge;
pub(crate) use contest::{Contest, Participant, Repeatable, Rules};
pub use event::Event;
pub(crate) use length::Length;
pub use observer::Observer;
pub(crate) use outcome::refused;
pub(crate) use peaks::Peaks;
pub use results::Phase;
pub use results::measured::{Outcome, Window};
pub use turns::{Schedule, Turn};
pub(crate) use window::{Spread, of_peak, timed_steps};
