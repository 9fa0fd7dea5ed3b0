//! Findings: sentences derived from the runs by rules that the report lists. A rule is a constant in one of these files
//! and a line in [`RULES`]; `method.md` describes it. It reports a finding only if its numbers support one.

pub(crate) mod cautions;
mod kernels;
mod learning;
mod published;
mod speed;

use crate::report::difference::{AccuracyDifference, Contrast};
use crate::report::group::{Group, SetupField, varying};
use crate::report::input::GatheredRuns;
use crate::report::lines::{Sweep, SweepAxis, lines};
use crate::text;

/// All rules, in the order of the report.
pub(crate) const RULES: &[FindingRule] = &[
    cautions::CAUTIONS,
    speed::FASTEST,
    learning::BATCH_SIZE,
    learning::LEARNING_RATE,
    learning::EPOCHS,
    speed::THREADS,
    speed::DEVICES,
    speed::INPUT,
    speed::LAYOUTS,
    learning::AGREEMENT,
    speed::COLD_START,
    published::PUBLISHED,
    kernels::PEAK,
    kernels::PASSES,
    kernels::DEVICES,
    kernels::PUBLISHED,
];

pub(crate) fn all(gathered: &GatheredRuns<'_>) -> Vec<Finding> {
    let named = |rule: &FindingRule| {
        (rule.find)(gathered).into_iter().map(|finding| Finding { rule: rule.title, ..finding }).collect::<Vec<_>>()
    };
    RULES.iter().flat_map(named).collect()
}

pub(crate) struct FindingRule {
    /// Title in the report, and heading in `method.md` of the basis of the decision.
    pub(crate) title: &'static str,
    pub(crate) find: fn(&GatheredRuns<'_>) -> Vec<Finding>,
}

/// Returns the findings about the groups of each workload.
pub(crate) fn each_workload<F: IntoIterator<Item = Finding>>(
    gathered: &GatheredRuns<'_>,
    find: impl Fn(&[&Group<'_>]) -> F,
) -> Vec<Finding> {
    gathered.workloads().iter().flat_map(|(_, groups)| find(groups)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Caution,
    Difference,
    Tie,
    Undecided,
    Figure,
    Published,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Caution, Self::Difference, Self::Tie, Self::Undecided, Self::Figure, Self::Published];

    /// Returns the name, which is also the class in the style sheet.
    pub fn name(self) -> &'static str {
        ["caution", "difference", "tie", "undecided", "result", "published"][self as usize]
    }
}

/// Sentence, with the numbers that support it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    /// One or more complete sentences.
    pub text: String,
    /// Underlying numbers, one line each.
    pub numbers: Vec<String>,
    pub rule: &'static str,
}

impl Finding {
    pub(crate) fn new(kind: Kind, text: String, numbers: impl IntoIterator<Item = String>) -> Self {
        Self { kind, text, numbers: numbers.into_iter().collect(), rule: "" }
    }
}

impl From<Contrast> for Kind {
    fn from(contrast: Contrast) -> Self {
        match contrast {
            Contrast::Higher | Contrast::Lower => Self::Difference,
            Contrast::Tied => Self::Tie,
            Contrast::Undecided => Self::Undecided,
        }
    }
}

impl Kind {
    /// Returns the kind of a finding about speed and accuracy: a difference in either one, or else undecided.
    pub(crate) fn of_both(speed: Contrast, accuracy: Option<AccuracyDifference>) -> Self {
        let kinds = [Some(speed), accuracy.map(|difference| difference.contrast)].map(|of| of.map(Self::from));
        let first = [Self::Difference, Self::Undecided].into_iter().find(|kind| kinds.contains(&Some(*kind)));
        first.unwrap_or(Self::Tie)
    }
}

/// Returns the findings of all lines along an axis.
pub(crate) fn along(
    groups: &[&Group<'_>],
    axis: SweepAxis,
    find: fn(&[&Group<'_>], &Sweep<'_, '_>) -> Option<Finding>,
) -> Vec<Finding> {
    lines(groups, axis).iter().filter_map(|line| find(groups, line)).collect()
}

/// Names the workload and backend of a group, with the fields that distinguish it from other groups of the workload.
pub(crate) fn subject(groups: &[&Group<'_>], group: &Group<'_>, but: &[SetupField]) -> String {
    let mut fields = varying(groups);
    fields.retain(|field| !but.contains(field) && *field != SetupField::Backend);
    let details = group.joined(&fields, ", ");
    let name = format!("{} on {}", group.workload, group.contender());
    if details.is_empty() { name } else { format!("{name} ({details})") }
}

/// Returns the metrics of a group in one line.
pub(crate) fn metrics(name: &str, group: &Group<'_>) -> String {
    let rate = group.rate().map(|(rate, is_counted)| {
        let of_all = if is_counted { "" } else { " over all training" };
        format!("{}{of_all}", text::rate(rate))
    });
    let accuracy = group.accuracy().map(|share| {
        let deviation = group.accuracy_deviation().map(|of| format!(" ± {}", text::points(of)));
        format!("{}{} accuracy", text::percent(share), deviation.unwrap_or_default())
    });
    let loss = group.text_loss().map(|(_, loss)| format!("test loss {loss}"));
    let seeds = text::counted(group.seeds().len(), "seed");
    let parts: Vec<String> = [rate, loss.or(accuracy), Some(seeds)].into_iter().flatten().collect();
    format!("{name}: {}", parts.join(", "))
}
