use super::{Finding, Rule, figures, interval, kind_of_both, subject};
use crate::difference::{SpeedRatio, Verdict, accuracy, speed};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::lines::{Axis, Line, lines};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Batch size",
    method: "Groups are compared that differ in batch size and were trained for as many epochs (within 1 %), as many steps, \
             or under the same limit. The fastest batch size is compared with the smallest one: its speed by the 95 % \
             interval of the ratio of throughputs, its accuracy by Student's bound on the spread of the seeds, or by the \
             sampling error of the test set where each has one seed. Both are called different only beyond that, and \
             undecided where that reaches beyond a tenth of the speed or 2 points of accuracy. Every run needs windows that \
             count, and a group five of them in all.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of = |name: &str| {
        let groups = gathered.of_workload(name);
        lines(&groups, Axis::BatchSize).iter().filter_map(|line| of_line(gathered, line)).collect::<Vec<_>>()
    };
    gathered.workloads().into_iter().flat_map(of).collect()
}

fn of_line(gathered: &Gathered<'_>, line: &Line<'_, '_>) -> Option<Finding> {
    let mut trained: Vec<&Group<'_>> = line.points.iter().map(|point| point.1).collect();
    trained.retain(|group| group.counted_rates().is_some());
    let (base, others) = trained.split_first()?;
    let ratios = others.iter().filter_map(|&other| Some((other, speed(base, other)?)));
    let (other, ratio) = ratios.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    let learned = accuracy(base, other);
    let same = line.same.words().map(|words| format!(" over {words}")).unwrap_or_default();
    let sizes = [*base, other].map(|group| group.setup.batch_size);
    let what = subject(gathered, base, &[Field::BatchSize, Field::Length]);
    let learning = learned.map(|learned| format!(", and {}", learned.said())).unwrap_or_default();
    let text = format!("{what}{same}: {}{learning}.", of_speed(sizes, &ratio));
    let numbers = trained.iter().map(|group| figures(&format!("batch {}", group.setup.batch_size), group)).collect();
    Some(Finding { kind: kind_of_both(ratio.verdict, learned), text, numbers, rule: RULE.title })
}

fn of_speed([small, large]: [u32; 2], ratio: &SpeedRatio) -> String {
    let times = text::times(ratio.value);
    let how = interval(ratio);
    match ratio.verdict {
        Verdict::Higher => format!("batch {large} is {times} times as fast an epoch as batch {small} ({how})"),
        Verdict::Tied => {
            format!("no batch size is faster than batch {small}; batch {large} is tied with it ({times} times, {how})")
        }
        Verdict::Lower => {
            format!("no batch size is faster than batch {small}; batch {large} is {times} times as fast ({how})")
        }
        Verdict::Undecided => format!("batch {large} came out {times} times as fast an epoch as batch {small} ({how})"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;
    use results::{Outcome, RunRecord};

    fn made(batch: u32, rate: f64, accuracy: f64, seed: u32) -> RunRecord {
        let steps = 60_000 / u64::from(batch);
        let made = Made::new("caffe-mnist").batch_size(batch).rate(rate).accuracy(accuracy).seed(seed).steps(steps);
        made.non_standard(&["1 epochs"]).record()
    }

    fn seeds(batch: u32, rate: f64, accuracies: [f64; 3]) -> Vec<RunRecord> {
        (1..)
            .zip(accuracies)
            .map(|(seed, accuracy)| made(batch, rate * (1.0 + 0.001 * f64::from(seed)), accuracy, seed))
            .collect()
    }

    #[test]
    fn a_faster_batch_that_learns_less_is_a_trade() {
        let records = [seeds(50, 1e4, [0.985, 0.986, 0.984]), seeds(500, 2.1e4, [0.981, 0.980, 0.982])].concat();
        let found = found(&RULE, records);
        assert_eq!(found.len(), 1);
        let parts = [
            "caffe-mnist on burn-flex over 1 epoch: batch 500 is 2.10 times as fast an epoch as batch 50",
            "loses 0.4 points of accuracy, more than the 0.",
            "points that chance explains, by the spread of 3 seeds",
        ];
        expect(&found[0], Kind::Difference, &parts);
    }

    #[test]
    fn what_chance_explains_is_tied() {
        let records = [seeds(50, 1e4, [0.985, 0.987, 0.984]), seeds(500, 1e4, [0.984, 0.986, 0.985])].concat();
        let found = found(&RULE, records);
        expect(&found[0], Kind::Tie, &["no batch size is faster than batch 50", "no difference of accuracy was found"]);
    }

    #[test]
    fn wide_spread_of_accuracies_is_undecided() {
        let records = [seeds(50, 1e4, [0.80, 0.95, 0.90]), seeds(500, 1e4, [0.95, 0.80, 0.91])].concat();
        expect(&found(&RULE, records)[0], Kind::Undecided, &["more seeds would decide"]);
    }

    #[test]
    fn batch_size_without_figures_is_left_out() {
        let mut diverged = made(50, 1e4, 0.9, 1);
        diverged.workloads[0].outcome = Outcome::Diverged { step: 5 };
        let found = found(&RULE, vec![diverged, made(500, 1e4, 0.98, 1), made(1000, 3e4, 0.98, 1)]);
        expect(&found[0], Kind::Difference, &["batch 1000 is 3.00 times as fast an epoch as batch 500"]);
        assert_eq!(found[0].numbers.len(), 2);
    }

    #[test]
    fn one_batch_size_says_nothing() {
        assert_eq!(found(&RULE, seeds(50, 1e4, [0.985, 0.987, 0.984])), []);
    }
}
