//! A snapshot of the open data in a file, for a host who offers one each day.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use results::open_data::ExportFormat;
use sha2::{Digest, Sha256};

use super::UpkeepError;
use super::copies::{expect_free, put_in_place, with_ending};
use super::moderation::{of, open};
use crate::open_data::Export;
use crate::secrets::hex;
use crate::storage::DatabaseAddress;

/// Writes what anyone may download into a file, and its sum beside it. Readers and writers are not disturbed.
pub(super) async fn export(
    to: &Path,
    format: Option<ExportFormat>,
    database: &DatabaseAddress,
) -> Result<String, UpkeepError> {
    let (sum, partial) = (with_ending(to, "sha256"), with_ending(to, "partial"));
    for file in [to, &sum, &partial] {
        expect_free(file)?;
    }
    let storage = open(database).await?;
    let mut export = Export::new(storage.clone(), format.unwrap_or_else(|| format_of(to)));
    let written = write(&mut export, &partial, database).await;
    storage.close().await;
    let finished = written.and_then(|digest| {
        put_in_place(&partial, to)?;
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        fs::write(&sum, format!("{digest}  {name}\n")).map_err(failed(&sum))
    });
    if finished.is_err() {
        // What stays behind is only in the way, and the next attempt names it.
        let _ = fs::remove_file(&partial);
    }
    finished?;
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

/// Writes all of it and returns its SHA-256.
async fn write(export: &mut Export, file: &Path, database: &DatabaseAddress) -> Result<String, UpkeepError> {
    let mut output = File::create_new(file).map_err(failed(file))?;
    let mut digest = Sha256::new();
    while let Some(text) = export.next().await.map_err(of(database))? {
        digest.update(text.as_bytes());
        output.write_all(text.as_bytes()).map_err(failed(file))?;
    }
    Ok(hex(&digest.finalize()))
}

fn failed(file: &Path) -> impl Fn(io::Error) -> UpkeepError {
    move |cause| UpkeepError::Write { file: file.to_owned(), cause }
}
