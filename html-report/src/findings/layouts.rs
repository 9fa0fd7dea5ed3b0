use super::{Finding, Rule, figures, interval, kind_of_both, subject};
use crate::difference::{Verdict, accuracy, speed};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Layouts",
    method: "Groups are compared that differ in nothing but how images lie in memory, NHWC (channels last) or NCHW (channels \
             first), by the ratio of their throughputs, and by their accuracies, in pairs where their seeds are the same.",
    find,
};

/// The layout that the other is compared with.
const BASE: &str = "nhwc";

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of = |name: &str| {
        let groups = gathered.of_workload(name);
        let pairs = groups.iter().flat_map(|base| groups.iter().map(move |other| (*base, *other)));
        let pairs = pairs.filter(|(base, other)| is_pair(base, other));
        pairs.filter_map(|(base, other)| of_pair(gathered, base, other)).collect::<Vec<_>>()
    };
    gathered.workloads().into_iter().flat_map(of).collect()
}

/// Whether the first lies as [`BASE`], the second in another way, and all else is alike.
fn is_pair(base: &Group<'_>, other: &Group<'_>) -> bool {
    let lies_so = base.setup.layout.as_deref() == Some(BASE);
    let lies_otherwise = other.setup.layout.as_deref().is_some_and(|layout| layout != BASE);
    lies_so && lies_otherwise && base.setup.equals_but(&other.setup, &[Field::Layout])
}

fn of_pair(gathered: &Gathered<'_>, base: &Group<'_>, other: &Group<'_>) -> Option<Finding> {
    let ratio = speed(base, other)?;
    let name = |group: &Group<'_>| group.setup.words(Field::Layout).unwrap_or_default();
    let learned = accuracy(base, other);
    let learning = learned.map(|learned| format!("; {}", learned.said())).unwrap_or_default();
    let likely = if ratio.verdict == Verdict::Tied { ", which chance explains as well" } else { "" };
    let text = format!(
        "{}: {} is {} times as fast as {} ({}){likely}{learning}.",
        subject(gathered, base, &[Field::Layout]),
        name(other),
        text::times(ratio.value),
        name(base),
        interval(&ratio),
    );
    let numbers = [base, other].map(|group| figures(&name(group), group)).into();
    Some(Finding { kind: kind_of_both(ratio.verdict, learned), text, numbers, rule: RULE.title })
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;

    fn made_of(layout: &str, rate: f64) -> Made {
        let term = format!("layout {layout}");
        Made::new("caffe-mnist").variants(&[&format!("layout: {layout}")]).non_standard(&[&term]).rate(rate)
    }

    #[test]
    fn channels_first_are_held_beside_channels_last() {
        let found = found(&RULE, [made_of("nhwc", 1e4), made_of("nchw", 1.5e4)].map(Made::record).to_vec());
        expect(&found[0], Kind::Difference, &["NCHW is 1.50 times as fast as NHWC"]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_layout_that_learns_something_else_is_a_difference_however_fast_it_is() {
        let of = |accuracies: [f64; 2]| {
            let made = [("nhwc", accuracies[0]), ("nchw", accuracies[1])];
            found(&RULE, made.map(|(layout, accuracy)| made_of(layout, 1e4).accuracy(accuracy).record()).to_vec())
        };
        expect(&of([0.95, 0.951])[0], Kind::Tie, &["no difference of accuracy was found"]);
        expect(&of([0.95, 0.85])[0], Kind::Difference, &["it loses 10 points of accuracy, more than"]);
    }

    #[test]
    fn a_single_layout_is_compared_with_nothing() {
        assert_eq!(found(&RULE, vec![made_of("nchw", 1e4).record()]), []);
    }
}
