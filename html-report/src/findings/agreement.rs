use results::RunRecord;
use results::comparison::{Agreement, Basis, Evidence, compare};

use super::{Finding, Kind, Rule, figures, names};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Agreement of accuracies",
    method: "Back ends that trained the same network with the same settings from the same seeds are held to each other as \
             the comparison of back ends does: the means of their accuracies agree where they are no further apart than \
             Student's bound on the spread of the seeds, with Bonferroni's correction for several pairs, and not more than 2 \
             points.",
    find,
};

/// What those who are held to each other may differ in. External programs have a layout, and our back ends say nothing of one.
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
    let (kind, sentence) = match compare(workload, &records, &[]).agreement {
        Agreement::Agree { evidence } => (
            Kind::Tie,
            format!("{workload}: the accuracies of {} agree, {}.", text::listed(&labels), of_evidence(&evidence)),
        ),
        Agreement::Disagree { evidence, pairs } => {
            let apart = |pair: &results::comparison::Pair| {
                format!("{} above {} by {}", pair.higher, pair.lower, text::points(pair.difference))
            };
            let pairs: Vec<String> = pairs.iter().map(apart).collect();
            let text = format!(
                "{workload}: accuracies differ by more than chance explains: {}; {}.",
                text::listed(&pairs),
                of_evidence(&evidence)
            );
            (Kind::Difference, text)
        }
        Agreement::Unclear { evidence } => {
            let text = format!(
                "{workload}: whether the accuracies of {} agree cannot be told: {}. More seeds would tell.",
                text::listed(&labels),
                of_evidence(&evidence)
            );
            (Kind::Figure, text)
        }
        Agreement::NotCompared { .. } => return None,
    };
    let numbers = set.iter().zip(&labels).map(|(group, label)| figures(label, group)).collect();
    Some(Finding { kind, text: sentence, numbers, rule: RULE.title })
}

fn of_evidence(evidence: &Evidence) -> String {
    let explained = match evidence.basis {
        Basis::Seeds => format!("the spread of {} seeds explains", evidence.seeds.len()),
        Basis::TestSamples => "the test set's sampling error explains, with one seed".to_owned(),
    };
    let when = if evidence.is_final { "at the end".to_owned() } else { format!("after step {}", evidence.step) };
    format!(
        "at most {} apart {when}, where {} {explained}",
        text::points(evidence.largest_difference),
        text::points(evidence.allowed_difference)
    )
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
    fn accuracies_within_the_spread_of_the_seeds_agree() {
        let records = [made("wgsl", [0.981, 0.983, 0.982]), made("burn-flex", [0.982, 0.981, 0.983])].concat();
        expect(
            &found(&RULE, records)[0],
            Kind::Tie,
            &["the accuracies of wgsl and burn-flex agree", "the spread of 3 seeds"],
        );
    }

    #[test]
    fn programs_that_say_their_layout_are_held_to_back_ends_that_say_nothing_of_one() {
        let program = |(seed, accuracy)| {
            let made = Made::new("caffe-mnist").backend("pytorch").seed(seed).accuracy(accuracy);
            made.variants(&["layout: nhwc"]).non_standard(&["trained by the external program pytorch"]).record()
        };
        let programs: Vec<RunRecord> = (1..).zip([0.981, 0.982, 0.983]).map(program).collect();
        let own = [made("wgsl", [0.981, 0.983, 0.982]), made("burn-flex", [0.982, 0.981, 0.983])].concat();
        let found = found(&RULE, [own, programs].concat());
        expect(&found[0], Kind::Tie, &["pytorch", "wgsl", "burn-flex", "agree"]);
        assert_eq!(found[0].numbers.len(), 3);
    }

    #[test]
    fn accuracies_that_are_apart_are_named() {
        let records = [made("wgsl", [0.981, 0.983, 0.982]), made("burn-flex", [0.912, 0.911, 0.913])].concat();
        expect(&found(&RULE, records)[0], Kind::Difference, &["wgsl above burn-flex by 7 points"]);
    }

    #[test]
    fn a_single_back_end_agrees_with_nobody() {
        assert_eq!(found(&RULE, made("wgsl", [0.981, 0.983, 0.982])), []);
    }
}
