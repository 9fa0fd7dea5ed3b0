//! Boards for measurements. Not part of the public interface. Errors are messages of the database.

use std::error::Error;

use async_recursion::async_recursion;
use results::RunRecord;
use results::api::{ListRuns, Tier, Verdict};

use crate::DatabaseAddress;
use crate::limits::day_of;
use crate::secrets::{RUN_ID_BYTES, fingerprint, random_word};
use crate::storage::{Bounds, Database, NewRun, Submitter};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A run as if it had been uploaded and verified.
pub struct PastRun {
    pub record: RunRecord,
    pub tier: Tier,
    pub submitted_unix_seconds: f64,
    pub submitter: String,
}

pub struct Board(Database);

impl Board {
    #[async_recursion(?Send)]
    pub async fn open(address: &DatabaseAddress) -> Result<Self> {
        Ok(Self(Database::open(address).await?))
    }

    #[async_recursion(?Send)]
    pub async fn store(&self, runs: Vec<PastRun>) -> Result<Vec<String>> {
        let mut prepared = Vec::with_capacity(runs.len());
        for mut run in runs {
            let run_id = random_word::<RUN_ID_BYTES>()?;
            let fingerprint = fingerprint(&mut run.record)?;
            let submitter = Submitter { word: Some(run.submitter.clone()), day: day_of(run.submitted_unix_seconds) };
            let verdict = Verdict { tier: run.tier, notes: Vec::new(), being_verified: false };
            prepared.push((run, run_id, fingerprint, submitter, verdict));
        }
        let new: Vec<NewRun<'_>> = prepared
            .iter()
            .map(|(run, run_id, fingerprint, submitter, verdict)| NewRun {
                run_id,
                verdict,
                submitted_unix_seconds: run.submitted_unix_seconds,
                fingerprint,
                deletion_secret_hash: None,
                submitter,
                record: &run.record,
                listed: &[],
                registered: false,
            })
            .collect();
        self.0.store_all(&new).await?;
        Ok(prepared.into_iter().map(|(_, run_id, ..)| run_id).collect())
    }

    /// Computes the metrics of all devices, and updates the statistics of the tables.
    #[async_recursion(?Send)]
    pub async fn settle(&self) -> Result<()> {
        self.0.refresh_figures().await;
        Ok(self.0.analyze().await?)
    }

    /// Returns queries that read lists, tables and devices, and the steps of the database's plan for each.
    #[async_recursion(?Send)]
    pub async fn plans(&self) -> Result<Vec<(String, Vec<String>)>> {
        Ok(self.0.plans().await?)
    }

    /// Returns run and workload of a page's rows, and the query of the next page, within these bounds.
    #[async_recursion(?Send)]
    pub async fn page(
        &self,
        query: &ListRuns,
        few: u64,
        scanned: u64,
    ) -> Result<(Vec<(String, String)>, Option<ListRuns>)> {
        let list = crate::api::list_query(&self.0, query).await.map_err(|refusal| format!("{refusal:?}"))?;
        let bounds = Bounds { few, scanned };
        let found = self.0.list_within(&list, bounds).await?;
        let next = found.next.map(|(key, skip)| crate::api::next_page(query, &key, skip)).transpose();
        let next = next?;
        Ok((found.rows.into_iter().map(|row| (row.run_id, row.workload)).collect(), next))
    }

    #[async_recursion(?Send)]
    pub async fn close(self) {
        self.0.close().await;
    }
}
