use results::RunRecord;
use results::comparison::{Agreement, compare};

use super::{Finding, Kind, Rule, figures, names};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Agreement of accuracies",
    method: "Back ends that trained the same network with the same settings from the same seeds are compared as in a \
             comparison of back ends, after the last step at which all were tested: by Student's bound on the differences \
             within each seed, with Bonferroni's correction for several pairs, or by the sampling error of the test set with \
             one seed. Where that bound is more than 2 points, the agreement is undecided.",
    find,
};

/// Settings that may differ between compared groups. External programs report a layout, and our back ends do not.
const FIELDS: [Field; 5] = [Field::Backend, Field::Precision, Field::Device, Field::Threads, Field::Layout];

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of = |name: &str| {
        let mut sets = gathered.alike_but(name, &FIELDS);
        sets.iter_mut().for_each(one_of_each);
        let most = sets.iter().map(Vec::len).max().filter(|most| *most > 1)?;
        // The set with most back ends speaks; the first of those that have as many.
        of_set(name, sets.iter().find(|set| set.len() == most)?)
    };
    gathered.workloads().into_iter().filter_map(of).collect()
}

/// One group of each back end and precision: a second device, layout or number of threads is another question.
fn one_of_each(set: &mut Vec<&Group<'_>>) {
    let mut known: Vec<String> = Vec::new();
    set.retain(|group| {
        let contender = group.setup.contender();
        let is_new = !known.contains(&contender);
        known.push(contender);
        is_new
    });
}

fn of_set(workload: &str, set: &[&Group<'_>]) -> Option<Finding> {
    let records: Vec<RunRecord> = set.iter().flat_map(|group| &group.runs).map(|run| run.record.clone()).collect();
    let labels = names(set);
    let agreement = compare(workload, &records, &[]).agreement;
    let kind = match agreement {
        Agreement::Agree { .. } => Kind::Tie,
        Agreement::Disagree { .. } => Kind::Difference,
        Agreement::Unclear { .. } => Kind::Undecided,
        Agreement::NotCompared { .. } => return None,
    };
    let text = format!("{workload} on {}. {agreement}.", text::listed(&labels));
    let numbers = set.iter().zip(&labels).map(|(group, label)| figures(label, group)).collect();
    Some(Finding { kind, text, numbers, rule: RULE.title })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;

    fn made(backend: &str, accuracies: [f64; 3]) -> Vec<RunRecord> {
        let record =
            |(seed, accuracy)| Made::new("caffe-mnist").backend(backend).seed(seed).accuracy(accuracy).record();
        (1..).zip(accuracies).map(record).collect()
    }

    #[test]
    fn accuracies_whose_differences_change_sign_agree() {
        let records = [made("wgsl", [0.981, 0.983, 0.982]), made("burn-flex", [0.982, 0.981, 0.983])].concat();
        expect(
            &found(&RULE, records)[0],
            Kind::Tie,
            &["caffe-mnist on wgsl and burn-flex. ", "no difference found; 0.43 points", "differences of 3 seeds"],
        );
    }

    #[test]
    fn programs_with_a_layout_are_compared_with_back_ends_without_one() {
        let program = |(seed, accuracy)| {
            let made = Made::new("caffe-mnist").backend("pytorch").seed(seed).accuracy(accuracy);
            made.variants(&["layout: nhwc"]).non_standard(&["trained by the external program pytorch"]).record()
        };
        let programs: Vec<RunRecord> = (1..).zip([0.981, 0.982, 0.983]).map(program).collect();
        let own = [made("wgsl", [0.981, 0.983, 0.982]), made("burn-flex", [0.982, 0.981, 0.983])].concat();
        let found = found(&RULE, [own, programs].concat());
        expect(&found[0], Kind::Tie, &["pytorch", "wgsl", "burn-flex", "no difference found"]);
        assert_eq!(found[0].numbers.len(), 3);
    }

    #[test]
    fn accuracies_that_are_apart_are_named() {
        let records = [made("wgsl", [0.981, 0.983, 0.982]), made("burn-flex", [0.912, 0.911, 0.913])].concat();
        expect(&found(&RULE, records)[0], Kind::Difference, &["wgsl is 7.00 points above burn-flex"]);
    }

    #[test]
    fn a_single_back_end_agrees_with_nobody() {
        assert_eq!(found(&RULE, made("wgsl", [0.981, 0.983, 0.982])), []);
    }
}
