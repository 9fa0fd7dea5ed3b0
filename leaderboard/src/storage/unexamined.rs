//! Runs that could not be verified because the server lacked something, such as a data set. Their states are kept, so
//! that a replay can verify them later.

use sqlx::{AnyConnection, Row};

use super::StorageError;
use super::values::{as_flag, flag};

/// Largest number of runs whose states are kept, about 40 MB each. The oldest are deleted first.
const MOST_KEPT: i64 = 10;
/// Runs over that which are forgotten at once.
const FORGOTTEN_AT_ONCE: i64 = 1000;

const TOO_MANY: &str = "SELECT run_id FROM unexamined_runs ORDER BY since_unix_seconds DESC, run_id LIMIT $1 OFFSET $2";

const HAS_STATES: &str =
    concat!("SELECT ", as_flag!("EXISTS (SELECT 1 FROM shown_states WHERE run_id = $1)", "has_states"));

/// Returns true if the states of a run still exist. Only a run that could be proven when it was uploaded has any, and
/// all states of a run are deleted together.
pub(super) async fn has_states(connection: &mut AnyConnection, run_id: &str) -> Result<bool, StorageError> {
    let row = sqlx::query(HAS_STATES).bind(run_id).fetch_one(connection).await?;
    Ok(flag(&row, "has_states")?)
}

/// Whether the whole of a run can be verified that was verified before in vain.
pub(super) async fn is_waiting(connection: &mut AnyConnection, run_id: &str) -> Result<bool, StorageError> {
    let row = sqlx::query("SELECT COUNT(*) AS runs FROM unexamined_runs WHERE run_id = $1")
        .bind(run_id)
        .fetch_one(&mut *connection)
        .await?;
    Ok(row.try_get::<i64, _>("runs")? > 0 && has_states(connection, run_id).await?)
}

/// Keeps the states of a run, and deletes the oldest runs' states beyond the limit.
pub(super) async fn keep(connection: &mut AnyConnection, run_id: &str, now: f64) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO unexamined_runs (run_id, since_unix_seconds) VALUES ($1, $2) ON CONFLICT (run_id) DO NOTHING",
    )
    .bind(run_id)
    .bind(now)
    .execute(&mut *connection)
    .await?;
    let rows = sqlx::query(TOO_MANY).bind(FORGOTTEN_AT_ONCE).bind(MOST_KEPT).fetch_all(&mut *connection).await?;
    for row in &rows {
        forget(connection, row.try_get("run_id")?).await?;
    }
    Ok(())
}

/// Deletes the states of a run and their hashes.
pub(super) async fn forget(connection: &mut AnyConnection, run_id: &str) -> Result<(), StorageError> {
    for forget in [
        "DELETE FROM unexamined_runs WHERE run_id = $1",
        "DELETE FROM shown_states WHERE run_id = $1",
        "DELETE FROM part_hashes WHERE run_id = $1",
    ] {
        sqlx::query(forget).bind(run_id).execute(&mut *connection).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{DatabaseAddress, Storage};

    #[tokio::test]
    async fn states_of_few_runs_are_kept_and_the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&DatabaseAddress::File(folder.path().join("kept.sqlite"))).await.unwrap();
        let mut transaction = storage.writing().await.unwrap();
        let runs = MOST_KEPT + 5;
        for number in 0..runs {
            let run_id = format!("run{number:03}");
            sqlx::query(
                "INSERT INTO runs (run_id, tier, notes, submitted_unix_seconds, fingerprint, standard, software, backend, \
                 adapter, client, record) VALUES ($1, 'checked', '[]', 0, $1, TRUE, FALSE, 'wgsl', '{}', '{}', '{}')",
            )
            .bind(&run_id)
            .execute(&mut *transaction)
            .await
            .unwrap();
            sqlx::query(
                "INSERT INTO started_runs (run_id, nonce, seed, suite_name, suite_version, engine_version, \
                 created_unix_seconds, expires_unix_seconds, used) VALUES ($1, '', 1, 'quick', 1, '0', 0, 0, TRUE)",
            )
            .bind(&run_id)
            .execute(&mut *transaction)
            .await
            .unwrap();
            sqlx::query(
                "INSERT INTO shown_states (run_id, workload, step, weights_only, bytes, state) \
                 VALUES ($1, 'a', 1, TRUE, 0, '')",
            )
            .bind(&run_id)
            .execute(&mut *transaction)
            .await
            .unwrap();
            keep(&mut transaction, &run_id, f64::from(i32::try_from(number).unwrap())).await.unwrap();
        }
        assert!(!is_waiting(&mut transaction, "run004").await.unwrap());
        assert!(is_waiting(&mut transaction, "run005").await.unwrap());
        let row = sqlx::query("SELECT COUNT(*) AS rows FROM shown_states").fetch_one(&mut *transaction).await.unwrap();
        assert_eq!(row.try_get::<i64, _>("rows").unwrap(), MOST_KEPT);
    }
}
