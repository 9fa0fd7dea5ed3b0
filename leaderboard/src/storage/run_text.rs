//! A run as JSON, with its record as stored: parsing and writing megabytes again would take most of the time.

use results::Summary;
use results::api::Tier;
use serde::{Deserialize, Serialize};
use sqlx::Row;

use super::runs::tier;
use super::{Storage, StorageError};

const SHOWN: &str = "SELECT tier, notes, submitted_unix_seconds, fingerprint, record FROM runs \
     WHERE run_id = $1 AND tier <> 'hidden'";

/// Fields of a [`results::api::StoredRun`] before its record, in their order.
#[derive(Serialize)]
struct Head<'a> {
    run_id: &'a str,
    tier: Tier,
    notes: Vec<String>,
    submitted_unix_seconds: f64,
    being_verified: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    listed: Vec<Summary>,
}

/// Summaries of a record.
#[derive(Deserialize)]
struct Summaries {
    workloads: Vec<WorkloadSummary>,
}

#[derive(Deserialize)]
struct WorkloadSummary {
    workload: String,
    summary: Summary,
}

/// A [`results::api::StoredRun`] as JSON.
pub(crate) struct RunText {
    pub(crate) json: String,
    /// Short text that differs wherever `json` does.
    pub(crate) identity: String,
}

impl Storage {
    /// Returns a run that is not hidden.
    pub(crate) async fn visible_run_text(&self, run_id: &str) -> Result<Option<RunText>, StorageError> {
        // First: if a verification ends in between, the client asks again and does not take an old tier for final.
        let being_verified = self.is_being_verified(run_id).await?;
        let row = sqlx::query(SHOWN).bind(run_id).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(None) };
        let (fingerprint, record): (&str, &str) = (row.try_get("fingerprint")?, row.try_get("record")?);
        // Reading it makes a damaged record an error instead of a broken answer.
        let Summaries { workloads } = serde_json::from_str(record)?;
        let summaries = workloads.iter().map(|of| (&*of.workload, &of.summary));
        let head = serde_json::to_string(&Head {
            run_id,
            tier: tier(&row)?,
            notes: serde_json::from_str(row.try_get("notes")?)?,
            submitted_unix_seconds: row.try_get("submitted_unix_seconds")?,
            being_verified,
            listed: self.listed(run_id).await?.differing(run_id, summaries),
        })?;
        let json = [head.strip_suffix('}').unwrap_or(&head), ",\"record\":", record, "}"].concat();
        let identity = [head.as_str(), fingerprint].concat();
        Ok(Some(RunText { json, identity }))
    }
}
