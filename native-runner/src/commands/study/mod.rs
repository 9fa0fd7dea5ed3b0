//! Studies: listing, planning, running and showing them.

mod arguments;
mod run;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use results::Date;
use schemars::schema_for;
use serde::Serialize;

pub(crate) use crate::commands::study::arguments::StudyArgs;
use crate::commands::study::arguments::resume;
use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, to_json};
use crate::machine::provenance;
use crate::screen::Screen;
use crate::study::definition::{STUDIES, StudyDefinition, load};
use crate::study::folder::{Folder, StudyPlan};
use crate::study::matrix::Host;

const STUDIES_FOLDER: &str = "studies";

pub(crate) fn study(arguments: &StudyArgs) -> Result<()> {
    if arguments.schema {
        return JsonTarget::StandardOutput.write(&to_json(&schema_for!(StudyDefinition))?);
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
    let StudyArgs { workload_files, backends, adapter, external, .. } = arguments;
    let definition = definition.with_options(workload_files, backends, adapter, &external.programs);
    definition.named_programs().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let plan = StudyPlan::new(&short_name, definition, arguments.scale, Host::this(arguments.remote.is_some()));
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

fn refuse_options_of_runs(arguments: &StudyArgs) -> Result<()> {
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
fn mention_unfinished(plan: &StudyPlan) -> Result<()> {
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

#[derive(Serialize)]
struct StudyListing {
    name: &'static str,
    #[serde(flatten)]
    definition: StudyDefinition,
    cells: usize,
}

fn list(json: Option<&JsonTarget>) -> Result<()> {
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
