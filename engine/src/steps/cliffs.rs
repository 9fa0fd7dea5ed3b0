//! Batch sizes whose samples take longer than those of the size before, and whether that is so when both take turns.

use results::statistics;

use super::report::{CLIFF, Cliff, Outcome, Size, WorkloadSteps};
use super::{Contender, Run};
use crate::measure::Event;
use crate::trainer::TrainingJob;

/// Compares each back end's time per sample with that at the size before, where both were measured.
pub(super) fn find(sizes: &[Size]) -> Vec<Cliff> {
    let mut cliffs = Vec::new();
    for pair in sizes.windows(2) {
        for (before, after) in pair[0].entries.iter().zip(&pair[1].entries) {
            let (Some(small), Some(large)) = (before.outcome.measured(), after.outcome.measured()) else {
                continue;
            };
            let rise = small.samples_per_second / large.samples_per_second - 1.0;
            if rise > CLIFF {
                cliffs.push(Cliff {
                    backend: after.backend,
                    from_batch_size: pair[0].batch_size,
                    to_batch_size: pair[1].batch_size,
                    rise,
                    rise_in_turns: None,
                });
            }
        }
    }
    cliffs
}

impl Run<'_> {
    /// Measures every cliff that was found once more, both batch sizes in turns. `jobs` are those that were measured.
    pub(super) async fn look_again(&mut self, result: &mut WorkloadSteps, jobs: &[TrainingJob]) {
        for cliff in &mut result.cliffs {
            let contender = self.contenders.iter().find(|contender| contender.name() == cliff.backend);
            let of_size = |size| jobs.iter().find(|job| job.batches.batch_size == size);
            let (Some(contender), Some(small), Some(large)) =
                (contender, of_size(cliff.from_batch_size), of_size(cliff.to_batch_size))
            else {
                continue;
            };
            if self.observer.cancelled() || contender.most_steps.is_some() || !self.both_fit(contender, small, large) {
                continue;
            }
            let (from_batch_size, to_batch_size) = (cliff.from_batch_size, cliff.to_batch_size);
            let what = format!("{}, {from_batch_size} and {to_batch_size} in turns", result.workload);
            self.observer.event(&Event::Again { what });
            let mut contest = self.contest();
            contest.admit(contender, small, None).await;
            contest.admit(contender, large, None).await;
            contest.run().await;
            cliff.rise_in_turns = rise_in_turns(&contest.finish(to_batch_size));
        }
    }

    /// Whether two trainers may be on the device at once.
    fn both_fit(&self, contender: &Contender, small: &TrainingJob, large: &TrainingJob) -> bool {
        let predicted = |job| contender.backend.predicted_bytes(job).ok().flatten();
        match (self.request.budget_bytes, predicted(small), predicted(large)) {
            (Some(budget), Some(small), Some(large)) => small.saturating_add(large) <= budget,
            _ => true,
        }
    }
}

/// Median over the rounds: a machine that changes its speed does so in few of them.
fn rise_in_turns(size: &Size) -> Option<f64> {
    let windows = |index: usize| size.entries.get(index)?.outcome.measured().map(|measured| &measured.windows);
    let rounds = windows(0)?.iter().zip(windows(1)?);
    let rises: Vec<f64> = rounds.map(|(small, large)| small.rate() / large.rate() - 1.0).collect();
    statistics::quantile(&rises, 0.5)
}

/// Jobs whose measurements can be repeated are kept: those that gave a figure to anybody.
pub(super) fn gave_figures(size: &Size) -> bool {
    size.entries.iter().any(|entry| matches!(entry.outcome, Outcome::Measured(_)))
}
