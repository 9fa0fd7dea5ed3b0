//! Studies: listing, planning, running and showing them.

mod run;
mod table;

use std::path::{Path, PathBuf};
use std::{env, fs};

use clap::Args;
use results::Date;
use serde::Serialize;

use crate::cli::{DataArgs, ProgramArgs, host_and_port, number, positive_seconds, short_text};
use crate::commands::upload::ConsentArgs;
use crate::failure::Failure;
use crate::json_output::{JsonTarget, to_json};
use crate::leaderboard::Address;
use crate::machine::provenance;
use crate::program::NamedProgram;
use crate::screen::{Screen, quoted};
use crate::study::cell::{CellFilter, StudyCell};
use crate::study::definition::{STUDIES, StudyDefinition, load, schema};
use crate::study::folder::{FinishedCell, Folder, StudyPlan};
use crate::study::matrix::Host;
use crate::workload_file::is_file_name;

const STUDIES_FOLDER: &str = "studies";

pub(crate) fn study(arguments: &StudyArgs) -> Result<(), Failure> {
    if arguments.schema {
        return JsonTarget::StandardOutput.write(&to_json(&schema())?);
    }
    let Some(name) = &arguments.study else { return list(arguments.json.as_ref()) };
    let (short_name, text) = load(name)?;
    let definition =
        StudyDefinition::parse(&text).map_err(|error| Failure::Usage(format!("{name}: {}", error.trim_end())))?;
    if arguments.print {
        return JsonTarget::StandardOutput.write(text.trim_end());
    }
    if !definition.kernels.is_empty() {
        refuse_options_of_runs(arguments)?;
    }
    let definition = definition.in_folder(Path::new(name).parent().unwrap_or(Path::new("")));
    let StudyArgs { workload_files, backends, adapters, external, .. } = arguments;
    let definition = definition.with_options(workload_files, backends, adapters, &external.programs);
    definition.named_programs().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let machine = Host::this(arguments.remote.is_some());
    let plan = StudyPlan::new(&short_name, definition, arguments.scale, machine);
    let plan = plan.map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    // The folder is the same for the whole day, so that the study is resumed.
    let folder = arguments.output.clone().unwrap_or_else(|| {
        let Date { year, month, day } = Date::of(provenance().started_unix_seconds);
        Path::new(STUDIES_FOLDER).join(format!("{short_name}-{year:04}-{month:02}-{day:02}"))
    });
    if arguments.output.is_none() && !folder.exists() {
        mention_unfinished(&plan)?;
    }
    if arguments.dry_run { table::dry_run(arguments, &plan, &folder) } else { run::run(arguments, &plan, &folder) }
}

fn refuse_options_of_runs(arguments: &StudyArgs) -> Result<(), Failure> {
    let asked = [
        ("--backend", !arguments.backends.is_empty()),
        ("--workload-file", !arguments.workload_files.is_empty()),
        ("--program", !arguments.external.programs.is_empty()),
        ("--remote", arguments.remote.is_some()),
    ];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::Usage(format!(
            "{option} is for studies that train networks, but this study measures Gradmark's kernels"
        ))),
    }
}

/// Prints a note about an unfinished run of the same study from another day.
fn mention_unfinished(plan: &StudyPlan) -> Result<(), Failure> {
    let begins = format!("{}-", plan.name);
    let entries = fs::read_dir(STUDIES_FOLDER).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins))
        .map(|entry| entry.path())
        .filter(|folder| matches!(Folder::plan(folder), Ok(Some(begun)) if plan.differences(&begun).is_empty()))
        .collect();
    folders.sort();
    for folder in folders.iter().rev() {
        let (finished, cells) = (Folder::read(folder, plan)?.len(), plan.cells.len());
        if finished < cells {
            let place = folder.display();
            let text = format!("{place} has {finished} of {cells} cells of this study. To resume it:");
            Screen::Error.prose("! ", &text, 2)?;
            return Screen::Error.line(&format!("  {}\n", resume(folder)));
        }
    }
    Ok(())
}

/// Returns the typed command with the folder to resume.
fn resume(folder: &Path) -> String {
    let mut words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if !words.iter().any(|word| word == "--output" || word.starts_with("--output=")) {
        words.extend(["--output".to_owned(), folder.display().to_string()]);
    }
    words.iter().fold("native-runner".to_owned(), |line, word| format!("{line} {}", quoted(word)))
}

/// Returns the requested cells with their position in the order, from 1.
fn select_cells<'a>(arguments: &StudyArgs, plan: &'a StudyPlan) -> Result<Vec<(usize, &'a StudyCell)>, Failure> {
    let is_asked = |cell: &StudyCell| arguments.only.iter().all(|filter| filter.allows(&cell.settings));
    let asked: Vec<(usize, &StudyCell)> = (1..).zip(&plan.cells).filter(|(_, cell)| is_asked(cell)).collect();
    if asked.is_empty() {
        let text = format!("no cell of {} matches --only; list all cells with --dry-run", plan.name);
        return Err(Failure::Usage(text));
    }
    Ok(asked)
}

fn find_finished<'a>(finished: &'a [FinishedCell], cell: &StudyCell) -> Option<&'a FinishedCell> {
    finished.iter().find(|finished| finished.id == cell.id)
}

/// Returns an earlier result of a cell, unless it is a failure to retry.
fn answer<'a>(finished: &'a [FinishedCell], cell: &StudyCell, retry_failed: bool) -> Option<&'a FinishedCell> {
    find_finished(finished, cell).filter(|before| !retry_failed || !before.ending.is_failure())
}

/// Returns the arguments of a cell's process: its settings, and for a run also its data, remote device and program.
fn arguments_of(arguments: &StudyArgs, plan: &StudyPlan, cell: &StudyCell) -> Vec<String> {
    let mut words = cell.settings.arguments();
    let Some(run) = cell.settings.run() else { return words };
    let mut tell =
        |name: &str, value: Option<String>| words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    tell("--data", arguments.data.folder.as_ref().map(|folder| folder.display().to_string()));
    tell("--babi", arguments.data.babi.as_ref().map(|folder| folder.display().to_string()));
    let is_remote = run.spec.backend == engine::backends::BURN_REMOTE;
    tell("--remote", arguments.remote.clone().filter(|_| is_remote));
    let program = plan.program(&run.spec.backend);
    tell("--program", program.as_ref().map(NamedProgram::typed));
    tell("--program-timeout", arguments.external.timeout.filter(|_| program.is_some()).map(|x| x.to_string()));
    words
}

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
    /// Share, above 0 and at most 1, to shorten the limit of every cell to (for kernels, the seconds of an entry);
    /// shortened runs are not standard
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = scale, help_heading = "Study")]
    pub(crate) scale: f64,
    /// Backends to use instead of the study's, separated by commas; `all` excludes the plain reference
    #[arg(long = "backend", value_name = "A,B", value_delimiter = ',', help_heading = "Study")]
    pub(crate) backends: Vec<String>,
    /// Adapters to use instead of the study's, separated by commas; `native-runner adapters` lists them
    #[arg(
        long = "adapter",
        value_name = "A,B",
        value_delimiter = ',',
        help_heading = "Study",
        value_parser = short_text
    )]
    pub(crate) adapters: Vec<String>,
    /// File of a network to use instead of the study's workloads (docs/WORKLOADS.md). Repeatable
    #[arg(long = "workload-file", value_name = "FILE", help_heading = "Study", value_parser = network_file)]
    workload_files: Vec<PathBuf>,
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

#[derive(Serialize)]
struct StudyListing {
    name: &'static str,
    #[serde(flatten)]
    definition: StudyDefinition,
    cells: usize,
}

fn list(json: Option<&JsonTarget>) -> Result<(), Failure> {
    let list = |(name, text): &(&'static str, &str)| {
        let definition = StudyDefinition::parse(text)?;
        let plan = StudyPlan::new(name, definition.clone(), 1.0, Host::this(false))?;
        Ok(StudyListing { name, definition, cells: plan.cells.len() })
    };
    let listed = STUDIES.iter().map(|study| list(study).map_err(|error: String| format!("{}: {error}", study.0)));
    let studies: Vec<StudyListing> = listed.collect::<Result<_, _>>().map_err(Failure::Usage)?;
    if let Some(target) = json {
        return target.write(&to_json(&studies)?);
    }
    let screen = Screen::Output;
    for (index, StudyListing { name, definition, cells }) in studies.iter().enumerate() {
        if index > 0 {
            screen.line("")?;
        }
        screen.prose(&format!("{}  ", screen.bold(name)), &format!("{} ({cells} cells)", definition.title), 2)?;
        for (label, text) in [("repeats", &definition.repeats), ("differs", &definition.differs)] {
            let label = format!("  {}  ", screen.label(label, 0));
            text.as_ref().map_or(Ok(()), |text| screen.prose(&label, text.trim(), 11))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::scale;

    #[test]
    fn a_scale_shortens_and_never_lengthens() {
        assert_eq!((scale("0.01"), scale("1")), (Ok(0.01), Ok(1.0)));
        for wrong in ["0", "-1", "1.5", "x", "nan"] {
            assert!(scale(wrong).is_err(), "{wrong}");
        }
    }
}
