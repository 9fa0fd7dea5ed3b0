//! Stored records as one table for other programs.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use results::{RunRecord, WorkloadRecord, metric};
use view::table::{LocalRun, ParquetError, ParquetFile, Sheet, csv, local_columns};
use view::text::counted;

use crate::commands::report::input;
use crate::export::{Format, ReportSection, TextReport};
use crate::failure::{Failure, Result};
use crate::json_output::{holds_something, replace};
use crate::report::throughput;
use crate::screen::{NoteMark, Screen, TableRows};

pub(crate) fn export_records(arguments: &ExportArgs) -> Result<()> {
    let target = arguments.output.as_path();
    let is_standard_output = target.as_os_str() == "-";
    let of_name = || RecordFormat::from_str(target.extension()?.to_str()?, true).ok();
    let format = arguments.format.or_else(of_name).ok_or_else(|| {
        let text = "the format of {} is unknown; use a name that ends in .csv, .jsonl, .parquet or .md, or set \
                    --format, as in --format csv";
        Failure::Usage(text.replace("{}", &target.display().to_string()))
    })?;
    if !is_standard_output && !arguments.force && holds_something(target) {
        let text = format!("{} exists; choose another file, or overwrite it with --force", target.display());
        return Err(Failure::Usage(text));
    }
    let found = input(&arguments.paths, None)?;
    let (mut runs, mut without) = (Vec::new(), 0_usize);
    for entry in &found.entries {
        match &entry.record {
            Some(record) => runs.push(LocalRun { place: &entry.place, record, scale: entry.scale }),
            None => without += 1,
        }
    }
    if runs.is_empty() {
        let text = "there are no records of runs to export; for kernels use `native-runner report` or --json";
        return Err(Failure::Usage(text.to_owned()));
    }
    let bytes = encode_runs(format, &runs)?;
    let to = if is_standard_output {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&bytes).and_then(|()| stdout.flush()).map_err(Failure::Output)?;
        String::new()
    } else {
        replace(target, &bytes)?;
        format!(" to {}", target.display())
    };
    let rows: usize = runs.iter().map(|run| run.record.workloads.len()).sum();
    let written = format!("Written{to}: {} of {}.", counted(rows, "workload"), counted(runs.len(), "run"));
    Screen::Error.prose("", &written, 0)?;
    for (left_out, what, why) in [
        (without, "cell", "without a record; `native-runner report` lists the reasons"),
        (found.kernels.len(), "record", "of kernels, which are not training runs"),
    ] {
        if left_out > 0 {
            Screen::Error.prose("! ", &format!("Left out: {} {why}.", counted(left_out, what)), 2)?;
        }
    }
    Ok(())
}

fn encode_runs(format: RecordFormat, runs: &[LocalRun<'_>]) -> Result<Vec<u8>> {
    match format {
        RecordFormat::Csv => {
            let (columns, mut text) = (local_columns(), String::new());
            csv::write_header(&mut text, &columns);
            runs.iter().for_each(|run| csv::write_run(&mut text, &columns, run));
            Ok(text.into_bytes())
        }
        RecordFormat::Jsonl => {
            let mut text = Vec::new();
            for run in runs {
                serde_json::to_writer(&mut text, run.record).map_err(|error| cannot_encode(error.into()))?;
                text.push(b'\n');
            }
            Ok(text)
        }
        RecordFormat::Parquet => {
            let encode = || -> Result<_, ParquetError> {
                let mut file = ParquetFile::new(local_columns(), &[])?;
                runs.iter().try_for_each(|run| file.write_run(run))?;
                file.end()?;
                file.take()
            };
            encode().map_err(|error| cannot_encode(io::Error::other(error)))
        }
        RecordFormat::Markdown => markdown_text(runs).map(String::into_bytes),
    }
}

fn cannot_encode(source: io::Error) -> Failure {
    Failure::File { what: "the records cannot be written in this format".to_owned(), source }
}

fn markdown_text(runs: &[LocalRun<'_>]) -> Result<String> {
    let rows: Vec<(&RunRecord, &WorkloadRecord)> =
        runs.iter().flat_map(|run| run.record.workloads.iter().map(|of| (run.record, of))).collect();
    let table = TableRows::new(&rows, |(_, workload)| workload.workload.clone()).columns(&[
        ("backend", &|(run, _)| Some(run.device.backend.clone())),
        ("device", &|(run, _)| Some(run.device.adapter.name.clone())),
        ("batch", &|(_, workload)| Some(workload.settings.batch_size.to_string())),
        ("seed", &|(run, _)| Some(run.requested.seed.to_string())),
        ("outcome", &|(_, workload)| Some(workload.outcome.name().to_owned())),
        ("samples per second", &|(_, workload)| throughput(workload)),
        ("time of an epoch", &|(_, workload)| Some(shown("seconds_per_epoch", workload))),
        ("test accuracy", &|(_, workload)| Some(shown("accuracy", workload))),
        ("time to the target", &|(_, workload)| Some(shown("seconds_to_target", workload))),
    ]);
    let headline = (NoteMark::Plain, format!("{} workloads of {} runs", rows.len(), runs.len()));
    let figures = ReportSection { title: "Figures".to_owned(), table: Some(table), ..ReportSection::default() };
    let report = TextReport { headline, sections: vec![figures], sheet: Sheet::default() };
    Format::Markdown.text(&report, Screen::Output).map(|text| text + "\n")
}

fn shown(id: &str, workload: &WorkloadRecord) -> String {
    metric(id).expect("it is in the registry of metrics").text_of(&workload.summary)
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  native-runner export studies/gtdl-batch-size-2026-11-24 -o batches.parquet
                                                   typed records of a study for pandas, Polars, DuckDB or R
  native-runner export runs -o runs.csv            all records of a folder for a spreadsheet
  native-runner export a.json b.json -o both.jsonl whole records, one per line
  native-runner export runs -o runs.md             the main metrics in Markdown
  native-runner export runs -o - --format csv      write to standard output

Each row is a workload of a run, trained or not. docs/columns.csv lists the unit and meaning of each column.";

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Folder of a study, folder of records, or file from `--json`; several make one table
    #[arg(value_name = "DIR|FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// File to write; its extension selects the format: .csv, .jsonl, .parquet or .md; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Format to use instead of the file extension's
    #[arg(long)]
    pub(crate) format: Option<RecordFormat>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// Table of all metrics for spreadsheets
    Csv,
    /// Whole records with all samples, one per line
    Jsonl,
    /// Typed table for data analysis
    Parquet,
    /// Main metrics as Markdown
    #[value(name = "md")]
    Markdown,
}
