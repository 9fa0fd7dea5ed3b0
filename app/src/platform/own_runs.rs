//! The runs that this browser keeps, in its local storage.

use super::files::storage;
use crate::own_runs::OwnRuns;

const KEY: &str = "gradmark.runs";

/// What is kept; nothing in a browser that keeps nothing.
pub(crate) fn own_runs() -> OwnRuns {
    let json = storage().and_then(|storage| storage.get_item(KEY).ok()?);
    json.map(|json| OwnRuns::parse(&json)).unwrap_or_default()
}

/// Changes what is kept, and gives it as it is now; whether the browser keeps it is its own affair. Another tab may have
/// changed it, so it is read again first.
pub(crate) fn change_own_runs(change: impl FnOnce(&mut OwnRuns)) -> OwnRuns {
    let mut runs = own_runs();
    change(&mut runs);
    if let Some(storage) = storage() {
        while storage.set_item(KEY, &runs.to_json()).is_err() && runs.lighten() {}
    }
    runs
}
