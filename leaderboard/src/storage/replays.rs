//! Runs that a host wants computed again: they go back into the queue of verifications, and what became of each is kept for
//! whoever waits for it.

use std::collections::BTreeSet;

use results::api::Tier;
use sqlx::{AnyConnection, Row};

use super::moderation::ModerationError;
use super::values::{as_flag, flag};
use super::verifications::queue;
use super::{Storage, StorageError, trust, unexamined};

/// Runs that are asked for in one transaction.
const PORTION: i64 = 500;

/// Which runs are to be computed again.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Candidates<'a> {
    Runs(&'a [String]),
    OfTier(Tier),
}

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Runs that wait now.
    pub(crate) runs: Vec<String>,
    /// Runs that cannot be computed again, each with the reason as a sentence.
    pub(crate) left_out: Vec<(String, &'static str)>,
}

/// How far the runs have come that were asked for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) waiting: u64,
    /// Those of them that some server computes at this moment.
    pub(crate) taken: u64,
}

impl Storage {
    /// Puts runs into the queue; of runs that are named, all or, where one is unknown, none. `now` is what these runs are
    /// found by afterwards.
    pub(crate) async fn ask_for_replays(&self, candidates: Candidates<'_>, now: f64) -> Result<Asked, ModerationError> {
        let mut asked = Asked::default();
        match candidates {
            Candidates::Runs(run_ids) => {
                // In the same order whoever does it, so that two never wait for each other.
                let in_order: BTreeSet<&String> = run_ids.iter().collect();
                let mut transaction = self.writing().await?;
                for run_id in in_order {
                    if !ask(&mut transaction, run_id, now, &mut asked).await? {
                        return Err(ModerationError::UnknownRun(run_id.clone()));
                    }
                }
                transaction.commit().await?;
            }
            Candidates::OfTier(tier) => {
                let mut last = String::new();
                loop {
                    let portion = self.runs_of_tier(tier, &last).await?;
                    let Some(end) = portion.last() else { break };
                    last.clone_from(end);
                    let mut transaction = self.writing().await?;
                    for run_id in &portion {
                        // One that was deleted meanwhile is nobody's loss.
                        ask(&mut transaction, run_id, now, &mut asked).await?;
                    }
                    transaction.commit().await?;
                }
            }
        }
        Ok(asked)
    }

    async fn runs_of_tier(&self, tier: Tier, after: &str) -> Result<Vec<String>, StorageError> {
        let rows = sqlx::query("SELECT run_id FROM runs WHERE tier = $1 AND run_id > $2 ORDER BY run_id LIMIT $3")
            .bind(tier.name())
            .bind(after)
            .bind(PORTION)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok(row.try_get("run_id")?)).collect()
    }

    /// How far the runs have come that were asked for at that moment.
    pub(crate) async fn progress_of_replays(&self, asked: f64, now: f64) -> Result<Progress, StorageError> {
        let row = sqlx::query(
            "SELECT COUNT(*) AS waiting, COUNT(CASE WHEN taken_until_unix_seconds > $2 THEN 1 END) AS taken \
             FROM replays LEFT JOIN verifications ON verifications.run_id = replays.run_id \
             WHERE asked_unix_seconds = $1 AND outcome IS NULL",
        )
        .bind(asked)
        .bind(now)
        .fetch_one(&self.pool)
        .await?;
        let count = |name: &str| -> Result<u64, StorageError> { Ok(u64::try_from(row.try_get::<i64, _>(name)?)?) };
        Ok(Progress { waiting: count("waiting")?, taken: count("taken")? })
    }

    /// What became of the runs that were asked for at that moment, as far as they were computed.
    pub(crate) async fn outcomes_of_replays(&self, asked: f64) -> Result<Vec<(String, String)>, StorageError> {
        let rows = sqlx::query(
            "SELECT run_id, outcome FROM replays WHERE asked_unix_seconds = $1 AND outcome IS NOT NULL ORDER BY run_id",
        )
        .bind(asked)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok((row.try_get("run_id")?, row.try_get("outcome")?))).collect()
    }
}

/// `false` when there is no such run.
async fn ask(connection: &mut AnyConnection, run_id: &str, now: f64, asked: &mut Asked) -> Result<bool, StorageError> {
    let Some(trust) = trust::read(connection, run_id).await? else { return Ok(false) };
    let query = concat!("SELECT ", as_flag!("standard", "standard"), " FROM runs WHERE run_id = $1");
    let standard = flag(&sqlx::query(query).bind(run_id).fetch_one(&mut *connection).await?, "standard")?;
    if !standard {
        let obstacle = "It is no standard run, and only the work of a suite can be computed again.";
        asked.left_out.push((run_id.to_owned(), obstacle));
        return Ok(true);
    }
    let whole = trust.own.tier == Tier::Checked && unexamined::is_waiting(connection, run_id).await?;
    // One that waits already goes on waiting for what it waits for.
    queue(connection, run_id, now, !whole).await?;
    sqlx::query(
        "INSERT INTO replays (run_id, asked_unix_seconds) VALUES ($1, $2) ON CONFLICT (run_id) \
         DO UPDATE SET asked_unix_seconds = excluded.asked_unix_seconds, outcome = NULL",
    )
    .bind(run_id)
    .bind(now)
    .execute(connection)
    .await?;
    asked.runs.push(run_id.to_owned());
    Ok(true)
}
