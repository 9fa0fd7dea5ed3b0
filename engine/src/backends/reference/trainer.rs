use async_trait::async_trait;
use results::{StateBytes, weights_bytes};
use shaders::Real;
use shaders::params::{BLOCK_ELEMENTS, Softmax, Step};
use shaders::reference::{self as twin, Block, Update};

use super::classifier::{Classifier, precise};
use super::network::Network;
use crate::data::Split;
use crate::error::EngineError;
use crate::model::{TensorKind, TensorSpec};
use crate::trainer::{EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob};
use crate::training::{Loss, Order, Rule, Segments};

/// Maximum number of test samples per batch.
const TEST_BATCH: u32 = 100;

pub(super) struct ReferenceTrainer<T> {
    job: TrainingJob,
    classifier: Classifier<T>,
    updater: Updater<T>,
    /// Logits of the last training step; a test overwrites the network's.
    logits: Vec<T>,
    order: Order,
    step: u64,
}

impl<T: Real> ReferenceTrainer<T> {
    pub(super) fn new(job: &TrainingJob, weights: Vec<Vec<f32>>) -> Result<Self, EngineError> {
        let mut classifier = Classifier::new(job, weights)?;
        classifier.network.allocate_gradients();
        Ok(Self {
            updater: Updater::new(job, &classifier.network.tensors)?,
            classifier,
            logits: Vec::new(),
            order: Order::default(),
            step: 0,
            job: job.clone(),
        })
    }

    /// Returns the training loss of the next batch without an update.
    pub(super) fn next_loss(&mut self) -> f64 {
        self.training_pass(&self.job.step(self.step, 0)).0
    }

    /// Returns the loss and the number of correct answers of the next step's batch, and the gradient of its logits.
    fn training_pass(&mut self, step: &Step) -> (f64, u64, Vec<T>) {
        self.order.advance(&self.job, self.step);
        let Classifier { preprocessing, row_stride, network, .. } = &mut self.classifier;
        let (train, order) = (&self.job.data.train, &self.order.samples);
        let (input, labels) = preprocessing.on_host(preprocessing.gather, train, order, step, *row_stride);
        self.logits = network.forward(step, input, step.count).to_vec();
        let mut dy = vec![T::ZERO; self.logits.len()];
        let params = self.softmax(step.count);
        let (loss, result) = twin::softmax_cross_entropy(&params, step, &self.logits, &labels, &mut dy);
        (loss.to_f64(), u64::from(result.correct), dy)
    }

    /// Trains one step and returns its loss, correct answers and samples.
    pub(super) fn train_step(&mut self) -> (f64, u64, u32) {
        let step = self.job.step(self.step, 0);
        let (loss, correct, dy) = self.training_pass(&step);
        let network = &mut self.classifier.network;
        network.backward(&step, dy);
        self.updater.update(&self.job, self.step, &network.gradients, &mut network.tensors);
        self.step += 1;
        (loss, correct, step.count)
    }

    /// Classifies the samples with these numbers.
    pub(super) fn test(&mut self, split: &Split, order: &[u32]) -> TestReport {
        let samples = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let mut report = TestReport { samples: u64::from(samples), ..TestReport::default() };
        for step in self.job.test_steps(self.step, samples, TEST_BATCH) {
            let (logits, labels) = self.classifier.logits(split, order, &step);
            let mut unused = vec![T::ZERO; logits.len()];
            let params = self.softmax(step.count);
            let (loss, result) = twin::softmax_cross_entropy(&params, &step, &logits, &labels, &mut unused);
            report.loss += loss.to_f64() * f64::from(step.count) / f64::from(samples);
            report.correct += u64::from(result.correct);
        }
        report
    }

    fn softmax(&self, rows: u32) -> Softmax {
        let Loss { label_smoothing, summed, logits_scale } = self.job.loss;
        let (classes, stride) = (self.classifier.classes, self.classifier.classes);
        Softmax {
            rows,
            classes,
            stride,
            summed: u32::from(summed),
            label_smoothing,
            logits_scale,
            gradient_scale: 1.0,
            reserved: 0,
        }
    }
}

#[async_trait(?Send)]
impl<T: Real> Trainer for ReferenceTrainer<T> {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let mut report = StepReport::default();
        for _ in 0..steps {
            let (loss, correct, samples) = self.train_step();
            report.add_step(loss, correct, samples);
        }
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        let job = self.job.clone();
        let (order, split) = job.evaluated(set);
        self.updater.swap_average(&job, &mut self.classifier.network.tensors);
        let report = self.test(split, &order[..samples as usize]);
        self.updater.swap_average(&job, &mut self.classifier.network.tensors);
        Ok(report)
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        Ok(self.classifier.network.tensors.iter().map(|t| single(t)).collect())
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        Ok(self.classifier.network.gradients.iter().map(|t| single(t)).collect())
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        let rows = self.logits.chunks_exact(self.classifier.classes as usize).take(rows as usize);
        Ok(rows.map(|row| row.iter().map(|logit| logit.to_f64()).collect()).collect())
    }

    fn begin_segment(&mut self, seed: u32) {
        self.job.segments.begin(self.step, seed);
    }

    async fn state(&mut self) -> Result<StateBytes, EngineError> {
        let memories: Vec<Vec<f32>> = self.updater.memories(&self.job).flatten().map(|t| single(t)).collect();
        Ok(StateBytes { weights: weights_bytes(&self.weights().await?), memory: weights_bytes(&memories) })
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<(), EngineError> {
        let mut lists = self.job.tensors_of_state(state)?.into_iter().map(precise);
        self.classifier.network.tensors = lists.next().expect("a state has weights");
        self.updater.remember(&self.job, lists);
        self.job.segments = segments.clone();
        (self.step, self.order) = (step, Order::default());
        Ok(())
    }

    fn facts(&self) -> TrainerFacts {
        let Network { tensors, gradients, .. } = &self.classifier.network;
        let lists =
            tensors.iter().chain(gradients).chain(self.updater.states.iter().flatten()).chain(&self.updater.shadow);
        let device_memory_bytes = lists.map(|list| size_of_val(list.as_slice()) as u64).sum();
        TrainerFacts { device_memory_bytes, ..TrainerFacts::default() }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are shown in float32")]
fn single<T: Real>(values: &[T]) -> Vec<f32> {
    values.iter().map(|value| value.to_f64() as f32).collect()
}

pub(super) struct Updater<T> {
    specs: Vec<TensorSpec>,
    /// Velocities, means or mean squares; two lists for rules that need two.
    states: [Vec<Vec<T>>; 2],
    shadow: Vec<Vec<T>>,
}

impl<T: Real> Updater<T> {
    pub(super) fn new(job: &TrainingJob, tensors: &[Vec<T>]) -> Result<Self, EngineError> {
        let zeros: Vec<Vec<T>> = tensors.iter().map(|t| vec![T::ZERO; t.len()]).collect();
        let shadow = if job.average.is_some() { tensors.to_vec() } else { Vec::new() };
        Ok(Self { specs: job.model.tensors()?, states: [zeros.clone(), zeros], shadow })
    }

    /// Does update `number`. Scalars are computed in double precision.
    pub(super) fn update(&mut self, job: &TrainingJob, number: u64, gradients: &[Vec<T>], tensors: &mut [Vec<T>]) {
        let real = T::from_f64;
        let step = job.step(number, 0);
        let scheduled = job.optimizer.scheduled_rate(number, job.planned_steps);
        let constants = job.optimizer.rule.constants();
        let factor = job.optimizer.largest_gradient.map_or(T::ONE, |limit| {
            let trained = self.specs.iter().zip(gradients).filter(|(spec, _)| spec.kind == TensorKind::Trained);
            twin::gradient_factor(real(limit), trained.map(|(_, gradient)| gradient.as_slice()))
        });
        let update = Update {
            step: step.step,
            learning_rate: real(scheduled * job.optimizer.correction(number)),
            decay_rate: real(scheduled),
            decay: real(constants.decay),
            second_decay: real(constants.second_decay),
            epsilon: real(constants.epsilon),
            nesterov: constants.nesterov,
            rate_outside: constants.nesterov,
            gradient_scale: factor,
        };
        let [first, second] = &mut self.states;
        for (((spec, weights), gradient), (first, second)) in
            self.specs.iter().zip(tensors.iter_mut()).zip(gradients).zip(first.iter_mut().zip(second))
        {
            if spec.kind != TensorKind::Trained {
                continue;
            }
            let block = Block {
                learning_rate: real(spec.multipliers.learning_rate),
                weight_decay: real(job.optimizer.weight_decay * spec.multipliers.weight_decay),
                frozen_from: job.frozen_from(&spec.multipliers),
            };
            let blocks = vec![block; weights.len().div_ceil(BLOCK_ELEMENTS as usize)];
            let optimizer = match job.optimizer.rule {
                Rule::Sgd { .. } | Rule::Nesterov { .. } => twin::sgd,
                Rule::RmsProp { .. } => twin::rmsprop,
                Rule::Adadelta { .. } => twin::adadelta,
                Rule::Adam { decoupled: false, .. } => twin::adam,
                Rule::Adam { decoupled: true, .. } => twin::adamw,
            };
            optimizer(&update, &blocks, gradient, weights, [first, second]);
        }
        for (weights, shadow) in tensors.iter_mut().zip(&mut self.shadow) {
            twin::average(step.average, real(f64::from(step.average_keep)), weights, shadow);
        }
    }

    /// Exchanges the tensors and their averages if tests use the averages.
    pub(super) fn swap_average(&mut self, job: &TrainingJob, tensors: &mut Vec<Vec<T>>) {
        if job.average.is_some_and(|average| average.is_tested()) {
            std::mem::swap(tensors, &mut self.shadow);
        }
    }

    pub(super) fn memories(&self, job: &TrainingJob) -> impl Iterator<Item = &Vec<Vec<T>>> {
        self.states.iter().take(job.optimizer.rule.states()).chain(job.average.map(|_| &self.shadow))
    }

    pub(super) fn remember(&mut self, job: &TrainingJob, memories: impl Iterator<Item = Vec<Vec<T>>>) {
        let places = self.states.iter_mut().take(job.optimizer.rule.states()).chain([&mut self.shadow]);
        places.zip(memories).for_each(|(place, memory)| *place = memory);
    }
}
