//! Devices that a moderator merged into others. Their runs, including later ones, are grouped under the target and keep
//! their own key, so merging can be undone. A target is not merged itself.

use std::collections::BTreeSet;

use results::api::Deed;
use sqlx::{AnyConnection, Row};

use super::moderation::{Line, ModerationError, Occasion, log};
use super::values::{execute, sql};
use super::{Result, Storage};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Merged {
    /// The target of the merge, or the target of the named device if that device is merged itself.
    pub(crate) into: String,
    pub(crate) runs: u64,
}

impl Storage {
    pub(crate) async fn merge_devices(&self, from: &str, into: &str, occasion: Occasion<'_>) -> Result<Merged> {
        let mut transaction = self.writing().await?;
        sqlx::query(self.dialect.alone_with_runs).execute(&mut *transaction).await?;
        let into = target(&mut transaction, from, into).await?;
        let runs =
            merge(&mut transaction, from, &into).await?.ok_or_else(|| ModerationError::UnknownDevice(into.clone()))?;
        if runs == 0 {
            return Err(ModerationError::UnknownDevice(from.to_owned()).into());
        }
        let line = Line { devices: Some((from, &into)), ..Line::of(Deed::MergeDevices, occasion) };
        log(&mut transaction, &line).await?;
        self.commit_with_stale(transaction, &BTreeSet::from([from, &into])).await?;
        Ok(Merged { into, runs })
    }

    pub(crate) async fn separate_devices(&self, key: &str, occasion: Occasion<'_>) -> Result<Merged> {
        let mut transaction = self.writing().await?;
        sqlx::query(self.dialect.alone_with_runs).execute(&mut *transaction).await?;
        let separated =
            separate(&mut transaction, key).await?.ok_or_else(|| ModerationError::NotMerged(key.to_owned()))?;
        let line = Line { devices: Some((key, &separated.into)), ..Line::of(Deed::SeparateDevices, occasion) };
        log(&mut transaction, &line).await?;
        self.commit_with_stale(transaction, &BTreeSet::from([key, &separated.into])).await?;
        Ok(separated)
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

async fn target(connection: &mut AnyConnection, from: &str, into: &str) -> Result<String> {
    if from == into {
        return Err(ModerationError::SameDevice(from.to_owned()).into());
    }
    if let Some(into) = alias(connection, from).await? {
        return Err(ModerationError::MergedBefore { key: from.to_owned(), into }.into());
    }
    let target = alias(connection, into).await?.unwrap_or_else(|| into.to_owned());
    if target == from {
        return Err(ModerationError::Cycle { from: from.to_owned(), into: into.to_owned() }.into());
    }
    let others = others(connection, from).await?;
    if !others.is_empty() {
        return Err(ModerationError::HasOthers { key: from.to_owned(), others }.into());
    }
    Ok(target)
}

/// Returns the number of merged runs, or `None` if the target device has no runs.
async fn merge(connection: &mut AnyConnection, from: &str, into: &str) -> Result<Option<u64>> {
    let described = sql!(
        "SELECT COALESCE(device_aliases.into_name, runs.device_name) AS name, \
         COALESCE(device_aliases.into_vendor, runs.vendor) AS vendor \
         FROM runs LEFT JOIN device_aliases ON device_aliases.device_key = runs.own_device_key \
         WHERE runs.device_key = $1 ORDER BY submitted_unix_seconds DESC, run_id LIMIT 1",
        [into]
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(described) = described else { return Ok(None) };
    execute!(
        connection,
        "INSERT INTO device_aliases (device_key, into_key, into_name, into_vendor) VALUES ($1, $2, $3, $4)",
        [from, into, described.try_get::<&str, _>("name")?, described.try_get::<Option<&str>, _>("vendor")?]
    )?;
    execute!(
        connection,
        "UPDATE results SET device_key = $1 WHERE run_id IN (SELECT run_id FROM runs WHERE device_key = $2)",
        [into, from]
    )?;
    let merged = execute!(
        connection,
        "UPDATE runs SET device_key = $1, own_device_key = $2 WHERE device_key = $2",
        [into, from]
    )?;
    Ok(Some(merged.rows_affected()))
}

async fn separate(connection: &mut AnyConnection, key: &str) -> Result<Option<Merged>> {
    let alias = sql!("DELETE FROM device_aliases WHERE device_key = $1 RETURNING into_key", [key])
        .fetch_optional(&mut *connection)
        .await?;
    let Some(alias) = alias else { return Ok(None) };
    execute!(
        connection,
        "UPDATE results SET device_key = $1 WHERE run_id IN (SELECT run_id FROM runs WHERE own_device_key = $1)",
        [key]
    )?;
    let separated = execute!(
        connection,
        "UPDATE runs SET device_key = own_device_key, own_device_key = NULL WHERE own_device_key = $1",
        [key]
    )?;
    Ok(Some(Merged { into: alias.try_get("into_key")?, runs: separated.rows_affected() }))
}

async fn alias(connection: &mut AnyConnection, key: &str) -> Result<Option<String>> {
    let row =
        sql!("SELECT into_key FROM device_aliases WHERE device_key = $1", [key]).fetch_optional(connection).await?;
    row.map(|row| Ok(row.try_get("into_key")?)).transpose()
}

async fn others(connection: &mut AnyConnection, key: &str) -> Result<Vec<String>> {
    let rows = sql!("SELECT device_key FROM device_aliases WHERE into_key = $1 ORDER BY device_key", [key])
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| Ok(row.try_get("device_key")?)).collect()
}
