//! Boards for measurements: many runs in one transaction, and the plans of queries.

use sqlx::{AssertSqlSafe, Row};

use super::run_rows::RunRows;
use super::started::{count_announced, count_finished};
use super::{NewRun, Result, Storage, export, figures, history, list, moderation, started};

impl Storage {
    pub(crate) async fn store_all(&self, runs: &[NewRun<'_>]) -> Result<()> {
        let mut transaction = self.writing().await?;
        for run in runs {
            let rows = RunRows::of(run)?;
            if !rows.insert_run(&mut transaction).await? {
                continue;
            }
            rows.insert_results(&mut transaction).await?;
            if let Some(word) = &run.submitter.word {
                count_announced(&mut transaction, &run.record.suite, word, run.submitter.day).await?;
                count_finished(&mut transaction, &run.record.suite, word).await?;
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
        let queries = [
            list::all_queries(),
            history::all_queries(),
            figures::all_queries(),
            moderation::all_queries(),
            started::all_queries(),
            export::all_queries(),
        ];
        for (query, parameters) in queries.into_iter().flatten() {
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
