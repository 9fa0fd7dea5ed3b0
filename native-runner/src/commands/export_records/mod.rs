//! Records that lie here, as one table for other programs.

mod columns;
mod markdown;

use std::io::{self, Write};
use std::path::Path;

use record_table::{ParquetError, ParquetFile, Run, csv};
use results::RunRecord;

use super::report::input;
use crate::cli::{ExportArgs, RecordFormat};
use crate::failure::Failure;
use crate::json_output::{holds_something, replace};
use crate::screen::Screen;
use columns::columns;

/// Stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// A record with where it was found.
struct LocalRun {
    /// The file, or the cell of a study.
    place: String,
    record: RunRecord,
    /// Of the study that it is a cell of.
    scale: Option<f64>,
}

impl Run for LocalRun {
    fn record(&self) -> &RunRecord {
        &self.record
    }
}

/// Writes the records at the paths as a table, and says what is not in it.
///
/// # Errors
/// No records, a damaged file, a format that nobody said, or a file in the way.
pub(crate) fn export_records(arguments: &ExportArgs) -> Result<(), Failure> {
    let target = arguments.output.as_path();
    let is_standard_output = target.as_os_str() == STANDARD_OUTPUT;
    let format = arguments.format.or_else(|| RecordFormat::of(target)).ok_or_else(|| {
        let text = "nothing says which format {} should have: end its name with .csv, .jsonl, .parquet or .md, or add \
                    --format csv";
        Failure::Usage(text.replace("{}", &target.display().to_string()))
    })?;
    if !is_standard_output && !arguments.force && holds_something(target) {
        let text = format!("{} is there; choose another file, or write over it with --force", target.display());
        return Err(Failure::Usage(text));
    }
    let found = input(&arguments.paths, None)?;
    let (mut runs, mut without) = (Vec::new(), 0_usize);
    for entry in found.entries {
        match entry.record {
            Some(record) => runs.push(LocalRun { place: entry.place, record, scale: entry.scale }),
            None => without += 1,
        }
    }
    if runs.is_empty() {
        let text = "there are no records of runs to export; kernels have `native-runner report` and --json";
        return Err(Failure::Usage(text.to_owned()));
    }
    let bytes = encoded(format, &runs)?;
    if is_standard_output {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&bytes).and_then(|()| stdout.flush()).map_err(Failure::Output)?;
    } else {
        replace(target, &bytes)?;
    }
    say(&runs, without, found.kernels.len(), if is_standard_output { None } else { Some(target) })
}

fn encoded(format: RecordFormat, runs: &[LocalRun]) -> Result<Vec<u8>, Failure> {
    match format {
        RecordFormat::Csv => {
            let (columns, mut text) = (columns(), String::new());
            csv::write_header(&mut text, &columns);
            runs.iter().for_each(|run| csv::write_run(&mut text, &columns, run));
            Ok(text.into_bytes())
        }
        RecordFormat::Jsonl => {
            let mut text = Vec::new();
            for run in runs {
                serde_json::to_writer(&mut text, &run.record).map_err(|error| cannot_encode(error.into()))?;
                text.push(b'\n');
            }
            Ok(text)
        }
        RecordFormat::Parquet => parquet(runs).map_err(|error| cannot_encode(io::Error::other(error))),
        RecordFormat::Markdown => markdown::text(runs).map(String::into_bytes),
    }
}

fn parquet(runs: &[LocalRun]) -> Result<Vec<u8>, ParquetError> {
    let mut file = ParquetFile::new(columns(), &[])?;
    runs.iter().try_for_each(|run| file.write_run(run))?;
    file.end()?;
    file.take()
}

fn cannot_encode(source: io::Error) -> Failure {
    Failure::File { what: "the records cannot be written in this format".to_owned(), source }
}

/// What the file holds and what it does not, on standard error.
fn say(runs: &[LocalRun], without: usize, kernels: usize, file: Option<&Path>) -> Result<(), Failure> {
    let rows: usize = runs.iter().map(|run| run.record.workloads.len()).sum();
    let to = file.map(|file| format!(" to {}", file.display())).unwrap_or_default();
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    Screen::Error.prose(
        "",
        &format!("Written{to}: {} of {}.", plural(rows, "workload"), plural(runs.len(), "run")),
        0,
    )?;
    if without > 0 {
        let text = format!("Left out: {} without a record; `native-runner report` says why.", plural(without, "cell"));
        Screen::Error.prose("! ", &text, 2)?;
    }
    if kernels > 0 {
        let text = format!("Left out: {} of kernels, which no network trained.", plural(kernels, "record"));
        Screen::Error.prose("! ", &text, 2)?;
    }
    Ok(())
}
