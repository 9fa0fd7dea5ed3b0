use std::collections::BTreeSet;

use results::api::{Note, Tier};
use results::{RunRecord, Summary};
use serde::Deserialize;
use serde_json::json;
use sqlx::AnyConnection;

use super::run_rows::descending_result;
use super::trust::{Own, Trust};
use super::values::{KEEP, as_flag, execute, insert, scalar, sql, tuple};
use super::{Database, Result, StorageError, open, trust};

/// Prefers runs that were never verified, and then the /24 or /48 that was served longest ago.
const TAKE: &str = concat!(
    "UPDATE verifications SET taken_until_unix_seconds = $1, attempts = attempts + 1, taken_by = $4 \
     WHERE taken_until_unix_seconds < $2 AND run_id = (SELECT waiting.run_id FROM verifications waiting \
     LEFT JOIN started_runs started ON started.run_id = waiting.run_id \
     WHERE taken_until_unix_seconds < $2 AND (CAST($3 AS TEXT) IS NULL OR waiting.run_id = $3) \
     ORDER BY in_part, COALESCE((SELECT MAX(served.verified_unix_seconds) FROM started_runs served \
     WHERE served.prefix = started.prefix), 0.0), queued_unix_seconds, waiting.run_id LIMIT 1) RETURNING run_id, attempts, ",
    as_flag!("in_part", "in_part")
);
/// Selects the submitter's other runs of that day.
const OTHERS: &str = "SELECT others.run_id FROM runs JOIN runs others ON others.submitter = runs.submitter \
     WHERE runs.run_id = $1 AND others.run_id <> $1 ORDER BY others.run_id";
const NOTE_SERVICE: &str = "UPDATE started_runs SET verified_unix_seconds = $1 WHERE run_id = $2";

/// A run that was taken from the queue for verification.
pub(crate) struct Verification {
    pub(crate) run_id: String,
    /// Number of attempts, including this one and without those that a server shutdown interrupted.
    pub(crate) attempts: u32,
    /// True if only a part can be recomputed, which proves nothing.
    pub(crate) in_part: bool,
    pub(crate) record: RunRecord,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conclusion {
    pub(crate) own: Own,
    /// The result as a sentence for the host that requested it.
    pub(crate) said: String,
    /// True if its states are kept, because they could not be examined.
    pub(crate) unexamined: bool,
    /// Results that the server computed, which replace the record's.
    pub(crate) measured: Vec<MeasuredResult>,
}

/// Result of a workload on the test set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeasuredResult {
    pub(crate) workload: String,
    pub(crate) accuracy: f64,
    pub(crate) loss: f64,
}

impl Database {
    /// Takes `run_id`, or else the run that has waited longest, for the server `by`. Others may take it after `until`.
    pub(crate) async fn take_verification(
        &self,
        run_id: Option<&str>,
        by: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Verification>> {
        // This need not reach the disk first, because the run becomes free again after a while.
        let turn = self.turn().await?;
        let take = tuple!(TAKE, [until, now, run_id, by]).fetch_optional(&self.writer);
        let Some((run_id, attempts, in_part)): Option<(String, i64, i64)> = take.await? else { return Ok(None) };
        sql!(NOTE_SERVICE, [now, &run_id]).execute(&self.writer).await?;
        drop(turn);
        // If the announcement was deleted, the states were deleted too.
        let mut connection = self.pool.acquire().await?;
        let in_part = in_part != 0 || !has_states(&mut connection, &run_id).await?;
        let query = scalar!("SELECT record FROM runs WHERE run_id = $1", [&run_id]);
        let record: Option<String> = query.fetch_optional(&mut *connection).await?;
        // The run was deleted meanwhile.
        let Some(record) = record else { return Ok(None) };
        let record = serde_json::from_str(&record)?;
        Ok(Some(Verification { run_id, attempts: attempts.try_into()?, in_part, record }))
    }

    /// Sets the tier that a run has earned, which a moderator may override, and deletes its states. `conclude` gets the
    /// current earned tier, and true if only a part could be recomputed. Returns `None` if the run was deleted.
    pub(crate) async fn conclude_verification(
        &self,
        of: &Verification,
        now: f64,
        conclude: impl FnOnce(&Own, bool) -> Conclusion,
    ) -> Result<Option<Own>> {
        let run_id = of.run_id.as_str();
        let mut transaction = self.writing().await?;
        let Some(before) = trust::read_trust(&mut transaction, run_id).await? else {
            // The run was deleted, with its entry in the queue.
            return Ok(None);
        };
        let in_part = of.in_part || !has_states(&mut transaction, run_id).await?;
        let Conclusion { own, mut said, unexamined, measured } = conclude(&before.own, in_part);
        for MeasuredResult { workload, accuracy, loss } in &measured {
            let query = scalar!("SELECT summary FROM results WHERE run_id = $1 AND workload = $2", [run_id, workload]);
            let summary: Option<String> = query.fetch_optional(&mut *transaction).await?;
            let claimed = of.record.workloads.iter().find(|of| of.workload == *workload);
            let Some((summary, claimed)) = summary.zip(claimed) else { continue };
            let (accuracy, test_loss) = (Some(*accuracy), Some(*loss));
            let summary = Summary { accuracy, test_loss, ..serde_json::from_str(&summary)? };
            let update =
                "UPDATE results SET summary = $1, descending_accuracy = $2 WHERE run_id = $3 AND workload = $4";
            let (text, descending) = (serde_json::to_string(&summary)?, descending_result(claimed, &summary));
            execute!(transaction, update, [text, descending, run_id, workload])?;
            if own.tier == Tier::Proven && of.record.is_of_open_class() {
                open::keep_result(&mut transaction, run_id, claimed, &summary).await?;
            }
        }
        let mut stale = BTreeSet::new();
        if own != before.own {
            let after = Trust { own: own.clone(), word: before.word.clone() };
            stale.extend(trust::write(&mut transaction, run_id, &before, &after).await?);
            if own.tier == Tier::Flagged {
                stale.extend(doubt_others(&mut transaction, run_id, now).await?);
            }
        }
        if before.word.is_some() {
            said.push_str(" The moderator's decision remains in effect and is shown.");
        }
        execute!(transaction, "UPDATE replays SET outcome = $1 WHERE run_id = $2", [said, run_id])?;
        execute!(transaction, "DELETE FROM verifications WHERE run_id = $1", [run_id])?;
        if unexamined {
            keep_states(&mut transaction, run_id, now).await?;
        } else {
            forget_states(&mut transaction, run_id).await?;
        }
        self.commit_with_stale(transaction, &stale).await?;
        Ok(Some(own))
    }

    /// Releases all runs that the server `by` took. An attempt that a shutdown `interrupted` does not count.
    pub(crate) async fn release_verifications(&self, by: &str, interrupted: bool) -> Result<()> {
        let release = "UPDATE verifications SET taken_until_unix_seconds = 0, attempts = attempts - $1 \
             WHERE taken_by = $2 AND taken_until_unix_seconds > 0";
        self.write(sql!(release, [i64::from(interrupted), by])).await?;
        Ok(())
    }
}

/// Queues a run. A run that is already queued keeps its entry.
pub(super) async fn queue(connection: &mut AnyConnection, run_id: &str, now: f64, in_part: bool) -> Result<()> {
    let row = json!({
        "run_id": run_id, "queued_unix_seconds": now, "taken_until_unix_seconds": 0.0, "attempts": 0,
        "in_part": in_part,
    });
    insert("verifications", &row, KEEP).execute(connection).await?;
    Ok(())
}

/// Adds a note to the submitter's proven runs of that day, and queues checked runs. Returns the stale devices.
async fn doubt_others(connection: &mut AnyConnection, flagged: &str, now: f64) -> Result<BTreeSet<String>> {
    let others: Vec<String> = scalar!(OTHERS, [flagged]).fetch_all(&mut *connection).await?;
    let mut devices = BTreeSet::new();
    for run_id in &others {
        let Some(before) = trust::read_trust(connection, run_id).await? else { continue };
        if before.own.tier == Tier::Proven {
            let mut after = before.clone();
            after.own.notes.retain(|note| *note != Note::OtherFlagged);
            after.own.notes.push(Note::OtherFlagged);
            devices.extend(trust::write(connection, run_id, &before, &after).await?);
        } else if before.own.tier == Tier::Checked && is_waiting(connection, run_id).await? {
            queue(connection, run_id, now, false).await?;
        }
    }
    Ok(devices)
}

/// Maximum number of runs with kept states, about 40 MB each. The oldest are deleted first.
const MAX_KEPT: i64 = 10;
/// Maximum number of runs over this limit whose states are deleted at once.
const STATES_FORGOTTEN_AT_ONCE: i64 = 1000;

const TOO_MANY: &str = "SELECT run_id FROM unexamined_runs ORDER BY since_unix_seconds DESC, run_id LIMIT $1 OFFSET $2";

async fn has_states(connection: &mut AnyConnection, run_id: &str) -> Result<bool> {
    let query = scalar!("SELECT COUNT(*) FROM (SELECT 1 FROM shown_states WHERE run_id = $1 LIMIT 1) AS one", [run_id]);
    let states: i64 = query.fetch_one(connection).await?;
    Ok(states > 0)
}

/// Returns true if a run that could not be verified before still has its states.
async fn is_waiting(connection: &mut AnyConnection, run_id: &str) -> Result<bool> {
    let query = scalar!("SELECT COUNT(*) FROM unexamined_runs WHERE run_id = $1", [run_id]);
    let runs: i64 = query.fetch_one(&mut *connection).await?;
    Ok(runs > 0 && has_states(connection, run_id).await?)
}

async fn keep_states(connection: &mut AnyConnection, run_id: &str, now: f64) -> Result<()> {
    let row = json!({ "run_id": run_id, "since_unix_seconds": now });
    insert("unexamined_runs", &row, KEEP).execute(&mut *connection).await?;
    let too_many = scalar!(TOO_MANY, [STATES_FORGOTTEN_AT_ONCE, MAX_KEPT]);
    let too_many: Vec<String> = too_many.fetch_all(&mut *connection).await?;
    for run_id in &too_many {
        forget_states(connection, run_id).await?;
    }
    Ok(())
}

pub(super) async fn forget_states(connection: &mut AnyConnection, run_id: &str) -> Result<()> {
    for forget_states in [
        "DELETE FROM unexamined_runs WHERE run_id = $1",
        "DELETE FROM shown_states WHERE run_id = $1",
        "DELETE FROM part_hashes WHERE run_id = $1",
    ] {
        execute!(connection, forget_states, [run_id])?;
    }
    Ok(())
}

/// Number of runs that are queued in one transaction.
const PORTION: usize = 500;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replays {
    pub(crate) runs: Vec<String>,
    /// Runs that cannot be recomputed, each with the reason as a sentence.
    pub(crate) left_out: Vec<(String, &'static str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct ReplayProgress {
    pub(crate) waiting: u64,
    pub(crate) taken: u64,
}

impl Database {
    /// Queues all runs of a tier, or else the named ones. If one of these is unknown, none is queued. `now` identifies
    /// the request afterwards.
    pub(crate) async fn ask_for_replays(&self, tier: Option<Tier>, named: &[String], now: f64) -> Result<Replays> {
        let mut asked = Replays::default();
        // All transactions use the same order, to avoid deadlocks.
        let (run_ids, portion): (Vec<String>, usize) = match tier {
            None => (BTreeSet::from_iter(named).into_iter().cloned().collect(), named.len()),
            Some(tier) => {
                let query = scalar!("SELECT run_id FROM runs WHERE tier = $1 ORDER BY run_id", [tier.name()]);
                (query.fetch_all(&self.pool).await?, PORTION)
            }
        };
        for portion in run_ids.chunks(portion.max(1)) {
            let mut transaction = self.writing().await?;
            for run_id in portion {
                // Runs of a tier that were deleted meanwhile are ignored.
                let is_known = ask(&mut transaction, run_id, now, &mut asked).await?;
                if !is_known && tier.is_none() {
                    return Err(StorageError::unknown_run(run_id));
                }
            }
            transaction.commit().await?;
        }
        Ok(asked)
    }

    pub(crate) async fn progress_of_replays(&self, asked: f64, now: f64) -> Result<ReplayProgress> {
        let query = "SELECT COUNT(*) AS waiting, COUNT(CASE WHEN taken_until_unix_seconds > $2 THEN 1 END) AS taken \
             FROM replays LEFT JOIN verifications ON verifications.run_id = replays.run_id \
             WHERE asked_unix_seconds = $1 AND outcome IS NULL";
        Ok(self.row(sql!(query, [asked, now])).await?.ok_or(sqlx::Error::RowNotFound)?)
    }

    pub(crate) async fn outcomes_of_replays(&self, asked: f64) -> Result<Vec<(String, String)>> {
        let query = "SELECT run_id, outcome FROM replays WHERE asked_unix_seconds = $1 AND outcome IS NOT NULL \
             ORDER BY run_id";
        Ok(tuple!(query, [asked]).fetch_all(&self.pool).await?)
    }
}

async fn ask(connection: &mut AnyConnection, run_id: &str, now: f64, asked: &mut Replays) -> Result<bool> {
    let Some(trust) = trust::read_trust(connection, run_id).await? else { return Ok(false) };
    let query = scalar!("SELECT COUNT(*) FROM runs WHERE run_id = $1 AND standard", [run_id]);
    let standard: i64 = query.fetch_one(&mut *connection).await?;
    if standard == 0 {
        let obstacle = "It is not a standard run, and only standard runs of a suite can be recomputed.";
        asked.left_out.push((run_id.to_owned(), obstacle));
        return Ok(true);
    }
    let whole = trust.own.tier == Tier::Checked && is_waiting(connection, run_id).await?;
    // A queued run keeps its entry.
    queue(connection, run_id, now, !whole).await?;
    let insert = "INSERT INTO replays (run_id, asked_unix_seconds) VALUES ($1, $2) ON CONFLICT (run_id) \
         DO UPDATE SET asked_unix_seconds = excluded.asked_unix_seconds, outcome = NULL";
    execute!(connection, insert, [run_id, now])?;
    asked.runs.push(run_id.to_owned());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use results::api::WantedState;

    use super::*;
    use crate::proof::Started;
    use crate::proof::testing::started;
    use crate::storage::DatabaseAddress;

    #[tokio::test]
    async fn prefix_that_was_served_longest_ago_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Database::open(&DatabaseAddress::File(folder.path().join("queue.sqlite"))).await.unwrap();
        // No run has a record, which the queue does not read.
        sqlx::query("PRAGMA foreign_keys = OFF").execute(&storage.writer).await.unwrap();
        for (queued, (run_id, prefix)) in
            (1_i64..).zip([("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c")])
        {
            let run = Started { prefix: Some(prefix.to_owned()), ..started(run_id) };
            assert!(storage.start(&run, None).await.unwrap());
            let queue = "INSERT INTO verifications (run_id, queued_unix_seconds, taken_until_unix_seconds, attempts) \
                 VALUES ($1, $2, 0.0, 0)";
            sql!(queue, [run_id, queued]).execute(&storage.writer).await.unwrap();
        }
        for (server, now) in ["1", "2", "3", "4", "5"].into_iter().zip([100.0, 101.0, 102.0, 103.0, 104.0]) {
            storage.take_verification(None, server, now, 1e9).await.unwrap();
        }
        let query = sqlx::query_scalar("SELECT run_id FROM verifications ORDER BY taken_by");
        let order: Vec<String> = query.fetch_all(&storage.pool).await.unwrap();
        assert_eq!(order, ["a1", "b1", "c1", "a2", "a3"]);
        storage.close().await;
    }

    #[tokio::test]
    async fn keeps_states_of_few_runs_and_deletes_the_oldest() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Database::open(&DatabaseAddress::File(folder.path().join("kept.sqlite"))).await.unwrap();
        let runs: Vec<String> = (0..MAX_KEPT + 5).map(|number| format!("run{number:03}")).collect();
        for run_id in &runs {
            assert!(storage.start(&started(run_id), None).await.unwrap());
            storage.show(run_id, "a", WantedState { step: 1, weights_only: true }, 0, "").await.unwrap();
        }
        let mut transaction = storage.writing().await.unwrap();
        for (number, run_id) in (0_i32..).zip(&runs) {
            let insert = "INSERT INTO runs (run_id, tier, notes, submitted_unix_seconds, fingerprint, standard, software, \
                 backend, adapter, client, record) \
                 VALUES ($1, 'checked', '[]', 0, $1, TRUE, FALSE, 'wgsl', '{}', '{}', '{}')";
            execute!(transaction, insert, [run_id]).unwrap();
            keep_states(&mut transaction, run_id, number.into()).await.unwrap();
        }
        assert!(!is_waiting(&mut transaction, "run004").await.unwrap());
        assert!(is_waiting(&mut transaction, "run005").await.unwrap());
        let count = sqlx::query_scalar("SELECT COUNT(*) FROM shown_states");
        let states: i64 = count.fetch_one(&mut *transaction).await.unwrap();
        assert_eq!(states, MAX_KEPT);
    }
}
