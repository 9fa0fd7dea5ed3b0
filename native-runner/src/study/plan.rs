//! What a study will run, in which order, and what it was planned from and on: the file `study.json` of its folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use results::Provenance;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cell::Cell;
use super::cells::{cells, in_random_order};
use super::definition::Definition;
use super::matrix::Machine;
use crate::processor;
use crate::program::NamedProgram;
use crate::provenance::provenance;

/// Version of the layout of the plan.
const SCHEMA_VERSION: u32 = 1;
/// More differences than this are too many to read.
const MOST_DIFFERENCES: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub(crate) schema_version: u32,
    /// Of the built-in study, or of its file without the ending.
    pub(crate) name: String,
    /// With the back ends and adapters that took the place of its own.
    pub(crate) definition: Definition,
    /// What the limit of each cell was multiplied by.
    pub(crate) scale: f64,
    /// In the order in which they run.
    pub(crate) cells: Vec<Cell>,
    /// Who planned it, and when.
    pub(crate) provenance: Provenance,
    /// What the processor calls itself; absent where it does not.
    pub(crate) processor: Option<String>,
}

impl Plan {
    /// # Errors
    /// What makes the definition impossible on this machine.
    pub(crate) fn new(name: &str, definition: Definition, scale: f64, machine: Machine) -> Result<Self, String> {
        let cells = in_random_order(cells(&definition, scale, machine)?, definition.order_seed);
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            name: name.to_owned(),
            definition,
            scale,
            cells,
            provenance: provenance(),
            processor: processor::name(),
        })
    }

    /// The external program that trains as the back end of this name, if one does.
    pub(crate) fn program(&self, backend: &str) -> Option<NamedProgram> {
        // The definition was checked before anything was planned.
        self.definition.named_programs().ok()?.into_iter().find(|program| program.name == backend)
    }

    /// Whether it measures kernels, and trains nothing.
    pub(crate) fn is_of_kernels(&self) -> bool {
        !self.definition.kernels.is_empty()
    }

    /// Whether this program can read it.
    pub(crate) fn has_known_layout(&self) -> bool {
        self.schema_version == SCHEMA_VERSION
    }

    /// What makes this another study than the one that a folder was begun for; nothing where it is the same.
    pub(crate) fn differences(&self, begun: &Self) -> Vec<String> {
        let json = |plan: &Self| serde_json::to_value((&plan.definition, plan.scale)).expect("a plan is JSON");
        let (Value::Array(here), Value::Array(there)) = (json(self), json(begun)) else { return Vec::new() };
        let mut found = Vec::new();
        for ((name, here), there) in ["definition", "scale"].into_iter().zip(&here).zip(&there) {
            differ(name, here, there, &mut found);
        }
        found.extend(self.changed_files(begun));
        let ids = |plan: &Self| plan.cells.iter().map(|cell| cell.id.clone()).collect::<BTreeSet<String>>();
        let (mine, its) = (ids(self), ids(begun));
        if found.is_empty() && mine != its {
            let (more, fewer) = (mine.difference(&its).count(), its.difference(&mine).count());
            found.push(format!(
                "on this machine and with this program's back ends it has {more} cells that the folder's plan lacks, and \
                 lacks {fewer} of those"
            ));
        }
        if found.len() > MOST_DIFFERENCES {
            let more = found.len() - MOST_DIFFERENCES;
            found.truncate(MOST_DIFFERENCES);
            found.push(format!("and {more} more"));
        }
        found
    }
}

impl Plan {
    /// Networks of one's own whose files do not say any more what they said when the folder was begun.
    fn changed_files(&self, begun: &Self) -> Vec<String> {
        let files = |plan: &Self| -> BTreeMap<PathBuf, String> {
            let files = plan.cells.iter().filter_map(|cell| cell.settings.run()?.file.clone());
            files.map(|file| (file.path, file.sha256)).collect()
        };
        let then = files(begun);
        let now = files(self).into_iter();
        let changed = now.filter(|(path, sha256)| then.get(path).is_some_and(|before| before != sha256));
        changed.map(|(path, _)| format!("{} has changed since the folder was begun", path.display())).collect()
    }
}

/// Where two values differ, as `path: THIS here, THAT in the folder`.
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
        // Each [[matrix]] by itself; lists of values are short enough to be shown whole.
        (Value::Array(mine), Value::Array(its)) if mine.len() == its.len() && mine.iter().all(Value::is_object) => {
            for (index, (mine, its)) in mine.iter().zip(its).enumerate() {
                differ(&format!("{path}[{index}]"), mine, its, found);
            }
        }
        _ => found.push(format!("{path}: {} here, {} in the folder", short(here), short(there))),
    }
}

fn short(value: &Value) -> String {
    const LONGEST: usize = 60;
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Array(values) if values.iter().any(Value::is_object) => format!("{} entries", values.len()),
        value => {
            let text = value.to_string();
            if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST).chain(['…']).collect() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { cores: 4, has_remote: false };

    fn plan(more: &str, scale: f64, cores: u16) -> Plan {
        let text = format!("title = \"t\"\n[[matrix]]\nworkloads = [\"keras-mnist-mlp\"]\n{more}");
        Plan::new("t", Definition::parse(&text).unwrap(), scale, Machine { cores, ..MACHINE }).unwrap()
    }

    #[test]
    fn the_same_study_planned_later_is_the_same() {
        let (begun, again) = (plan("seeds = [1, 2]", 0.5, 4), plan("seeds = [1, 2]", 0.5, 4));
        assert_eq!(again.differences(&begun), [""; 0]);
        assert_eq!(again.cells, begun.cells);
        let text = serde_json::to_string(&begun).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), begun);
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let begun = plan("seeds = [1, 2]", 1.0, 4);
        let other = plan("seeds = [1]\nbatch_sizes = [16]", 0.5, 4);
        let expected = [
            "definition.matrix[0].batch_sizes: [16] here, nothing in the folder",
            "definition.matrix[0].seeds: [1] here, [1,2] in the folder",
            "scale: 0.5 here, 1.0 in the folder",
        ];
        assert_eq!(other.differences(&begun), expected);
    }

    #[test]
    fn another_machine_has_other_threads() {
        let threads = "backends = [\"burn-flex\"]\nthreads = \"1..all\"";
        let found = plan(threads, 1.0, 2).differences(&plan(threads, 1.0, 4));
        assert!(found.len() == 1 && found[0].contains("lacks 1 of those"), "{found:?}");
    }
}
