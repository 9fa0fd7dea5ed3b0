use std::time::{Duration, Instant};

use crate::Page;

/// For what a page shows at once on an idle machine. Only what never comes takes so long.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// For a run to end that is cancelled while it trains: its worker has three seconds to stop by itself.
pub const CANCELLING: Duration = Duration::from_secs(5);
/// For one that is cancelled before it trains: its worker still starts and hears of nothing, so that the page uses up the
/// three seconds and ends it.
pub const CANCELLING_AT_ITS_START: Duration = Duration::from_secs(20);
/// For a small run on an emulated GPU, half a minute on an idle machine. Only what never comes takes so long.
pub const RUN_PATIENCE: Duration = Duration::from_secs(600);

/// What was seen on the way of a run.
#[derive(Debug, Default)]
pub struct Seen {
    /// Per cent, each once.
    pub progress: Vec<f64>,
    /// Of the training, each once.
    pub losses: Vec<f64>,
}

impl Seen {
    fn note(list: &mut Vec<f64>, value: Option<f64>) {
        if let Some(value) = value.filter(|value| list.last() != Some(value)) {
            list.push(value);
        }
    }
}

/// Watches a run until its results are there.
///
/// # Panics
/// They are not within [`RUN_PATIENCE`].
pub async fn watch_to_the_end(page: &impl Page) -> Seen {
    let start = Instant::now();
    let mut seen = Seen::default();
    while page.by_role("table", "Results").await.is_none() {
        Seen::note(&mut seen.progress, page.number("[role=progressbar]", "aria-valuenow").await);
        Seen::note(&mut seen.losses, page.number("[data-figure=loss]", "data-value").await);
        let status = page.text("[role=status]").await.unwrap_or_default();
        assert!(start.elapsed() < RUN_PATIENCE, "no results after {RUN_PATIENCE:?}; the status is “{status}”");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    seen
}
