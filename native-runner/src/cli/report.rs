use std::path::PathBuf;

use clap::Args;

use super::JsonTarget;

const REPORT_EXAMPLES: &str = "\
Examples:
  native-runner report studies/gtdl-batch-size-2026-11-24
                                                   report.html in a study's folder, finished or not
  native-runner report runs -o runs.html           … of every record below a folder
  native-runner report mine theirs.json --title \"Two machines\" -o both.html
                                                   … of several folders and files together
  native-runner report all.json -o - > all.html    … of what `--backend all --json` wrote

The file needs nothing else: no script, no network. Plots are SVG, each with its values as CSV
beside it in the file. What was found is also printed.";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Folder of a study, folder of records, or file that `--json` wrote, of `kernels` too; several make one report
    #[arg(value_name = "DIR|FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// File to write; `-` is standard output, and all else then goes to standard error [default: `report.html` in the
    /// first folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<JsonTarget>,
    /// Heading of the report [default: the study's title]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Write over a file that is no report
    #[arg(long)]
    pub(crate) force: bool,
}
