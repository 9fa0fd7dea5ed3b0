//! Devices that a moderator merged into others. Their runs, including later ones, are grouped under the target and keep
//! their own key, so merging can be undone. A target is not merged itself.

use std::collections::BTreeSet;

use results::api::Deed;
use serde_json::json;
use sqlx::AnyConnection;

use super::moderation::{Occasion, log};
use super::values::{execute, scalar, tuple};
use super::{Database, Result, StorageError};

impl Database {
    /// Returns the target, which is another one if the named device is merged itself, and the number of merged runs.
    pub(crate) async fn merge_devices(&self, from: &str, into: &str, occasion: Occasion<'_>) -> Result<(String, u64)> {
        let mut transaction = self.writing().await?;
        sqlx::query(self.dialect.alone_with_runs).execute(&mut *transaction).await?;
        let into = target(&mut transaction, from, into).await?;
        let select = "SELECT COALESCE(device_aliases.into_name, runs.device_name) AS name, \
             COALESCE(device_aliases.into_vendor, runs.vendor) AS vendor \
             FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
             WHERE runs.device_key = $1 ORDER BY submitted_unix_seconds DESC, run_id LIMIT 1";
        let describe = tuple!(select, [&into]);
        let described: Option<(String, Option<String>)> = describe.fetch_optional(&mut *transaction).await?;
        let (name, vendor) = described.ok_or_else(|| unknown_device(&into))?;
        let insert =
            "INSERT INTO device_aliases (device_key, into_key, into_name, into_vendor) VALUES ($1, $2, $3, $4)";
        execute!(transaction, insert, [from, &into, name, vendor])?;
        let update =
            "UPDATE results SET device_key = $1 WHERE run_id IN (SELECT run_id FROM runs WHERE device_key = $2)";
        execute!(transaction, update, [&into, from])?;
        let update = "UPDATE runs SET device_key = $1, own_device_key = $2 WHERE device_key = $2";
        let runs = execute!(transaction, update, [&into, from])?.rows_affected();
        if runs == 0 {
            return Err(unknown_device(from));
        }
        let row = json!({ "device_key": from, "into_device_key": into });
        log(&mut transaction, Deed::MergeDevices, occasion, row).await?;
        self.commit_with_stale(transaction, &BTreeSet::from([from, &into])).await?;
        Ok((into, runs))
    }

    /// Returns the target of the merge and the number of separated runs.
    pub(crate) async fn separate_devices(&self, key: &str, occasion: Occasion<'_>) -> Result<(String, u64)> {
        let mut transaction = self.writing().await?;
        sqlx::query(self.dialect.alone_with_runs).execute(&mut *transaction).await?;
        let delete = scalar!("DELETE FROM device_aliases WHERE device_key = $1 RETURNING into_key", [key]);
        let into: Option<String> = delete.fetch_optional(&mut *transaction).await?;
        let into = into.ok_or_else(|| StorageError::Refused(format!("{key} is not merged into another device")))?;
        let update =
            "UPDATE results SET device_key = $1 WHERE run_id IN (SELECT run_id FROM runs WHERE own_device_key = $1)";
        execute!(transaction, update, [key])?;
        let update = "UPDATE runs SET device_key = own_device_key, own_device_key = NULL WHERE own_device_key = $1";
        let runs = execute!(transaction, update, [key])?.rows_affected();
        let row = json!({ "device_key": key, "into_device_key": into });
        log(&mut transaction, Deed::SeparateDevices, occasion, row).await?;
        self.commit_with_stale(transaction, &BTreeSet::from([key, &into])).await?;
        Ok((into, runs))
    }

    /// Returns the key that groups the runs of a device: its own unless it was merged.
    pub(crate) async fn grouped_as(&self, key: &str) -> Result<String> {
        let mut connection = self.pool.acquire().await?;
        Ok(alias(&mut connection, key).await?.unwrap_or_else(|| key.to_owned()))
    }

    pub(crate) async fn merged_into(&self, key: &str) -> Result<Vec<String>> {
        let mut connection = self.pool.acquire().await?;
        others(&mut connection, key).await
    }
}

fn unknown_device(key: &str) -> StorageError {
    StorageError::Refused(format!(
        "no run has the device {key}: a device's key is the part after /devices/ in its page's address"
    ))
}

async fn target(connection: &mut AnyConnection, from: &str, into: &str) -> Result<String> {
    let refuse = |why: String| Err(StorageError::Refused(why));
    if from == into {
        return refuse(format!("both keys name the same device, {from}: specify two different keys"));
    }
    let separate = "leaderboard moderate separate-devices";
    if let Some(into) = alias(connection, from).await? {
        return refuse(format!("{from} was merged into {into} before: separate it first, with `{separate} {from}`"));
    }
    let target = alias(connection, into).await?.unwrap_or_else(|| into.to_owned());
    if target == from {
        return refuse(format!(
            "{into} was merged into {from} before, so they are already the same device: separate it first, with \
             `{separate} {into}`"
        ));
    }
    let others = others(connection, from).await?.join(", ");
    if !others.is_empty() {
        return refuse(format!(
            "other devices were merged into {from}: {others}. Separate them first, with `{separate}`, and merge each \
             of them"
        ));
    }
    Ok(target)
}

async fn alias(connection: &mut AnyConnection, key: &str) -> Result<Option<String>> {
    Ok(scalar!("SELECT into_key FROM device_aliases WHERE device_key = $1", [key]).fetch_optional(connection).await?)
}

async fn others(connection: &mut AnyConnection, key: &str) -> Result<Vec<String>> {
    let query = scalar!("SELECT device_key FROM device_aliases WHERE into_key = $1 ORDER BY device_key", [key]);
    Ok(query.fetch_all(connection).await?)
}
