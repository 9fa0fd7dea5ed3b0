use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

const EXPORT_EXAMPLES: &str = "\
Examples:
  native-runner export studies/gtdl-batch-size-2026-11-24 -o batches.parquet
                                                   a study's records, typed, for pandas, Polars, DuckDB or R
  native-runner export runs -o runs.csv            every record below a folder, for a spreadsheet
  native-runner export a.json b.json -o both.jsonl whole records, one in a line
  native-runner export runs -o runs.md             the main figures, to be read
  native-runner export runs -o - --format csv      … on standard output

A row is a workload of a run, whatever became of it; docs/columns.csv has the unit and the meaning of each column.";

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Folder of a study, folder of records, or file that `--json` wrote; several make one table
    #[arg(value_name = "DIR|FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// File to write, whose ending says the format: .csv, .jsonl, .parquet or .md; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Format in place of the one that the file's ending says
    #[arg(long)]
    pub(crate) format: Option<RecordFormat>,
    /// Write over a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// A table of all figures for spreadsheets
    Csv,
    /// Whole records with all their samples, one in a line
    Jsonl,
    /// The table with types, for programs that analyse it
    Parquet,
    /// The main figures, to be read
    #[value(name = "md")]
    Markdown,
}

impl RecordFormat {
    /// The one that a file of this name has.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        Self::from_str(file.extension()?.to_str()?, true).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_file_says_its_format() {
        let of = |name: &str| RecordFormat::of(Path::new(name));
        assert_eq!(of("a/b.parquet"), Some(RecordFormat::Parquet));
        assert_eq!((of("b.CSV"), of("b.md")), (Some(RecordFormat::Csv), Some(RecordFormat::Markdown)));
        assert_eq!((of("-"), of("b.xlsx"), of("csv")), (None, None, None));
    }
}
