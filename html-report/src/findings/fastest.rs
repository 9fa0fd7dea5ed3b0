use super::{Finding, Rule, figures, interval, kind_of, names};
use crate::difference::{Verdict, speed};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Fastest back end",
    method: "Back ends and devices are compared that trained the same network in the same precision, batches, learning rate \
             and length. The highest throughput is called the fastest only if the 95 % interval of its ratio to the next \
             one lies above 1. Where it holds 1, the two are tied if it lies between 0.9 and 1.11, and otherwise undecided. \
             With one seed each the interval is that of the runs' windows; with several it is Welch's of the means of \
             logarithms. Every run needs windows that count, and a group five of them in all.",
    find,
};

/// What contenders may differ in. External programs have a layout, and our back ends say nothing of one.
const FIELDS: [Field; 4] = [Field::Backend, Field::Device, Field::Threads, Field::Layout];

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    gathered.workloads().into_iter().filter_map(|name| of_workload(gathered, name)).collect()
}

fn of_workload(gathered: &Gathered<'_>, name: &str) -> Option<Finding> {
    let mut sets = gathered.alike_but(name, &FIELDS);
    // Numbers of threads alone, and layouts, are rules of their own.
    let own = [Field::Threads, Field::Layout];
    sets.retain(|set| set.iter().any(|group| !group.setup.equals_but(&set[0].setup, &own)));
    // The set with most contenders speaks; the first of those that have as many.
    let most = sets.iter().map(Vec::len).max()?;
    let mut set = sets.into_iter().find(|set| set.len() == most)?;
    set.retain(|group| group.counted_rates().is_some());
    set.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    let (first, second) = (set.first()?, set.get(1)?);
    let labels = names(&set);
    let ratio = speed(second, first)?;
    let lead = format!("{} times as fast as {} ({})", text::times(ratio.value), labels[1], interval(&ratio));
    let sentence = match ratio.verdict {
        Verdict::Higher => {
            format!("{name} trains fastest on {}: {}, {lead}.", labels[0], text::rate(rate(first)))
        }
        Verdict::Tied => {
            let tied = set.iter().zip(&labels).skip(1);
            let is_tied = |group: &Group<'_>| speed(group, first).is_some_and(|ratio| ratio.verdict == Verdict::Tied);
            let others = tied.filter(|(group, _)| is_tied(group)).map(|(_, label)| label.clone());
            let all: Vec<String> = [labels[0].clone()].into_iter().chain(others).collect();
            format!("{name}: {} are tied as the fastest; the first is {lead}.", text::listed(&all))
        }
        // Sorted by medians, and compared by geometric means.
        Verdict::Lower => return None,
        Verdict::Undecided => format!("{name}: {} came out ahead, {lead}.", labels[0]),
    };
    let numbers = set.iter().zip(&labels).map(|(group, label)| figures(label, group)).collect();
    Some(Finding { kind: kind_of(ratio.verdict), text: sentence, numbers, rule: RULE.title })
}

fn rate(group: &Group<'_>) -> f64 {
    group.rate().map_or(0.0, |(rate, _)| rate)
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;
    use results::RunRecord;

    fn made(backend: &str, rate: f64, seed: u32) -> RunRecord {
        Made::new("caffe-mnist").backend(backend).rate(rate).seed(seed).record()
    }

    #[test]
    fn the_faster_of_two_is_named_with_its_lead() {
        let found = found(&RULE, vec![made("wgsl", 12_000.0, 1), made("burn-flex", 25_200.0, 1)]);
        expect(&found[0], Kind::Difference, &["caffe-mnist trains fastest on burn-flex", "2.10 times as fast as wgsl"]);
        assert!(found[0].numbers[1].starts_with("wgsl: 12.00 k samples/s"), "{:?}", found[0].numbers);
    }

    #[test]
    fn what_lies_within_the_intervals_is_a_tie() {
        let found = found(&RULE, vec![made("wgsl", 10_000.0, 1), made("burn-flex", 10_020.0, 1)]);
        expect(&found[0], Kind::Tie, &["burn-flex and wgsl are tied as the fastest"]);
    }

    #[test]
    fn fewer_than_five_counted_windows_make_no_finding() {
        let with = |windows| {
            let made = [("wgsl", 10_000.0), ("burn-flex", 30_000.0)];
            let record =
                |(backend, rate)| Made::new("caffe-mnist").backend(backend).rate(rate).windows(windows).record();
            found(&RULE, made.map(record).to_vec())
        };
        assert_eq!((with(1), with(5)), (vec![], vec![]));
        assert_eq!(with(6).len(), 1, "the first window is warm-up");
    }

    #[test]
    fn wide_interval_around_1_is_undecided() {
        let of = |backend: &str, rates: [f64; 2]| [made(backend, rates[0], 1), made(backend, rates[1], 2)];
        let found = found(&RULE, [of("wgsl", [1.0e4, 2.0e4]), of("burn-flex", [1.1e4, 2.1e4])].concat());
        expect(&found[0], Kind::Undecided, &["burn-flex came out ahead", "more windows or seeds would decide"]);
    }

    #[test]
    fn a_program_that_says_its_layout_is_a_contender_and_two_layouts_of_one_are_not() {
        let program = |layout: &str, rate| {
            let made = Made::new("caffe-mnist").backend("pytorch").rate(rate);
            let made = made.non_standard(&["trained by the external program pytorch"]);
            made.variants(&[&format!("layout: {layout}")]).record()
        };
        let found_with = |records: Vec<RunRecord>| found(&RULE, records);
        let three = vec![made("wgsl", 10_000.0, 1), made("burn-flex", 12_000.0, 1), program("nhwc", 25_200.0)];
        let with_program = found_with(three);
        expect(&with_program[0], Kind::Difference, &["trains fastest on pytorch", "2.10 times as fast as burn-flex"]);
        assert_eq!(with_program[0].numbers.len(), 3);
        assert_eq!(found_with(vec![program("nhwc", 1e4), program("nchw", 2e4)]), []);
    }

    #[test]
    fn other_batches_other_threads_and_single_back_ends_are_not_compared() {
        let other = Made::new("caffe-mnist").backend("wgsl").batch_size(500).record();
        assert_eq!(found(&RULE, vec![made("burn-flex", 1e4, 1), made("burn-flex", 2e4, 2), other]), []);
        let threads = |count| Made::new("caffe-mnist").threads(count).record();
        assert_eq!(found(&RULE, vec![threads(1), threads(2)]), []);
    }
}
