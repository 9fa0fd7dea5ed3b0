use std::time::{Duration, Instant};

use crate::Page;
use crate::patience::RUN_PATIENCE;

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

/// Waits until a run has shown its first loss.
pub async fn wait_for_training(page: &impl Page) {
    let start = Instant::now();
    while page.number("[data-figure=loss]", "data-value").await.is_none() {
        assert!(start.elapsed() < RUN_PATIENCE, "nothing is trained after {RUN_PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
