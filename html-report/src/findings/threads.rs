use super::{Finding, Rule, figures, interval, kind_of, subject};
use crate::difference::{Verdict, speed};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::lines::{Axis, Line, lines};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Threads",
    method: "Groups are compared that differ in nothing but the number of threads. The speed-up is the ratio of throughputs \
             to the fewest threads, and its share of the ideal is that over the ratio of threads. It flattens where the next \
             number of threads is tied, slower, or faster by less than 10 %.",
    find,
};

/// A gain of less is called flat.
const FLAT: f64 = 1.1;

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of = |name: &str| {
        let groups = gathered.of_workload(name);
        lines(&groups, Axis::Threads).iter().filter_map(|line| of_line(gathered, line)).collect::<Vec<_>>()
    };
    gathered.workloads().into_iter().flat_map(of).collect()
}

fn of_line(gathered: &Gathered<'_>, line: &Line<'_, '_>) -> Option<Finding> {
    let mut points = line.points.clone();
    points.retain(|(_, group)| group.counted_rates().is_some());
    let ((fewest, base), others) = points.split_first()?;
    let ratios = others.iter().filter_map(|(threads, group)| Some((*threads, speed(base, group)?)));
    let (threads, best) = ratios.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    let what = subject(gathered, base, &[Field::Threads]);
    let of_ideal = best.value / (threads / fewest);
    let name = |count: f64| format!("{count} thread{}", if count == 1.0 { "" } else { "s" });
    let fastest = match best.verdict {
        Verdict::Higher => format!(
            "{} are {} times as fast as {} ({}), {} of the ideal",
            name(threads),
            text::times(best.value),
            name(*fewest),
            interval(&best),
            text::whole_percent(of_ideal)
        ),
        Verdict::Tied | Verdict::Lower => {
            format!(
                "no number of threads is faster than {} ({} times with {})",
                name(*fewest),
                text::times(best.value),
                name(threads)
            )
        }
        Verdict::Undecided => format!(
            "{} came out {} times as fast as {} ({})",
            name(threads),
            text::times(best.value),
            name(*fewest),
            interval(&best)
        ),
    };
    let flat = flattens(&points).filter(|_| best.verdict == Verdict::Higher);
    let flat = flat.map(|(from, to, gain)| {
        format!(". It flattens at {}: {} bring {} times its speed", name(from), name(to), text::times(gain))
    });
    let text = format!("{what}: {fastest}{}.", flat.unwrap_or_default());
    let numbers = points.iter().map(|(threads, group)| figures(&name(*threads), group)).collect();
    Some(Finding { kind: kind_of(best.verdict), text, numbers, rule: RULE.title })
}

/// The first numbers of threads between which little is gained, and the gain.
fn flattens(points: &[(f64, &Group<'_>)]) -> Option<(f64, f64, f64)> {
    points.windows(2).find_map(|pair| {
        let [(from, before), (to, after)] = pair else { return None };
        let gain = speed(before, after)?;
        let is_flat = match gain.verdict {
            Verdict::Higher => gain.value < FLAT,
            Verdict::Tied | Verdict::Lower => true,
            Verdict::Undecided => false,
        };
        is_flat.then_some((*from, *to, gain.value))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;
    use results::RunRecord;

    fn made(threads: u32, rate: f64) -> RunRecord {
        Made::new("caffe-mnist").threads(threads).rate(rate).record()
    }

    #[test]
    fn the_speed_up_is_told_and_where_it_flattens() {
        let found = found(&RULE, vec![made(1, 1e4), made(2, 1.8e4), made(4, 1.85e4)]);
        let parts = [
            "4 threads are 1.85 times as fast as 1 thread",
            "46 % of the ideal",
            "It flattens at 2 threads: 4 threads bring 1.03 times its speed",
        ];
        expect(&found[0], Kind::Difference, &parts);
    }

    #[test]
    fn threads_that_help_all_the_way_do_not_flatten() {
        let found = found(&RULE, vec![made(1, 1e4), made(2, 1.9e4), made(4, 3.6e4)]);
        expect(&found[0], Kind::Difference, &["4 threads are 3.60 times as fast", "90 % of the ideal."]);
        assert!(!found[0].text.contains("flattens"), "{}", found[0].text);
    }

    #[test]
    fn threads_that_bring_nothing_are_a_tie_and_one_number_says_nothing() {
        let tied = found(&RULE, vec![made(1, 1e4), made(2, 1.001e4)]);
        expect(&tied[0], Kind::Tie, &["no number of threads is faster than 1 thread"]);
        assert_eq!(found(&RULE, vec![made(2, 1e4)]), []);
    }
}
