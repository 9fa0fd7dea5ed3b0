//! Runs or devices side by side, with ratios to the first.

use results::api::{ComparedFigure, ComparedSide, ComparedWorkload, Comparing, StoredRun};
use results::environment::{FACTS, differences, distinct};
use results::estimate::{Estimate, Interval};
use results::{Outcome, RunRecord, WorkloadRecord};

/// Compares runs with the first. `name` returns the name of a record's device.
pub fn compare_runs(runs: &[StoredRun], name: fn(&RunRecord) -> String) -> Comparing {
    let records: Vec<&RunRecord> = runs.iter().map(|run| &run.record).collect();
    let networks = distinct(records.iter().flat_map(|record| &record.workloads).map(|of| of.workload.as_str()));
    let compared = networks.into_iter().filter_map(|network| {
        let is_compared = |of: &&WorkloadRecord| of.workload == network && of.outcome == Outcome::Completed;
        let figures = records.iter().map(|record| record.workloads.iter().find(is_compared).map(figure_of_run));
        let (workload, figures) = (network.to_owned(), relate_to_first(figures.collect())?);
        Some(ComparedWorkload { workload, suite: None, backend: None, client_kind: None, figures })
    });
    Comparing {
        workloads: compared.collect(),
        sides: runs.iter().map(|run| ComparedSide { id: run.run_id.clone(), name: name(&run.record) }).collect(),
        differences: differences(FACTS, &records.iter().map(|record| vec![*record]).collect::<Vec<_>>()),
    }
}

fn figure_of_run(workload: &WorkloadRecord) -> ComparedFigure {
    let summary = &workload.summary;
    ComparedFigure {
        batch_size: Some(workload.settings.batch_size),
        precision: workload.settings.precision,
        samples_per_second: summary.samples_per_second,
        samples_per_second_low: summary.samples_per_second_low,
        samples_per_second_high: summary.samples_per_second_high,
        accuracy: summary.accuracy,
        test_loss: summary.test_loss,
        seconds_to_target: summary.seconds_to_target,
        ..ComparedFigure::default()
    }
}

/// Returns one workload's metrics with ratios to the first side, or `None` if fewer than two sides have one.
pub fn relate_to_first(mut figures: Vec<Option<ComparedFigure>>) -> Option<Vec<Option<ComparedFigure>>> {
    if figures.iter().flatten().count() < 2 {
        return None;
    }
    if let Some((Some(first), others)) = figures.split_first_mut() {
        for other in others.iter_mut().flatten().filter(|other| other.batch_size == first.batch_size) {
            let ratio = estimate(other).zip(estimate(first)).and_then(|(rate, its)| rate.over(its));
            other.to_first = ratio.map(|ratio| ratio.value);
            other.verdict = ratio.and_then(|ratio| ratio.interval).map(Interval::verdict);
        }
    }
    Some(figures)
}

fn estimate(figure: &ComparedFigure) -> Option<Estimate> {
    Estimate::new(figure.samples_per_second, figure.samples_per_second_low, figure.samples_per_second_high)
}

#[cfg(test)]
mod tests {
    use results::api::SideVerdict;

    use super::*;

    fn figure(rate: Option<f64>, interval: Option<(f64, f64)>) -> Option<ComparedFigure> {
        Some(ComparedFigure {
            batch_size: Some(128),
            samples_per_second: rate,
            samples_per_second_low: interval.map(|(low, _)| low),
            samples_per_second_high: interval.map(|(_, high)| high),
            ..ComparedFigure::default()
        })
    }

    fn second(figures: Vec<Option<ComparedFigure>>) -> (Option<f64>, Option<SideVerdict>) {
        let second = relate_to_first(figures).unwrap().swap_remove(1).unwrap();
        (second.to_first, second.verdict)
    }

    #[test]
    fn ratio_needs_metrics_and_verdict_needs_intervals() {
        let (some, none) = (figure(Some(100.0), Some((90.0, 110.0))), figure(None, None));
        assert_eq!(second(vec![some.clone(), none.clone()]), (None, None));
        assert_eq!(second(vec![none, some.clone()]), (None, None));
        assert_eq!(second(vec![some.clone(), figure(Some(50.0), None)]), (Some(0.5), None));
        assert_eq!(relate_to_first(vec![some.clone(), None]), None, "nothing to compare");
        let without_first = relate_to_first(vec![None, some.clone(), some]).unwrap();
        assert!(without_first.iter().flatten().all(|figure| figure.to_first.is_none() && figure.verdict.is_none()));
    }
}
