//! The folder of a study: its plan, and a file for each cell that has been run. It can be gone on with at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use results::Provenance;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::json_output::{JsonTarget, cannot_write, deliver, to_json};
use crate::machine;
use crate::machine::provenance;
use crate::program::NamedProgram;
use crate::study::cell::Cell;
use crate::study::definition::Definition;
use crate::study::finished::Finished;
use crate::study::matrix::{Machine, cells, in_random_order};

const PLAN: &str = "study.json";
const CELLS: &str = "cells";
const LOCK: &str = ".lock";

/// Folder that is locked by this process.
pub(crate) struct Folder {
    path: PathBuf,
    /// Plan that the folder was begun with.
    begun: Plan,
    /// Released by the system when the process ends.
    _lock: File,
}

impl Folder {
    /// Begins or resumes the study in this folder.
    pub(crate) fn open(path: &Path, plan: &Plan) -> Result<Self, Failure> {
        let cells = path.join(CELLS);
        fs::create_dir_all(&cells).map_err(|source| cannot_write(&cells, source))?;
        let file = path.join(LOCK);
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&file);
        let lock = lock.map_err(|source| cannot_write(&file, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::Usage(format!(
                    "another process runs the study in {}; let it end, or choose another folder with --output DIR",
                    path.display()
                )));
            }
            Err(TryLockError::Error(source)) => return Err(cannot_write(&file, source)),
        }
        let begun = match begun(path, plan)? {
            Some(begun) => begun,
            None => {
                JsonTarget::File(path.join(PLAN)).write(&to_json(plan)?)?;
                plan.clone()
            }
        };
        Ok(Self { path: path.to_owned(), begun, _lock: lock })
    }

    /// Lists why new cells differ from earlier ones of the same study: another version of the program, another
    /// processor.
    pub(crate) fn changes(&self, plan: &Plan) -> Vec<String> {
        let program = |plan: &Plan| format!("{} ({})", plan.provenance.engine_version, plan.provenance.commit);
        let processor = |plan: &Plan| plan.processor.clone().unwrap_or_else(|| "an unnamed processor".to_owned());
        let differ = |what: &str, now: String, then: String| {
            (now != then).then(|| format!("{what} is {now} now and was {then} when the folder was begun"))
        };
        let program = differ("this program's version", program(plan), program(&self.begun));
        program.into_iter().chain(differ("the processor", processor(plan), processor(&self.begun))).collect()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn keep(&self, finished: &Finished) -> Result<(), Failure> {
        deliver(Ok(()), Some(&JsonTarget::File(file_of(&self.path, &finished.id))), &to_json(finished)?)
    }

    /// Logs the start of an attempt, so that killed ones count, and returns their number.
    pub(crate) fn begin_attempt(&self, id: &str, started_unix_seconds: f64) -> Result<u32, Failure> {
        let file = self.path.join(CELLS).join(format!("{id}.attempts"));
        let log = OpenOptions::new().append(true).create(true).open(&file);
        log.and_then(|mut log| writeln!(log, "{started_unix_seconds}"))
            .map_err(|source| cannot_write(&file, source))?;
        let attempts = read(&file)?.map_or(0, |text| text.lines().count());
        Ok(u32::try_from(attempts).unwrap_or(u32::MAX))
    }

    /// Returns the plan in a folder; `None` if it has none.
    pub(crate) fn plan(path: &Path) -> Result<Option<Plan>, Failure> {
        let file = path.join(PLAN);
        let Some(text) = read(&file)? else { return Ok(None) };
        let place = file.display();
        let unusable = |reason: &str| {
            Failure::Usage(format!("{place} is not the plan of a study that this program knows: {reason}"))
        };
        let plan: Plan = serde_json::from_str(&text).map_err(|error| unusable(&error.to_string()))?;
        match plan.schema_version {
            SCHEMA_VERSION => Ok(Some(plan)),
            other => Err(unusable(&format!("its layout has version {other}"))),
        }
    }

    /// Reads the finished cells of the plan, in its order.
    pub(crate) fn read(path: &Path, plan: &Plan) -> Result<Vec<Finished>, Failure> {
        if begun(path, plan)?.is_none() { Ok(Vec::new()) } else { cells_of(path, plan) }
    }
}

fn file_of(path: &Path, id: &str) -> PathBuf {
    path.join(CELLS).join(format!("{id}.json"))
}

fn cells_of(path: &Path, plan: &Plan) -> Result<Vec<Finished>, Failure> {
    let cells = plan.cells.iter().map(|cell| read_cell(&file_of(path, &cell.id)));
    cells.filter_map(Result::transpose).collect()
}

/// Plan of the folder; `None` also for a different plan of which no cell has finished.
fn begun(path: &Path, plan: &Plan) -> Result<Option<Plan>, Failure> {
    let Some(begun) = Folder::plan(path)? else { return Ok(None) };
    let differences = plan.differences(&begun);
    if differences.is_empty() {
        return Ok(Some(begun));
    }
    if cells_of(path, &begun)?.iter().all(|finished| finished.ending.is_failure()) {
        return Ok(None);
    }
    let text = format!(
        "{} was begun for another study; choose another folder with --output DIR. What differs:\n  {}",
        path.display(),
        differences.join("\n  ")
    );
    Err(Failure::Usage(text))
}

fn read_cell(file: &Path) -> Result<Option<Finished>, Failure> {
    let Some(text) = read(file)? else { return Ok(None) };
    let unusable = |reason: String| {
        Failure::Usage(format!("{} is not a cell's file ({reason}); remove it to run the cell again", file.display()))
    };
    let finished: Finished = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    match finished.schema_version {
        SCHEMA_VERSION => Ok(Some(finished)),
        other => Err(unusable(format!("its layout has version {other}"))),
    }
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Failure::File { what: format!("cannot read {}", file.display()), source }),
    }
}

/// Version of the layout of plans and cells.
pub(crate) const SCHEMA_VERSION: u32 = 1;
const MAX_DIFFERENCES: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub(crate) schema_version: u32,
    /// Name of the built-in study, or of its file without the extension.
    pub(crate) name: String,
    /// Includes overridden back ends and adapters.
    pub(crate) definition: Definition,
    pub(crate) scale: f64,
    pub(crate) cells: Vec<Cell>,
    pub(crate) provenance: Provenance,
    pub(crate) processor: Option<String>,
}

impl Plan {
    pub(crate) fn new(name: &str, definition: Definition, scale: f64, machine: Machine) -> Result<Self, String> {
        let cells = in_random_order(cells(&definition, scale, machine)?, definition.order_seed);
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            name: name.to_owned(),
            definition,
            scale,
            cells,
            provenance: provenance(),
            processor: machine::name(),
        })
    }

    pub(crate) fn program(&self, backend: &str) -> Option<NamedProgram> {
        // The definition was checked before anything was planned.
        self.definition.named_programs().ok()?.into_iter().find(|program| program.name == backend)
    }

    pub(crate) fn is_of_kernels(&self) -> bool {
        !self.definition.kernels.is_empty()
    }

    /// Lists how this study differs from the one that a folder was begun for.
    pub(crate) fn differences(&self, begun: &Self) -> Vec<String> {
        let json = |plan: &Self| serde_json::to_value((&plan.definition, plan.scale)).expect("a plan is JSON");
        let (Value::Array(here), Value::Array(there)) = (json(self), json(begun)) else { return Vec::new() };
        let mut found = Vec::new();
        for ((name, here), there) in ["definition", "scale"].into_iter().zip(&here).zip(&there) {
            differ(name, here, there, &mut found);
        }
        let files = |plan: &Self| -> BTreeMap<PathBuf, String> {
            let files = plan.cells.iter().filter_map(|cell| cell.settings.run()?.file.clone());
            files.map(|file| (file.path, file.sha256)).collect()
        };
        let then = files(begun);
        let now = files(self).into_iter();
        let changed = now.filter(|(path, sha256)| then.get(path).is_some_and(|before| before != sha256));
        found.extend(changed.map(|(path, _)| format!("{} has changed since the folder was begun", path.display())));
        let ids = |plan: &Self| plan.cells.iter().map(|cell| cell.id.clone()).collect::<BTreeSet<String>>();
        let (mine, its) = (ids(self), ids(begun));
        if found.is_empty() && mine != its {
            let (more, fewer) = (mine.difference(&its).count(), its.difference(&mine).count());
            found.push(format!(
                "on this machine and with this program's back ends it has {more} cells that the folder's plan lacks, and \
                 lacks {fewer} of those"
            ));
        }
        if found.len() > MAX_DIFFERENCES {
            let more = found.len() - MAX_DIFFERENCES;
            found.truncate(MAX_DIFFERENCES);
            found.push(format!("and {more} more"));
        }
        found
    }
}

/// Lists differences as `path: THIS here, THAT in the folder`.
fn differ(path: &str, here: &Value, there: &Value, found: &mut Vec<String>) {
    match (here, there) {
        _ if here == there => {}
        (Value::Object(mine), Value::Object(its)) => {
            let keys: BTreeSet<&String> = mine.keys().chain(its.keys()).collect();
            for key in keys {
                let of = |object: &serde_json::Map<String, Value>| object.get(key).cloned().unwrap_or(Value::Null);
                differ(&format!("{path}.{key}"), &of(mine), &of(its), found);
            }
        }
        // Each [[matrix]] separately; lists of values are short enough to be shown whole.
        (Value::Array(mine), Value::Array(its)) if mine.len() == its.len() && mine.iter().all(Value::is_object) => {
            for (index, (mine, its)) in mine.iter().zip(its).enumerate() {
                differ(&format!("{path}[{index}]"), mine, its, found);
            }
        }
        _ => found.push(format!("{path}: {} here, {} in the folder", short(here), short(there))),
    }
}

fn short(value: &Value) -> String {
    const MAX_LENGTH: usize = 60;
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Array(values) if values.iter().any(Value::is_object) => format!("{} entries", values.len()),
        value => {
            let text = value.to_string();
            if text.chars().count() <= MAX_LENGTH {
                text
            } else {
                text.chars().take(MAX_LENGTH).chain(['…']).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::{Ended, How};
    use crate::study::definition::Definition;
    use crate::study::finished::{Attempt, Ending};
    use crate::study::matrix::Machine;

    fn plan_for(lines: &str, scale: f64, cores: u16) -> Plan {
        let text = format!("title = \"t\"\n[[matrix]]\nworkloads = [\"keras-mnist-mlp\"]\n{lines}");
        Plan::new("t", Definition::parse(&text).unwrap(), scale, Machine { cores, has_remote: false }).unwrap()
    }

    fn plan(seeds: &str) -> Plan {
        plan_for(&format!("seeds = {seeds}"), 1.0, 2)
    }

    fn failed(plan: &Plan) -> Finished {
        let how = How::Status { code: Some(1), signal: None };
        let ended = Ended { how, stdout: String::new(), last_lines: Vec::new(), seconds: 1.0 };
        let attempt = Attempt { number: 1, scale: 1.0, started_unix_seconds: 0.0, attempts: 1 };
        Finished::of(&plan.cells[0], Vec::new(), attempt, ended)
    }

    #[test]
    fn kept_cells_are_read_again_without_partial_files() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan("[1, 2]");
        assert_eq!(Folder::read(place.path(), &plan).unwrap(), []);
        let folder = Folder::open(place.path(), &plan).unwrap();
        // Killed attempts count.
        assert_eq!(
            [("a", 1.0), ("a", 2.0), ("b", 3.0)].map(|(id, at)| folder.begin_attempt(id, at).unwrap()),
            [1, 2, 1]
        );
        let finished = failed(&plan);
        folder.keep(&finished).unwrap();
        fs::write(place.path().join("cells").join(format!("{}.json.partial", plan.cells[1].id)), "{ half").unwrap();
        assert_eq!(Folder::read(place.path(), &plan).unwrap(), [finished]);
    }

    #[test]
    fn a_folder_belongs_to_one_process_and_one_study() {
        let place = tempfile::tempdir().unwrap();
        let first = Folder::open(place.path(), &plan("[1]")).unwrap();
        let error = Folder::open(place.path(), &plan("[1]")).err().unwrap().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(first);
        let mut later = plan("[1]");
        later.provenance.commit = "another".to_owned();
        let again = Folder::open(place.path(), &later).unwrap();
        assert!(again.changes(&plan("[1]")).is_empty());
        assert!(again.changes(&later)[0].contains("(another) now"), "{:?}", again.changes(&later));
        again.keep(&Finished { ending: Ending::Completed, ..failed(&later) }).unwrap();
        drop(again);
        let error = Folder::open(place.path(), &plan("[2]")).err().unwrap().to_string();
        assert!(error.contains("seeds: [2] here, [1] in the folder"), "{error}");
    }

    #[test]
    fn study_changes_its_settings_while_nothing_has_finished() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path(), &plan("[1]")).unwrap();
        folder.keep(&failed(&plan("[1]"))).unwrap();
        drop(folder);
        drop(Folder::open(place.path(), &plan("[2]")).unwrap());
        assert_eq!(Folder::plan(place.path()).unwrap().unwrap().definition, plan("[2]").definition);
    }

    #[test]
    fn a_file_that_is_no_cell_is_named() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan("[1]");
        drop(Folder::open(place.path(), &plan).unwrap());
        fs::write(file_of(place.path(), &plan.cells[0].id), "{}").unwrap();
        let error = Folder::read(place.path(), &plan).unwrap_err().to_string();
        assert!(error.contains(&plan.cells[0].id) && error.contains("remove it"), "{error}");
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let begun = plan_for("seeds = [1, 2]", 1.0, 4);
        let other = plan_for("seeds = [1]\nbatch_sizes = [16]", 0.5, 4);
        let expected = [
            "definition.matrix[0].batch_sizes: [16] here, nothing in the folder",
            "definition.matrix[0].seeds: [1] here, [1,2] in the folder",
            "scale: 0.5 here, 1.0 in the folder",
        ];
        assert_eq!(other.differences(&begun), expected);
        // Another machine has other numbers of threads.
        let threads = "backends = [\"burn-flex\"]\nthreads = \"1..all\"";
        let found = plan_for(threads, 1.0, 2).differences(&plan_for(threads, 1.0, 4));
        assert!(found.len() == 1 && found[0].contains("lacks 1 of those"), "{found:?}");
    }
}
