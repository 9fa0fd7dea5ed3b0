//! What lies at the paths that were named: folders of studies, folders of records, and files of records.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use html_report::{Entry, Input, Study, Trouble};
use results::{OLDEST_SCHEMA_VERSION, RunRecord, SCHEMA_VERSION};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::failure::Failure;

const PLAN: &str = "study.json";
const CELLS: &str = "cells";
const HOW_TO_MAKE_ONE: &str = "records are what `native-runner --json FILE`, `--output FOLDER` and `study` write";

/// Everything at these paths.
///
/// # Errors
/// There is nothing, or something is damaged; the error names the file and the place in it.
pub(super) fn input(paths: &[PathBuf], title: Option<&str>) -> Result<Input, Failure> {
    let mut input = Input::default();
    for path in paths {
        if path.join(PLAN).is_file() {
            study(path, &mut input)?;
        } else if path.is_dir() {
            folder(path, &mut input)?;
        } else {
            input.entries.extend(file(path)?);
        }
    }
    if input.entries.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let text = format!("there is nothing to report on in {}: {HOW_TO_MAKE_ONE}", names.join(", "));
        return Err(Failure::Usage(text));
    }
    input.title = match (title, input.studies.as_slice()) {
        (Some(title), _) => title.to_owned(),
        (None, [study]) => study.title.clone(),
        (None, _) => format!("What {} runs say", input.entries.len()),
    };
    Ok(input)
}

/// As much of a study's plan as a report tells.
#[derive(Deserialize)]
struct Plan {
    name: String,
    definition: Definition,
    scale: f64,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Definition {
    title: String,
    #[serde(default)]
    description: String,
    repeats: Option<String>,
    differs: Option<String>,
}

#[derive(Deserialize)]
struct Cell {
    id: String,
    /// In the definition, which is the order of tables.
    place: usize,
}

/// As much of what a cell left as a report tells.
#[derive(Deserialize)]
struct Finished {
    arguments: Vec<String>,
    ending: String,
    reason: Option<String>,
    record: Option<RunRecord>,
}

/// The folder of a study: its plan, and a file for each cell that has been run.
fn study(path: &Path, input: &mut Input) -> Result<(), Failure> {
    let mut plan: Plan = parse(&path.join(PLAN), &text(&path.join(PLAN))?)?;
    plan.cells.sort_by_key(|cell| cell.place);
    let mut finished_cells = 0;
    for cell in &plan.cells {
        let file = path.join(CELLS).join(format!("{}.json", cell.id));
        if !file.exists() {
            continue;
        }
        let finished: Finished = parse(&file, &text(&file)?)?;
        finished_cells += 1;
        input.entries.push(entry(&file, finished)?);
    }
    let Definition { title, description, repeats, differs } = plan.definition;
    input.studies.push(Study {
        name: plan.name,
        title,
        description,
        repeats,
        differs,
        scale: plan.scale,
        planned_cells: plan.cells.len(),
        finished_cells,
    });
    Ok(())
}

fn entry(file: &Path, finished: Finished) -> Result<Entry, Failure> {
    if let Some(record) = &finished.record {
        check_version(file, record)?;
    }
    let kind = finished.ending.replace('_', " ");
    let reason = finished.reason.unwrap_or_else(|| "it says no more".to_owned());
    Ok(Entry {
        place: file.display().to_string(),
        asked: Some(finished.arguments.join(" ")),
        trouble: finished.record.is_none().then_some(Trouble { kind, reason }),
        record: finished.record,
    })
}

/// Every record below a folder.
fn folder(path: &Path, input: &mut Input) -> Result<(), Failure> {
    let cannot = |source: io::Error| Failure::File { what: format!("cannot read {}", path.display()), source };
    let entries = fs::read_dir(path).map_err(cannot)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(cannot)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            folder(&path, input)?;
        } else if path.extension().is_some_and(|ending| ending == "json") {
            if is_something_else(&text(&path)?) {
                input.others.push(path.display().to_string());
            } else {
                input.entries.extend(file(&path)?);
            }
        }
    }
    Ok(())
}

/// As much as tells what a document is.
#[derive(Deserialize)]
struct Shape {
    workloads: Option<IgnoredAny>,
    records: Option<IgnoredAny>,
}

/// What `--backend all --json` writes, as far as it is records.
#[derive(Deserialize)]
struct Several {
    records: Vec<RunRecord>,
}

/// Whether a text is whole JSON, and neither a record nor several.
fn is_something_else(text: &str) -> bool {
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let shape: Option<Shape> = serde_json::from_str(text).ok();
    is_json && shape.is_none_or(|shape| shape.workloads.is_none() && shape.records.is_none())
}

/// The record of a file, or its records.
fn file(path: &Path) -> Result<Vec<Entry>, Failure> {
    let text = text(path)?;
    let has_several = serde_json::from_str::<Shape>(&text).is_ok_and(|shape| shape.records.is_some());
    let records = if has_several { parse::<Several>(path, &text)?.records } else { vec![parse(path, &text)?] };
    let count = records.len();
    let entry = |(number, record): (usize, RunRecord)| {
        check_version(path, &record)?;
        let place = path.display();
        let place = if count > 1 { format!("{place}, records[{number}]") } else { place.to_string() };
        Ok(Entry { place, asked: None, record: Some(record), trouble: None })
    };
    records.into_iter().enumerate().map(entry).collect()
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Failure::Usage(format!("there is no {}; {HOW_TO_MAKE_ONE}", path.display())),
        _ => Failure::File { what: format!("cannot read {}", path.display()), source },
    })
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::Usage(format!("{} is not what it should be: {error}; {HOW_TO_MAKE_ONE}", path.display()))
    })
}

fn check_version(path: &Path, record: &RunRecord) -> Result<(), Failure> {
    let version = record.schema_version;
    if (OLDEST_SCHEMA_VERSION..=SCHEMA_VERSION).contains(&version) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{} holds a record of layout {version}; this program knows layouts {OLDEST_SCHEMA_VERSION} to {SCHEMA_VERSION}",
        path.display()
    )))
}
