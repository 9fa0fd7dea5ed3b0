//! A snapshot of the open data in a file, for a host who carries it elsewhere.

use std::io::{self, Write};
use std::path::Path;

use results::open_data::ExportFormat;

use super::UpkeepError;
use super::copies::expect_free;
use super::moderation::{of, open};
use crate::open_data::{Export, ExportError};
use crate::storage::DatabaseAddress;
use crate::whole_file::{WholeFile, sum_of, with_ending};

/// Writes what anyone may download into a file, and its sum beside it. Readers and writers are not disturbed.
pub(super) async fn export(
    to: &Path,
    format: Option<ExportFormat>,
    database: &DatabaseAddress,
) -> Result<String, UpkeepError> {
    let (sum, partial) = (sum_of(to), with_ending(to, "partial"));
    for file in [to, &sum, &partial] {
        expect_free(file)?;
    }
    let storage = open(database).await?;
    let broken = |cause| match cause {
        ExportError::Storage(cause) => of(database)(cause),
        other => UpkeepError::Export { file: to.to_owned(), cause: other.into() },
    };
    let written = async {
        let mut export = Export::new(storage.clone(), format.unwrap_or_else(|| format_of(to))).map_err(broken)?;
        let mut output = WholeFile::create(to, partial).map_err(failed(to))?;
        while let Some(bytes) = export.next().await.map_err(broken)? {
            output.write_all(&bytes).map_err(failed(to))?;
        }
        output.finish().map_err(failed(to))?;
        Ok(export)
    }
    .await;
    storage.close().await;
    let export = written?;
    let (runs, file) = (export.runs(), to.display());
    let left_out = match export.left_out() {
        0 => String::new(),
        left_out => format!("; {left_out} runs cannot be read and were left out"),
    };
    Ok(format!("exported {runs} runs from {database} to {file}, and its sum to {}{left_out}", sum.display()))
}

/// What a file's name says, where nobody says more.
fn format_of(file: &Path) -> ExportFormat {
    file.extension().and_then(|ending| ExportFormat::named(ending.to_str()?)).unwrap_or_default()
}

fn failed(file: &Path) -> impl Fn(io::Error) -> UpkeepError {
    move |cause| UpkeepError::Write { file: file.to_owned(), cause }
}
