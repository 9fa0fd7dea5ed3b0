use std::sync::Arc;

use results::{StateBytes, weights_bytes};
use shaders::params::Step;

use super::{BatchPlan, EarlyStopping, InputRecipe, Loss, Optimizer, SampleOrder, Segments, WeightAverage};
use crate::data::{DataSet, Split};
use crate::error::EngineError;
use crate::model::{Model, ModelError, Multipliers};

#[derive(Clone)]
pub struct TrainingJob {
    pub model: Model,
    pub data: Arc<DataSet>,
    pub input: InputRecipe,
    pub loss: Loss,
    pub optimizer: Optimizer,
    pub average: Option<WeightAverage>,
    /// Early-stopping rule, if held-out samples are evaluated.
    pub early_stopping: Option<EarlyStopping>,
    pub batches: BatchPlan,
    /// Number of steps that the schedules span.
    pub planned_steps: u64,
    /// Seed of the weights and, without segments, of the sample order, dropout and augmentation.
    pub seed: u32,
    pub dropout: bool,
    /// Earlier segments, if a leaderboard proves the run. The trainer continues after them.
    pub segments: Segments,
}

impl TrainingJob {
    pub fn initial_weights(&self) -> Result<Vec<Vec<f32>>, ModelError> {
        let channels = self.model.input.channels;
        let tensors = self.model.tensors()?;
        Ok(tensors.iter().map(|tensor| tensor.initial_values(self.seed, &self.data.train, channels)).collect())
    }

    /// Returns the batch and rates of step `number`, with `slot` as the index of its results.
    #[expect(clippy::cast_possible_truncation, reason = "rates are computed in double and rounded once")]
    pub(crate) fn step(&self, number: u64, slot: u32) -> Step {
        let batch = self.batches.step(number);
        let rate = self.optimizer.scheduled_rate(number, self.planned_steps);
        let average = self.average.map(|average| average.step(number, self.planned_steps));
        let (average, average_keep) = average.unwrap_or_default();
        let mirrors = batch.offset > 0 || self.batches.order == SampleOrder::File;
        Step {
            // The generator's step lane has 32 bits and wraps after four billion steps.
            step: u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default(),
            seed: self.segments.seed_at(number).unwrap_or(self.seed),
            offset: batch.offset,
            count: batch.count,
            slot,
            training: 1,
            learning_rate: (rate * self.optimizer.correction(number)) as f32,
            decay_rate: rate as f32,
            epoch: batch.epoch,
            average,
            average_keep: average_keep as f32,
            linear: self.linear(number),
            mirror_rest: u32::from(mirrors && self.segments.begins_at(number)),
            ..Step::default()
        }
    }

    /// Returns the value of [`Step::linear`], which is 1 until the model's linear phase ends.
    pub(crate) fn linear(&self, number: u64) -> u32 {
        u32::from((number as f64) < self.model.linear_until() * self.planned_steps as f64)
    }

    /// Returns a set's file and the indices of its samples in it.
    pub(crate) fn evaluated(&self, set: EvaluationSet) -> (Vec<u32>, &Split) {
        match set {
            EvaluationSet::Test => (self.places(0..self.test_samples()), &self.data.test),
            EvaluationSet::HeldOut => {
                let trained = self.batches.first..self.batches.first + self.batches.samples;
                let held_out = (0..self.data.train.samples()).filter(|sample| !trained.contains(sample));
                (held_out.collect(), &self.data.train)
            }
        }
    }

    /// Returns the places in the file of samples with these numbers: of a text, the windows' first characters.
    pub(crate) fn places(&self, samples: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let length = if self.data.definition.is_text() { self.model.input.features() } else { 1 };
        samples.into_iter().map(|sample| length * sample).collect()
    }

    pub fn test_samples(&self) -> u32 {
        self.data.definition.samples_for(self.model.input.features(), self.data.test.samples())
    }

    pub(crate) fn evaluated_samples(&self, set: EvaluationSet) -> u32 {
        match set {
            EvaluationSet::Test => self.test_samples(),
            EvaluationSet::HeldOut => self.data.train.samples() - self.batches.samples,
        }
    }

    /// Returns the batch size of evaluations that prepare their batches on the host.
    pub(crate) fn test_batch(&self) -> u32 {
        const MIN_BATCH: u32 = 100;
        self.batches.batch_size.max(MIN_BATCH)
    }

    /// Returns the batches of an evaluation after `trained` steps.
    pub(crate) fn test_steps(&self, trained: u64, samples: u32, batch: u32) -> impl Iterator<Item = Step> + use<> {
        let (seed, linear) = (self.seed, self.linear(trained));
        let step = move |offset| Step { offset, count: batch.min(samples - offset), seed, linear, ..Step::default() };
        (0..samples).step_by(batch as usize).map(step)
    }

    /// Returns the first step at which a tensor with these multipliers is frozen.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub(crate) fn frozen_from(&self, multipliers: &Multipliers) -> u32 {
        let step = multipliers.frozen_from.map(|share| share * self.planned_steps as f64);
        step.map_or(u32::MAX, |step| step.ceil() as u32)
    }

    /// Returns the state before the first step: initial weights, no optimizer state, and averages equal to the weights.
    pub fn initial_state(&self) -> Result<StateBytes, ModelError> {
        let weights = weights_bytes(&self.initial_weights()?);
        let mut memory = vec![0; self.optimizer.rule.states() * weights.len()];
        if self.average.is_some() {
            memory.extend_from_slice(&weights);
        }
        Ok(StateBytes { weights, memory })
    }

    /// Splits a state into tensors: first the weights, then each optimizer or average state. Returns `None` if the
    /// state has the wrong length for this job or contains non-finite values.
    pub(crate) fn split_state(&self, state: &StateBytes) -> Result<Option<Vec<Vec<Vec<f32>>>>, ModelError> {
        let lengths: Vec<usize> = self.model.tensors()?.iter().map(|tensor| tensor.elements()).collect();
        let memories = self.optimizer.rule.states() + usize::from(self.average.is_some());
        let bytes = 4 * lengths.iter().sum::<usize>();
        if state.weights.len() != bytes || state.memory.len() != memories * bytes {
            return Ok(None);
        }
        let words = state.weights.chunks_exact(4).chain(state.memory.chunks_exact(4));
        let mut values = words.map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let mut list = || lengths.iter().map(|&length| values.by_ref().take(length).collect()).collect();
        let lists: Vec<Vec<Vec<f32>>> = (0..=memories).map(|_| list()).collect();
        let finite = lists.iter().flatten().flatten().all(|value| value.is_finite());
        Ok(finite.then_some(lists))
    }

    /// Splits a state to be restored, and fails where [`Self::split_state`] returns `None`.
    pub(crate) fn tensors_of_state(&self, state: &StateBytes) -> Result<Vec<Vec<Vec<f32>>>, EngineError> {
        self.split_state(state)?.ok_or_else(|| {
            let bytes = format!("{} + {} bytes", state.weights.len(), state.memory.len());
            let allowed = "finite numbers, as many as this network and its optimizer have";
            EngineError::invalid("the state to restore", allowed, bytes)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationSet {
    Test,
    /// Samples of the training file that are excluded from training.
    HeldOut,
}
