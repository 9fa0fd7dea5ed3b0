//! Stored records as one table for other programs.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use record_table::Values::{Moment, Number, OptionalNumber, OptionalText, OptionalWhole, OptionalWords, Text, Whole};
use record_table::{Column, ParquetError, ParquetFile, Run, csv, record_columns};
use results::{Outcome, RunRecord, WorkloadRecord, metric};

use crate::commands::report::input;
use crate::export::{Format, Mark, Note, Report, Section};
use crate::failure::Failure;
use crate::json_output::{holds_something, replace};
use crate::report::throughput;

use crate::screen::{Screen, Table, TableColumn, plural};

const STANDARD_OUTPUT: &str = "-";

pub(crate) struct LocalRun {
    place: String,
    record: RunRecord,
    scale: Option<f64>,
}

impl Run for LocalRun {
    fn record(&self) -> &RunRecord {
        &self.record
    }
}

/// Writes the records at the paths as a table, and reports omissions.
pub(crate) fn export_records(arguments: &ExportArgs) -> Result<(), Failure> {
    let target = arguments.output.as_path();
    let is_standard_output = target.as_os_str() == STANDARD_OUTPUT;
    let format = arguments.format.or_else(|| RecordFormat::of(target)).ok_or_else(|| {
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
    for entry in found.entries {
        match entry.record {
            Some(record) => runs.push(LocalRun { place: entry.place, record, scale: entry.scale }),
            None => without += 1,
        }
    }
    if runs.is_empty() {
        let text = "there are no records of runs to export; for kernels use `native-runner report` or --json";
        return Err(Failure::Usage(text.to_owned()));
    }
    let bytes = encode_runs(format, &runs)?;
    if is_standard_output {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&bytes).and_then(|()| stdout.flush()).map_err(Failure::Output)?;
    } else {
        replace(target, &bytes)?;
    }
    say(&runs, without, found.kernels.len(), if is_standard_output { None } else { Some(target) })
}

fn encode_runs(format: RecordFormat, runs: &[LocalRun]) -> Result<Vec<u8>, Failure> {
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
        RecordFormat::Markdown => markdown_text(runs).map(String::into_bytes),
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

fn say(runs: &[LocalRun], without: usize, kernels: usize, file: Option<&Path>) -> Result<(), Failure> {
    let rows: usize = runs.iter().map(|run| run.record.workloads.len()).sum();
    let to = file.map(|file| format!(" to {}", file.display())).unwrap_or_default();
    let written = format!("Written{to}: {} of {}.", plural(rows, "workload"), plural(runs.len(), "run"));
    Screen::Error.prose("", &written, 0)?;
    if without > 0 {
        let text = format!(
            "Left out: {} without a record; `native-runner report` lists the reasons.",
            plural(without, "cell")
        );
        Screen::Error.prose("! ", &text, 2)?;
    }
    if kernels > 0 {
        let text = format!("Left out: {} of kernels, which are not training runs.", plural(kernels, "record"));
        Screen::Error.prose("! ", &text, 2)?;
    }
    Ok(())
}

pub(crate) fn columns() -> Vec<Column<LocalRun>> {
    let first: [Column<LocalRun>; 3] = [
        Column::of("place", "file of the record, or its cell of a study", Text(|run, _| &run.place)),
        Column::in_unit(
            "started_unix_seconds",
            "s",
            "start of the run by its machine's clock, in seconds since 1970 UTC",
            Moment(|run, _| run.record.provenance.started_unix_seconds),
        ),
        Column::of("commit", "commit of the engine's sources", Text(|run, _| &run.record.provenance.commit)),
    ];
    first.into_iter().chain(record_columns()).chain(settings()).chain(resources()).collect()
}

/// Returns the columns that leaderboards lack, because ranked runs do not differ in them.
fn settings() -> [Column<LocalRun>; 10] {
    [
        Column::of(
            "reason",
            "reason why the workload could not be trained",
            OptionalText(|_, workload| {
                if let Outcome::Failed { reason, .. } = &workload.outcome { Some(reason.as_str()) } else { None }
            }),
        ),
        Column::of(
            "learning_rate",
            "learning rate, before any schedule",
            Number(|_, workload| workload.settings.learning_rate),
        ),
        Column::of(
            "devices",
            "number of devices that shared each batch",
            Whole(|_, workload| workload.communication.map_or(1, |communication| communication.devices.into())),
        ),
        Column::in_unit(
            "communication_seconds",
            "s",
            "time that devices waited for each other's gradients",
            OptionalNumber(|_, workload| workload.communication.map(|communication| communication.seconds())),
        ),
        Column::of(
            "input",
            "input mode: resident, prefetch or stream; empty if not reported",
            OptionalText(|_, workload| workload.input.map(|input| input.mode.name())),
        ),
        Column::in_unit(
            "input_waiting_seconds",
            "s",
            "time that the device waited for its next batch",
            OptionalNumber(|_, workload| workload.input.map(|input| input.waiting_seconds)),
        ),
        Column::in_unit(
            "first_step_seconds",
            "s",
            "time of the first step",
            OptionalNumber(|_, workload| workload.cold_start.first_step_seconds),
        ),
        Column::of(
            "length",
            "requested training length; empty for the suite's length",
            OptionalWords(|run, _| run.record.requested.length.map(|length| length.to_string())),
        ),
        Column::of(
            "scale",
            "factor of a study on its length; empty outside a study",
            OptionalNumber(|run, _| run.scale),
        ),
        Column::in_unit(
            "training_seconds_to_last_evaluation",
            "s",
            "training until the last evaluation, evaluations excluded",
            OptionalNumber(|_, workload| workload.training_seconds()),
        ),
    ]
}

fn resources() -> [Column<LocalRun>; 7] {
    [
        Column::in_unit(
            "cpu_user_percent",
            "%",
            "processor time of the process in user mode during training; 100 is one core",
            OptionalNumber(|_, workload| workload.resources.cpu_user_percent),
        ),
        Column::in_unit(
            "cpu_system_percent",
            "%",
            "processor time of the process in system mode during training; 100 is one core",
            OptionalNumber(|_, workload| workload.resources.cpu_system_percent),
        ),
        Column::in_unit(
            "machine_io_wait_percent",
            "%",
            "time that the machine's cores waited for disks; 100 is one core",
            OptionalNumber(|_, workload| workload.resources.machine_io_wait_percent),
        ),
        Column::in_unit(
            "resident_memory_average_bytes",
            "B",
            "resident memory of the process, average",
            OptionalWhole(|_, workload| workload.resources.resident_memory_average_bytes),
        ),
        Column::in_unit(
            "resident_memory_maximum_bytes",
            "B",
            "resident memory of the process, maximum",
            OptionalWhole(|_, workload| workload.resources.resident_memory_maximum_bytes),
        ),
        Column::in_unit(
            "joules_per_epoch",
            "J",
            "energy of the device per pass over the training set",
            OptionalNumber(|_, workload| workload.summary.joules_per_epoch),
        ),
        Column::in_unit(
            "samples_per_joule",
            "samples/J",
            "samples trained per joule of the device",
            OptionalNumber(|_, workload| workload.summary.samples_per_joule),
        ),
    ]
}

type Find = fn(&RunRecord, &WorkloadRecord) -> String;

const COLUMNS: [(&str, Find); 9] = [
    ("backend", |run, _| run.device.backend.clone()),
    ("device", |run, _| run.device.adapter.name.clone()),
    ("batch", |_, workload| workload.settings.batch_size.to_string()),
    ("seed", |run, _| run.requested.seed.to_string()),
    ("outcome", |_, workload| workload.outcome.name().to_owned()),
    ("samples per second", |_, workload| throughput(workload).unwrap_or_else(|| "–".to_owned())),
    ("time of an epoch", |_, workload| shown("seconds_per_epoch", workload)),
    ("test accuracy", |_, workload| shown("accuracy", workload)),
    ("time to the target", |_, workload| shown("seconds_to_target", workload)),
];

fn markdown_text(runs: &[LocalRun]) -> Result<String, Failure> {
    let rows: Vec<_> = runs.iter().flat_map(|run| run.record.workloads.iter().map(|of| (&run.record, of))).collect();
    let column = |(name, find): &(&str, Find)| TableColumn {
        name: (*name).to_owned(),
        cells: rows.iter().map(|(run, workload)| find(run, workload)).collect(),
    };
    let table = Table {
        titles: rows.iter().map(|(_, workload)| workload.workload.clone()).collect(),
        columns: COLUMNS.iter().map(column).collect(),
    };
    let report = Report {
        headline: Note { mark: Mark::Plain, text: format!("{} workloads of {} runs", rows.len(), runs.len()) },
        sections: vec![Section {
            title: "Figures".to_owned(),
            conditions: String::new(),
            table: Some(table),
            notes: Vec::new(),
            is_detail: false,
        }],
        sheet: Vec::new(),
    };
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

impl RecordFormat {
    pub(crate) fn of(file: &Path) -> Option<Self> {
        Self::from_str(file.extension()?.to_str()?, true).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let columns = columns();
        let names: BTreeSet<_> = columns.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), columns.len());
    }

    #[test]
    fn data_dictionary_is_current() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/columns.csv");
        let line = |column: &Column<LocalRun>| {
            let cells = [column.name, column.unit.unwrap_or_default(), column.meaning];
            cells.map(results::csv::cell).join(",") + "\n"
        };
        let expected = "name,unit,meaning\n".to_owned() + &columns().iter().map(line).collect::<String>();
        if std::env::var_os("UPDATE_COLUMNS").is_some() {
            std::fs::write(file, &expected).unwrap();
        }
        let stored = std::fs::read_to_string(file).unwrap_or_default();
        assert!(stored == expected, "docs/columns.csv is old; run with UPDATE_COLUMNS=1 and commit the file");
    }

    #[test]
    fn the_ending_of_a_file_says_its_format() {
        let of = |name: &str| RecordFormat::of(Path::new(name));
        assert_eq!(of("a/b.parquet"), Some(RecordFormat::Parquet));
        assert_eq!((of("b.CSV"), of("b.md")), (Some(RecordFormat::Csv), Some(RecordFormat::Markdown)));
        assert_eq!((of("-"), of("b.xlsx"), of("csv")), (None, None, None));
    }
}
