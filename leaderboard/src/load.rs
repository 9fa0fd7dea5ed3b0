//! Boards for measurements. Not part of the public interface. Errors are messages of the database.

use std::error::Error;

use async_recursion::async_recursion;
use results::RunRecord;
use results::api::{ListRuns, StoredRun, Tier};

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
        let mut new = Vec::with_capacity(runs.len());
        for PastRun { mut record, tier, submitted_unix_seconds, submitter } in runs {
            let (run_id, fingerprint) = (random_word::<RUN_ID_BYTES>()?, fingerprint(&mut record)?);
            let submitter = Submitter { word: Some(submitter), day: day_of(submitted_unix_seconds), prefix: None };
            let (notes, being_verified, listed) = (Vec::new(), false, Vec::new());
            let run = StoredRun { run_id, tier, notes, submitted_unix_seconds, being_verified, listed, record };
            new.push(NewRun { run, fingerprint, deletion_secret_hash: None, submitter, registered: false });
        }
        self.0.store_all(&new).await?;
        Ok(new.into_iter().map(|new| new.run.run_id).collect())
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
        let found = self.0.list_within(&list, Bounds { few, scanned }).await?;
        let next = found.next.map(|(key, skip)| crate::api::next_page(query, &key, skip)).transpose()?;
        Ok((found.rows.into_iter().map(|row| (row.run_id, row.workload)).collect(), next))
    }

    #[async_recursion(?Send)]
    pub async fn close(self) {
        self.0.close().await;
    }
}
