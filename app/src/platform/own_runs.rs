//! The runs that this browser keeps, in its local storage.

use super::storage::{keep, kept};
use crate::own_runs::OwnRuns;

const KEY: &str = "gradmark.runs";

/// What is kept; nothing in a browser that keeps nothing.
pub(crate) fn own_runs() -> OwnRuns {
    kept(KEY).unwrap_or_default()
}

/// Changes what is kept, and gives it as it is now; whether the browser keeps it is its own affair. Another tab may have
/// changed it, so it is read again first.
pub(crate) fn change_own_runs(change: impl FnOnce(&mut OwnRuns)) -> OwnRuns {
    let mut runs = own_runs();
    change(&mut runs);
    while !keep(KEY, &runs) && runs.lighten() {}
    runs
}
