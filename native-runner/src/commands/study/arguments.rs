//! Arguments of a study, the cells that they select, and what prevents these from running.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use engine::DataSource;
use indicatif::ProgressBar;

use crate::arguments::{ConsentArgs, DataArgs, ProgramArgs, host_and_port, number, positive_seconds, short_text};
use crate::child::Child;
use crate::data_folder::{Availability, LocalData, fetching};
use crate::failure::{Failure, Result};
use crate::json_output::JsonTarget;
use crate::leaderboard::Address;
use crate::progress::spinner;
use crate::screen::Screen;
use crate::study::cell::{AXES, CellFilter, StudyCell};
use crate::study::folder::{FinishedCell, StudyPlan, find_finished};
use crate::text::quoted;
use crate::workload_file::is_file_name;

const STUDY_EXAMPLES: &str = "\
Examples:
  native-runner study                              list the built-in studies
  native-runner study gtdl-batch-size --dry-run    list the cells with their work
  native-runner study gtdl-batch-size --scale 0.01 run 1 % of it, marked as such, on the best GPU
  native-runner study gtdl-baseline --backend burn-flex --only workload=caffe-mnist,torch-mnist
                                                   run some of its cells on the processor
  native-runner study keras-backends --program keras-jax --program pytorch
                                                   include other frameworks
  native-runner study kernels --scale 0.1          measure Gradmark's kernels at a tenth of the time
  native-runner study keras-five --print > mine.toml
                                                   copy a study to define your own …
  native-runner study mine.toml --output mine      … and run or resume it in this folder
  native-runner study --schema > study.schema.json write the JSON Schema for editors

Each cell runs in its own process and writes a file into the folder (docs/STUDIES.md). After
Ctrl-C, the same command resumes with the remaining cells.

Exit status:
  0 every cell has a result (divergence is a result)   1 some cells failed, with reasons
  2 wrong usage, or an error in the file   3 wrong results   5 upload refused
  130 cancelled";

#[derive(Debug, Args)]
#[command(after_help = STUDY_EXAMPLES)]
pub(crate) struct StudyArgs {
    /// Built-in study, or file of a study [default: list the built-in studies]
    #[arg(value_name = "NAME|FILE.toml")]
    pub(crate) study: Option<String>,
    /// Factor above 0 and at most 1 that shortens the limit of every cell (for kernels, the seconds of an entry).
    /// Shortened runs are not standard
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = scale, help_heading = "Study")]
    pub(crate) scale: f64,
    /// Backends to use instead of the study's, separated by commas; `all` excludes the plain reference
    #[arg(long = "backend", value_name = "A,B", value_delimiter = ',', help_heading = "Study")]
    pub(crate) backends: Vec<String>,
    /// Adapters to use instead of the study's, separated by commas; `native-runner adapters` lists them
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Study", value_parser = short_text)]
    pub(crate) adapter: Vec<String>,
    /// File of a network to use instead of the study's workloads (docs/WORKLOADS.md). Repeatable
    #[arg(long = "workload-file", value_name = "FILE", help_heading = "Study", value_parser = network_file)]
    pub(crate) workload_files: Vec<PathBuf>,
    /// Address of `native-runner serve-device` for `burn-remote`; the default port is 4400
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Study", value_parser = host_and_port)]
    pub(crate) remote: Option<String>,
    #[command(flatten)]
    pub(crate) external: ProgramArgs,
    /// Cells to run now, such as `workload=caffe-mnist`, `batch-size=50,500` or `seed=1`. Repeatable
    #[arg(long, value_name = "AXIS=A,B", help_heading = "Study")]
    pub(crate) only: Vec<CellFilter>,
    /// Run failed cells again
    #[arg(long, help_heading = "Study")]
    pub(crate) retry_failed: bool,
    /// Seconds after which a cell is ended and stored as failed
    #[arg(long, value_name = "X", help_heading = "Study", value_parser = positive_seconds)]
    pub(crate) cell_timeout: Option<f64>,
    /// List the cells with their work, and run none
    #[arg(long, help_heading = "Study")]
    pub(crate) dry_run: bool,
    /// Print the study's definition, as a starting point for your own file
    #[arg(long, help_heading = "Study", conflicts_with_all = ["dry_run", "schema"])]
    pub(crate) print: bool,
    /// Print the JSON Schema of study files
    #[arg(long, help_heading = "Study", conflicts_with = "study")]
    pub(crate) schema: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Folder of the study, new or to resume [default: `studies/NAME-DATE`]
    #[arg(long, value_name = "DIR", help_heading = "Data and output")]
    pub(crate) output: Option<PathBuf>,
    /// Write the plan or the results as JSON; `-` is standard output, and everything else then goes to standard
    /// error
    #[arg(long, value_name = "FILE", help_heading = "Data and output")]
    pub(crate) json: Option<JsonTarget>,
    /// Leaderboard to upload every measured record to, as unverified, after asking once
    #[arg(long = "upload", value_name = "URL", help_heading = "Upload")]
    pub(crate) upload_to: Option<Address>,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

fn network_file(text: &str) -> Result<PathBuf, String> {
    let wrong = || "it must be the name of a file that ends in .toml or .json".to_owned();
    is_file_name(text).then(|| PathBuf::from(text)).ok_or_else(wrong)
}

fn scale(text: &str) -> Result<f64, String> {
    number(text, |scale| scale > 0.0 && scale <= 1.0, "it must be a number above 0 and at most 1")
}

/// Returns the typed command with the folder to resume.
pub(crate) fn resume(folder: &Path) -> String {
    let mut words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if !words.iter().any(|word| word == "--output" || word.starts_with("--output=")) {
        words.extend(["--output".to_owned(), folder.display().to_string()]);
    }
    words.iter().fold("native-runner".to_owned(), |line, word| format!("{line} {}", quoted(word)))
}

/// Returns the requested cells with their position in the order, from 1.
pub(crate) fn select_cells<'a>(arguments: &StudyArgs, plan: &'a StudyPlan) -> Result<Vec<(usize, &'a StudyCell)>> {
    let is_asked = |cell: &StudyCell| arguments.only.iter().all(|filter| filter.allows(&cell.settings));
    let asked: Vec<(usize, &StudyCell)> = (1..).zip(&plan.cells).filter(|(_, cell)| is_asked(cell)).collect();
    if asked.is_empty() {
        let text = format!("no cell of {} matches --only; list all cells with --dry-run", plan.name);
        return Err(Failure::Usage(text));
    }
    Ok(asked)
}

/// Returns an earlier result of a cell, unless it is a failure to retry.
pub(crate) fn answer<'a>(finished: &'a [FinishedCell], cell: &StudyCell, retries: bool) -> Option<&'a FinishedCell> {
    find_finished(finished, cell).filter(|before| !retries || !before.ending.is_failure())
}

/// Returns the arguments of a cell's process: its settings, and for a run also its data, remote device and program.
pub(crate) fn arguments_of(arguments: &StudyArgs, plan: &StudyPlan, cell: &StudyCell) -> Vec<String> {
    let mut words = cell.settings.arguments();
    let Some(run) = cell.settings.run() else { return words };
    let mut tell =
        |name: &str, value: Option<String>| words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    tell("--data", arguments.data.folder.as_ref().map(|folder| folder.display().to_string()));
    tell("--babi", arguments.data.babi.as_ref().map(|folder| folder.display().to_string()));
    tell("--remote", arguments.remote.clone().filter(|_| run.spec.backend == engine::backends::BURN_REMOTE));
    let program = plan.definition.programs.get_key_value(&run.spec.backend);
    let typed = |(name, command): (&String, &String)| {
        if command.is_empty() { name.clone() } else { format!("{name}={command}") }
    };
    tell("--program", program.map(typed));
    tell("--program-timeout", arguments.external.timeout.filter(|_| program.is_some()).map(|x| x.to_string()));
    words
}

/// Returns the reason why each of the cells cannot run, if any.
pub(crate) fn obstacles(
    arguments: &StudyArgs,
    plan: &StudyPlan,
    cells: &[(usize, &StudyCell)],
) -> Result<Vec<Option<String>>> {
    let spinner = spinner();
    let mut of_openings: BTreeMap<Vec<String>, Option<String>> = BTreeMap::new();
    let mut of_data_sets: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let obstacle = |(_, cell): &(usize, &StudyCell)| {
        let axes = AXES.iter().filter(|axis| axis.is_of_opening);
        let opening = axes.map(|axis| axis.text(&cell.settings)).collect();
        let found = of_openings.entry(opening).or_insert_with(|| check_opening(arguments, plan, cell, &spinner));
        found.clone().or_else(|| {
            let name = cell.settings.run()?.network().ok()?.data_set;
            of_data_sets.entry(name).or_insert_with(|| check_data(name, arguments)).clone()
        })
    };
    let obstacles: Vec<Option<String>> = cells.iter().map(obstacle).collect();
    spinner.finish_and_clear();
    match obstacles.first() {
        Some(Some(first)) if cells.len() == plan.cells.len() && obstacles.iter().all(Option::is_some) => {
            Err(Failure::Usage(format!("no cell of {} can run here: {first}", plan.name)))
        }
        _ => Ok(obstacles),
    }
}

pub(crate) fn show_obstacles<'a>(obstacles: impl Iterator<Item = &'a str>, cells: usize, screen: Screen) -> Result<()> {
    let mut stopped: BTreeMap<&str, usize> = BTreeMap::new();
    obstacles.for_each(|obstacle| *stopped.entry(obstacle).or_default() += 1);
    let mut stopped = stopped.iter();
    stopped.try_for_each(|(why, count)| screen.caution(&format!("{count} of {cells} cells cannot run here: {why}")))
}

/// Opens the backend of a cell in a child process: a crash ends only the child, and no device stays open.
fn check_opening(arguments: &StudyArgs, plan: &StudyPlan, cell: &StudyCell, spinner: &ProgressBar) -> Option<String> {
    let asked = AXES.iter().filter(|axis| axis.is_of_opening && axis.is_asked_for(&cell.settings));
    let name = asked.map(|axis| axis.text(&cell.settings)).collect::<Vec<_>>().join(" · ");
    spinner.set_message(format!("opening {name}"));
    let mut words = arguments_of(arguments, plan, cell);
    words.push("--opens-only".to_owned());
    let timeout = arguments.cell_timeout.map(Duration::from_secs_f64);
    let ended = Child::start_cell(&words).and_then(|child| child.wait(timeout, &|| false, &mut |_| ()));
    let reason = match ended {
        // A cell that takes too long is reported later.
        Ok(ended) => ended?.failure()?,
        Err(error) => error.to_string(),
    };
    Some(if name.is_empty() { reason } else { format!("{name}: {reason}") })
}

/// Reads the data set as a run does. A missing one is no obstacle if a run fetches it.
fn check_data(name: &str, arguments: &StudyArgs) -> Option<String> {
    let set = engine::data_set(name)?;
    let mut data = LocalData::new(&arguments.data);
    match (data.availability(set), &arguments.data.folder) {
        (Availability::Files { .. }, _) => pollster::block_on(data.load(set)).err().map(|error| error.to_string()),
        (Availability::Missing, Some(folder)) => {
            let command = fetching(&set.name, Some(folder));
            Some(format!("{} is not in {}; `{command}` fetches it", set.name, folder.display()))
        }
        (Availability::Missing, None) | (Availability::Generated | Availability::AlwaysGenerated, _) => None,
    }
}
