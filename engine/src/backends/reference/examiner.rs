//! Checks of a run that take less work than the client's training.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use results::StateBytes;

use super::trainer::ReferenceTrainer;
use crate::data::DataSet;
use crate::error::Result;
use crate::norm::{doubles, norm};
use crate::trainer::{TestReport, Trainer, TrainingJob};
use crate::training::Segments;
use crate::workload::Standard;

/// Relative change of a tensor by f32 rounding, even with little training.
const ROUNDING: f64 = f32::EPSILON as f64;
/// Smaller numbers may be flushed to zero.
const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Computes parts of a run of a suite again, with the plain loops in single precision, on the processor.
pub struct Examiner {
    job: TrainingJob,
}

impl Examiner {
    pub fn new(standard: &Standard, data: Arc<DataSet>, seed: u32) -> Self {
        Self { job: standard.job(data, seed) }
    }

    #[must_use]
    pub fn with_segments(mut self, segments: Segments) -> Self {
        self.job.segments = segments;
        self
    }

    /// Returns the losses of the first steps, each before its update. The last step is not updated.
    pub fn first_losses(&self, steps: u32) -> Result<Vec<f64>> {
        let mut trainer = ReferenceTrainer::<f32>::new(&self.job, self.job.initial_weights()?)?;
        let mut losses: Vec<f64> = (1..steps).map(|_| trainer.train_step().0).collect();
        if steps > 0 {
            losses.push(trainer.next_loss());
        }
        Ok(losses)
    }

    pub fn initial_state_sha256(&self) -> Result<String> {
        Ok(self.job.initial_state()?.sha256())
    }

    /// Trains from the state after `steps[0]` steps until `steps[1]` steps are done. Returns `None` if the state has
    /// the wrong length or numbers that are not finite.
    pub fn train_part(&self, begin: &StateBytes, steps: [u64; 2]) -> Result<Option<TrainedPart>> {
        let Some(mut trainer) = self.trainer_at(begin, steps[0])? else { return Ok(None) };
        let losses = (steps[0]..steps[1]).map(|_| trainer.train_step().0).collect();
        Ok(Some(TrainedPart { state: poll_once(trainer.state())?, losses }))
    }

    /// Returns the largest difference between two states `found` and `told` after training from `begin`, over the
    /// weights and memories of all layers. A difference is relative to the change from `begin` to `found`, and without
    /// the part that rounding explains. Returns `None` under the same conditions as [`Self::train_part`].
    ///
    /// Tensors of a layer are compared together, because Adam moves a tensor whose true gradient is zero by noise, such
    /// as the bias of keys in attention. Trained tensors, fixed tensors and tensors that the forward pass changes are
    /// compared separately.
    pub fn difference(&self, begin: &StateBytes, found: &StateBytes, told: &StateBytes) -> Result<Option<f64>> {
        let read = |state| self.job.split_state(state);
        let [Some(begin), Some(found), Some(told)] = [read(begin)?, read(found)?, read(told)?] else { return Ok(None) };
        let tensors = self.job.model.tensors()?;
        let mut largest = 0.0_f64;
        for ((begin, found), told) in begin.iter().zip(&found).zip(&told) {
            let mut end = 0;
            for layer in tensors.chunk_by(|a, b| (a.layer, a.kind) == (b.layer, b.kind)) {
                let places = end..end + layer.len();
                end = places.end;
                let [begin, found, told] = [begin, found, told].map(|list| &list[places.clone()]);
                largest = largest.max(relative_difference(begin, found, told));
            }
        }
        Ok(Some(largest))
    }

    /// Classifies these samples of the test set with the state after `step` steps. Its memory is read only if tests use
    /// averages of the weights. Returns `None` under the same conditions as [`Self::train_part`].
    pub fn test(&self, state: &StateBytes, step: u64, samples: &[u32]) -> Result<Option<TestedState>> {
        let StateBytes { weights, memory } = state;
        let tested = match self.job.average.is_some_and(|average| average.is_tested()) {
            true => &memory[memory.len().saturating_sub(weights.len())..],
            false => weights,
        };
        let tested = StateBytes { weights: tested.to_vec(), memory: self.job.initial_state()?.memory };
        let trainer = self.trainer_at(&tested, step)?;
        let places = self.job.places(samples.iter().copied());
        Ok(trainer.map(|mut trainer| {
            let (report, losses) = trainer.test(&self.job.data.test, &places);
            TestedState { report, losses }
        }))
    }

    pub fn bytes_of_weights(&self) -> Result<usize> {
        Ok(self.job.model.tensors()?.iter().map(|tensor| 4 * tensor.elements()).sum())
    }

    pub fn flops_of_step(&self) -> Result<u64> {
        Ok(self.job.model.operations()?.training_flops() * u64::from(self.job.batches.batch_size))
    }

    /// Returns the number of operations of a batch's loss, without gradients.
    pub fn flops_of_loss(&self) -> Result<u64> {
        Ok(self.job.model.operations()?.forward_flops * u64::from(self.job.batches.batch_size))
    }

    pub fn flops_of_test(&self) -> Result<u64> {
        Ok(self.job.model.operations()?.forward_flops * self.job.input.test_views.len() as u64)
    }

    fn trainer_at(&self, state: &StateBytes, step: u64) -> Result<Option<ReferenceTrainer<f32>>> {
        if self.job.split_state(state)?.is_none() {
            return Ok(None);
        }
        let mut trainer = ReferenceTrainer::new(&self.job, self.job.initial_weights()?)?;
        poll_once(trainer.restore(state, step, &self.job.segments))?;
        Ok(Some(trainer))
    }
}

pub struct TrainedPart {
    pub state: StateBytes,
    /// Loss of each step, before its update.
    pub losses: Vec<f64>,
}

pub struct TestedState {
    pub report: TestReport,
    /// Mean loss of each sample.
    pub losses: Vec<f64>,
}

/// Returns the difference of several tensors together, as in [`Examiner::difference`].
fn relative_difference(begin: &[Vec<f32>], found: &[Vec<f32>], told: &[Vec<f32>]) -> f64 {
    let values = |tensors: &[Vec<f32>]| doubles(tensors.iter().flatten()).collect::<Vec<f64>>();
    let [begin, found, told] = [begin, found, told].map(values);
    let distance = |a: &[f64], b: &[f64]| norm(a.iter().zip(b).map(|(a, b)| a - b));
    let rounding = ROUNDING * norm(begin.iter().copied()) + MIN_NORMAL * (begin.len() as f64).sqrt();
    let apart = distance(&found, &told) - rounding;
    if apart > 0.0 { apart / distance(&found, &begin) } else { 0.0 }
}

/// Returns the output of a future of the plain loops, which is always ready.
fn poll_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("plain loops wait for nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::reference::{Classifier, ReferenceBackend};
    use crate::testing::samples;
    use crate::trainer::{Backend, EvaluationSet};
    use crate::workload::SUITES;

    const SEED: u32 = 7;
    const SEEDS: [u32; 2] = [8, 9];
    const SECOND: u64 = 2;
    const TOLERANCE: f64 = 0.003;

    fn examiner(seed: u32) -> Examiner {
        let standard = Standard::of(&SUITES[0], "keras-mnist-mlp").unwrap();
        let mut segments = Segments::default();
        segments.begin(0, SEEDS[0]);
        segments.begin(SECOND, SEEDS[1]);
        // Samples with one pattern per class, and some noise.
        let byte = |at: u32| u8::try_from(((at % 784) * (at / 784 % 10 + 1) + at / 784 * 7) % 256).unwrap();
        Examiner::new(&standard, samples("mnist", [60_000, 10_000], byte), seed).with_segments(segments)
    }

    /// Losses and states of a run after each of three steps, and its final accuracy.
    struct TrainedRun {
        losses: Vec<f64>,
        states: Vec<StateBytes>,
        test: TestReport,
    }

    fn run(job: &TrainingJob, seeds: [u32; 2]) -> TrainedRun {
        let job = TrainingJob { segments: Segments::default(), ..job.clone() };
        pollster::block_on(async {
            let mut trainer = ReferenceBackend::<f64>::new().build(&job).await.unwrap();
            let (mut losses, mut states) = (Vec::new(), vec![trainer.state().await.unwrap()]);
            for step in 0..3 {
                match step {
                    0 => trainer.begin_segment(seeds[0]),
                    SECOND => trainer.begin_segment(seeds[1]),
                    _ => {}
                }
                losses.extend(trainer.train_steps(1).await.unwrap().losses);
                states.push(trainer.state().await.unwrap());
            }
            let test = trainer.evaluate(EvaluationSet::Test, 200).await.unwrap();
            TrainedRun { losses, states, test }
        })
    }

    fn difference(examiner: &Examiner, begin: &StateBytes, told: &StateBytes) -> f64 {
        let found = examiner.train_part(begin, [1, 3]).unwrap().unwrap().state;
        examiner.difference(begin, &found, told).unwrap().unwrap()
    }

    #[test]
    fn an_honest_run_is_found_again() {
        let examiner = examiner(SEED);
        let TrainedRun { losses, states, test } = run(&examiner.job, SEEDS);
        let part = examiner.train_part(&states[1], [1, 3]).unwrap().unwrap();
        let first = examiner.first_losses(3).unwrap();
        assert_eq!((first.len(), part.losses.len()), (3, 2));
        for (found, told) in first.iter().chain(&part.losses).zip(losses.iter().chain(&losses[1..])) {
            assert!((found - told).abs() < 1e-4 * told, "{found} and {told}");
        }
        assert_eq!(examiner.initial_state_sha256().unwrap(), states[0].sha256());
        let difference = difference(&examiner, &states[1], &states[3]);
        assert!(difference < TOLERANCE, "{difference}");
        let samples: Vec<u32> = (0..200).collect();
        let tested = examiner.test(&states[3], 3, &samples).unwrap().unwrap();
        assert_eq!((tested.report.correct, tested.losses.len()), (test.correct, 200));
        assert!((tested.report.loss - test.loss).abs() < 1e-4 * test.loss, "{} and {}", tested.report.loss, test.loss);
    }

    #[test]
    fn work_that_was_not_done_shows_in_the_difference() {
        let examiner = examiner(SEED);
        let job = &examiner.job;
        let honest = run(job, SEEDS).states;
        let of = |job: &TrainingJob, seeds| {
            let states = run(job, seeds).states;
            let found = examiner.train_part(&states[0], [0, 3]).unwrap().unwrap().state;
            examiner.difference(&states[0], &found, &states[3]).unwrap().unwrap()
        };
        let mut half = job.clone();
        half.batches.batch_size /= 2;
        let mut fast = job.clone();
        fast.optimizer.learning_rate *= 1.05;
        let mut frozen = honest[3].clone();
        frozen.weights[..4 * 784 * 512].copy_from_slice(&honest[1].weights[..4 * 784 * 512]);
        let differences = [
            ("half a batch", of(&half, SEEDS)),
            ("another learning rate", of(&fast, SEEDS)),
            ("another beacon", of(job, [SEEDS[0], SEEDS[1] + 1])),
            ("a frozen layer", difference(&examiner, &honest[1], &frozen)),
            ("a step that was skipped", difference(&examiner, &honest[1], &honest[2])),
        ];
        for (what, difference) in differences {
            assert!(difference > 3.0 * TOLERANCE, "{what}: {difference}");
        }
    }

    #[test]
    fn another_seed_shows_at_the_beginning() {
        let (of_this, of_another) = (examiner(SEED), examiner(SEED + 1));
        let TrainedRun { losses, states, .. } = run(&of_another.job, SEEDS);
        let found = of_this.first_losses(3).unwrap();
        assert!(found.iter().zip(&losses).any(|(found, told)| (found - told).abs() > 0.01 * told), "{found:?}");
        assert_ne!(of_this.initial_state_sha256().unwrap(), states[0].sha256());
    }

    #[test]
    fn as_many_answers_are_right_as_a_test_counts() {
        let examiner = examiner(SEED);
        let state = run(&examiner.job, SEEDS).states.pop().unwrap();
        let weights = examiner.job.split_state(&state).unwrap().unwrap().swap_remove(0);
        let mut classifier = Classifier::<f32>::new(&examiner.job, weights).unwrap();
        let test = &examiner.job.data.test;
        let answers = classifier.answers(test, 200);
        let labels = &test.labels;
        let right = answers.iter().zip(labels).filter(|(answer, label)| answer == label).count();
        let samples: Vec<u32> = (0..200).collect();
        assert_eq!(right as u64, examiner.test(&state, 3, &samples).unwrap().unwrap().report.correct);
        assert!((1..200).contains(&right), "{right} of 200");

        let probabilities = classifier.probabilities(test.images[..784].to_vec());
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{probabilities:?}");
        let highest = (0..10).max_by(|&a: &usize, &b| probabilities[a].total_cmp(&probabilities[b]));
        assert_eq!(highest, Some(answers[0].into()), "the same as among others");
    }

    #[test]
    fn states_of_another_network_and_infinite_numbers_are_not_read() {
        let examiner = examiner(SEED);
        let state = examiner.job.initial_state().unwrap();
        assert!(examiner.train_part(&state, [0, 0]).unwrap().is_some());
        let short = StateBytes { memory: state.memory[4..].to_vec(), ..state.clone() };
        let mut infinite = state.clone();
        infinite.weights[..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
        for other in [short, infinite] {
            assert!(examiner.train_part(&other, [0, 0]).unwrap().is_none());
            assert!(examiner.difference(&state, &state, &other).unwrap().is_none());
        }
        let short = StateBytes { weights: state.weights[4..].to_vec(), ..state };
        assert!(examiner.test(&short, 0, &[0]).unwrap().is_none());
    }

    #[test]
    fn changes_as_small_as_rounding_are_no_difference() {
        let tensor = |first: f32| [vec![first, 0.5]];
        let (begin, apart) = (tensor(1.0), tensor(1.0 + f32::EPSILON));
        assert_eq!(relative_difference(&begin, &begin, &apart), 0.0);
        assert!(relative_difference(&begin, &begin, &tensor(1.001)) > 1.0);
        assert!((relative_difference(&begin, &tensor(1.1), &tensor(1.101)) - 0.01).abs() < 1e-4);
    }

    #[test]
    fn noise_of_a_bias_is_small_in_its_layer() {
        let layer = |kernel: f32, bias: f32| [vec![kernel; 100], vec![bias]];
        let (begin, found, told) = (layer(1.0, 0.0), layer(1.1, 0.001), layer(1.1, -0.001));
        assert!((relative_difference(&begin, &found, &told) - 0.002).abs() < 1e-5);
        assert!((relative_difference(&begin[1..], &found[1..], &told[1..]) - 2.0).abs() < 1e-5);
    }
}
