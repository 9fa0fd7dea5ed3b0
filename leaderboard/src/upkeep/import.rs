//! Import of JSON Lines from `leaderboard export`.

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use results::api::StoredRun;

use super::moderation::with_storage;
use crate::limits::day_of;
use crate::secrets::{RUN_ID_BYTES, fingerprint, is_run_id, random_word};
use crate::storage::{Acceptance, Database, DatabaseAddress, NewRun, Submitter};
use crate::validation::RecordOrigin;
use crate::{ServerClock, validation};

/// Maximum length of a line: twice the limit of an upload, so that every line of an export fits.
const MAX_LINE_BYTES: u64 = 8 << 20;
/// Maximum number of listed refusals; further ones are counted.
const MAX_REASONS: usize = 10;

#[derive(Default)]
struct ImportOutcome {
    stored: u64,
    there: u64,
    refused: u64,
    reasons: Vec<String>,
}

/// Stores all valid lines, and reports the others.
pub(super) async fn import(from: &Path, trust: bool, database: &DatabaseAddress) -> Result<String> {
    let failed = |cause: io::Error| {
        anyhow!("cannot read {}: {cause}. Is this the file that `leaderboard export` wrote?", from.display())
    };
    let mut input = BufReader::new(File::open(from).map_err(failed)?);
    let start = input.fill_buf().map_err(failed)?;
    let mark = start.len() - results::skip_mark(start).map_err(|error| failed(io::Error::other(error)))?.len();
    input.consume(mark);
    let outcome = with_storage(database, async |storage| {
        let (mut outcome, mut line, mut number) = (ImportOutcome::default(), Vec::new(), 0_u64);
        let imported = async {
            while next_line(&mut input, &mut line).map_err(failed)? {
                number += 1;
                match store(storage, &line, trust).await {
                    Ok(true) => outcome.stored += 1,
                    Ok(false) => outcome.there += 1,
                    Err(refusal) if refusal.is::<RefusedLine>() => {
                        outcome.refused += 1;
                        outcome.reasons.push(format!("line {number}: {refusal}"));
                        outcome.reasons.truncate(MAX_REASONS);
                    }
                    Err(other) => return Err(other),
                }
            }
            Ok(())
        };
        let imported = imported.await;
        storage.refresh_figures().await;
        imported.map(|()| outcome)
    });
    let ImportOutcome { stored, there, refused, reasons } = outcome.await?;
    let said = format!("imported {stored} runs from {} into {database}; {there} were there already", from.display());
    if refused > 0 {
        bail!("{said}; {refused} lines were refused:\n{}", reasons.join("\n"));
    }
    Ok(said)
}

/// The reason why a line is not stored.
#[derive(Debug, thiserror::Error)]
#[error("{0}: {1}")]
struct RefusedLine(&'static str, String);

/// Reads the next line up to its maximum length. Returns `false` at the end.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', line)? as u64;
    if read == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// Returns `false` if the same record is stored already.
async fn store(storage: &Database, line: &[u8], trust: bool) -> Result<bool> {
    let mut run: StoredRun = serde_json::from_slice(line).map_err(|cause| {
        let why = format!("not a run as written by `leaderboard export --format jsonl` ({cause})");
        RefusedLine("malformed_json", why)
    })?;
    let announced_as = run.record.run_id.clone();
    let fingerprint = fingerprint(&mut run.record)?;
    if trust {
        if !run.listed.is_empty() && run.listed.len() != run.record.workloads.len() {
            let why = "`listed` must have the metrics of every workload of the record, in the same order";
            bail!(RefusedLine("wrong_length", why.to_owned()));
        }
        expect_free(storage, &run.run_id, &fingerprint).await?;
        run.record.run_id = announced_as.filter(|id| *id == run.run_id);
        run.being_verified = false;
    } else {
        // A stranger's upload: validated, with a new id and time.
        let run_id = random_word::<RUN_ID_BYTES>().context("the system provides no random numbers")?;
        let now = ServerClock::system().unix_seconds();
        run = validation::check(run.record, &RecordOrigin::Imported, run_id, now).map_err(|refusal| {
            let place = if refusal.field.is_empty() { String::new() } else { format!("{}: ", refusal.field) };
            RefusedLine(refusal.code, format!("{place}{}", refusal.message))
        })?;
    }
    // Exports do not have submitters.
    let submitter = Submitter { word: None, day: day_of(run.submitted_unix_seconds), prefix: None };
    let new = NewRun { run, fingerprint, deletion_secret_hash: None, submitter, registered: false };
    match storage.accept(&new).await? {
        Acceptance::Stored => Ok(true),
        Acceptance::AlreadyUsed | Acceptance::SameRecord(_) => Ok(false),
        Acceptance::Deleted => {
            bail!(RefusedLine("deleted", format!("run {} was deleted here and cannot come back", new.run.run_id)))
        }
    }
}

/// Checks that a run can keep its id, so that links to it stay valid.
async fn expect_free(storage: &Database, run_id: &str, fingerprint: &str) -> Result<()> {
    if !is_run_id(run_id) {
        bail!(RefusedLine("bad_run_id", "a run id must have 16 lowercase hexadecimal digits".to_owned()));
    }
    let other = storage.stored_row(run_id).await?.is_some_and(|stored| stored.fingerprint != fingerprint);
    if other || storage.started(run_id).await?.is_some_and(|started| !started.used) {
        bail!(RefusedLine("taken_run_id", format!("another run here has the id {run_id}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_one_line_all_the_same() {
        let long = usize::try_from(MAX_LINE_BYTES).unwrap() + 10;
        let text = [b"one\n".to_vec(), vec![b'x'; long], b"\nthree".to_vec()].concat();
        let (mut input, mut line, mut lengths) = (&text[..], Vec::new(), Vec::new());
        while next_line(&mut input, &mut line).unwrap() {
            lengths.push(line.len());
        }
        assert_eq!(lengths, [4, long - 10, 5]);
    }
}
