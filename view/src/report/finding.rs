//! Findings: sentences derived from the runs by rules that the report lists.

use crate::report::difference::{AccuracyDifference, Contrast};
use crate::report::group::{Field, GatheredRuns, Group, varying};
use crate::report::lines::{Sweep, SweepAxis, lines};
use crate::text;

/// Rule that produces findings.
pub(crate) struct Rule {
    pub(crate) title: &'static str,
    /// Basis of the decision, for the report's method section.
    pub(crate) method: &'static str,
    pub(crate) find: RuleSearch,
}

pub(crate) enum RuleSearch {
    /// Searches the groups of one workload.
    Groups(fn(&[&Group<'_>]) -> Vec<Finding>),
    /// Searches the whole input.
    Input(fn(&GatheredRuns<'_>) -> Vec<Finding>),
}

impl Rule {
    pub(crate) fn find(&self, gathered: &GatheredRuns<'_>) -> Vec<Finding> {
        let found = match self.find {
            RuleSearch::Groups(find) => gathered.workloads().iter().flat_map(|(_, groups)| find(groups)).collect(),
            RuleSearch::Input(find) => find(gathered),
        };
        found.into_iter().map(|finding: Finding| Finding { rule: self.title, ..finding }).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A reason to doubt metrics.
    Caution,
    /// A difference larger than chance explains.
    Difference,
    /// A difference that chance explains, if chance only explains small ones.
    Tie,
    /// A difference that chance explains, if chance also explains large ones: more windows or seeds would decide.
    Undecided,
    /// A number without a comparison.
    Figure,
    /// A comparison with an external published result.
    Published,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Caution, Self::Difference, Self::Tie, Self::Undecided, Self::Figure, Self::Published];

    pub fn name(self) -> &'static str {
        match self {
            Self::Caution => "caution",
            Self::Difference => "difference",
            Self::Tie => "tie",
            Self::Undecided => "undecided",
            Self::Figure => "result",
            Self::Published => "published",
        }
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
    /// Title of the rule that produced it.
    pub rule: &'static str,
}

impl Finding {
    pub(crate) fn new(kind: Kind, text: String, numbers: Vec<String>) -> Self {
        Self { kind, text, numbers, rule: "" }
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
pub(crate) fn subject(groups: &[&Group<'_>], group: &Group<'_>, but: &[Field]) -> String {
    let mut fields = varying(groups);
    fields.retain(|field| !but.contains(field) && *field != Field::Backend);
    let details = group.setup.joined(&fields, ", ");
    let name = format!("{} on {}", group.setup.workload, group.setup.contender());
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
    let seeds = text::counted(group.seeds().len(), "seed");
    let parts: Vec<String> = [rate, accuracy, Some(seeds)].into_iter().flatten().collect();
    format!("{name}: {}", parts.join(", "))
}
