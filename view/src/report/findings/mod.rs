//! Rules of the report. A rule is a constant in one of these files and a line in [`RULES`]. It reports a finding only
//! if its numbers support one.

pub(crate) mod cautions;
mod kernels;
mod learning;
mod published;
mod speed;

use crate::report::finding::{Finding, Rule};
use crate::report::group::GatheredRuns;

/// All rules, in the order of the report.
pub(crate) const RULES: &[Rule] = &[
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
    RULES.iter().flat_map(|rule| rule.find(gathered)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rules_have_unique_titles_and_methods() {
        let titles: BTreeSet<&str> = RULES.iter().map(|rule| rule.title).collect();
        assert_eq!(titles.len(), RULES.len());
        assert!(RULES.iter().all(|rule| rule.method.ends_with('.')));
    }
}
