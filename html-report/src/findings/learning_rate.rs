use results::Outcome;

use super::{Finding, Kind, Rule, figures, kind_of, subject};
use crate::difference::{Verdict, accuracy};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::lines::{Axis, Line, lines};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Learning rate",
    method: "Groups are compared that differ in nothing but the learning rate. The rate with the highest mean accuracy is \
             called the best only if it is above the next one by more than Student's bound on the spread of the seeds (the \
             sampling error of the test set where each has one seed). A rate diverged where the loss was no finite number, \
             or a thousand times the first one.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of = |name: &str| {
        let groups = gathered.of_workload(name);
        lines(&groups, Axis::LearningRate).iter().filter_map(|line| of_line(gathered, line)).collect::<Vec<_>>()
    };
    gathered.workloads().into_iter().flat_map(of).collect()
}

fn of_line(gathered: &Gathered<'_>, line: &Line<'_, '_>) -> Option<Finding> {
    let groups: Vec<&Group<'_>> = line.points.iter().map(|point| point.1).collect();
    let what = subject(gathered, groups.first()?, &[Field::LearningRate]);
    let mut trained: Vec<&Group<'_>> = groups.iter().filter(|group| group.accuracy().is_some()).copied().collect();
    trained.sort_by(|one, other| other.accuracy().unwrap_or(0.0).total_cmp(&one.accuracy().unwrap_or(0.0)));
    let diverged: Vec<String> = groups.iter().filter_map(|group| divergence(group)).collect();
    let (kind, best) = match trained.as_slice() {
        [] if diverged.is_empty() => return None,
        [] => (Kind::Figure, "no learning rate trained it to the end".to_owned()),
        [only] => {
            (Kind::Figure, format!("of the learning rates only {} trained it to the end{}", rate(only), reached(only)))
        }
        [best, next, ..] => of_best(best, next)?,
    };
    let diverging = if diverged.is_empty() { String::new() } else { format!("; {}", text::listed(&diverged)) };
    let text = format!("{what}: {best}{diverging}.");
    let numbers = trained.iter().map(|group| figures(&format!("rate {}", rate(group)), group));
    Some(Finding { kind, text, numbers: numbers.chain(diverged).collect(), rule: RULE.title })
}

fn of_best(best: &Group<'_>, next: &Group<'_>) -> Option<(Kind, String)> {
    let learned = accuracy(next, best)?;
    let (first, second, reached) = (rate(best), rate(next), reached(best));
    let sentence = match learned.verdict {
        Verdict::Higher | Verdict::Lower => {
            let (points, allowance) = (text::points(learned.difference), learned.allowance());
            format!(
                "learning rate {first} is the best of those tried{reached}, {points} above {second}, more than {allowance}"
            )
        }
        Verdict::Tied => {
            let found = learned.nothing_found("no difference");
            format!("learning rates {first} and {second} are tied as the best{reached}: {found}")
        }
        Verdict::Undecided => {
            let found = learned.nothing_found("no difference");
            format!("learning rate {first} came out ahead{reached}; compared with {second}, {found}")
        }
    };
    Some((kind_of(learned.verdict), sentence))
}

fn rate(group: &Group<'_>) -> String {
    text::plain(group.setup.learning_rate)
}

fn reached(group: &Group<'_>) -> String {
    group.accuracy().map(|share| format!(" ({} accuracy)", text::percent(share))).unwrap_or_default()
}

fn divergence(group: &Group<'_>) -> Option<String> {
    let steps: Vec<u64> = group
        .runs
        .iter()
        .filter_map(|run| match run.workload.outcome {
            Outcome::Diverged { step } => Some(step),
            _ => None,
        })
        .collect();
    let first = steps.iter().min()?;
    let of_seeds = if group.runs.len() > 1 {
        format!(" from {} of {} seeds", steps.len(), group.runs.len())
    } else {
        String::new()
    };
    Some(format!("learning rate {} diverged{of_seeds}, at step {first}", rate(group)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;

    fn made(rate: f64, accuracy: f64) -> Made {
        Made::new("torch-mnist").learning_rate(rate).accuracy(accuracy)
    }

    #[test]
    fn the_best_rate_is_named_and_so_is_one_that_diverged() {
        let wild = made(0.4, 0.0).outcome(Outcome::Diverged { step: 12 }).record();
        let found = found(&RULE, vec![made(0.001, 0.95).record(), made(0.05, 0.985).record(), wild]);
        let parts = [
            "learning rate 0.05 is the best of those tried (98.50 % accuracy), 3.5 points above 0.001",
            "0.4 diverged, at step 12",
        ];
        expect(&found[0], Kind::Difference, &parts);
    }

    #[test]
    fn rates_within_the_sampling_error_are_tied() {
        let found = found(&RULE, vec![made(0.01, 0.985).record(), made(0.05, 0.986).record()]);
        expect(&found[0], Kind::Tie, &["learning rates 0.05 and 0.01 are tied as the best"]);
    }

    #[test]
    fn where_all_diverge_that_is_said_and_one_rate_says_nothing() {
        let wild = |rate| made(rate, 0.0).outcome(Outcome::Diverged { step: 3 }).record();
        expect(&found(&RULE, vec![wild(0.5), wild(0.9)])[0], Kind::Figure, &["no learning rate trained it to the end"]);
        assert_eq!(found(&RULE, vec![made(0.01, 0.985).record()]), []);
    }
}
