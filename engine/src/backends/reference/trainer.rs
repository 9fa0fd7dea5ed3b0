use async_trait::async_trait;
use shaders::Real;
use shaders::params::{BLOCK_ELEMENTS, Gather, Softmax, Step};
use shaders::reference as twin;

use super::network::Network;
use crate::data::Split;
use crate::error::EngineError;
use crate::model::TensorSpec;
use crate::trainer::{StepReport, TestReport, Trainer, TrainingJob};
use crate::training::Optimizer;

/// Test samples that are classified at once.
const TEST_BATCH: u32 = 100;

pub(super) struct ReferenceTrainer<T> {
    job: TrainingJob,
    classes: u32,
    specs: Vec<TensorSpec>,
    network: Network<T>,
    tensors: Vec<Vec<T>>,
    gradients: Vec<Vec<T>>,
    /// Velocity or mean square of each tensor.
    state: Vec<Vec<T>>,
    /// Logits of the last training step; a test overwrites those of the network.
    logits: Vec<T>,
    order: Vec<u32>,
    /// Epoch that `order` belongs to.
    epoch: Option<u32>,
    step: u64,
}

impl<T: Real> ReferenceTrainer<T> {
    pub(super) fn new(job: &TrainingJob) -> Result<Self, EngineError> {
        let specs = job.model.tensors()?;
        let initial = |spec: &TensorSpec| spec.initial(job.seed).iter().map(|&w| T::from_f64(f64::from(w))).collect();
        let tensors: Vec<Vec<T>> = specs.iter().map(initial).collect();
        let zeros: Vec<Vec<T>> = tensors.iter().map(|t| vec![T::ZERO; t.len()]).collect();
        Ok(Self {
            classes: job.model.classes()?,
            network: Network::new(job.model.stages(job.dropout)?),
            gradients: zeros.clone(),
            state: zeros,
            tensors,
            specs,
            logits: Vec::new(),
            order: Vec::new(),
            epoch: None,
            step: 0,
            job: job.clone(),
        })
    }

    /// Loss and right answers of one training step, which also updates the weights.
    fn train_step(&mut self) -> (f64, u64, u32) {
        let plan = self.job.batches.step(self.step);
        if self.epoch != Some(plan.epoch) {
            self.order = self.job.batches.order(plan.epoch);
            self.epoch = Some(plan.epoch);
        }
        let step = Step {
            // The generator's step lane has 32 bits and wraps after four billion steps.
            step: u32::try_from(self.step & u64::from(u32::MAX)).unwrap_or_default(),
            seed: self.job.seed,
            offset: plan.offset,
            count: plan.count,
            training: 1,
            ..Step::default()
        };
        let (input, labels) = gather(&self.job, &self.job.data.train, &self.order, &step);
        self.logits = self.network.forward(&step, &self.tensors, input, plan.count).to_vec();
        let mut dy = vec![T::ZERO; self.logits.len()];
        let params = self.softmax(plan.count);
        let (loss, result) = twin::softmax_cross_entropy(&params, &step, &self.logits, &labels, &mut dy);
        self.network.backward(&step, &self.tensors, dy, &mut self.gradients);
        self.update();
        self.step += 1;
        (loss.to_f64(), u64::from(result.correct), plan.count)
    }

    fn softmax(&self, rows: u32) -> Softmax {
        Softmax { rows, classes: self.classes, stride: self.classes, reserved: 0 }
    }

    fn update(&mut self) {
        let optimizer = &self.job.optimizer;
        let number = T::from_f64;
        let tensors = self.specs.iter().zip(&self.gradients).zip(self.tensors.iter_mut().zip(&mut self.state));
        for ((spec, gradient), (weights, state)) in tensors {
            let block = twin::Block {
                learning_rate: number(optimizer.rate_multiplier(spec.is_bias())),
                weight_decay: number(optimizer.weight_decay()),
                frozen_from: u32::MAX,
            };
            let blocks = vec![block; gradient.len().div_ceil(BLOCK_ELEMENTS as usize)];
            let learning_rate = number(optimizer.rate(self.step));
            match *optimizer {
                Optimizer::RmsProp { rho, epsilon, .. } => {
                    let update = twin::Update {
                        learning_rate,
                        decay: number(rho),
                        epsilon: number(epsilon),
                        ..twin::Update::default()
                    };
                    twin::rmsprop(&update, &blocks, gradient, weights, state);
                }
                Optimizer::Sgd { momentum, .. } => {
                    let update = twin::Update { learning_rate, decay: number(momentum), ..twin::Update::default() };
                    twin::sgd(&update, &blocks, gradient, weights, state);
                }
            }
        }
    }
}

/// The samples of a step as numbers, and their labels.
fn gather<T: Real>(job: &TrainingJob, split: &Split, order: &[u32], step: &Step) -> (Vec<T>, Vec<u32>) {
    let features = job.model.input.features();
    let params = Gather {
        rows: step.count,
        features,
        stride: features,
        samples: split.samples(),
        divisor: job.input_scale.divisor,
        reserved: [0; 3],
    };
    let mut batch = vec![T::ZERO; (step.count * features) as usize];
    let mut labels = vec![0; step.count as usize];
    twin::gather(&params, step, &split.images, &split.labels, order, &mut batch, &mut labels);
    (batch, labels)
}

#[async_trait(?Send)]
impl<T: Real> Trainer for ReferenceTrainer<T> {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let mut report = StepReport::default();
        for _ in 0..steps {
            let (loss, correct, samples) = self.train_step();
            report.losses.push(loss);
            report.correct += correct;
            report.samples += u64::from(samples);
        }
        Ok(report)
    }

    async fn evaluate(&mut self, samples: u32) -> Result<TestReport, EngineError> {
        let test = &self.job.data.test;
        let order: Vec<u32> = (0..test.samples()).collect();
        let mut report = TestReport { samples: u64::from(samples), ..TestReport::default() };
        let mut offset = 0;
        while offset < samples {
            let count = TEST_BATCH.min(samples - offset);
            let step = Step { offset, count, seed: self.job.seed, ..Step::default() };
            let (input, labels) = gather(&self.job, test, &order, &step);
            let params = self.softmax(count);
            let logits = self.network.forward(&step, &self.tensors, input, count);
            let mut unused = vec![T::ZERO; logits.len()];
            let (loss, result) = twin::softmax_cross_entropy(&params, &step, logits, &labels, &mut unused);
            report.loss += loss.to_f64() * f64::from(count) / f64::from(samples);
            report.correct += u64::from(result.correct);
            offset += count;
        }
        Ok(report)
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        Ok(self.tensors.iter().map(|t| single(t)).collect())
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        Ok(self.gradients.iter().map(|t| single(t)).collect())
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        let rows = self.logits.chunks_exact(self.classes as usize).take(rows as usize);
        Ok(rows.map(|row| row.iter().map(|logit| logit.to_f64()).collect()).collect())
    }

    fn device_memory_bytes(&self) -> u64 {
        let tensors = [&self.tensors, &self.gradients, &self.state].into_iter().flatten();
        tensors.map(|t| size_of_val(t.as_slice()) as u64).sum()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are shown in float32")]
fn single<T: Real>(values: &[T]) -> Vec<f32> {
    values.iter().map(|value| value.to_f64() as f32).collect()
}
