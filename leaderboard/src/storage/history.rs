//! The latest proven results of a device in one category. For a device with a hundred thousand runs, most are left out.

use results::api::RunSort;
use serde::Deserialize;

use super::access_path::{Conditions, RowKey, ScanRange};
use super::kinds::KindFilter;
use super::list::{example_key, last_place};
use super::values::{Statement, read};
use super::{Result, Storage};
use crate::ranking::{Category, ProvenRun};

/// Maximum number of scanned results of the device, in all categories.
const MAX_SCANNED: u64 = 20_000;
const READ: u64 = 2000;

const PAST: &str = "SELECT results.run_id, results.rate, results.submitted_unix_seconds, \
     results.voice, results.submitter_day AS day, results.engine_version, results.driver FROM results";

/// A proven result of a device, with the versions that may explain a change.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PastResult {
    #[serde(flatten)]
    pub(crate) run: ProvenRun,
    pub(crate) submitted_unix_seconds: f64,
    pub(crate) engine_version: String,
    pub(crate) driver: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HistoryPart {
    pub(crate) results: Vec<PastResult>,
    pub(crate) older_left_out: bool,
}

impl Storage {
    pub(crate) async fn history(&self, device: &str, class: &'static str, category: &Category) -> Result<HistoryPart> {
        let mut transaction = self.reading().await?;
        let version = category.suite.version.to_string();
        let kinds = KindFilter::new([
            ("backend", Some(&*category.backend)),
            ("precision", Some(category.precision.name())),
            ("suite_name", Some(&*category.suite.name)),
            ("suite_version", Some(&*version)),
            ("client_kind", Some(category.client_kind.name())),
            ("ranked_as", Some(class)),
        ]);
        let kinds = kinds.kinds(&mut transaction).await?.unwrap_or_default();
        if kinds.is_empty() {
            return Ok(HistoryPart::default());
        }
        let conditions = conditions(device, &category.workload, kinds);
        let until = last_place(&mut transaction, &conditions, None, MAX_SCANNED).await?;
        let mut rows = latest(&conditions, until.as_ref()).query().fetch_all(&mut *transaction).await?;
        let too_many = rows.len() as u64 > READ;
        rows.truncate(usize::try_from(READ)?);
        let results = rows.iter().map(read).collect::<Result<_>>()?;
        Ok(HistoryPart { results, older_left_out: too_many || until.is_some() })
    }
}

fn conditions<'a>(device: &'a str, workload: &'a str, kinds: String) -> Conditions<'a> {
    Conditions {
        order: RunSort::Newest,
        workload: Some(workload),
        device: Some(device),
        kinds: Some(kinds),
        since: None,
        before: None,
    }
}

fn latest(conditions: &Conditions<'_>, until: Option<&RowKey>) -> Statement {
    conditions.rows(None, ScanRange { until, ..ScanRange::default() }, (0, READ + 1), PAST)
}

pub(super) fn all_queries() -> Vec<(String, Vec<String>)> {
    let conditions = conditions("reported-example-gpu-9000", "caffe-mnist", "1,2,3".to_owned());
    let statements = [latest(&conditions, Some(&example_key())), conditions.last_scanned(None, MAX_SCANNED)];
    statements.map(Statement::written).into()
}
