//! Trust in runs: the tier that a run has earned, and the decision of a moderator, which overrides it.

use std::collections::BTreeSet;

use results::api::{Note, Tier};
use serde::Deserialize;
use sqlx::{AnyConnection, Row};

use super::values::{execute, read, scalar, sql};
use super::writing::Writing;
use super::{Database, Result, kinds};
use crate::secrets::random_word;

/// The tier that a run has earned by the rules and its verification, without decisions of moderators.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Own {
    pub(crate) tier: Tier,
    pub(crate) notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Hidden,
    /// With the reason, which is empty if none was given.
    Flagged(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trust {
    pub(super) own: Own,
    pub(super) word: Option<Word>,
}

impl Trust {
    pub(super) fn shown(&self) -> Own {
        match &self.word {
            None => self.own.clone(),
            Some(Word::Hidden) => Own { tier: Tier::Hidden, notes: self.own.notes.clone() },
            Some(Word::Flagged(reason)) => {
                let moderated = Note::Moderated { reason: reason.clone() };
                let notes = std::iter::once(&moderated).chain(&self.own.notes).cloned().collect();
                Own { tier: Tier::Flagged, notes }
            }
        }
    }
}

/// Locks a run until the transaction ends. Returns `false` for an unknown run. The update without effect locks the row
/// on PostgreSQL and all writing on SQLite.
pub(super) async fn hold(connection: &mut AnyConnection, run_id: &str) -> Result<bool> {
    Ok(execute!(connection, "UPDATE runs SET tier = tier WHERE run_id = $1", [run_id])?.rows_affected() == 1)
}

/// Reads the trust in a run and locks it until the transaction ends. Returns `None` for an unknown run.
pub(super) async fn read_trust(connection: &mut AnyConnection, run_id: &str) -> Result<Option<Trust>> {
    if !hold(connection, run_id).await? {
        return Ok(None);
    }
    let query = "SELECT own_tier AS tier, own_notes AS notes_json, reason FROM moderated_runs WHERE run_id = $1";
    if let Some(row) = sql!(query, [run_id]).fetch_optional(&mut *connection).await? {
        let reason: Option<String> = row.try_get("reason")?;
        let word = reason.map_or(Word::Hidden, Word::Flagged);
        return Ok(Some(Trust { own: read(&row)?, word: Some(word) }));
    }
    let query = "SELECT tier, notes AS notes_json FROM runs WHERE run_id = $1";
    Ok(Some(Trust { own: read(&sql!(query, [run_id]).fetch_one(connection).await?)?, word: None }))
}

/// Writes the trust in a run and places its results. Returns the device to mark as outdated at the end.
pub(super) async fn write(
    connection: &mut AnyConnection,
    run_id: &str,
    before: &Trust,
    now: &Trust,
) -> Result<Option<String>> {
    let (shown_before, shown) = (before.shown(), now.shown());
    let update = "UPDATE runs SET tier = $1, notes = $2 WHERE run_id = $3";
    execute!(connection, update, [shown.tier.name(), serde_json::to_string(&shown.notes)?, run_id])?;
    match &now.word {
        None => {
            execute!(connection, "DELETE FROM moderated_runs WHERE run_id = $1", [run_id])?;
        }
        Some(word) => {
            let reason = if let Word::Flagged(reason) = word { Some(reason.as_str()) } else { None };
            let insert = "INSERT INTO moderated_runs (run_id, own_tier, own_notes, reason) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (run_id) DO UPDATE SET own_tier = excluded.own_tier, own_notes = excluded.own_notes, \
                 reason = excluded.reason";
            execute!(
                connection,
                insert,
                [run_id, now.own.tier.name(), serde_json::to_string(&now.own.notes)?, reason]
            )?;
        }
    }
    place(connection, run_id, Some(shown_before.tier), shown.tier).await
}

/// Copies the listed columns of a run, and ranks rankable results of proven standard runs on hardware.
pub(super) const PLACE: &str = "UPDATE results SET \
     (shown, ranked_as, device_key, voice, submitter_day, speedrun_class) = (SELECT runs.tier <> 'hidden', \
     CASE WHEN results.rankable AND runs.tier = 'proven' AND runs.standard AND NOT runs.software \
     AND runs.device_class IN ('gpu', 'processor') THEN runs.device_class END, \
     COALESCE(runs.device_key, ''), COALESCE(runs.prefix, runs.submitter), COALESCE(runs.submitter_day, 0), \
     suite_name || ' ' || suite_version || ' ' || form || ' ' || client_kind \
     FROM runs WHERE runs.run_id = results.run_id) WHERE run_id = $1";

const OUTDATE: &str = "INSERT INTO stale_devices (device_key, mark) VALUES ($1, $2) \
     ON CONFLICT (device_key) DO UPDATE SET mark = excluded.mark";

/// Lists and ranks a run's results by its tier. If the run counts or did, returns its device, whose metrics are to be
/// marked as outdated at the end.
pub(super) async fn place(
    connection: &mut AnyConnection,
    run_id: &str,
    before: Option<Tier>,
    now: Tier,
) -> Result<Option<String>> {
    execute!(connection, PLACE, [run_id])?;
    kinds::renew(connection, run_id, now).await?;
    if before != Some(Tier::Proven) && now != Tier::Proven {
        return Ok(None);
    }
    let device = scalar!("SELECT device_key FROM runs WHERE run_id = $1 AND device_key IS NOT NULL", [run_id]);
    Ok(device.fetch_optional(connection).await?)
}

impl Database {
    /// Commits a transaction after it has marked the metrics of these devices as outdated, and refreshes them.
    pub(super) async fn commit_with_stale(&self, mut writing: Writing, keys: &BTreeSet<impl AsRef<str>>) -> Result<()> {
        for key in keys {
            outdate(&mut writing, key.as_ref()).await?;
        }
        writing.commit().await?;
        self.refresh_figures().await;
        Ok(())
    }
}

/// Marks the metrics of a device as outdated. Called last, in the order of keys, to avoid deadlocks.
pub(super) async fn outdate(connection: &mut AnyConnection, device_key: &str) -> Result<()> {
    execute!(connection, OUTDATE, [device_key, mark()?])?;
    Ok(())
}

pub(super) fn mark() -> Result<String> {
    Ok(random_word::<8>()?)
}
