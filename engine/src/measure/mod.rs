//! What every measurement shares, whichever asks for it: a run, a comparison, steps per second.

mod turns;

pub use turns::{Turn, turns};
