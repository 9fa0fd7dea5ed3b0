use results::Adapter;

use super::{Phase, Window};

/// What measurements announce that follow each other: steps per second, and kernels.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The device is open.
    Opened { adapter: Adapter },
    /// A measurement begins, the `number`-th (from 1) of `count`.
    Started { what: String, number: usize, count: usize },
    /// Something is measured once more, because the first figures were surprising.
    Again { what: String },
    /// What goes on for one of those that are measured.
    Phase { who: &'static str, phase: Phase },
    /// A window is over. It is kept, even if nothing comes after it.
    Window { who: &'static str, window: Window },
}
