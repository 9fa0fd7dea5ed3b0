//! One workload of one record, and what follows from it alone.

use results::summary::summarise;
use results::{Outcome, RunRecord, Summary, WorkloadRecord};

/// One workload of one record.
#[derive(Clone, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) place: &'a str,
    pub(crate) record: &'a RunRecord,
    pub(crate) workload: &'a WorkloadRecord,
    /// Computed again: what a record says about itself is not read.
    pub(crate) summary: Summary,
}

/// Seconds of what happens once before training, by phase.
pub(crate) const PHASES: [&str; 5] = ["data", "building", "compiling", "tuning", "first step"];

impl<'a> Run<'a> {
    pub(crate) fn all_of(place: &'a str, record: &'a RunRecord) -> impl Iterator<Item = Self> {
        record.workloads.iter().map(move |workload| Self { place, record, workload, summary: summarise(workload) })
    }

    pub(crate) fn seed(&self) -> u32 {
        self.record.seed
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.workload.outcome == Outcome::Completed
    }

    /// Until the last look at the test set. What is trained after it, only to be measured, does not count.
    pub(crate) fn steps(&self) -> u64 {
        self.workload.evaluations.last().map_or(self.summary.steps, |last| last.step)
    }

    /// Passes over the training set that so many steps are.
    pub(crate) fn epochs_of(&self, steps: u64) -> f64 {
        let settings = &self.workload.settings;
        let summary = &self.summary;
        // The last batch of an epoch may be short.
        let mean = if summary.steps > 0 {
            summary.samples as f64 / summary.steps as f64
        } else {
            f64::from(settings.batch_size)
        };
        let epochs = steps as f64 * mean / f64::from(settings.training_samples.max(1));
        // The mean is that of all steps: the end of an epoch is a whole number.
        let finished = self.workload.epochs.iter().filter(|epoch| steps > 0 && epoch.epoch > 0);
        let nearest = finished.map(|epoch| f64::from(epoch.epoch)).find(|whole| (whole / epochs - 1.0).abs() < 0.005);
        nearest.unwrap_or(epochs)
    }

    pub(crate) fn epochs(&self) -> f64 {
        self.epochs_of(self.steps())
    }

    /// Seconds of each of [`PHASES`]; absent where it did not happen.
    pub(crate) fn phases(&self) -> [Option<f64>; 5] {
        let start = &self.workload.cold_start;
        [
            start.data_seconds,
            start.build_seconds,
            start.compiling_seconds,
            start.tuning_seconds,
            start.first_step_seconds,
        ]
    }

    /// Everything that happens once but loading the data, which no back end makes faster.
    pub(crate) fn cold_start_seconds(&self) -> Option<f64> {
        let known: Vec<f64> = self.phases().into_iter().skip(1).flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Made;

    #[test]
    fn epochs_follow_from_steps_and_batches() {
        let record = Made::new("keras-mnist-mlp").batch_size(100).steps(1200).record();
        let run = Run::all_of("a.json", &record).next().unwrap();
        assert_eq!((run.steps(), run.epochs()), (1200, 2.0));
        assert_eq!(run.epochs_of(60), 0.1);
    }

    #[test]
    fn without_windows_that_count_there_is_still_the_whole_of_training() {
        let record = Made::new("keras-mnist-mlp").batch_size(100).steps(600).rate(30_000.0).windows(1).record();
        let run = Run::all_of("a.json", &record).next().unwrap();
        assert_eq!(run.summary.throughput(), None);
        assert!((run.summary.samples_per_second_of_all_training().unwrap() / 30_000.0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_interval_of_few_windows_is_not_believed() {
        let of = |windows| Made::new("keras-mnist-mlp").rate(30_000.0).windows(windows).record();
        let few = of(4);
        let many = of(12);
        let rate = |record| Run::all_of("", record).next().unwrap().summary.throughput().unwrap().interval;
        assert!(rate(&few).is_none() && rate(&many).is_some());
    }

    #[test]
    fn loading_data_is_no_part_of_the_cold_start() {
        let record = Made::new("keras-mnist-mlp").cold_start([Some(9.0), Some(1.0), None, Some(0.5), None]).record();
        let run = Run::all_of("", &record).next().unwrap();
        assert_eq!(run.cold_start_seconds(), Some(1.5));
    }
}
