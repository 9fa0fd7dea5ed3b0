use super::{Finding, Kind, Rule, names};
use crate::gathered::Gathered;
use crate::group::Group;
use crate::run::PHASES;
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Cold start",
    method: "A cold start is building, compiling, tuning and the first step; loading data is left out, which no back end makes \
             faster. It is told where it takes at least a tenth of the time until the last look at the test set. Of several \
             runs it is the median; runs of one process, or of one machine, may find kernels that an earlier one compiled.",
    find,
};

/// A cold start of a smaller share is not worth a sentence.
const LEAST_SHARE: f64 = 0.1;

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    gathered.workloads().into_iter().filter_map(|name| of_workload(gathered, name)).collect()
}

fn of_workload(gathered: &Gathered<'_>, name: &str) -> Option<Finding> {
    let groups = gathered.of_workload(name);
    let labels = names(&groups);
    let mut known: Vec<(&Group<'_>, String, f64, f64)> = groups
        .into_iter()
        .zip(labels)
        .filter_map(|(group, label)| {
            let seconds = group.median_of(|run| run.cold_start_seconds())?;
            let training = group.training_seconds()?;
            Some((group, label, seconds, seconds / (seconds + training)))
        })
        .collect();
    known.sort_by(|one, other| other.3.total_cmp(&one.3));
    let (group, label, seconds, share) = known.first().filter(|worst| worst.3 >= LEAST_SHARE)?;
    let text = format!(
        "{name}: before training, {label} takes {}, {} of the time until its last test{}.",
        text::seconds(*seconds),
        text::whole_percent(*share),
        longest_phase(group).map(|phase| format!("; most of it is {phase}")).unwrap_or_default()
    );
    let line = |(_, label, seconds, share): &(&Group<'_>, String, f64, f64)| {
        format!("{label}: {}, {} of the time", text::seconds(*seconds), text::whole_percent(*share))
    };
    Some(Finding { kind: Kind::Figure, text, numbers: known.iter().map(line).collect(), rule: RULE.title })
}

/// The phase that takes more than half of a cold start.
fn longest_phase(group: &Group<'_>) -> Option<&'static str> {
    let whole = group.median_of(|run| run.cold_start_seconds())?;
    let phases = PHASES.into_iter().enumerate().skip(1);
    let long = |number: usize| group.median_of(|run| run.phases()[number]).is_some_and(|seconds| seconds > whole / 2.0);
    phases.into_iter().find(|(number, _)| long(*number)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;
    use results::RunRecord;

    fn made(backend: &str, tuning: f64) -> RunRecord {
        // Ten thousand samples a second, for 60,000 samples: 6 s.
        let made = Made::new("caffe-mnist").backend(backend).rate(1e4).steps(600);
        made.cold_start([Some(100.0), Some(0.5), None, Some(tuning), Some(0.1)]).record()
    }

    #[test]
    fn the_back_end_that_takes_longest_to_begin_is_named_with_what_takes_so_long() {
        let found = found(&RULE, vec![made("wgsl", 0.1), made("burn-wgpu", 5.4)]);
        expect(&found[0], Kind::Figure, &["burn-wgpu takes 6.000 s, 50 % of the time", "most of it is tuning"]);
        assert_eq!(found[0].numbers.len(), 2);
    }

    #[test]
    fn a_start_that_is_soon_forgotten_is_not_worth_a_sentence() {
        assert_eq!(found(&RULE, vec![made("wgsl", 0.0)]), []);
    }
}
