//! Studies: listing, planning, running and showing them.

mod calibration;
mod document;
mod dry_run;
mod kernel_table;
mod list;
mod obstacles;
mod run;
mod table;
mod upload;

use std::path::{Path, PathBuf};
use std::{env, fs};

use results::Date;

use crate::cli::{JsonTarget, StudyArgs};
use crate::failure::Failure;
use crate::json_output::to_json;
use crate::program::NamedProgram;
use crate::provenance::provenance;
use crate::screen::Screen;
use crate::shell::quoted;
use crate::study::{Cell, Definition, Finished, Folder, Machine, Plan, load, schema};

/// Folder with all studies.
const STUDIES: &str = "studies";

/// Runs a study, or says what it is, or what it would take.
pub(crate) fn study(arguments: &StudyArgs) -> Result<(), Failure> {
    if arguments.schema {
        return JsonTarget::StandardOutput.write(&to_json(&schema())?);
    }
    let Some(name) = &arguments.study else { return list::list(arguments.json.as_ref()) };
    let (short_name, text) = load(name)?;
    let definition =
        Definition::parse(&text).map_err(|error| Failure::Usage(format!("{name}: {}", error.trim_end())))?;
    if arguments.print {
        return JsonTarget::StandardOutput.write(text.trim_end());
    }
    if !definition.kernels.is_empty() {
        refuse_options_of_runs(arguments)?;
    }
    let definition = definition.in_folder(Path::new(name).parent().unwrap_or(Path::new("")));
    let definition = definition.with_networks_of(&arguments.workload_files);
    let definition = definition.on(&arguments.backends, &arguments.adapters, arguments.external.all());
    definition.named_programs().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let machine = Machine::this(arguments.remote.is_some());
    let plan = Plan::new(&short_name, definition, arguments.scale, machine);
    let plan = plan.map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let folder = arguments.output.clone().unwrap_or_else(|| usual_folder(&short_name));
    if arguments.output.is_none() && !folder.exists() {
        mention_unfinished(&plan)?;
    }
    if arguments.dry_run { dry_run::dry_run(arguments, &plan, &folder) } else { run::run(arguments, &plan, &folder) }
}

/// What is asked of networks means nothing to kernels.
///
/// # Errors
/// Something of that was asked for; or this program cannot measure kernels at all.
fn refuse_options_of_runs(arguments: &StudyArgs) -> Result<(), Failure> {
    let asked = [
        ("--backend", !arguments.backends.is_empty()),
        ("--workload-file", !arguments.workload_files.is_empty()),
        ("--program", !arguments.external.all().is_empty()),
        ("--remote", arguments.remote.is_some()),
        ("--calibrate", arguments.calibrate),
    ];
    if let Some((option, _)) = asked.iter().find(|(_, is_asked)| *is_asked) {
        let text = format!("{option} is for studies that train networks, and this one measures kernels of our own");
        return Err(Failure::Usage(text));
    }
    if cfg!(feature = "wgsl") {
        return Ok(());
    }
    Err(Failure::Usage(
        "this program was built without the back end wgsl, whose kernels this study measures".to_owned(),
    ))
}

/// Where a study is kept that was told no place: the same on the same day, so that it is gone on with.
fn usual_folder(name: &str) -> PathBuf {
    let Date { year, month, day } = Date::of(provenance().started_unix_seconds);
    Path::new(STUDIES).join(format!("{name}-{year:04}-{month:02}-{day:02}"))
}

/// Says where the same study was begun on another day, and not finished.
fn mention_unfinished(plan: &Plan) -> Result<(), Failure> {
    let begins = format!("{}-", plan.name);
    let entries = fs::read_dir(STUDIES).into_iter().flatten().flatten();
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
            let text = format!("{place} has {finished} of {cells} cells of this study. To go on with it:");
            Screen::Error.prose("! ", &text, 2)?;
            return Screen::Error.line(&format!("  {}\n", resume(folder)));
        }
    }
    Ok(())
}

/// The command that was typed, with the folder to go on in.
fn resume(folder: &Path) -> String {
    let mut words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if !words.iter().any(|word| word == "--output" || word.starts_with("--output=")) {
        words.extend(["--output".to_owned(), folder.display().to_string()]);
    }
    words.iter().fold("native-runner".to_owned(), |line, word| format!("{line} {}", quoted(word)))
}

/// The cells that are asked for now, with their places in the order, from 1.
///
/// # Errors
/// None of them.
fn asked<'a>(arguments: &StudyArgs, plan: &'a Plan) -> Result<Vec<(usize, &'a Cell)>, Failure> {
    let is_asked = |cell: &Cell| arguments.only.iter().all(|filter| filter.allows(&cell.settings));
    let asked: Vec<(usize, &Cell)> = (1..).zip(&plan.cells).filter(|(_, cell)| is_asked(cell)).collect();
    if asked.is_empty() {
        let text = format!("no cell of {} is what --only asks for; --dry-run lists them without it", plan.name);
        return Err(Failure::Usage(text));
    }
    Ok(asked)
}

/// What became of a cell before, where it is an answer, or a failure that is not to be tried again.
fn answer<'a>(finished: &'a [Finished], cell: &Cell, retry_failed: bool) -> Option<&'a Finished> {
    let before = finished.iter().find(|finished| finished.id == cell.id)?;
    (!(retry_failed && before.ending.is_failure())).then_some(before)
}

/// What the process of a cell is told: its settings, and for a run also where the data are, and the remote device or the external program that trains.
fn arguments_of(arguments: &StudyArgs, plan: &Plan, cell: &Cell) -> Vec<String> {
    let mut words = cell.settings.arguments();
    let Some(run) = cell.settings.run() else { return words };
    let mut tell =
        |name: &str, value: Option<String>| words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    tell("--data", arguments.data.folder.as_ref().map(|folder| folder.display().to_string()));
    tell("--babi", arguments.data.babi.as_ref().map(|folder| folder.display().to_string()));
    let is_remote = run.backend == engine::backends::BURN_REMOTE;
    tell("--remote", arguments.remote.clone().filter(|_| is_remote));
    let program = plan.program(&run.backend);
    tell("--program", program.as_ref().map(NamedProgram::typed));
    tell("--program-timeout", arguments.external.chosen_timeout().filter(|_| program.is_some()).map(|x| x.to_string()));
    words
}
