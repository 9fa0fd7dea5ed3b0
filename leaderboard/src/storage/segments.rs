//! Laps, segments and proofs of announced runs, with the times on this server's clock.

use std::collections::BTreeMap;

use results::api::{PartHashes, WantedState};
use serde_json::{Value as Json, json, to_value};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::started::KEPT_SECONDS;
use super::values::{KEEP, as_flag, execute, insert, read, sql, tuple};
use super::{Database, Result};
use crate::proof::{BegunProof, SeenLap, SeenSegment, SeenWorkload, SurroundingSegments};

// The tables of a history. Rows are in the order of the second column.
const LAPS: &str = "SELECT workload AS _workload, first_segment, state_sha256, opened_unix_seconds FROM laps";
const SEGMENTS: &str = concat!(
    "SELECT workload AS _workload, number AS _number, step, beacon, state_sha256, losses_sha256, \
     committed_unix_seconds, ",
    as_flag!("ends_lap", "ends_lap"),
    " FROM segments"
);
const PROOFS: &str =
    "SELECT workload AS _workload, word, segments, drawn AS drawn_json, tested_step, target_step FROM proofs";
const HASHES: &str = "SELECT workload AS _workload, draw, '[' || first_step || ',' || last_step || ']' AS steps_json, \
     hashes AS state_sha256_json, losses AS losses_json FROM part_hashes";
const STATES: &str =
    concat!("SELECT workload AS _workload, step, ", as_flag!("weights_only", "weights_only"), " FROM shown_states");

/// Condition for the rows of a run, or of one of its workloads if the second parameter is not null.
const OF_RUN: &str = "WHERE run_id = $1 AND (CAST($2 AS TEXT) IS NULL OR workload = $2)";

const NEAR_SEGMENT: &str = "WHERE run_id = $1 AND workload = $2 AND number >= $3 AND number <= $4";

const LAP_OF_SEGMENT: &str = concat!(
    "SELECT first_segment, state_sha256, opened_unix_seconds, ",
    as_flag!(
        "EXISTS (SELECT 1 FROM proofs WHERE proofs.run_id = laps.run_id AND proofs.workload = laps.workload)",
        "is_proof_begun"
    ),
    " FROM laps WHERE run_id = $1 AND workload = $2 AND first_segment <= $3 ORDER BY first_segment DESC LIMIT 1"
);

impl Database {
    pub(crate) async fn seen(&self, run_id: &str) -> Result<Vec<SeenWorkload>> {
        Ok(self.seen_of(run_id, None).await?.into_values().collect())
    }

    pub(crate) async fn seen_workload(&self, run_id: &str, workload: &str) -> Result<SeenWorkload> {
        let seen = self.seen_of(run_id, Some(workload)).await?.remove(workload);
        Ok(seen.unwrap_or_else(|| SeenWorkload { workload: workload.to_owned(), ..SeenWorkload::default() }))
    }

    async fn seen_of(&self, run_id: &str, workload: Option<&str>) -> Result<BTreeMap<String, SeenWorkload>> {
        let mut all = BTreeMap::new();
        let mut connection = self.pool.acquire().await?;
        for (table, add) in [
            (
                LAPS,
                (|seen, row| read(row).map(|lap| seen.laps.push(lap))) as fn(&mut SeenWorkload, &AnyRow) -> Result<()>,
            ),
            (SEGMENTS, |seen, row| read(row).map(|segment| seen.segments.push(segment))),
            (PROOFS, |seen, row| read(row).map(|proof| seen.proof = Some(proof))),
            (HASHES, |seen, row| read(row).map(|hashes| seen.hashes.push(hashes))),
            (STATES, |seen, row| read(row).map(|state| seen.states.push(state))),
        ] {
            let query = AssertSqlSafe(format!("{table} {OF_RUN} ORDER BY 2"));
            for row in sql!(query, [run_id, workload]).fetch_all(&mut *connection).await? {
                let workload: String = row.try_get("_workload")?;
                let new = || SeenWorkload { workload: workload.clone(), ..SeenWorkload::default() };
                add(all.entry(workload.clone()).or_insert_with(new), &row)?;
            }
            // Every row of the other tables belongs to a lap.
            if all.is_empty() {
                break;
            }
        }
        Ok(all)
    }

    /// Returns a segment with its neighbours, without reading the whole history.
    pub(crate) async fn surroundings(&self, run_id: &str, workload: &str, number: u32) -> Result<SurroundingSegments> {
        let mut found = SurroundingSegments::default();
        let number = i64::from(number);
        let lap = sql!(LAP_OF_SEGMENT, [run_id, workload, number]).fetch_optional(&self.pool).await?;
        let Some(row) = lap else { return Ok(found) };
        found.is_proof_begun = row.try_get::<i64, _>("is_proof_begun_flag")? != 0;
        found.lap = Some(read(&row)?);
        let query = AssertSqlSafe(format!("{SEGMENTS} {NEAR_SEGMENT}"));
        for row in sql!(query, [run_id, workload, number - 2, number]).fetch_all(&self.pool).await? {
            let place = match number - row.try_get::<i64, _>("_number")? {
                0 => &mut found.same,
                1 => &mut found.before,
                _ => &mut found.two_before,
            };
            *place = Some(read(&row)?);
        }
        Ok(found)
    }

    /// Stores a lap. Returns false if there is already one with this first segment.
    pub(crate) async fn open_lap(&self, run_id: &str, workload: &str, lap: &SeenLap) -> Result<bool> {
        self.keep("laps", run_id, workload, to_value(lap)?).await
    }

    /// Stores a segment. Returns false if there is already one with this number.
    pub(crate) async fn commit(&self, run_id: &str, workload: &str, number: u32, seen: &SeenSegment) -> Result<bool> {
        let mut row = to_value(seen)?;
        row["number"] = number.into();
        self.keep("segments", run_id, workload, row).await
    }

    pub(crate) async fn begin_proof(&self, run_id: &str, workload: &str, proof: &BegunProof) -> Result<bool> {
        self.keep("proofs", run_id, workload, to_value(proof)?).await
    }

    pub(crate) async fn keep_hashes(&self, run_id: &str, workload: &str, hashes: &PartHashes) -> Result<bool> {
        let lists = [serde_json::to_string(&hashes.state_sha256)?, serde_json::to_string(&hashes.losses)?];
        let row = json!({
            "draw": hashes.draw, "first_step": hashes.steps[0], "last_step": hashes.steps[1],
            "bytes": lists[0].len() + lists[1].len(), "hashes": lists[0], "losses": lists[1],
        });
        self.keep("part_hashes", run_id, workload, row).await
    }

    /// Stores a row of a workload. Returns false if there is already one with its key.
    async fn keep(&self, table: &str, run_id: &str, workload: &str, mut row: Json) -> Result<bool> {
        row["run_id"] = run_id.into();
        row["workload"] = workload.into();
        Ok(self.write(insert(table, &row, KEEP)).await?.rows_affected() == 1)
    }
}

/// Forces SQLite to begin with states and hashes, which are few, and not with runs, which are many.
const WAITING: &str = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS of_all, \
     CAST(COALESCE(SUM(CASE WHEN prefix = $1 THEN bytes END), 0) AS BIGINT) AS of_prefix \
     FROM (SELECT run_id, bytes FROM shown_states UNION ALL SELECT run_id, bytes FROM part_hashes) AS waiting \
     CROSS JOIN started_runs WHERE started_runs.run_id = waiting.run_id \
     AND (used = TRUE OR expires_unix_seconds >= $2)";

/// Selects a workload of a run whose announcement can be deleted.
const FORGETTABLE: &str = "SELECT laps.run_id, laps.workload FROM started_runs \
     JOIN laps ON laps.run_id = started_runs.run_id WHERE expires_unix_seconds < $1 LIMIT 1";

impl Database {
    /// Stores a state in base64 and its size in bytes, unless it is stored already.
    pub(crate) async fn show(
        &self,
        run_id: &str,
        workload: &str,
        shown: WantedState,
        bytes: usize,
        state: &str,
    ) -> Result<()> {
        let insert = "INSERT INTO shown_states (run_id, workload, step, weights_only, bytes, state) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (run_id, workload, step) DO NOTHING";
        let (step, bytes) = (i64::try_from(shown.step)?, i64::try_from(bytes)?);
        self.write(sql!(insert, [run_id, workload, step, shown.weights_only, bytes, state])).await?;
        Ok(())
    }

    /// Returns the state after `step` steps, in base64, and whether it has only the weights.
    pub(crate) async fn state(&self, run_id: &str, workload: &str, step: u64) -> Result<Option<(bool, String)>> {
        let query = "SELECT CASE WHEN weights_only THEN 1 ELSE 0 END, state FROM shown_states \
             WHERE run_id = $1 AND workload = $2 AND step = $3";
        let query = tuple!(query, [run_id, workload, i64::try_from(step)?]);
        let found: Option<(i64, String)> = query.fetch_optional(&self.pool).await?;
        Ok(found.map(|(weights_only, state)| (weights_only != 0, state)))
    }

    /// Returns the bytes that wait for verification: of all runs, and of those announced from `prefix`.
    pub(crate) async fn waiting_bytes(&self, prefix: Option<&str>, now: f64) -> Result<[u64; 2]> {
        let (of_all, of_prefix): (i64, i64) = tuple!(WAITING, [prefix, now]).fetch_one(&self.pool).await?;
        Ok([of_all.try_into()?, of_prefix.try_into()?])
    }

    /// Deletes states and hashes of unused expired runs, and segments of old runs, a few at a time.
    pub(crate) async fn forget_expired(&self, now: f64) -> Result<()> {
        for table in ["shown_states", "part_hashes"] {
            let forget = format!(
                "DELETE FROM {table} WHERE run_id IN (SELECT started_runs.run_id FROM started_runs \
                 JOIN {table} ON {table}.run_id = started_runs.run_id \
                 WHERE used = FALSE AND expires_unix_seconds < $1 LIMIT 10)"
            );
            while self.write(sql!(AssertSqlSafe(forget.clone()), [now])).await?.rows_affected() > 0 {}
        }
        loop {
            let forgettable = tuple!(FORGETTABLE, [now - KEPT_SECONDS]);
            let next: Option<(String, String)> = forgettable.fetch_optional(&self.pool).await?;
            let Some((run_id, workload)) = next else { return Ok(()) };
            let mut transaction = self.writing().await?;
            for delete in [
                "DELETE FROM segments WHERE run_id = $1 AND workload = $2",
                "DELETE FROM laps WHERE run_id = $1 AND workload = $2",
            ] {
                execute!(transaction, delete, [&run_id, &workload])?;
            }
            transaction.commit().await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::Started;
    use crate::proof::testing::{seen, started};
    use crate::storage::DatabaseAddress;

    const WORKLOAD: &str = "keras-mnist-mlp";
    const EXPIRES: f64 = 1000.0;

    #[tokio::test]
    async fn states_and_hashes_go_with_a_run_and_segments_later() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Database::open(&DatabaseAddress::File(folder.path().join("segments.sqlite"))).await.unwrap();
        let run = Started { prefix: Some("prefix".to_owned()), ..started("run") };
        assert!(storage.start(&run, None).await.unwrap());
        let mut kept = seen(&[2], 10);
        assert!(storage.open_lap("run", WORKLOAD, &kept.laps[0]).await.unwrap());
        for (number, segment) in (0..).zip(&kept.segments) {
            assert!(storage.commit("run", WORKLOAD, number, segment).await.unwrap());
        }
        let proof =
            BegunProof { word: "a".to_owned(), segments: 2, drawn: vec![1, 0], tested_step: 10, target_step: None };
        storage.begin_proof("run", WORKLOAD, &proof).await.unwrap();
        let hashes = PartHashes { draw: 1, steps: [0, 2], state_sha256: vec!["b".to_owned()], losses: vec![2.3, 0.1] };
        storage.keep_hashes("run", WORKLOAD, &hashes).await.unwrap();
        let shown = WantedState { step: 20, weights_only: true };
        storage.show("run", WORKLOAD, shown, 5, "state").await.unwrap();
        (kept.proof, kept.hashes, kept.states) = (Some(proof), vec![hashes], vec![shown]);
        storage.forget_expired(EXPIRES - 1.0).await.unwrap();
        assert_eq!(storage.seen("run").await.unwrap(), std::slice::from_ref(&kept));
        storage.forget_expired(EXPIRES + 1.0).await.unwrap();
        assert_eq!(storage.waiting_bytes(Some("prefix"), 0.0).await.unwrap(), [0, 0]);
        (kept.hashes, kept.states) = (Vec::new(), Vec::new());
        assert_eq!(storage.seen("run").await.unwrap(), [kept]);
        storage.forget_expired(EXPIRES + KEPT_SECONDS + 1.0).await.unwrap();
        let seen = storage.seen_workload("run", WORKLOAD).await.unwrap();
        assert!(seen.laps.is_empty() && seen.segments.is_empty());
    }
}
