//! Which results are listed and which are ranked, whenever a run gets another tier.

use results::api::Tier;
use sqlx::{AnyConnection, Row};

use super::{StorageError, kinds};
use crate::secrets::random_word;

/// The one place that says what may be ranked: what a run was standard, proven and computed on hardware for, with figures
/// that may be ranked themselves.
const PLACE: &str = "UPDATE results SET (shown, ranked_as, device_key, voice, submitter_day) = \
     (SELECT runs.tier <> 'hidden', \
     CASE WHEN results.rankable AND runs.tier = 'proven' AND runs.standard AND NOT runs.software \
     AND runs.device_class IN ('gpu', 'processor') THEN runs.device_class END, \
     COALESCE(runs.device_key, ''), COALESCE(runs.prefix, runs.submitter), COALESCE(runs.submitter_day, 0) \
     FROM runs WHERE runs.run_id = results.run_id) WHERE run_id = $1";

const OUTDATE: &str = "INSERT INTO stale_devices (device_key, mark) VALUES ($1, $2) \
     ON CONFLICT (device_key) DO UPDATE SET mark = excluded.mark";

/// Lists and ranks the results of a run by its tier. Figures of its device are made again where it was `before`, or is
/// now, among the runs that they are made from.
pub(super) async fn place(
    connection: &mut AnyConnection,
    run_id: &str,
    before: Option<Tier>,
    now: Tier,
) -> Result<(), StorageError> {
    match place_results(connection, run_id, before, now).await? {
        Some(device) => outdate(connection, &device).await,
        None => Ok(()),
    }
}

/// The same for a transaction that places several runs: it returns the device to [`outdate`] when all are placed.
pub(super) async fn place_results(
    connection: &mut AnyConnection,
    run_id: &str,
    before: Option<Tier>,
    now: Tier,
) -> Result<Option<String>, StorageError> {
    list_anew(connection, run_id, now).await?;
    if before != Some(Tier::Proven) && now != Tier::Proven {
        return Ok(None);
    }
    let device = sqlx::query("SELECT device_key FROM runs WHERE run_id = $1 AND device_key IS NOT NULL")
        .bind(run_id)
        .fetch_optional(&mut *connection)
        .await?;
    device.map(|device| Ok(device.try_get("device_key")?)).transpose()
}

/// Copies to the results of a run whatever of it lists go by: its tier, whether it may be ranked, its device and who handed
/// it in. Whoever changes any of these says so here, or to [`place`].
pub(super) async fn list_anew(connection: &mut AnyConnection, run_id: &str, tier: Tier) -> Result<(), StorageError> {
    sqlx::query(PLACE).bind(run_id).execute(&mut *connection).await?;
    kinds::renew(connection, run_id, tier).await
}

/// Says that the figures of a device have to be made again. This comes last in a transaction, and in the order of the keys
/// where there are several, so that no two transactions wait for each other.
pub(super) async fn outdate(connection: &mut AnyConnection, device_key: &str) -> Result<(), StorageError> {
    sqlx::query(OUTDATE).bind(device_key).bind(mark()?).execute(connection).await?;
    Ok(())
}

/// A word by which this change is told from any other.
pub(super) fn mark() -> Result<String, StorageError> {
    random_word::<8>().map_err(|cause| StorageError::Mark(cause.to_string()))
}
