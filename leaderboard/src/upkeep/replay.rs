//! Recomputation of runs, by a running server or by this process.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use results::api::Tier;
use tokio::runtime::Handle;

use super::moderation::with_storage;
use crate::ServerClock;
use crate::config::Replay;
use crate::metrics::Metrics;
use crate::proof::ServerKey;
use crate::secrets::{SECRET_BYTES, random_word};
use crate::storage::{Database, DatabaseAddress};
use crate::verification::{Tools, VerificationSamples, verify_here};

/// Time without progress after which no server is expected to continue. Servers check the queue every half minute.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) async fn replay(database: &DatabaseAddress, task: Replay) -> Result<String> {
    let Replay { run_ids, all_checked, tier, data, no_wait, .. } = task;
    let tier = if all_checked { Some(Tier::Checked) } else { tier };
    with_storage(database, async |storage| {
        let clock = ServerClock::system();
        let now = clock.unix_seconds();
        let asked = storage.ask_for_replays(tier, &run_ids, now).await?;
        if no_wait {
            let queued = format!(
                "{} runs wait for a server with --data and --verifiers to recompute them; their pages will show the \
                 outcome",
                asked.runs.len()
            );
            return Ok(describe(queued, &[], &asked.left_out));
        }
        if let Some(data) = data {
            compute(storage, &clock, data, &asked.runs).await?;
        }
        wait(storage, &clock, now).await?;
        let outcomes = storage.outcomes_of_replays(now).await?;
        Ok(describe(format!("recomputed {} runs", outcomes.len()), &outcomes, &asked.left_out))
    })
    .await
}

/// Recomputes runs in this process, one after the other. Runs that a server has taken meanwhile are left to it.
async fn compute(storage: &Database, clock: &ServerClock, data: PathBuf, run_ids: &[String]) -> Result<()> {
    // The choice of test samples must be unpredictable.
    let secret = random_word::<SECRET_BYTES>().context("the system provides no random numbers")?;
    let key = ServerKey::load(Some(&secret), None)?;
    let tools = Tools {
        storage: storage.clone(),
        clock: clock.clone(),
        key,
        samples: VerificationSamples::new(Some(data)),
        metrics: Metrics::default(),
        server: "replay".to_owned(),
        runtime: Handle::current(),
    };
    for run_id in run_ids {
        let (tools, run_id) = (tools.clone(), run_id.clone());
        let computed = tokio::task::spawn_blocking(move || verify_here(&tools, &run_id)).await;
        match computed {
            Ok(done) => done?,
            Err(ended) => std::panic::resume_unwind(ended.into_panic()),
        }
    }
    Ok(())
}

/// Waits until all runs are finished, as long as a server recomputes them.
async fn wait(storage: &Database, clock: &ServerClock, asked: f64) -> Result<()> {
    let (mut before, mut since) = (None, Instant::now());
    loop {
        let progress = storage.progress_of_replays(asked, clock.unix_seconds()).await?;
        if progress.waiting == 0 {
            return Ok(());
        }
        if before != Some(progress) || progress.taken > 0 {
            (before, since) = (Some(progress), Instant::now());
        }
        ensure!(
            since.elapsed() <= PATIENCE,
            "no server recomputed any of these runs for {} s, and {} are still queued. A running server with --data \
             and --verifiers recomputes them; `leaderboard replay --here --data DIR` does so without a server",
            PATIENCE.as_secs(),
            progress.waiting
        );
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn describe(first: String, outcomes: &[(String, String)], left_out: &[(String, &'static str)]) -> String {
    let outcomes = outcomes.iter().map(|(run_id, outcome)| format!("run {run_id}: {outcome}"));
    let left_out = left_out.iter().map(|(run_id, why)| format!("run {run_id} was left out: {why}"));
    [first].into_iter().chain(outcomes).chain(left_out).collect::<Vec<_>>().join("\n")
}
