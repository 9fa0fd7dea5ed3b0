//! What lies at the paths that were named: folders of studies, folders of records, and files of records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use html_report::{Entry, Input, Kernels, Study, Trouble};

use crate::failure::Failure;
use crate::records;
use crate::study::{Ending, Finished, Folder, Plan, Record};

/// Everything at these paths.
///
/// # Errors
/// There is nothing, or something is damaged; the error names the file and the place in it.
pub(in crate::commands) fn input(paths: &[PathBuf], title: Option<&str>) -> Result<Input, Failure> {
    let mut input = Input::default();
    for path in paths {
        let plan = if path.is_dir() { Folder::plan(path)? } else { None };
        match plan {
            Some(plan) => study(path, plan, &mut input)?,
            None => records_at(path, &mut input)?,
        }
    }
    if input.entries.is_empty() && input.kernels.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::Usage(format!(
            "there is nothing to report on in {}: records are what `native-runner study`, `--json FILE` and \
             `--output FOLDER` write",
            names.join(", ")
        )));
    }
    input.title = match (title, input.studies.as_slice()) {
        (Some(title), _) => title.to_owned(),
        (None, [study]) => study.title.clone(),
        (None, _) if input.entries.is_empty() => "What kernels by themselves say".to_owned(),
        (None, _) if input.entries.len() == 1 => "What a run says".to_owned(),
        (None, _) => format!("What {} runs say", input.entries.len()),
    };
    Ok(input)
}

/// Records of runs and of kernels, in a file or below a folder.
fn records_at(path: &Path, input: &mut Input) -> Result<(), Failure> {
    let found = records::read(path)?;
    let kernels = |(place, record)| Kernels { place, asked: None, record };
    input.kernels.extend(found.kernels.into_iter().map(kernels));
    input.others.extend(found.others);
    input.entries.extend(found.records.into_iter().map(|kept| Entry {
        place: kept.place,
        asked: None,
        record: Some(kept.record),
        scale: None,
        trouble: None,
    }));
    Ok(())
}

/// The cells of a study that have been run, in the order of its definition.
fn study(path: &Path, plan: Plan, input: &mut Input) -> Result<(), Failure> {
    let places: BTreeMap<&str, usize> = plan.cells.iter().map(|cell| (cell.id.as_str(), cell.place)).collect();
    let mut finished = Folder::read(path, &plan)?;
    finished.sort_by_key(|finished| places.get(finished.id.as_str()).copied());
    let finished_cells = finished.len();
    for finished in finished {
        add(finished, input);
    }
    let measures_kernels = plan.is_of_kernels();
    let planned_cells = plan.cells.len();
    let definition = plan.definition;
    input.studies.push(Study {
        name: plan.name,
        title: definition.title,
        description: definition.description,
        repeats: definition.repeats,
        differs: definition.differs,
        measures_kernels,
        scale: plan.scale,
        planned_cells,
        finished_cells,
    });
    Ok(())
}

fn add(finished: Finished, input: &mut Input) {
    let asked = Some(finished.settings.text());
    let record = match finished.record {
        Some(Record::Kernels(record)) => {
            input.kernels.push(Kernels { place: finished.id, asked, record: *record });
            return;
        }
        Some(Record::Run(record)) => Some(*record),
        None => None,
    };
    let kind = match finished.ending {
        Ending::Completed => "completed",
        Ending::Diverged => "diverged",
        Ending::Incorrect => "incorrect",
        Ending::NotTrained => "not trained",
        Ending::Failed => "failed",
        Ending::TimedOut => "timed out",
    };
    let reason = finished.reason.unwrap_or_else(|| "it says no more".to_owned());
    let trouble = record.is_none().then(|| Trouble { kind: kind.to_owned(), reason });
    input.entries.push(Entry { place: finished.id, asked, record, scale: Some(finished.scale), trouble });
}
