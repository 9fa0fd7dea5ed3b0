//! Sentences that follow from the runs, each by a rule that the report states.
//!
//! A rule is a file here and a line in [`RULES`]. It says a thing only where its numbers tell it. What chance explains is
//! called a tie where chance reaches only a little way, and undecided otherwise.

mod agreement;
mod batch_size;
pub(crate) mod cautions;
mod cold_start;
mod devices;
mod epochs;
mod fastest;
mod kernel_cautions;
mod kernels;
mod layouts;
mod learning_rate;
mod published;
mod streaming;
mod threads;

use crate::difference::{AccuracyDifference, SpeedRatio, Verdict};
use crate::gathered::Gathered;
use crate::group::{Field, Group, label, varying};
use crate::text;

/// How a kind of sentence is made.
pub(crate) struct Rule {
    pub(crate) title: &'static str,
    /// What decides, for the report's section on its method.
    pub(crate) method: &'static str,
    find: fn(&Gathered<'_>) -> Vec<Finding>,
}

/// Every rule, in the order in which the report tells what they found.
pub(crate) const RULES: &[Rule] = &[
    cautions::RULE,
    fastest::RULE,
    batch_size::RULE,
    learning_rate::RULE,
    epochs::RULE,
    threads::RULE,
    devices::RULE,
    streaming::RULE,
    layouts::RULE,
    agreement::RULE,
    cold_start::RULE,
    published::RULE,
    kernels::RULE,
    kernels::passes::RULE,
    kernels::devices::RULE,
    kernels::published::RULE,
];

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something to know before figures are believed.
    Caution,
    /// More than chance explains.
    Difference,
    /// No more than chance explains, which is little.
    Tie,
    /// No more than chance explains, which is much: more windows or seeds would decide.
    Undecided,
    /// A number that is compared with nothing.
    Figure,
    /// Beside something published, which was measured elsewhere.
    Published,
}

impl Kind {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Caution => "know first",
            Self::Difference => "difference",
            Self::Tie => "tie",
            Self::Undecided => "undecided",
            Self::Figure => "figure",
            Self::Published => "published",
        }
    }
}

/// A sentence with the numbers behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    /// One or a few whole sentences.
    pub text: String,
    /// What it was made from, a line each.
    pub numbers: Vec<String>,
    /// Title of the rule that decided.
    pub rule: &'static str,
}

/// Everything that the rules find.
pub(crate) fn all(gathered: &Gathered<'_>) -> Vec<Finding> {
    RULES.iter().flat_map(|rule| (rule.find)(gathered)).collect()
}

/// The workload and the back end that trained it, and what else tells this group from the others of its workload.
fn subject(gathered: &Gathered<'_>, group: &Group<'_>, but: &[Field]) -> String {
    let others = gathered.of_workload(&group.setup.workload);
    let mut fields = varying(&others);
    fields.retain(|field| !but.contains(field) && *field != Field::Backend);
    let more: Vec<String> = fields.iter().filter_map(|field| group.setup.words(*field)).collect();
    let name = format!("{} on {}", group.setup.workload, group.setup.contender());
    if more.is_empty() { name } else { format!("{name} ({})", more.join(", ")) }
}

/// Names of groups beside each other.
fn names(groups: &[&Group<'_>]) -> Vec<String> {
    let fields = varying(groups);
    groups.iter().map(|group| label(group, &fields)).collect()
}

/// Figures of a group in a line.
fn figures(name: &str, group: &Group<'_>) -> String {
    let rate = group.rate().map(|(rate, is_measured)| {
        let of_all = if is_measured { "" } else { " over all of training" };
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

/// `95 % interval 1.9 to 2.2`, and what would decide where it decides nothing.
fn interval(ratio: &SpeedRatio) -> String {
    let advice = match ratio.verdict {
        Verdict::Undecided => "; undecided, more windows or seeds would decide",
        Verdict::Higher | Verdict::Lower | Verdict::Tied => "",
    };
    format!("95 % interval {} to {}{advice}", text::times(ratio.interval.low), text::times(ratio.interval.high))
}

/// Whether a difference of speed was told, for the kind of a finding.
fn kind_of(verdict: Verdict) -> Kind {
    match verdict {
        Verdict::Higher | Verdict::Lower => Kind::Difference,
        Verdict::Tied => Kind::Tie,
        Verdict::Undecided => Kind::Undecided,
    }
}

/// The same for a finding of speed and accuracy: a difference of either, or else either that is undecided.
fn kind_of_both(speed: Verdict, accuracy: Option<AccuracyDifference>) -> Kind {
    let kinds = [Some(speed), accuracy.map(|difference| difference.verdict)].map(|verdict| verdict.map(kind_of));
    let first = [Kind::Difference, Kind::Undecided].into_iter().find(|kind| kinds.contains(&Some(*kind)));
    first.unwrap_or(Kind::Tie)
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::input::Input;
    use crate::testing::input;
    use results::RunRecord;

    /// What one rule finds in these records.
    pub(in crate::findings) fn found(rule: &Rule, records: Vec<RunRecord>) -> Vec<Finding> {
        found_in(rule, &input(records))
    }

    pub(in crate::findings) fn found_in(rule: &Rule, input: &Input) -> Vec<Finding> {
        (rule.find)(&Gathered::of(input))
    }

    /// Fails unless the text holds every part.
    #[track_caller]
    pub(in crate::findings) fn expect(finding: &Finding, kind: Kind, parts: &[&str]) {
        assert_eq!(finding.kind, kind, "{finding:?}");
        for part in parts {
            assert!(finding.text.contains(part), "`{part}` is missing in: {}", finding.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_has_a_title_of_its_own_and_says_how_it_decides() {
        let titles: BTreeSet<&str> = RULES.iter().map(|rule| rule.title).collect();
        assert_eq!(titles.len(), RULES.len());
        assert!(RULES.iter().all(|rule| rule.method.ends_with('.')));
    }
}
