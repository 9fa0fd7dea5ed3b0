//! Whether runs of one side, the candidate, are slower than those of another, the baseline.
//!
//! [`compare`] makes all of it from records, and from nothing else.

mod accuracy;
mod line;
mod mismatch;
mod quantity;
mod speed;
mod verdict;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use accuracy::{Accuracy, AccuracyVerdict, Allowance};
pub use line::{Line, Side, Throughput};
pub use mismatch::{Mismatch, MismatchKind, device};
pub use quantity::{Change, QUANTITIES, Quantity, QuantityUnit};
pub use speed::ratio;
pub use verdict::Verdict;

use crate::api::SideDifference;
use crate::comparison::Contender;
use crate::environment::{FACTS, FURTHER_FACTS, differences};
use crate::{Precision, RunRecord, Summary, WorkloadRecord, summary};

/// What fails a candidate, beside what it could not train and the baseline could.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// How much slower is tolerated, as a share of the baseline's throughput; absent where no speed fails.
    pub fail_if_slower: Option<f64>,
    /// Whether everything that the baseline has must be there.
    pub fail_if_missing: bool,
}

/// What is held beside each other: figures in which anything of this differs have nothing to say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    pub batch_size: u32,
}

impl Key {
    /// The back end, with its precision where that is not the usual one.
    pub fn contender(&self) -> Contender {
        Contender { backend: self.backend.clone(), precision: self.precision }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}, batches of {}", self.workload, self.contender(), self.batch_size)
    }
}

/// Two sides of runs, held beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regressions {
    pub rules: Rules,
    /// Everything that either side trained, in the order in which it first appears.
    pub lines: Vec<Line>,
    /// What is not alike around the sides, the baseline's value first.
    pub differences: Vec<SideDifference>,
    /// Why a verdict may mean nothing.
    pub mismatches: Vec<Mismatch>,
}

impl Regressions {
    /// What makes the candidate fail.
    pub fn failures(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.verdict.fails(&self.rules))
    }

    /// Whether anything could be held beside anything.
    pub fn has_verdicts(&self) -> bool {
        self.lines.iter().any(|line| line.verdict.is_told())
    }
}

/// One workload of one run.
struct Run<'a> {
    record: &'a RunRecord,
    workload: &'a WorkloadRecord,
    /// Computed again: what a record says about itself is not read.
    summary: Summary,
}

impl<'a> Run<'a> {
    fn all(records: &'a [RunRecord]) -> Vec<Self> {
        let of_record = |record: &'a RunRecord| {
            record.workloads.iter().map(move |workload| Self {
                record,
                workload,
                summary: summary::summarise(workload),
            })
        };
        records.iter().flat_map(of_record).collect()
    }

    fn key(&self) -> Key {
        let settings = &self.workload.settings;
        Key {
            workload: self.workload.workload.clone(),
            backend: self.record.device.backend.clone(),
            precision: settings.precision,
            batch_size: settings.batch_size,
        }
    }
}

/// Holds the runs of two sides beside each other, for each workload, back end, precision and batch size.
pub fn compare(baseline: &[RunRecord], candidate: &[RunRecord], rules: Rules) -> Regressions {
    let sides = [baseline, candidate].map(Run::all);
    let mut keys: Vec<Key> = Vec::new();
    for key in sides.iter().flatten().map(Run::key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let tolerance = rules.fail_if_slower.unwrap_or_default();
    let mut lines = Vec::new();
    let mut mismatches = Vec::new();
    for key in keys {
        let [before, after] =
            sides.each_ref().map(|side| side.iter().filter(|run| run.key() == key).collect::<Vec<_>>());
        for mismatch in mismatch::find(&before, &after) {
            if !mismatches.contains(&mismatch) {
                mismatches.push(mismatch);
            }
        }
        lines.push(line::line(key, &before, &after, tolerance));
    }
    // What is compared is alike in these, or it would not be.
    let facts = FACTS.iter().filter(|fact| !["backend", "precision"].contains(&fact.id)).chain(FURTHER_FACTS);
    let differences = differences(facts, &[baseline, candidate].map(|side| side.iter().collect::<Vec<_>>()));
    Regressions { rules, lines, differences, mismatches }
}
