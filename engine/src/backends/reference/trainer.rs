use async_trait::async_trait;
use results::{StateBytes, weights_bytes};
use shaders::Real;
use shaders::params::{BLOCK_ELEMENTS, Blend, Softmax, Step};
use shaders::reference::{self as twin, Block, Update};

use super::network::{ALIGNMENT, Network};
use crate::data::Split;
use crate::error::Result;
use crate::model::{TensorKind, TensorSpec};
use crate::preprocessing::Preprocessing;
use crate::trainer::{EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob};
use crate::training::{Loss, Order, Rule, Segments, TestView};

/// Maximum number of test samples per batch.
const TEST_BATCH: u32 = 100;

/// Trained network with its preprocessing. It holds no samples, and classifies without dropout or augmentation.
pub struct Classifier<T> {
    classes: u32,
    /// Answers for a sample.
    positions: u32,
    preprocessing: Preprocessing,
    row_stride: u32,
    network: Network<T>,
    views: &'static [TestView],
    logits_scale: f32,
}

impl<T: Real> Classifier<T> {
    pub(crate) fn new(job: &TrainingJob, weights: Vec<Vec<f32>>) -> Result<Self> {
        let stages = job.model.stages(job.dropout)?;
        let data = stages.values[0];
        Ok(Self {
            preprocessing: Preprocessing::new(job, &data, ALIGNMENT)?,
            row_stride: data.stored_features(ALIGNMENT),
            classes: job.model.classes()?,
            positions: job.model.positions()?,
            network: Network::new(stages, precise(weights)),
            views: job.input.test_views,
            logits_scale: job.loss.logits_scale,
        })
    }

    /// Returns the probability of each class for an image: bytes of shape (rows, columns, channels), as in files.
    pub fn probabilities(&mut self, image: Vec<u8>) -> Vec<f64> {
        let split = Split { images: image, labels: vec![0] };
        let (logits, _) = self.logits(&split, &[0], &Step { count: 1, ..Step::default() });
        let logits: Vec<f64> = logits.iter().map(|logit| logit.to_f64() * f64::from(self.logits_scale)).collect();
        let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = logits.iter().map(|logit| (logit - highest).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.iter().map(|power| power / sum).collect()
    }

    /// Returns the most probable class of each of the first images.
    pub(crate) fn answers(&mut self, split: &Split, samples: u32) -> Vec<u16> {
        let order: Vec<u32> = (0..samples).collect();
        let (logits, _) = self.logits(split, &order, &Step { count: samples, ..Step::default() });
        let highest = |row: &[T]| {
            let best = (0..row.len()).max_by(|&a, &b| row[a].to_f64().total_cmp(&row[b].to_f64()));
            u16::try_from(best.unwrap_or_default()).unwrap_or(u16::MAX)
        };
        logits.chunks_exact(self.classes as usize).map(highest).collect()
    }

    /// Returns logits, summed over all views of the samples, and labels.
    fn logits(&mut self, split: &Split, order: &[u32], step: &Step) -> (Vec<T>, Vec<u32>) {
        let elements = step.count * self.positions * self.classes;
        let (mut sum, mut labels) = (vec![T::ZERO; elements as usize], Vec::new());
        for (place, view) in self.views.iter().enumerate() {
            let kind = self.preprocessing.gather.seen(view);
            let (input, of_view) = self.preprocessing.on_host(kind, split, order, step, self.row_stride);
            labels = of_view;
            let logits = self.network.forward(step, input, step.count);
            let blend = Blend { elements, weight: view.weight, first: u32::from(place == 0), reserved: 0 };
            twin::blend(&blend, logits, &mut sum);
        }
        (sum, labels)
    }
}

pub(super) struct ReferenceTrainer<T> {
    job: TrainingJob,
    classifier: Classifier<T>,
    specs: Vec<TensorSpec>,
    /// Velocities, means or mean squares; two lists for rules that need two.
    states: [Vec<Vec<T>>; 2],
    shadow: Vec<Vec<T>>,
    /// Logits of the last training step; a test overwrites the network's.
    logits: Vec<T>,
    order: Order,
    step: u64,
}

impl<T: Real> ReferenceTrainer<T> {
    pub(super) fn new(job: &TrainingJob, weights: Vec<Vec<f32>>) -> Result<Self> {
        let mut classifier = Classifier::new(job, weights)?;
        classifier.network.allocate_gradients();
        let Network { tensors, gradients, .. } = &classifier.network;
        Ok(Self {
            specs: job.model.tensors()?,
            states: [gradients.clone(), gradients.clone()],
            shadow: if job.average.is_some() { tensors.clone() } else { Vec::new() },
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
        self.classifier.network.backward(&step, dy);
        self.update(&step);
        self.step += 1;
        (loss, correct, step.count)
    }

    /// Classifies the samples at these places. Returns the mean loss of each sample as well.
    pub(super) fn test(&mut self, split: &Split, order: &[u32]) -> (TestReport, Vec<f64>) {
        let samples = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let Classifier { classes, positions, .. } = self.classifier;
        let answers = u64::from(samples) * u64::from(positions);
        let mut report = TestReport { answers, ..TestReport::default() };
        let mut losses = Vec::with_capacity(order.len());
        let params = self.softmax(1);
        for step in self.job.test_steps(self.step, samples, TEST_BATCH) {
            let (logits, labels) = self.classifier.logits(split, order, &step);
            let logits = logits.chunks_exact((positions * classes) as usize).take(step.count as usize);
            for (logits, labels) in logits.zip(labels.chunks_exact(positions as usize)) {
                let mut unused = vec![T::ZERO; logits.len()];
                let one = Step { count: 1, ..step };
                let (loss, result) = twin::softmax_cross_entropy(&params, &one, logits, labels, &mut unused);
                losses.push(loss.to_f64());
                report.correct += u64::from(result.correct);
            }
        }
        report.loss = losses.iter().sum::<f64>() / f64::from(samples.max(1));
        (report, losses)
    }

    /// Updates the tensors. Scalars are computed in double precision.
    fn update(&mut self, step: &Step) {
        let (real, job, number) = (T::from_f64, &self.job, self.step);
        let Network { tensors, gradients, .. } = &mut self.classifier.network;
        let scheduled = job.optimizer.scheduled_rate(number, job.planned_steps);
        let constants = job.optimizer.rule.constants();
        let factor = job.optimizer.largest_gradient.map_or(T::ONE, |limit| {
            let trained = self.specs.iter().zip(&*gradients).filter(|(spec, _)| spec.kind == TensorKind::Trained);
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
            ..Update::default()
        };
        let optimizer = match job.optimizer.rule {
            Rule::Sgd { .. } | Rule::Nesterov { .. } => twin::sgd,
            Rule::RmsProp { .. } => twin::rmsprop,
            Rule::Adadelta { .. } => twin::adadelta,
            Rule::Adam { decoupled: false, .. } => twin::adam,
            Rule::Adam { decoupled: true, .. } => twin::adamw,
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
            optimizer(&Update { gradients: gradient, blocks: &blocks, ..update }, weights, [first, second]);
        }
        for (weights, shadow) in tensors.iter_mut().zip(&mut self.shadow) {
            twin::average(step.average, real(f64::from(step.average_keep)), weights, shadow);
        }
    }

    /// Exchanges the tensors and their averages if tests use the averages.
    fn swap_average(&mut self) {
        if self.job.average.is_some_and(|average| average.is_tested()) {
            std::mem::swap(&mut self.classifier.network.tensors, &mut self.shadow);
        }
    }

    fn softmax(&self, rows: u32) -> Softmax {
        let Loss { label_smoothing, summed, logits_scale } = self.job.loss;
        let Classifier { classes, positions, .. } = self.classifier;
        let (stride, summed, gradient_scale) = (classes, u32::from(summed), 1.0);
        Softmax { rows, classes, stride, summed, label_smoothing, logits_scale, gradient_scale, positions }
    }
}

#[async_trait(?Send)]
impl<T: Real> Trainer for ReferenceTrainer<T> {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let mut report = StepReport::default();
        for _ in 0..steps {
            let (loss, correct, samples) = self.train_step();
            report.add_step(loss, correct, samples);
        }
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        let job = self.job.clone();
        let (order, split) = job.evaluated(set);
        self.swap_average();
        let (report, _) = self.test(split, &order[..samples as usize]);
        self.swap_average();
        Ok(report)
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        Ok(self.classifier.network.tensors.iter().map(|t| single(t)).collect())
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        Ok(self.classifier.network.gradients.iter().map(|t| single(t)).collect())
    }

    async fn logits(&mut self, answers: u32) -> Result<Vec<Vec<f64>>> {
        let answers = self.logits.chunks_exact(self.classifier.classes as usize).take(answers as usize);
        Ok(answers.map(|row| row.iter().map(|logit| logit.to_f64()).collect()).collect())
    }

    fn begin_segment(&mut self, seed: u32) {
        self.job.segments.begin(self.step, seed);
    }

    async fn state(&mut self) -> Result<StateBytes> {
        let memories = self.states.iter().take(self.job.optimizer.rule.states()).flatten().chain(&self.shadow);
        let memories: Vec<Vec<f32>> = memories.map(|t| single(t)).collect();
        Ok(StateBytes { weights: weights_bytes(&self.weights().await?), memory: weights_bytes(&memories) })
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<()> {
        let mut lists = self.job.tensors_of_state(state)?.into_iter().map(precise);
        self.classifier.network.tensors = lists.next().expect("a state has weights");
        let places = self.states.iter_mut().take(self.job.optimizer.rule.states()).chain([&mut self.shadow]);
        places.zip(lists).for_each(|(place, list)| *place = list);
        self.job.segments = segments.clone();
        (self.step, self.order) = (step, Order::default());
        Ok(())
    }

    fn facts(&self) -> TrainerFacts {
        let Network { tensors, gradients, .. } = &self.classifier.network;
        let lists = tensors.iter().chain(gradients).chain(self.states.iter().flatten()).chain(&self.shadow);
        let device_memory_bytes = lists.map(|list| size_of_val(list.as_slice()) as u64).sum();
        TrainerFacts { device_memory_bytes, ..TrainerFacts::default() }
    }
}

fn precise<T: Real>(tensors: Vec<Vec<f32>>) -> Vec<Vec<T>> {
    tensors.into_iter().map(|values| values.into_iter().map(|value| T::from_f64(f64::from(value))).collect()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "weights are shown in float32")]
fn single<T: Real>(values: &[T]) -> Vec<f32> {
    values.iter().map(|value| value.to_f64() as f32).collect()
}
