//! What can be found out about weights, and about the first steps, without training as long as whoever sent them.

use std::sync::Arc;

use results::weights_bytes;

use super::trainer::ReferenceTrainer;
use crate::data::{DataSet, Split};
use crate::error::EngineError;
use crate::model::{Initial, TensorKind};
use crate::trainer::{TestReport, TrainingJob};
use crate::workload::Standard;

/// Computes parts of a run of a suite again, with the plain loops in single precision, on the processor.
pub struct Examiner {
    job: TrainingJob,
}

impl Examiner {
    /// For a run of `standard` from `seed`. The samples are those of its data set.
    pub fn new(standard: &Standard, data: Arc<DataSet>, seed: u32) -> Self {
        Self { job: standard.job(data, seed) }
    }

    /// The losses of the first steps, each before its update. The last one needs none.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn first_losses(&self, steps: u32) -> Result<Vec<f64>, EngineError> {
        let mut trainer = ReferenceTrainer::<f32>::new(&self.job)?;
        let mut losses: Vec<f64> = (1..steps).map(|_| trainer.train_step().0).collect();
        if steps > 0 {
            losses.push(trainer.next_loss());
        }
        Ok(losses)
    }

    /// Operations of a training step.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn flops_of_step(&self) -> Result<u64, EngineError> {
        Ok(self.job.model.operations()?.training_flops() * u64::from(self.job.batches.batch_size))
    }

    /// Operations of the loss of a batch: a step without its gradients.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn flops_of_loss(&self) -> Result<u64, EngineError> {
        Ok(self.job.model.operations()?.forward_flops * u64::from(self.job.batches.batch_size))
    }

    /// Operations of classifying one sample.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn flops_of_test(&self) -> Result<u64, EngineError> {
        Ok(self.job.model.operations()?.forward_flops * self.job.input.test_views.len() as u64)
    }

    /// Whether the test set is classified with the weights that are trained, and not with averages of them.
    pub fn tests_trained_weights(&self) -> bool {
        !self.job.average.is_some_and(|average| average.is_tested())
    }

    /// The weights of the network before its first step.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn initial_weights(&self) -> Result<ExaminedWeights, EngineError> {
        let bytes = weights_bytes(&self.job.initial_weights()?);
        Ok(self.read(&bytes)?.expect("start values are finite and as many as there are weights"))
    }

    /// Reads what [`weights_bytes`] made; `None` where it is of another length or holds what is no finite number.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn read(&self, bytes: &[u8]) -> Result<Option<ExaminedWeights>, EngineError> {
        let lengths: Vec<usize> = self.job.model.tensors()?.iter().map(|tensor| tensor.elements()).collect();
        if bytes.len() != 4 * lengths.iter().sum::<usize>() {
            return Ok(None);
        }
        let mut values = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let tensors: Vec<Vec<f32>> = lengths.into_iter().map(|length| values.by_ref().take(length).collect()).collect();
        let finite = tensors.iter().flatten().all(|value| value.is_finite());
        Ok(finite.then_some(ExaminedWeights { tensors }))
    }

    /// Loss of the batch of step `step` (from 0) with the weights before it.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn next_loss(&self, weights: &ExaminedWeights, step: u64) -> Result<f64, EngineError> {
        Ok(ReferenceTrainer::<f32>::with_weights(&self.job, &weights.tensors, step)?.next_loss())
    }

    /// Classifies these samples of the test set.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn test(&self, weights: &ExaminedWeights, samples: &[u32]) -> Result<TestReport, EngineError> {
        self.test_on(weights, &self.job.data.test, samples)
    }

    /// Mean loss of the first samples of the training file, classified as a test set is.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn training_loss(&self, weights: &ExaminedWeights, samples: u32) -> Result<f64, EngineError> {
        let first = self.job.batches.first;
        let samples: Vec<u32> = (first..first + samples.min(self.job.batches.samples)).collect();
        Ok(self.test_on(weights, &self.job.data.train, &samples)?.loss)
    }

    fn test_on(&self, weights: &ExaminedWeights, split: &Split, samples: &[u32]) -> Result<TestReport, EngineError> {
        Ok(ReferenceTrainer::<f32>::with_weights(&self.job, &weights.tensors, 0)?.test(split, samples))
    }

    /// How much is left in weights of what this seed began with: the cosine between them and the start values, over all
    /// tensors that begin at random. It falls slowly while a network learns, and of weights that began elsewhere it is
    /// close to 0.
    ///
    /// # Errors
    /// A model that cannot be built.
    pub fn lineage(&self, weights: &ExaminedWeights) -> Result<f64, EngineError> {
        let initial = self.job.initial_weights()?;
        let (mut product, mut squares, mut initial_squares) = (0.0, 0.0, 0.0);
        for ((spec, now), before) in self.job.model.tensors()?.iter().zip(&weights.tensors).zip(&initial) {
            let random = matches!(
                spec.initial,
                Initial::Uniform { .. }
                    | Initial::Normal { .. }
                    | Initial::TruncatedNormal { .. }
                    | Initial::Orthogonal
            );
            if spec.kind != TensorKind::Trained || !random {
                continue;
            }
            for (&now, &before) in now.iter().zip(before) {
                let (now, before) = (f64::from(now), f64::from(before));
                product += now * before;
                squares += now * now;
                initial_squares += before * before;
            }
        }
        let length = (squares * initial_squares).sqrt();
        Ok(if length > 0.0 { product / length } else { 0.0 })
    }
}

/// Weights of the network that an [`Examiner`] knows, all of them finite.
pub struct ExaminedWeights {
    tensors: Vec<Vec<f32>>,
}

#[cfg(test)]
mod tests {
    use results::weights_bytes;

    use super::*;
    use crate::backends::reference::ReferenceBackend;
    use crate::trainer::{Backend, EvaluationSet};
    use crate::workload::SUITES;
    use crate::{DataSet, data_set};

    const SEED: u32 = 7;

    /// Samples that need no file: each class has a pattern of its own, and some noise.
    fn data() -> Arc<DataSet> {
        let definition = data_set("mnist").unwrap();
        let byte = |value: u32| u8::try_from(value % 256).unwrap();
        let split = |samples: u32| Split {
            images: (0..samples * 784).map(|i| byte((i % 784) * (i / 784 % 10 + 1) + i / 784 * 7)).collect(),
            labels: (0..samples).map(|sample| byte(sample % 10).into()).collect(),
        };
        Arc::new(DataSet::new(definition, split(60_000), split(10_000), true))
    }

    fn examiner(seed: u32) -> Examiner {
        let standard = Standard::of(&SUITES[0], "keras-mnist-mlp", seed).unwrap();
        Examiner::new(&standard, data(), seed)
    }

    /// What an honest run has after three steps: weights, the losses of its steps, and the loss of the next one.
    fn trained(examiner: &Examiner) -> (Vec<u8>, Vec<f64>, f64, TestReport) {
        pollster::block_on(async {
            let mut trainer = ReferenceBackend::<f64>::new().build(&examiner.job).await.unwrap();
            let losses = trainer.train_steps(3).await.unwrap().losses;
            let weights = weights_bytes(&trainer.weights().await.unwrap());
            let test = trainer.evaluate(EvaluationSet::Test, 200).await.unwrap();
            let next = trainer.train_steps(1).await.unwrap().losses[0];
            (weights, losses, next, test)
        })
    }

    #[test]
    fn what_an_honest_run_says_is_found_again() {
        let examiner = examiner(SEED);
        let (bytes, losses, next, test) = trained(&examiner);
        for (found, told) in examiner.first_losses(3).unwrap().iter().zip(&losses) {
            assert!((found - told).abs() < 1e-4 * told, "{found} and {told}");
        }
        let weights = examiner.read(&bytes).unwrap().unwrap();
        let found = examiner.next_loss(&weights, 3).unwrap();
        assert!((found - next).abs() < 1e-4 * next, "{found} and {next}");
        let samples: Vec<u32> = (0..200).collect();
        assert_eq!(examiner.test(&weights, &samples).unwrap().correct, test.correct);
        assert!(examiner.lineage(&weights).unwrap() > 0.9);
        assert!(examiner.training_loss(&weights, 100).unwrap() > 0.0);
    }

    #[test]
    fn as_many_answers_are_right_as_a_test_counts() {
        let examiner = examiner(SEED);
        let (bytes, ..) = trained(&examiner);
        let weights = examiner.read(&bytes).unwrap().unwrap();
        let answers = crate::backends::reference::answers(&examiner.job, weights.tensors.clone(), 200).unwrap();
        let labels = &examiner.job.data.test.labels;
        let right = answers.iter().zip(labels).filter(|(answer, label)| answer == label).count();
        let samples: Vec<u32> = (0..200).collect();
        assert_eq!(right as u64, examiner.test(&weights, &samples).unwrap().correct);
        assert!((1..200).contains(&right), "{right} of 200");
    }

    #[test]
    fn another_seed_shows_in_the_first_losses_and_in_what_is_left_of_the_start() {
        let (of_this, of_another) = (examiner(SEED), examiner(SEED + 1));
        let (bytes, losses, next, _) = trained(&of_another);
        let found = of_this.first_losses(3).unwrap();
        assert!(found.iter().zip(&losses).any(|(found, told)| (found - told).abs() > 0.01 * told), "{found:?}");
        let weights = of_this.read(&bytes).unwrap().unwrap();
        assert!(of_this.lineage(&weights).unwrap().abs() < 0.05);
        let found = of_this.next_loss(&weights, 3).unwrap();
        assert!((found - next).abs() > 1e-3 * next, "{found} and {next}: another batch, and others that are dropped");
    }

    #[test]
    fn weights_of_another_network_and_numbers_that_are_none_are_not_read() {
        let examiner = examiner(SEED);
        let mut bytes = weights_bytes(&examiner.job.initial_weights().unwrap());
        assert!((examiner.lineage(&examiner.read(&bytes).unwrap().unwrap()).unwrap() - 1.0).abs() < 1e-6);
        assert!(examiner.read(&bytes[4..]).unwrap().is_none());
        bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(examiner.read(&bytes).unwrap().is_none());
    }
}
