use std::fs;
use std::path::Path;

use results::{OLDEST_SCHEMA_VERSION, RunRecord, SCHEMA_VERSION};

use super::submission::Submission;
use crate::cli::UploadArgs;
use crate::failure::Failure;
use crate::json_output::to_json;
use crate::screen::Screen;

/// Uploads a record that was kept in a file.
pub(crate) fn upload(arguments: &UploadArgs) -> Result<(), Failure> {
    let mut record = read(&arguments.file)?;
    if arguments.unverified {
        record.run_id = None;
        record.nonce = None;
    }
    let submission = Submission::new(&arguments.leaderboard, &arguments.consent)?;
    let json = to_json(&record)?;
    if !submission.is_agreed(&record, &json)? {
        return Screen::Error.line("Not uploaded.");
    }
    submission.send(&record, json, Screen::Output)
}

fn read(path: &Path) -> Result<RunRecord, Failure> {
    let unusable = |reason: String| Failure::Usage(format!("{} is not a record: {reason}", path.display()));
    let text = fs::read_to_string(path)
        .map_err(|source| Failure::File { what: format!("cannot read {}", path.display()), source })?;
    let record: RunRecord = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    if !(OLDEST_SCHEMA_VERSION..=SCHEMA_VERSION).contains(&record.schema_version) {
        let found = record.schema_version;
        return Err(unusable(format!(
            "its layout has version {found}, this program knows versions {OLDEST_SCHEMA_VERSION} to \
             {SCHEMA_VERSION}"
        )));
    }
    Ok(record)
}
