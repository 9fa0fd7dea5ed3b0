use std::collections::BTreeSet;

use results::api::Tier;
use results::{RunRecord, Summary};
use sqlx::{AnyConnection, Row};

use super::listing::descending;
use super::ranked::outdate;
use super::trust::{self, Own, Trust};
use super::unexamined;
use super::values::{as_flag, flag};
use super::{Storage, StorageError};

/// Runs that were never verified come first, so that a replay of many delays no new one. Among them, the /24 or /48 that was
/// served longest ago comes first, so that many runs of one client delay others by one run.
const TAKE: &str = concat!(
    "UPDATE verifications SET taken_until_unix_seconds = $1, attempts = attempts + 1, taken_by = $4 \
     WHERE taken_until_unix_seconds < $2 AND run_id = (SELECT waiting.run_id FROM verifications waiting \
     LEFT JOIN started_runs started ON started.run_id = waiting.run_id \
     WHERE taken_until_unix_seconds < $2 AND (CAST($3 AS TEXT) IS NULL OR waiting.run_id = $3) \
     ORDER BY in_part, COALESCE((SELECT MAX(served.verified_unix_seconds) FROM started_runs served \
     WHERE served.prefix = started.prefix), 0.0), queued_unix_seconds, waiting.run_id LIMIT 1) RETURNING run_id, attempts, ",
    as_flag!("in_part", "in_part")
);
/// Note on a submitter's other proven runs. They stay proven, because their states are deleted and many people may
/// share an address.
const OTHER_FLAGGED: &str = "Another run of this submitter on this day was flagged.";
/// Selects the other runs of a submitter. The submitter's word changes every day, so these are runs of one day.
const OTHERS: &str = "SELECT others.run_id FROM runs JOIN runs others ON others.submitter = runs.submitter \
     WHERE runs.run_id = $1 AND others.run_id <> $1 ORDER BY others.run_id";
const NOTE_SERVICE: &str = "UPDATE started_runs SET verified_unix_seconds = $1 WHERE run_id = $2";

/// A run that waits to be verified, taken by whoever holds this.
pub(crate) struct Verification {
    pub(crate) run_id: String,
    /// Number of attempts, including this one and without those that a server shutdown interrupted.
    pub(crate) attempts: u32,
    /// Whether not all of it can be computed again, which then proves nothing.
    pub(crate) in_part: bool,
    pub(crate) record: RunRecord,
}

/// What a verification makes of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conclusion {
    /// What the run is of its own from now on.
    pub(crate) own: Own,
    /// What became of it, as a sentence for whoever asked.
    pub(crate) said: String,
    /// True if its states are kept, because they could not be examined.
    pub(crate) unexamined: bool,
    /// Workloads with the accuracies that the server computed, which replace the record's.
    pub(crate) measured: Vec<(String, f64)>,
}

impl Storage {
    /// Takes the run that has waited longest for the server `by`, until `until`, when others may take it.
    pub(crate) async fn take_verification(
        &self,
        by: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Verification>, StorageError> {
        self.take(None, by, now, until).await
    }

    /// Takes this very run; nothing when it does not wait, or when somebody else works on it.
    pub(crate) async fn take_verification_of(
        &self,
        run_id: &str,
        by: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Verification>, StorageError> {
        self.take(Some(run_id), by, now, until).await
    }

    async fn take(
        &self,
        run_id: Option<&str>,
        by: &str,
        now: f64,
        until: f64,
    ) -> Result<Option<Verification>, StorageError> {
        // Nobody is told of it, so that the disk may have it later: what is taken is free again after a while anyway.
        let turn = self.turn().await?;
        let taken = sqlx::query(TAKE).bind(until).bind(now).bind(run_id).bind(by).fetch_optional(&self.writer).await?;
        let Some(taken) = taken else { return Ok(None) };
        let run_id: String = taken.try_get("run_id")?;
        sqlx::query(NOTE_SERVICE).bind(now).bind(&run_id).execute(&self.writer).await?;
        drop(turn);
        let attempts = u32::try_from(taken.try_get::<i64, _>("attempts")?)?;
        // A run that waited until its announcement was deleted has lost its states, too.
        let mut connection = self.pool.acquire().await?;
        let in_part = flag(&taken, "in_part")? || !unexamined::has_states(&mut connection, &run_id).await?;
        let row = sqlx::query("SELECT record FROM runs WHERE run_id = $1")
            .bind(&run_id)
            .fetch_optional(&mut *connection)
            .await?;
        // Somebody deleted it at this very moment.
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Verification { run_id, attempts, in_part, record: serde_json::from_str(row.try_get("record")?)? }))
    }

    /// Sets the tier that a run has earned, which a moderator's decision may override, and deletes its states. The
    /// result depends on the run's current tier without such a decision, and on whether only a part could be computed
    /// again, because states may be deleted before they are read. Returns the result, or `None` if the run was deleted.
    pub(crate) async fn conclude_verification(
        &self,
        of: &Verification,
        now: f64,
        conclude: impl FnOnce(&Own, bool) -> Conclusion,
    ) -> Result<Option<Own>, StorageError> {
        let run_id = of.run_id.as_str();
        let mut transaction = self.writing().await?;
        let Some(before) = trust::read(&mut transaction, run_id).await? else {
            // Somebody deleted it, and all that waited for it.
            transaction.rollback().await?;
            return Ok(None);
        };
        let in_part = of.in_part || !unexamined::has_states(&mut transaction, run_id).await?;
        let Conclusion { own, mut said, unexamined, measured } = conclude(&before.own, in_part);
        for (workload, accuracy) in &measured {
            write_accuracy(&mut transaction, run_id, workload, *accuracy).await?;
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
            said.push_str(" What a moderator said of it stands, and is what is shown.");
        }
        sqlx::query("UPDATE replays SET outcome = $1 WHERE run_id = $2")
            .bind(said)
            .bind(run_id)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("DELETE FROM verifications WHERE run_id = $1").bind(run_id).execute(&mut *transaction).await?;
        if unexamined {
            unexamined::keep(&mut transaction, run_id, now).await?;
        } else {
            unexamined::forget(&mut transaction, run_id).await?;
        }
        for device in &stale {
            outdate(&mut transaction, device).await?;
        }
        transaction.commit().await?;
        self.refresh_figures().await;
        Ok(Some(own))
    }

    /// Lets others have every run that the server `by` took. An attempt that a stop of the server `interrupted` does not count;
    /// of a server that died it does, because the run may have killed it.
    pub(crate) async fn release_verifications(&self, by: &str, interrupted: bool) -> Result<(), StorageError> {
        let release = "UPDATE verifications SET taken_until_unix_seconds = 0, attempts = attempts - $1 \
             WHERE taken_by = $2 AND taken_until_unix_seconds > 0";
        self.write(sqlx::query(release).bind(i64::from(interrupted)).bind(by)).await?;
        Ok(())
    }

    /// Whether a run waits to be verified, or is being verified. One that only waits to be computed again in part is what it
    /// is meanwhile.
    pub(crate) async fn is_being_verified(&self, run_id: &str) -> Result<bool, StorageError> {
        let row = sqlx::query("SELECT COUNT(*) AS waiting FROM verifications WHERE run_id = $1 AND in_part = FALSE")
            .bind(run_id)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get::<i64, _>("waiting")? > 0)
    }
}

/// Puts a run into the queue. A run that is queued already keeps its entry.
pub(super) async fn queue(
    connection: &mut AnyConnection,
    run_id: &str,
    now: f64,
    in_part: bool,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO verifications (run_id, queued_unix_seconds, taken_until_unix_seconds, attempts, in_part) \
         VALUES ($1, $2, 0, 0, $3) ON CONFLICT (run_id) DO NOTHING",
    )
    .bind(run_id)
    .bind(now)
    .bind(in_part)
    .execute(connection)
    .await?;
    Ok(())
}

async fn write_accuracy(
    connection: &mut AnyConnection,
    run_id: &str,
    workload: &str,
    accuracy: f64,
) -> Result<(), StorageError> {
    let row = sqlx::query("SELECT summary FROM results WHERE run_id = $1 AND workload = $2")
        .bind(run_id)
        .bind(workload)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(()) };
    let summary = Summary { accuracy: Some(accuracy), ..serde_json::from_str(row.try_get("summary")?)? };
    sqlx::query("UPDATE results SET summary = $1, descending_accuracy = $2 WHERE run_id = $3 AND workload = $4")
        .bind(serde_json::to_string(&summary)?)
        .bind(descending(summary.accuracy))
        .bind(run_id)
        .bind(workload)
        .execute(connection)
        .await?;
    Ok(())
}

/// Adds a note to the submitter's proven runs of that day, and queues checked runs that still have their states for
/// verification. Returns the devices whose metrics are outdated.
async fn doubt_others(
    connection: &mut AnyConnection,
    flagged: &str,
    now: f64,
) -> Result<BTreeSet<String>, StorageError> {
    let rows = sqlx::query(OTHERS).bind(flagged).fetch_all(&mut *connection).await?;
    let mut devices = BTreeSet::new();
    for row in &rows {
        let run_id: &str = row.try_get("run_id")?;
        let Some(before) = trust::read(connection, run_id).await? else { continue };
        if before.own.tier == Tier::Proven {
            let mut after = before.clone();
            after.own.notes.retain(|note| note != OTHER_FLAGGED);
            after.own.notes.push(OTHER_FLAGGED.to_owned());
            devices.extend(trust::write(connection, run_id, &before, &after).await?);
        } else if before.own.tier == Tier::Checked && unexamined::is_waiting(connection, run_id).await? {
            queue(connection, run_id, now, false).await?;
        }
    }
    Ok(devices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Acceptance, DatabaseAddress, NewRun, Submitter};

    #[tokio::test]
    async fn prefix_that_was_served_longest_ago_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&DatabaseAddress::File(folder.path().join("queue.sqlite"))).await.unwrap();
        // No run has a record, which the queue does not read.
        sqlx::query("PRAGMA foreign_keys = OFF").execute(&storage.writer).await.unwrap();
        for (queued, (run_id, prefix)) in
            (1_i64..).zip([("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c")])
        {
            let announce = "INSERT INTO started_runs (run_id, nonce, seed, suite_name, suite_version, engine_version, \
                 created_unix_seconds, expires_unix_seconds, used, prefix) \
                 VALUES ($1, '', 1, 'quick', 1, '', 0.0, 0.0, TRUE, $2)";
            sqlx::query(announce).bind(run_id).bind(prefix).execute(&storage.writer).await.unwrap();
            let queue = "INSERT INTO verifications (run_id, queued_unix_seconds, taken_until_unix_seconds, attempts) \
                 VALUES ($1, $2, 0.0, 0)";
            sqlx::query(queue).bind(run_id).bind(queued).execute(&storage.writer).await.unwrap();
        }
        for (server, now) in ["1", "2", "3", "4", "5"].into_iter().zip([100.0, 101.0, 102.0, 103.0, 104.0]) {
            storage.take_verification(server, now, 1e9).await.unwrap();
        }
        let rows = sqlx::query("SELECT run_id FROM verifications ORDER BY taken_by").fetch_all(&storage.pool).await;
        let order: Vec<String> = rows.unwrap().iter().map(|row| row.get("run_id")).collect();
        assert_eq!(order, ["a1", "b1", "c1", "a2", "a3"]);
        storage.close().await;
    }
    async fn store(storage: &Storage, run_id: &str, submitter: &str, tier: Tier) -> Verification {
        let record = crate::devices::testing::native("Example GPU 9000", "");
        let run = NewRun {
            run_id,
            tier,
            notes: &[],
            submitted_unix_seconds: 0.0,
            fingerprint: run_id,
            deletion_secret_hash: None,
            submitter: &Submitter { word: Some(submitter.to_owned()), day: 0 },
            record: &record,
            listed: &[],
            registered: false,
            verify: false,
        };
        assert_eq!(storage.accept(&run).await.unwrap(), Acceptance::Stored);
        Verification { run_id: run_id.to_owned(), attempts: 1, in_part: false, record }
    }

    fn conclusion(tier: Tier, measured: Vec<(String, f64)>) -> Conclusion {
        Conclusion { own: Own { tier, notes: Vec::new() }, said: String::new(), unexamined: false, measured }
    }

    #[tokio::test]
    async fn measured_accuracy_takes_the_place_of_the_records() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&DatabaseAddress::File(folder.path().join("accuracy.sqlite"))).await.unwrap();
        let of = store(&storage, "run", "somebody", Tier::Checked).await;
        let measured = vec![("keras-mnist-mlp".to_owned(), 0.5), ("caffe-mnist".to_owned(), 0.6)];
        storage.conclude_verification(&of, 1.0, |_, _| conclusion(Tier::Proven, measured)).await.unwrap();
        let row =
            sqlx::query("SELECT summary, descending_accuracy FROM results").fetch_one(&storage.pool).await.unwrap();
        let summary: Summary = serde_json::from_str(row.get("summary")).unwrap();
        assert_eq!(summary, Summary { accuracy: Some(0.5), ..of.record.workloads[0].summary.clone() });
        assert_eq!(row.get::<f64, _>("descending_accuracy"), -0.5);
    }

    #[tokio::test]
    async fn a_flagged_run_is_noted_at_its_submitters_proven_runs() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&DatabaseAddress::File(folder.path().join("flagged.sqlite"))).await.unwrap();
        store(&storage, "proven", "cheat", Tier::Proven).await;
        store(&storage, "checked", "cheat", Tier::Checked).await;
        store(&storage, "other", "somebody", Tier::Proven).await;
        let of = store(&storage, "flagged", "cheat", Tier::Checked).await;
        storage.conclude_verification(&of, 1.0, |_, _| conclusion(Tier::Flagged, Vec::new())).await.unwrap();
        for (run_id, tier, notes) in [
            ("proven", Tier::Proven, vec![OTHER_FLAGGED.to_owned()]),
            ("checked", Tier::Checked, Vec::new()),
            ("other", Tier::Proven, Vec::new()),
            ("flagged", Tier::Flagged, Vec::new()),
        ] {
            let row = storage.stored_row(run_id).await.unwrap().unwrap();
            assert_eq!((row.tier, row.notes), (tier, notes), "{run_id}");
        }
        assert!(!storage.is_being_verified("checked").await.unwrap(), "its states are gone");
    }
}
