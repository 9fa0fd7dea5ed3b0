//! Folder of a study: its plan, and a file for each finished cell. It can be resumed at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use results::kernels::KernelRecord;
use results::{Length, Outcome, Provenance, RunRecord, WorkloadRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::child::{Ended, How, signal_name};
use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, cannot_read, cannot_write, deliver, to_json};
use crate::machine::provenance;
use crate::study::cell::{CellSettings, StudyCell};
use crate::study::definition::StudyDefinition;
use crate::study::matrix::{Host, cells, shuffle_cells};
use crate::{figures, machine, report};

const PLAN: &str = "study.json";
const CELLS: &str = "cells";
const LOCK: &str = ".lock";

pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    begun: StudyPlan,
    /// Lock that the system releases when the process ends.
    _lock: File,
}

impl Folder {
    pub(crate) fn open(path: &Path, plan: &StudyPlan) -> Result<Self> {
        let cells = path.join(CELLS);
        fs::create_dir_all(&cells).map_err(|source| cannot_write(&cells, source))?;
        let file = path.join(LOCK);
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&file);
        let lock = lock.map_err(|source| cannot_write(&file, source))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::Error(source) => cannot_write(&file, source),
            TryLockError::WouldBlock => Failure::Usage(format!(
                "another process is running the study in {}; wait for it, or choose another folder with --output DIR",
                path.display()
            )),
        })?;
        let begun = begun(path, plan)?;
        if begun.is_none() {
            JsonTarget::File(path.join(PLAN)).write(&to_json(plan)?)?;
        }
        Ok(Self { path: path.to_owned(), begun: begun.unwrap_or_else(|| plan.clone()), _lock: lock })
    }

    /// Lists reasons why new cells may differ from earlier ones.
    pub(crate) fn changes(&self, plan: &StudyPlan) -> Vec<String> {
        let program = |plan: &StudyPlan| format!("{} ({})", plan.provenance.engine_version, plan.provenance.commit);
        let processor = |plan: &StudyPlan| plan.processor.clone().unwrap_or_else(|| "an unnamed processor".to_owned());
        let facts = [
            ("this program's version", program(plan), program(&self.begun)),
            ("the processor", processor(plan), processor(&self.begun)),
        ];
        let changed = facts.into_iter().filter(|(_, now, then)| now != then);
        let text = |(what, now, then)| format!("{what} is now {now}, but was {then} when the folder was created");
        changed.map(text).collect()
    }

    pub(crate) fn keep(&self, finished: &FinishedCell) -> Result<()> {
        deliver(Ok(()), Some(&JsonTarget::File(file_of(&self.path, &finished.id))), &to_json(finished)?)
    }

    /// Logs the start of an attempt, so that killed ones count too, and returns its number.
    pub(crate) fn begin_attempt(&self, id: &str, started_unix_seconds: f64) -> Result<u32> {
        let file = self.path.join(CELLS).join(format!("{id}.attempts"));
        let log = OpenOptions::new().append(true).create(true).open(&file);
        log.and_then(|mut log| writeln!(log, "{started_unix_seconds}"))
            .map_err(|source| cannot_write(&file, source))?;
        Ok(u32::try_from(read(&file)?.map_or(0, |text| text.lines().count())).unwrap_or(u32::MAX))
    }

    pub(crate) fn plan(path: &Path) -> Result<Option<StudyPlan>> {
        let unusable = |reason: &str| format!("is not a valid plan of a study: {reason}");
        read_document(&path.join(PLAN), |plan: &StudyPlan| plan.schema_version, unusable)
    }

    pub(crate) fn read(path: &Path, plan: &StudyPlan) -> Result<Vec<FinishedCell>> {
        if begun(path, plan)?.is_none() { Ok(Vec::new()) } else { cells_of(path, plan) }
    }
}

fn file_of(path: &Path, id: &str) -> PathBuf {
    path.join(CELLS).join(format!("{id}.json"))
}

fn cells_of(path: &Path, plan: &StudyPlan) -> Result<Vec<FinishedCell>> {
    let unusable = |reason: &str| format!("is not a valid file of a cell ({reason}); remove it to run the cell again");
    let version = |finished: &FinishedCell| finished.schema_version;
    let cells = plan.cells.iter().map(|cell| read_document(&file_of(path, &cell.id), version, unusable));
    cells.filter_map(Result::transpose).collect()
}

/// Returns the folder's plan, or `None` if there is none, or a different one without finished cells.
fn begun(path: &Path, plan: &StudyPlan) -> Result<Option<StudyPlan>> {
    let Some(begun) = Folder::plan(path)? else { return Ok(None) };
    let differences = plan.differences(&begun);
    if differences.is_empty() {
        return Ok(Some(begun));
    }
    if cells_of(path, &begun)?.iter().all(|finished| finished.ending.is_failure()) {
        return Ok(None);
    }
    let (place, differences) = (path.display(), differences.join("\n  "));
    Err(Failure::Usage(format!(
        "{place} belongs to a different study; choose another folder with --output DIR. Differences:\n  {differences}"
    )))
}

/// Reads a file of the study; `None` if it does not exist. `unusable` formats why this program cannot use it.
fn read_document<T: DeserializeOwned>(
    file: &Path,
    version: fn(&T) -> u32,
    unusable: fn(&str) -> String,
) -> Result<Option<T>> {
    let Some(text) = read(file)? else { return Ok(None) };
    let unusable = |reason: String| Failure::Usage(format!("{} {}", file.display(), unusable(&reason)));
    let document: T = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    match version(&document) {
        SCHEMA_VERSION => Ok(Some(document)),
        other => Err(unusable(format!("its layout has version {other}"))),
    }
}

fn read(file: &Path) -> Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(cannot_read(file, source)),
    }
}

pub(crate) const SCHEMA_VERSION: u32 = 1;
const MAX_DIFFERENCES: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyPlan {
    pub(crate) schema_version: u32,
    /// Name of the built-in study, or of its file without the extension.
    pub(crate) name: String,
    /// Includes overridden backends and adapters.
    pub(crate) definition: StudyDefinition,
    pub(crate) scale: f64,
    pub(crate) cells: Vec<StudyCell>,
    pub(crate) provenance: Provenance,
    pub(crate) processor: Option<String>,
}

impl StudyPlan {
    pub(crate) fn new(name: &str, definition: StudyDefinition, scale: f64, machine: Host) -> Result<Self, String> {
        let cells = shuffle_cells(cells(&definition, scale, machine)?, definition.order_seed);
        let (name, provenance, processor) = (name.to_owned(), provenance(), machine::name());
        Ok(Self { schema_version: SCHEMA_VERSION, name, definition, scale, cells, provenance, processor })
    }

    pub(crate) fn is_of_kernels(&self) -> bool {
        !self.definition.kernels.is_empty()
    }

    /// Lists the differences between this study and the one that the folder was created for.
    pub(crate) fn differences(&self, begun: &Self) -> Vec<String> {
        let json = |definition: &StudyDefinition| serde_json::to_value(definition).expect("a definition is JSON");
        let mut found = Vec::new();
        differ("definition", &json(&self.definition), &json(&begun.definition), &mut found);
        differ("scale", &self.scale.into(), &begun.scale.into(), &mut found);
        let files = |plan: &Self| -> BTreeMap<PathBuf, String> {
            let files = plan.cells.iter().filter_map(|cell| cell.settings.run()?.file.clone());
            files.map(|file| (file.path, file.sha256)).collect()
        };
        let (then, mut now) = (files(begun), files(self));
        now.retain(|path, sha256| then.get(path).is_some_and(|before| before != sha256));
        found.extend(now.keys().map(|path| format!("{} has changed since the folder was created", path.display())));
        let lacking = |plan: &Self, other: &Self| {
            let is_new = |cell: &&StudyCell| other.cells.iter().all(|of| of.id != cell.id);
            plan.cells.iter().filter(is_new).count()
        };
        let (more, fewer) = (lacking(self, begun), lacking(begun, self));
        if found.is_empty() && more + fewer > 0 {
            found.push(format!(
                "on this machine and with this program's backends it has {more} cells that the folder's plan lacks, \
                 and lacks {fewer} of the plan's cells"
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
        // Compares each [[matrix]] separately; lists of values are short enough to show whole.
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
        value => match value.to_string() {
            text if text.chars().count() <= MAX_LENGTH => text,
            text => text.chars().take(MAX_LENGTH).chain(['…']).collect(),
        },
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FinishedCell {
    pub(crate) schema_version: u32,
    pub(crate) id: String,
    /// Position in the run order, from 1.
    pub(crate) number: usize,
    pub(crate) settings: CellSettings,
    /// Limit before scaling; for kernels, the seconds of an entry.
    pub(crate) full_limit: Option<Length>,
    pub(crate) scale: f64,
    pub(crate) arguments: Vec<String>,
    pub(crate) ending: CellEnding,
    pub(crate) reason: Option<String>,
    /// Absent if a signal ended the process.
    pub(crate) exit_status: Option<i32>,
    pub(crate) signal: Option<String>,
    /// Last lines of standard error, if there are no results.
    pub(crate) last_lines: Vec<String>,
    pub(crate) started_unix_seconds: f64,
    pub(crate) seconds: f64,
    /// Number of starts, including this one and killed ones.
    pub(crate) attempts: u32,
    /// Output of `--json`; absent without output.
    pub(crate) record: Option<CellRecord>,
    pub(crate) uploads: Vec<Uploaded>,
}

/// Record of a process. In files, the fields alone distinguish the kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum CellRecord {
    Run(Box<RunRecord>),
    Kernels(Box<KernelRecord>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CellEnding {
    Completed,
    /// The loss became infinite or huge, which is a result for the settings.
    Diverged,
    /// The backend disagreed with the reference, so nothing was timed.
    Incorrect,
    /// The run could not train, or no kernel could be measured.
    NotTrained,
    /// The run ended without a record: refused, crashed, or killed.
    Failed,
    TimedOut,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uploaded {
    pub(crate) leaderboard: String,
    pub(crate) run_id: String,
    pub(crate) permalink: String,
    /// Secret link that can delete the run.
    pub(crate) deletion_link: String,
}

impl CellEnding {
    /// Returns the name of its JSON as words.
    pub(crate) fn words(self) -> String {
        let name = serde_json::to_value(self).expect("a name is always JSON");
        name.as_str().unwrap_or_default().replace('_', " ")
    }

    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::NotTrained | Self::Failed | Self::TimedOut)
    }
}

impl FinishedCell {
    /// Returns the cell at position `number` of the plan, from 1, after attempt `attempts`.
    pub(crate) fn of(
        plan: &StudyPlan,
        number: usize,
        arguments: Vec<String>,
        (started_unix_seconds, attempts): (f64, u32),
        ended: Ended,
    ) -> Self {
        let cell = &plan.cells[number - 1];
        let record = match cell.settings {
            CellSettings::Run(_) => serde_json::from_str(&ended.stdout).ok().map(CellRecord::Run),
            CellSettings::Kernels(_) => serde_json::from_str(&ended.stdout).ok().map(CellRecord::Kernels),
        };
        let said = match &record {
            Some(CellRecord::Run(run)) => run.workloads.first().map(workload_ending),
            Some(CellRecord::Kernels(kernels)) => Some(kernels_ending(kernels)),
            None => None,
        };
        let (exit_status, signal, (ending, reason)) = match ended.how {
            How::TimedOut { .. } => {
                (None, None, (CellEnding::TimedOut, Some(format!("took longer than {:.0} s", ended.seconds))))
            }
            How::Status { code, signal } => {
                let signal = signal.map(|number| signal_name(number).to_owned());
                (code, signal, said.unwrap_or_else(|| (CellEnding::Failed, Some(ended.reason()))))
            }
        };
        Self {
            schema_version: SCHEMA_VERSION,
            id: cell.id.clone(),
            number,
            settings: cell.settings.clone(),
            full_limit: cell.full_limit,
            scale: plan.scale,
            arguments,
            ending,
            reason,
            exit_status,
            signal,
            last_lines: if ending == CellEnding::Completed { Vec::new() } else { ended.last_lines },
            started_unix_seconds,
            seconds: ended.seconds,
            attempts,
            record,
            uploads: Vec::new(),
        }
    }

    pub(crate) fn run(&self) -> Option<&RunRecord> {
        if let Some(CellRecord::Run(run)) = &self.record { Some(run) } else { None }
    }

    pub(crate) fn workload(&self) -> Option<&WorkloadRecord> {
        self.run()?.workloads.first()
    }

    pub(crate) fn kernels(&self) -> Option<&KernelRecord> {
        if let Some(CellRecord::Kernels(kernels)) = &self.record { Some(kernels) } else { None }
    }
}

pub(crate) fn find_finished<'a>(finished: &'a [FinishedCell], cell: &StudyCell) -> Option<&'a FinishedCell> {
    finished.iter().find(|finished| finished.id == cell.id)
}

fn workload_ending(workload: &WorkloadRecord) -> (CellEnding, Option<String>) {
    match &workload.outcome {
        Outcome::Completed => (CellEnding::Completed, None),
        Outcome::Diverged { step } => {
            let text = format!("diverged: the loss at step {step} was not finite, or a thousand times the first loss");
            (CellEnding::Diverged, Some(text))
        }
        Outcome::Incorrect => (CellEnding::Incorrect, report::wrong(workload)),
        Outcome::Failed { reason, .. } => (CellEnding::NotTrained, Some(reason.clone())),
        Outcome::Cancelled => (CellEnding::Failed, Some("the run was cancelled from outside".to_owned())),
    }
}

/// Returns the same for kernels. Entries over their budgets are results, if there is any other result.
fn kernels_ending(record: &KernelRecord) -> (CellEnding, Option<String>) {
    let report = &record.report;
    let wrong = figures::wrong(report);
    let measured = report.entries.iter().any(|of| of.outcome.measured().is_some());
    if !wrong.is_empty() {
        (CellEnding::Incorrect, Some(wrong.join("; ")))
    } else if report.cancelled {
        (CellEnding::Failed, Some("it was cancelled from outside".to_owned()))
    } else if !measured && report.peaks.iter().next().is_none() {
        (CellEnding::NotTrained, Some("nothing could be measured".to_owned()))
    } else {
        (CellEnding::Completed, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_for(lines: &str, scale: f64, cores: u16) -> StudyPlan {
        let definition = StudyDefinition::parse(&format!("title = \"t\"\n{lines}")).unwrap();
        StudyPlan::new("t", definition, scale, Host { cores, has_remote: false }).unwrap()
    }

    const MATRIX: &str = "[[matrix]]\nworkloads = [\"keras-mnist-mlp\"]";

    fn plan(seeds: &str) -> StudyPlan {
        plan_for(&format!("{MATRIX}\nseeds = {seeds}"), 1.0, 2)
    }

    fn finish(plan: &StudyPlan, code: i32, stdout: String) -> FinishedCell {
        let how = How::Status { code: Some(code), signal: None };
        let ended = Ended { how, stdout, last_lines: Vec::new(), seconds: 1.0 };
        FinishedCell::of(plan, 1, Vec::new(), (0.0, 1), ended)
    }

    fn failed(plan: &StudyPlan) -> FinishedCell {
        finish(plan, 1, String::new())
    }

    #[test]
    fn kept_cells_are_read_again_without_partial_files() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan("[1, 2]");
        assert_eq!(Folder::read(place.path(), &plan).unwrap(), []);
        let folder = Folder::open(place.path(), &plan).unwrap();
        // Killed attempts count.
        let attempts = [("a", 1.0), ("a", 2.0), ("b", 3.0)].map(|(id, at)| folder.begin_attempt(id, at).unwrap());
        assert_eq!(attempts, [1, 2, 1]);
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
        assert!(again.changes(&later)[0].contains("is now 0.1.0 (another)"), "{:?}", again.changes(&later));
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
        let begun = plan("[1, 2]");
        let other = plan_for(&format!("{MATRIX}\nseeds = [1]\nbatch_sizes = [16]"), 0.5, 2);
        let expected = [
            "definition.matrix[0].batch_sizes: [16] here, nothing in the folder",
            "definition.matrix[0].seeds: [1] here, [1,2] in the folder",
            "scale: 0.5 here, 1.0 in the folder",
        ];
        assert_eq!(other.differences(&begun), expected);
        // Another machine has other thread counts.
        let threads = format!("{MATRIX}\nbackends = [\"burn-flex\"]\nthreads = \"1..all\"");
        let found = plan_for(&threads, 1.0, 2).differences(&plan_for(&threads, 1.0, 4));
        assert!(found.len() == 1 && found[0].contains("lacks 1 of the plan's cells"), "{found:?}");
    }

    #[test]
    fn measured_kernels_complete_a_cell_and_wrong_ones_are_named() {
        let of = |entry: &str, cancelled: bool| {
            let stdout = format!(
                r#"{{"schema_version": 1, "adapter": {{"name": "a", "vendor": "", "architecture": "", "kind": "cpu",
                "api": "Vulkan", "driver": "", "software": true}}, "peaks": {{}}, "cancelled": {cancelled}, "entries": [
                {{"suite": "gemm", "size": "8 × 8 × 8", "pass": "forward", "flops": 1024, "bytes": 768,
                "kernels": ["dense_forward"], {entry}}}], "requested_adapter": "cpu", "budget_seconds": 2.0,
                "budget_bytes": 1024, "provenance": {{"engine_version": "1", "commit": "c", "started_unix_seconds": 0.0,
                "wall_seconds": 1.0, "client": {{"kind": "native", "name": "native-runner", "version": "1",
                "operating_system": "Linux", "logical_processors": 2}}}}}}"#
            );
            finish(&plan_for("[[kernels]]\nsuites = [\"gemm\"]", 1.0, 2), 0, stdout)
        };
        let measured = r#""outcome": "measured", "flops_per_second": 1e9, "peak_flops_per_second": null,
            "peak_share": null, "timing": {"seconds": 1.0, "seconds_lowest": 1.0, "seconds_highest": 1.0, "windows": []}"#;
        let finished = of(measured, false);
        let found = (finished.ending, finished.kernels().is_some(), finished.run());
        assert_eq!(found, (CellEnding::Completed, true, None));
        let text = serde_json::to_string(&finished).unwrap();
        assert_eq!(serde_json::from_str::<FinishedCell>(&text).unwrap(), finished);
        assert_eq!(of(measured, true).ending, CellEnding::Failed);
        assert_eq!(of(r#""outcome": "skipped", "reason": "why""#, false).ending, CellEnding::NotTrained);
        let wrong = of(r#""outcome": "wrong", "at": 3, "found": 1.5, "expected": 2.5"#, false);
        let reason = wrong.reason.unwrap_or_default();
        assert_eq!(wrong.ending, CellEnding::Incorrect);
        assert!(reason.contains("gemm 8 × 8 × 8, forward: value 3 is 1.5e0 where a plain sum gives 2.5e0"), "{reason}");
    }
}
