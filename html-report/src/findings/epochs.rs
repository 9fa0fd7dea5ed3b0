use results::Evaluation;

use super::{Finding, Kind, Rule, kind_of, subject};
use crate::difference::{Verdict, accuracies, accuracy};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::lines::{Axis, Line, lines};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "More epochs",
    method: "Within a group the accuracies at every look at the test set are compared with the last one: the first look that \
             the last one is not above by more than the bound (Student's on the differences within each seed, or the \
             sampling error of the test set with one seed) is where more training stopped to pay. Of a workload the group \
             that trained longest speaks. Groups that differ in nothing but how long they trained are compared by the spread \
             of their seeds.",
    find,
};

/// Fewer looks than this tell no course.
const FEWEST_LOOKS: usize = 3;

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of = |name: &str| {
        let groups = gathered.of_workload(name);
        let longest = groups.iter().copied().filter(|group| looks(group).len() >= FEWEST_LOOKS);
        // The first of those that trained for as long.
        let longest = longest.reduce(|most, group| if group.epochs() > most.epochs() { group } else { most });
        let course = longest.and_then(|group| of_course(gathered, group));
        let lengths = lines(&groups, Axis::Epochs);
        let lengths: Vec<Finding> = lengths.iter().filter_map(|line| of_line(gathered, line)).collect();
        course.into_iter().chain(lengths).collect::<Vec<_>>()
    };
    gathered.workloads().into_iter().flat_map(of).collect()
}

/// What all completed runs of a group were at after the same step.
struct Look {
    step: u64,
    accuracies: Vec<f64>,
}

/// The looks at the test set that all completed runs share.
fn looks(group: &Group<'_>) -> Vec<Look> {
    let Some(first) = group.completed().next() else { return Vec::new() };
    let at = |step: u64| {
        let of_run =
            |evaluations: &[Evaluation]| evaluations.iter().find(|look| look.step == step).map(|look| look.accuracy);
        let all: Option<Vec<f64>> = group.completed().map(|run| of_run(&run.workload.evaluations)).collect();
        Some(Look { step, accuracies: all? })
    };
    first.workload.evaluations.iter().filter_map(|look| at(look.step)).collect()
}

fn of_course(gathered: &Gathered<'_>, group: &Group<'_>) -> Option<Finding> {
    let looks = looks(group);
    let run = group.completed().next()?;
    let last = looks.last()?;
    let gain = |look: &Look| accuracies(&look.accuracies, &last.accuracies, group.test_samples(), true);
    let enough = looks.iter().position(|look| gain(look).is_some_and(|found| found.verdict != Verdict::Higher))?;
    let what = subject(gathered, group, &[]);
    let epochs = |look: &Look| text::epochs(run.epochs_of(look.step));
    let mean = |look: &Look| results::statistics::mean(&look.accuracies).map(text::percent).unwrap_or_default();
    let numbers = looks.iter().map(|look| format!("after {}: {}", epochs(look), mean(look))).collect();
    let (kind, text) = if enough + 1 == looks.len() {
        let before = looks.get(looks.len() - 2)?;
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
        let look = &looks[enough];
        let found = gain(look)?;
        let rest = text::epochs(run.epochs_of(last.step - look.step));
        let text = format!(
            "{what} had an accuracy of {} after {} of {}. {}.",
            mean(look),
            epochs(look).split(' ').next().unwrap_or_default(),
            epochs(last),
            found.nothing_found(&format!("After the other {rest} no difference"))
        );
        (kind_of(found.verdict), text)
    };
    Some(Finding { kind, text, numbers, rule: RULE.title })
}

fn of_line(gathered: &Gathered<'_>, line: &Line<'_, '_>) -> Option<Finding> {
    let ((short, base), (long, other)) = (line.points.first()?, line.points.last()?);
    let found = accuracy(base, other)?;
    let what = subject(gathered, base, &[Field::Length]);
    let (points, allowance) = (text::points(found.difference), found.allowance());
    let brought = match found.verdict {
        Verdict::Higher => format!("brought {points} of accuracy, more than {allowance}"),
        Verdict::Lower => format!("lost {points} of accuracy, more than {allowance}"),
        Verdict::Tied | Verdict::Undecided => found.nothing_found("no change of accuracy"),
    };
    let times = text::times(other.training_seconds()? / base.training_seconds()?);
    let text = format!(
        "{what}: training for {} instead of {} took {times} times as long and {brought}.",
        text::epochs(*long),
        text::epochs(*short)
    );
    let numbers = line.points.iter().map(|(epochs, group)| super::figures(&text::epochs(*epochs), group)).collect();
    Some(Finding { kind: kind_of(found.verdict), text, numbers, rule: RULE.title })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;

    fn made(accuracies: &[f64]) -> Made {
        Made::new("caffe-mnist").steps(600 * accuracies.len() as u64).accuracies(accuracies)
    }

    #[test]
    fn epochs_that_changed_nothing_are_told() {
        let found = found(&RULE, vec![made(&[0.90, 0.985, 0.986, 0.9855]).record()]);
        let parts = [
            "had an accuracy of 98.50 % after 2 of 4 epochs",
            "After the other 2 epochs no difference was found (0.05 points)",
        ];
        expect(&found[0], Kind::Tie, &parts);
        assert_eq!(found[0].numbers[0], "after 1 epoch: 90.00 %");
    }

    #[test]
    fn what_was_still_learning_is_said_to_be() {
        let found = found(&RULE, vec![made(&[0.60, 0.80, 0.95]).record()]);
        expect(&found[0], Kind::Difference, &["was still learning at its end: from 2 epochs to 3 epochs", "15 points"]);
    }

    #[test]
    fn two_looks_are_no_course() {
        assert_eq!(found(&RULE, vec![made(&[0.60, 0.80]).record()]), []);
    }

    #[test]
    fn a_longer_training_is_held_to_a_shorter_one() {
        let of = |steps: u64, accuracy| {
            let made = Made::new("caffe-mnist").steps(steps).accuracy(accuracy);
            made.non_standard(&[&format!("{steps} steps")]).record()
        };
        let brought = found(&RULE, vec![of(600, 0.95), of(6000, 0.99)]);
        let parts = ["training for 10 epochs instead of 1 epoch took 10.0 times as long and brought 4 points"];
        expect(&brought[0], Kind::Difference, &parts);
        let nothing = found(&RULE, vec![of(600, 0.9895), of(6000, 0.99)]);
        expect(&nothing[0], Kind::Tie, &["as long and no change of accuracy was found (0.05 points); 0."]);
    }
}
