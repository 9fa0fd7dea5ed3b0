//! Findings about learning: batch sizes, learning rates, lengths of training, and agreement of backends.

use results::{Outcome, RunRecord};

use crate::comparison::{Agreement, compare};
use crate::report::difference::{AccuracyDifference, Contrast, SpeedRatio};
use crate::report::findings::{Finding, FindingRule, Kind, along, each_workload, metrics, subject};
use crate::report::group::{Group, SetupField, equal_but, labels};
use crate::report::lines::{Sweep, SweepAxis};
use crate::text;

pub(super) const BATCH_SIZE: FindingRule = FindingRule {
    title: "Batch size",
    find: |gathered| each_workload(gathered, |groups| along(groups, SweepAxis::BatchSize, compare_batch_sizes)),
};

pub(super) const LEARNING_RATE: FindingRule = FindingRule {
    title: "Learning rate",
    find: |gathered| each_workload(gathered, |groups| along(groups, SweepAxis::LearningRate, compare_learning_rates)),
};

pub(super) const EPOCHS: FindingRule =
    FindingRule { title: "More epochs", find: |gathered| each_workload(gathered, find_epochs) };

pub(super) const AGREEMENT: FindingRule =
    FindingRule { title: "Agreement of accuracies", find: |gathered| each_workload(gathered, find_agreement) };

/// Smallest number of evaluations that shows a trend.
const MIN_TESTS: usize = 3;

fn compare_batch_sizes(groups: &[&Group<'_>], line: &Sweep<'_, '_>) -> Option<Finding> {
    let trained = line.counted_points();
    let ((_, base), others) = trained.split_first()?;
    let ratios = others.iter().filter_map(|(_, other)| Some((*other, SpeedRatio::of(base, other)?)));
    let (other, ratio) = ratios.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    let learned = AccuracyDifference::of(base, other);
    let [small, large] = [*base, other].map(|group| group.settings().batch_size);
    let (times, interval) = (text::times(ratio.value), ratio.interval_text());
    let lead = ratio.text(&format!("with batch {small}"));
    let speed = match ratio.contrast {
        Contrast::Higher => format!("an epoch with batch {large} is {lead}"),
        Contrast::Tied => format!(
            "no batch size is faster than batch {small}; batch {large} is tied with it ({times} times, {interval})"
        ),
        Contrast::Lower => {
            format!("no batch size is faster than batch {small}; batch {large} is {times} times as fast ({interval})")
        }
        Contrast::Undecided => format!("an epoch with batch {large} was {lead}"),
    };
    let text = format!(
        "{}{}: {speed}{}.",
        subject(groups, base, &[SetupField::BatchSize, SetupField::Length]),
        line.same.words().map(|words| format!(" over {words}")).unwrap_or_default(),
        learned.map(|learned| format!(", and {}", learned.text())).unwrap_or_default()
    );
    let numbers = trained.iter().map(|(size, group)| metrics(&format!("batch {size}"), group));
    Some(Finding::new(Kind::of_both(ratio.contrast, learned), text, numbers))
}

fn compare_learning_rates(all: &[&Group<'_>], line: &Sweep<'_, '_>) -> Option<Finding> {
    let groups: Vec<&Group<'_>> = line.points.iter().map(|point| point.1).collect();
    let mut trained: Vec<&Group<'_>> = groups.iter().filter(|group| group.accuracy().is_some()).copied().collect();
    trained.sort_by(|one, other| other.accuracy().unwrap_or(0.0).total_cmp(&one.accuracy().unwrap_or(0.0)));
    let diverged: Vec<String> = groups.iter().filter_map(|group| divergence(group)).collect();
    let reached =
        |group: &Group<'_>| group.accuracy().map(|of| format!(" ({} accuracy)", text::percent(of))).unwrap_or_default();
    let (kind, best) = match trained.as_slice() {
        [] if diverged.is_empty() => return None,
        [] => (Kind::Figure, "training did not complete with any learning rate".to_owned()),
        [only] => {
            let (rate, reached) = (learning_rate(only), reached(only));
            (Kind::Figure, format!("training completed only with learning rate {rate}{reached}"))
        }
        [best, next, ..] => {
            let learned = AccuracyDifference::of(next, best)?;
            let (first, second, reached) = (learning_rate(best), learning_rate(next), reached(best));
            let nothing = learned.nothing_found("no difference");
            let sentence = match learned.contrast {
                Contrast::Higher | Contrast::Lower => format!(
                    "learning rate {first} is the best{reached}, {} above {second}, more than {}",
                    text::points(learned.difference),
                    learned.allowance()
                ),
                Contrast::Tied => {
                    format!("learning rates {first} and {second} are tied as the best{reached}: {nothing}")
                }
                Contrast::Undecided => {
                    format!("learning rate {first} is ahead{reached}; compared with {second}, {nothing}")
                }
            };
            (learned.contrast.into(), sentence)
        }
    };
    let diverging = if diverged.is_empty() { String::new() } else { format!("; {}", text::listed(&diverged)) };
    let text = format!("{}: {best}{diverging}.", subject(all, groups.first()?, &[SetupField::LearningRate]));
    let numbers = trained.iter().map(|group| metrics(&format!("rate {}", learning_rate(group)), group));
    Some(Finding::new(kind, text, numbers.chain(diverged)))
}

fn learning_rate(group: &Group<'_>) -> String {
    text::plain(group.settings().learning_rate)
}

fn divergence(group: &Group<'_>) -> Option<String> {
    let step = |outcome: &Outcome| if let Outcome::Diverged { step } = outcome { Some(*step) } else { None };
    let steps: Vec<u64> = group.runs.iter().filter_map(|run| step(&run.workload.outcome)).collect();
    let first = steps.iter().min()?;
    let runs = group.runs.len();
    let of_seeds = if runs > 1 { format!(" from {} of {runs} seeds", steps.len()) } else { String::new() };
    Some(format!("learning rate {} diverged{of_seeds}, at step {first}", learning_rate(group)))
}

fn find_epochs(groups: &[&Group<'_>]) -> Vec<Finding> {
    let longest = groups.iter().copied().filter(|group| common_tests(group).len() >= MIN_TESTS);
    // Uses the first of several groups with the same length.
    let longest = longest.reduce(|most, group| if group.epochs() > most.epochs() { group } else { most });
    let course = longest.and_then(|group| describe_course(groups, group));
    course.into_iter().chain(along(groups, SweepAxis::Epochs, compare_lengths)).collect()
}

/// Step of an evaluation, and the accuracies of all completed runs of a group after it.
type CommonTest = (u64, Vec<f64>);

/// Returns the evaluations that all completed runs of a group share.
fn common_tests(group: &Group<'_>) -> Vec<CommonTest> {
    let Some(first) = group.completed().next() else { return Vec::new() };
    let after = |step: u64| {
        let tests = group.completed().map(|run| run.workload.evaluations.iter().find(|test| test.step == step));
        Some((step, tests.map(|test| Some(test?.accuracy)).collect::<Option<_>>()?))
    };
    first.workload.evaluations.iter().filter_map(|test| after(test.step)).collect()
}

fn describe_course(groups: &[&Group<'_>], group: &Group<'_>) -> Option<Finding> {
    let tests = common_tests(group);
    let run = group.completed().next()?;
    let last = tests.last()?;
    let gain = |test: &CommonTest| AccuracyDifference::between(&test.1, &last.1, group.test_samples(), true);
    let enough = tests.iter().position(|test| gain(test).is_some_and(|found| found.contrast != Contrast::Higher))?;
    let what = subject(groups, group, &[]);
    let epochs = |test: &CommonTest| text::epochs(run.epochs_of(test.0));
    let mean = |test: &CommonTest| results::statistics::mean(&test.1).map(text::percent).unwrap_or_default();
    let numbers = tests.iter().map(|test| format!("after {}: {}", epochs(test), mean(test)));
    let (kind, text) = if enough + 1 == tests.len() {
        let before = tests.get(tests.len() - 2)?;
        let found = gain(before)?;
        let text = format!(
            "{what} was still learning at its end: from {} to {} the accuracy rose by {}, more than {}.",
            epochs(before),
            epochs(last),
            text::points(found.difference),
            found.allowance()
        );
        (Kind::Difference, text)
    } else {
        let test = &tests[enough];
        let found = gain(test)?;
        let rest = text::epochs(run.epochs_of(last.0 - test.0));
        let text = format!(
            "{what} had an accuracy of {} after {} of {}. {}.",
            mean(test),
            text::epoch_count(run.epochs_of(test.0)),
            epochs(last),
            found.nothing_found(&format!("After the other {rest} no difference"))
        );
        (found.contrast.into(), text)
    };
    Some(Finding::new(kind, text, numbers))
}

fn compare_lengths(groups: &[&Group<'_>], line: &Sweep<'_, '_>) -> Option<Finding> {
    let ((short, base), (long, other)) = (line.points.first()?, line.points.last()?);
    let found = AccuracyDifference::of(base, other)?;
    let (points, allowance) = (text::points(found.difference), found.allowance());
    let brought = match found.contrast {
        Contrast::Higher => format!("gained {points} of accuracy, more than {allowance}"),
        Contrast::Lower => format!("lost {points} of accuracy, more than {allowance}"),
        Contrast::Tied | Contrast::Undecided => found.nothing_found("no change of accuracy"),
    };
    let times = text::times(other.training_seconds()? / base.training_seconds()?);
    let text = format!(
        "{}: training for {} instead of {} took {times} times as long and {brought}.",
        subject(groups, base, &[SetupField::Length]),
        text::epochs(*long),
        text::epochs(*short)
    );
    let numbers = line.points.iter().map(|(epochs, group)| metrics(&text::epochs(*epochs), group));
    Some(Finding::new(found.contrast.into(), text, numbers))
}

/// Compares the backends in the largest set of otherwise equal groups.
fn find_agreement(groups: &[&Group<'_>]) -> Option<Finding> {
    // External programs report a layout, but built-in backends do not.
    let fields =
        [SetupField::Backend, SetupField::Precision, SetupField::Device, SetupField::Threads, SetupField::Layout];
    let mut sets = equal_but(groups.iter().copied().filter(|group| group.is_completed()), &fields);
    for set in &mut sets {
        // Other devices, layouts and thread counts are not compared here.
        let mut known: Vec<String> = Vec::new();
        set.retain(|group| {
            let contender = group.contender();
            let is_new = !known.contains(&contender);
            known.push(contender);
            is_new
        });
    }
    let most = sets.iter().map(Vec::len).max().filter(|most| *most > 1)?;
    let set = sets.iter().find(|set| set.len() == most)?;
    let records: Vec<RunRecord> = set.iter().flat_map(|group| &group.runs).map(|run| run.record.clone()).collect();
    let (workload, labels) = (set.first()?.workload, labels(set));
    let agreement = compare(workload, &records, &[]).agreement;
    let kind = match agreement {
        Agreement::Agree { .. } => Kind::Tie,
        Agreement::Disagree { .. } => Kind::Difference,
        Agreement::Unclear { .. } => Kind::Undecided,
        Agreement::NotCompared { .. } => return None,
    };
    let text = format!("{workload} on {}. {agreement}.", text::listed(&labels));
    let numbers = set.iter().zip(&labels).map(|(group, label)| metrics(label, group));
    Some(Finding::new(kind, text, numbers))
}

#[cfg(test)]
mod tests {
    use results::{Departure, Layout};

    use super::*;
    use crate::report::testing::{MadeRun, expect, found};

    fn batch(size: u32, rate: f64, accuracy: f64) -> MadeRun {
        let made = MadeRun::new("caffe-mnist").batch_size(size).rate(rate).accuracy(accuracy);
        made.steps(60_000 / u64::from(size)).trained_epochs(1)
    }

    fn batches(size: u32, rate: f64, accuracies: [f64; 3]) -> Vec<MadeRun> {
        let made = |(seed, accuracy)| batch(size, rate * (1.0 + 0.001 * f64::from(seed)), accuracy).seed(seed);
        (1..).zip(accuracies).map(made).collect()
    }

    #[test]
    fn faster_batches_that_learn_less_are_a_difference() {
        let runs = [batches(50, 1e4, [0.985, 0.986, 0.984]), batches(500, 2.1e4, [0.981, 0.980, 0.982])].concat();
        let found = found(&BATCH_SIZE, runs);
        assert_eq!(found.len(), 1);
        let parts = [
            "caffe-mnist on burn-flex over 1 epoch: an epoch with batch 500 is 2.10 times as fast as with batch 50",
            "loses 0.4 points of accuracy, more than the 0.",
            "points that chance explains, by the spread of 3 seeds",
        ];
        expect(&found, Kind::Difference, &parts);
    }

    #[test]
    fn batches_are_tied_or_undecided_by_the_spread() {
        let of = |small, large| found(&BATCH_SIZE, [batches(50, 1e4, small), batches(500, 1e4, large)].concat());
        let tied = of([0.985, 0.987, 0.984], [0.984, 0.986, 0.985]);
        expect(&tied, Kind::Tie, &["no batch size is faster than batch 50", "no difference of accuracy was found"]);
        expect(&of([0.80, 0.95, 0.90], [0.95, 0.80, 0.91]), Kind::Undecided, &["train more seeds"]);
    }

    #[test]
    fn batches_without_metrics_are_left_out() {
        let diverged = batch(50, 1e4, 0.9).outcome(Outcome::Diverged { step: 5 });
        let all = found(&BATCH_SIZE, [diverged, batch(500, 1e4, 0.98), batch(1000, 3e4, 0.98)]);
        expect(&all, Kind::Difference, &["an epoch with batch 1000 is 3.00 times as fast as with batch 500"]);
        assert_eq!(all[0].numbers.len(), 2);
        assert_eq!(found(&BATCH_SIZE, batches(50, 1e4, [0.985, 0.987, 0.984])), []);
    }

    #[test]
    fn best_and_diverged_learning_rates_are_named() {
        let rate = |rate, accuracy| MadeRun::new("torch-mnist").learning_rate(rate).accuracy(accuracy);
        let wild = |value, step| rate(value, 0.0).outcome(Outcome::Diverged { step });
        let best = found(&LEARNING_RATE, [rate(0.001, 0.95), rate(0.05, 0.985), wild(0.4, 12)]);
        let parts =
            ["learning rate 0.05 is the best (98.50 % accuracy), 3.5 points above 0.001", "0.4 diverged, at step 12"];
        expect(&best, Kind::Difference, &parts);
        let tied = found(&LEARNING_RATE, [rate(0.01, 0.985), rate(0.05, 0.986)]);
        expect(&tied, Kind::Tie, &["learning rates 0.05 and 0.01 are tied as the best"]);
        let none = found(&LEARNING_RATE, [wild(0.5, 3), wild(0.9, 3)]);
        expect(&none, Kind::Figure, &["training did not complete with any learning rate"]);
        assert_eq!(found(&LEARNING_RATE, [rate(0.01, 0.985)]), []);
    }

    #[test]
    fn courses_tell_when_training_stopped_to_pay() {
        let of = |accuracies: &[f64]| {
            let made = MadeRun::new("caffe-mnist").steps(600 * accuracies.len() as u64);
            found(&EPOCHS, [made.accuracies(accuracies)])
        };
        let flat = of(&[0.90, 0.985, 0.986, 0.9855]);
        let parts = [
            "had an accuracy of 98.50 % after 2 of 4 epochs",
            "After the other 2 epochs no difference was found (0.05 points)",
        ];
        expect(&flat, Kind::Tie, &parts);
        assert_eq!(flat[0].numbers[0], "after 1 epoch: 90.00 %");
        let parts = ["was still learning at its end: from 2 epochs to 3 epochs", "15 points"];
        expect(&of(&[0.60, 0.80, 0.95]), Kind::Difference, &parts);
        assert_eq!(of(&[0.60, 0.80]), []);
    }

    #[test]
    fn longer_trainings_are_compared_with_shorter_ones() {
        let of = |steps, accuracy| MadeRun::new("caffe-mnist").steps(steps).accuracy(accuracy).trained_steps(steps);
        let brought = found(&EPOCHS, [of(600, 0.95), of(6000, 0.99)]);
        let parts = ["training for 10 epochs instead of 1 epoch took 10.0 times as long and gained 4 points"];
        expect(&brought, Kind::Difference, &parts);
        let nothing = found(&EPOCHS, [of(600, 0.9895), of(6000, 0.99)]);
        expect(&nothing, Kind::Tie, &["as long and no change of accuracy was found (0.05 points); 0."]);
    }

    #[test]
    fn back_ends_and_programs_agree_or_differ() {
        let backend = |name: &str, accuracies: [f64; 3]| -> Vec<MadeRun> {
            let made = MadeRun::new("caffe-mnist").backend(name);
            (1..).zip(accuracies).map(|(seed, accuracy)| made.clone().seed(seed).accuracy(accuracy)).collect()
        };
        let wgsl = backend("wgsl", [0.981, 0.983, 0.982]);
        let parts =
            ["caffe-mnist on wgsl and burn-flex. ", "and 0.43 points are expected by chance", "differences of 3 seeds"];
        let agreeing = [wgsl.clone(), backend("burn-flex", [0.982, 0.981, 0.983])].concat();
        expect(&found(&AGREEMENT, agreeing.clone()), Kind::Tie, &parts);
        let external =
            |made: MadeRun| made.layout(Layout::Nhwc).departure(Departure::External { program: "pytorch".to_owned() });
        let programs = backend("pytorch", [0.981, 0.982, 0.983]).into_iter().map(external);
        let three = found(&AGREEMENT, agreeing.into_iter().chain(programs));
        expect(&three, Kind::Tie, &["pytorch", "wgsl", "burn-flex", "no difference found"]);
        assert_eq!(three[0].numbers.len(), 3);
        let apart = found(&AGREEMENT, [wgsl.clone(), backend("burn-flex", [0.912, 0.911, 0.913])].concat());
        expect(&apart, Kind::Difference, &["wgsl is 7.00 points above burn-flex"]);
        assert_eq!(found(&AGREEMENT, wgsl), []);
    }
}
