//! What a run of a suite is when nobody changes anything: a client trains it, and the leaderboard holds records to it.

use std::sync::Arc;

use super::{SuiteDefinition, Training, TrainingRange, Workload, workload};
use crate::data::{DataSet, data_set};
use crate::error::EngineError;
use crate::random::{Generator, stream};
use crate::trainer::TrainingJob;
use crate::training::BatchPlan;

/// A workload as a suite trains it.
#[derive(Clone, Debug)]
pub struct Standard {
    pub workload: Workload,
    pub batches: BatchPlan,
    /// Training ends after so many steps …
    pub steps: u64,
    /// … or when it has taken so long.
    pub training_seconds: f64,
    /// Of the whole test set, all of which is looked at each time.
    pub test_samples: u32,
}

impl Standard {
    /// `None` where there is no such workload.
    pub fn of(suite: &SuiteDefinition, name: &str, seed: u32) -> Option<Self> {
        let workload = workload(name)?;
        let sets = data_set(workload.data_set).expect("a test holds every workload to a known data set");
        let batches = workload
            .batches(sets.train.samples, workload.batch_size, seed)
            .expect("a test holds every workload's batch to its data set");
        let steps = batches.steps_of_epochs(suite.epochs);
        let (training_seconds, test_samples) = (suite.training_seconds, sets.test.samples);
        Some(Self { workload, batches, steps, training_seconds, test_samples })
    }

    /// What a back end is given.
    pub fn job(&self, data: Arc<DataSet>, seed: u32) -> TrainingJob {
        let planned_steps = self.batches.steps_of_epochs(self.workload.published_epochs);
        self.workload.job(Training { data, batches: self.batches, planned_steps, seed, dropout: true })
    }

    /// The step after which the test set is looked at for the `number`-th time, from 1.
    pub fn evaluation_step(&self, number: u32) -> u64 {
        self.batches.step_of_mark(number, self.workload.evaluations_per_epoch)
    }
}

impl SuiteDefinition {
    /// Its workloads in the order in which a run from this seed trains them.
    pub fn in_order_of(&self, seed: u32) -> Vec<&'static str> {
        random_order(self.workloads.len(), seed).into_iter().map(|place| self.workloads[place]).collect()
    }
}

/// In which order so many workloads are trained, by the seed, so that none always finds the device cool.
pub(crate) fn random_order(count: usize, seed: u32) -> Vec<usize> {
    let count = u32::try_from(count).expect("a suite has few workloads");
    let order = Generator { stream: stream::SUITE_ORDER, step: 0, seed }.permutation(count);
    order.into_iter().map(|place| place as usize).collect()
}

impl Workload {
    /// Which of the `file_samples` samples of the training file each step trains on.
    ///
    /// # Errors
    /// A batch of more samples than are trained on, or of none.
    pub fn batches(&self, file_samples: u32, batch_size: u32, seed: u32) -> Result<BatchPlan, EngineError> {
        let all = TrainingRange { first: 0, samples: file_samples };
        let TrainingRange { first, samples } = self.training.unwrap_or(all);
        if batch_size == 0 || batch_size > samples {
            return Err(EngineError::InvalidSetting {
                what: "the batch size",
                allowed: format!("from 1 to {samples}, the training samples of {}", self.data_set),
                value: batch_size.to_string(),
            });
        }
        Ok(BatchPlan { first, samples, batch_size, order: self.order, batching: self.batching, seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::SUITES;

    #[test]
    fn every_workload_of_every_suite_ends_with_a_look_at_the_test_set() {
        for suite in SUITES {
            for name in suite.workloads {
                let standard = Standard::of(suite, name, 1).unwrap();
                let looks = standard.workload.evaluations_per_epoch.max(1) * suite.epochs;
                assert_eq!(standard.evaluation_step(looks), standard.steps, "{} of {}", name, suite.name);
                assert!(standard.evaluation_step(1) > 0 && standard.test_samples > 0, "{name}");
            }
        }
        assert!(Standard::of(&SUITES[0], "no-such-network", 1).is_none());
    }
}
