//! Boards for measurements: many runs in one transaction, and the plans of queries.

use sqlx::{AssertSqlSafe, Row};

use super::run_rows::RunRows;
use super::started::{count_announced, count_finished};
use super::values::Statement;
use super::{Database, NewRun, Result, export, figures, list, moderation, open, speedruns, started};

impl Database {
    pub(crate) async fn store_all(&self, runs: &[NewRun]) -> Result<()> {
        let mut transaction = self.writing().await?;
        for new in runs {
            let rows = RunRows::of(new)?;
            let Some(inserted) = rows.insert_run(&mut transaction).await? else { continue };
            rows.insert_results(&mut transaction, &inserted.device).await?;
            if let Some(word) = &new.submitter.word {
                let suite = &new.run.record.suite;
                count_announced(&mut transaction, suite, word, new.submitter.day).await?;
                count_finished(&mut transaction, suite, word).await?;
            }
        }
        transaction.commit().await
    }

    /// Collects statistics immediately; the database would otherwise collect them later.
    pub(crate) async fn analyze(&self) -> Result<()> {
        if let Some(analyze) = self.dialect.analyze {
            sqlx::query(analyze).execute(&self.pool).await?;
        }
        Ok(())
    }

    pub(crate) async fn plans(&self) -> Result<Vec<(String, Vec<String>)>> {
        let mut plans = Vec::new();
        let mut transaction = self.reading().await?;
        sqlx::query(self.dialect.before_explaining).execute(&mut *transaction).await?;
        for (query, parameters) in all_queries() {
            // With parameters, PostgreSQL would plan for arbitrary values.
            let filled = parameters
                .iter()
                .enumerate()
                .rev()
                .fold(query.clone(), |query, (i, value)| query.replace(&format!("${}", i + 1), value));
            let explain = format!("{} {filled}", self.dialect.explain);
            let rows = sqlx::query(AssertSqlSafe(explain)).fetch_all(&mut *transaction).await?;
            let steps = rows.iter().map(|row| row.try_get(self.dialect.step)).collect::<Result<_, _>>()?;
            plans.push((query, steps));
        }
        Ok(plans)
    }
}

/// Returns the queries that read lists, tables and devices, each with literals for its parameters.
fn all_queries() -> Vec<(String, Vec<String>)> {
    const DEVICE: &[&str] = &["'reported-example-gpu-9000'"];
    const TABLE: &[&str] = &["'quick'", "1", "'gpu'", "'f32'", "'caffe-mnist'", "NULL", "NULL"];
    let (recent, records) = (list::recent_of_device(), speedruns::records());
    let fixed: [(&str, &[&str], &[&str]); 16] = [
        (&recent, DEVICE, &["20"]),
        (&records, &["'quick 1 desktop native'", "'caffe-mnist'"], &[]),
        (open::LOWEST, &["'moby-dick'", "100"], &[]),
        (list::DEVICE, DEVICE, &[]),
        (figures::SELECT_DEVICE, DEVICE, &[]),
        (figures::PROVEN, DEVICE, &[]),
        (figures::COMPLETIONS, DEVICE, &[]),
        (figures::FASTEST, TABLE, &["50"]),
        (figures::SELECT_FASTER, TABLE, &["1e5"]),
        (figures::RATES, TABLE, &[]),
        (figures::TOTAL, TABLE, &[]),
        (moderation::PAGE, &["100", "10000"], &[]),
        (moderation::COUNT, &["10001"], &[]),
        (started::FORGET, &["1.8e9", "500"], &[]),
        (started::COUNT_OPEN, &["1.8e9", "500"], &[]),
        (export::AFTER, &["1.8e9", "'0123456789abcdef'", "100"], &[]),
    ];
    let literals = |first: &[&str], more: &[&str]| [first, more].concat().into_iter().map(str::to_owned).collect();
    let fixed = fixed.into_iter().map(|(query, first, more)| (query.to_owned(), literals(first, more)));
    fixed.chain(list::all_queries().into_iter().chain(list::history_queries()).map(Statement::written)).collect()
}
