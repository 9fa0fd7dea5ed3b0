#[cfg(feature = "burn-remote")]
pub(super) mod share;
pub(super) mod warm_up;

use async_trait::async_trait;
use burn_tensor::{Device, Gradients, Int, Tensor, TensorData, Transaction, activation};
use results::{StateBytes, weights_bytes};
use shaders::params::Step;

use super::FirstUse;
use super::failure::refused;
use super::functions::Functions;
use super::network::{Network, Tape, add_gradients};
use super::updater::TrainingState;
use super::value::{Arrangement, list};
use crate::clock::Clock;
use crate::data::Split;
use crate::error::{EngineError, Result};
use crate::model::TensorKind;
use crate::preprocessing::{GatherKind, Preprocessing};
use crate::trainer::{EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob};
use crate::training::{Order, Segments};
use warm_up::warm_up;

/// Number of steps before their results are read from the device.
pub(super) const STEPS_PER_READ_BACK: usize = 64;

pub(super) struct BurnTrainer {
    pub(super) device: Device,
    job: TrainingJob,
    pub(super) network: Network,
    preprocessing: Preprocessing,
    classes: usize,
    /// Answers for a sample.
    positions: u32,
    trained: Vec<bool>,
    state: TrainingState,
    /// Gradients of the last step, flat, in Burn's layout.
    gradients: Vec<Option<Tensor<1>>>,
    logits: Option<Tensor<2>>,
    order: Order,
    pub(super) step: u64,
    facts: TrainerFacts,
}

/// Results of a batch that are still on the device.
pub(super) struct Pending {
    loss: Tensor<1>,
    correct: Tensor<1>,
    samples: u32,
}

impl BurnTrainer {
    pub(super) async fn new(
        device: Device,
        job: &TrainingJob,
        mut settings: Vec<String>,
        first_use: FirstUse,
        clock: &dyn Clock,
    ) -> Result<Self> {
        let functions = Functions::of_model(&job.model, &device).await.map_err(refused)?;
        let network = Network::new(job, functions)?;
        settings.extend(functions.settings());
        // Do not count memory of earlier trainers.
        device.memory_cleanup();
        let reserved_by_others = reserved(&device);
        let tensors = lists(job.initial_weights()?, &network.arrangements, &device);
        let data = &network.stages.values[0];
        let specs = job.model.tensors()?;
        let mut trainer = Self {
            preprocessing: Preprocessing::new(job, data, 1)?,
            classes: job.model.classes()? as usize,
            positions: job.model.positions()?,
            trained: specs.iter().map(|spec| spec.kind == TensorKind::Trained).collect(),
            gradients: vec![None; specs.len()],
            logits: None,
            order: Order::default(),
            step: 0,
            facts: TrainerFacts::default(),
            state: TrainingState::new(job, tensors, &device)?,
            network,
            device,
            job: job.clone(),
        };
        let mut facts = warm_up(&mut trainer, job, first_use, clock).await?;
        settings.append(&mut facts.variants);
        // Some tensors may be in memory pages reserved by an earlier trainer.
        let device_memory_bytes =
            reserved(&trainer.device).saturating_sub(reserved_by_others).max(trainer.state.bytes());
        trainer.facts = TrainerFacts { variants: settings, device_memory_bytes, ..facts };
        Ok(trainer)
    }

    /// Trains one step. Stores its gradients and logits if `keeps`.
    fn train_step(&mut self, keeps: bool) -> Pending {
        let step = self.job.step(self.step, 0);
        let (input, labels) = self.training_batch(&step);
        let mut pass = self.pass(&step);
        let logits = self.network.forward(&mut pass, input);
        let (mut graph, pending) = self.differentiate(logits.clone(), &labels, step.count, step.count);
        let Tape { leaves, statistics, .. } = pass;
        let mut gradients = vec![None; self.trained.len()];
        add_gradients(leaves, &mut graph, &mut gradients);
        let logits = logits.inner();
        self.end_step(&step, statistics, &gradients);
        if keeps {
            (self.gradients, self.logits) = (gradients, Some(logits));
        }
        pending
    }

    /// Updates the running averages, and the tensors with these gradients.
    fn end_step(&mut self, step: &Step, averages: Vec<(usize, Tensor<1>)>, gradients: &[Option<Tensor<1>>]) {
        for (tensor, average) in averages {
            self.state.tensors[tensor] = average;
        }
        self.state.update(&self.job, step, gradients);
        self.step += 1;
    }

    /// Returns the gradients of the loss of `rows` rows out of a batch of `samples`.
    fn differentiate(&self, logits: Tensor<2>, labels: &[u32], samples: u32, rows: u32) -> (Gradients, Pending) {
        let (sum, correct) = self.judge(logits, labels);
        let mean = sum.clone() / (samples * self.positions) as f32;
        let loss = mean.clone().inner();
        let graph = if self.job.loss.summed { sum } else { mean }.backward();
        (graph, Pending { loss, correct: correct.inner(), samples: rows })
    }

    fn pass<'a>(&'a self, step: &'a Step) -> Tape<'a> {
        let trained: &[bool] = if step.training == 1 { &self.trained } else { &[] };
        let (device, tensors) = (&self.device, self.state.tensors.as_slice());
        Tape { device, step, tensors, trained, leaves: Vec::new(), statistics: Vec::new() }
    }

    /// Returns the summed loss of the answers and the number of correct ones.
    fn judge(&self, logits: Tensor<2>, labels: &[u32]) -> (Tensor<1>, Tensor<1>) {
        let (rows, classes) = (labels.len(), self.classes);
        let loss = self.job.loss;
        let each = loss.label_smoothing / classes as f32;
        let mut targets = vec![each; rows * classes];
        for (row, &label) in targets.chunks_exact_mut(classes).zip(labels) {
            row[label as usize] = 1.0 - loss.label_smoothing + each;
        }
        let targets = list(targets, &self.device).reshape([rows, classes]);
        let answers: Tensor<2, Int> = logits.clone().inner().argmax(1);
        let labels: Vec<i32> = labels.iter().map(|&label| i32::try_from(label).unwrap_or(i32::MAX)).collect();
        let labels = Tensor::<2, Int>::from_data(TensorData::new(labels, [rows, 1]), &self.device);
        let correct = answers.equal(labels).float().sum();
        let scaled = if loss.logits_scale == 1.0 { logits } else { logits * loss.logits_scale };
        ((activation::log_softmax(scaled, 1) * targets).sum().neg(), correct)
    }

    /// Prepares the samples of a step on the host, as Burn's own data loader does.
    fn batch(&self, kind: GatherKind, split: &Split, order: &[u32], step: &Step) -> (Tensor<1>, Vec<u32>) {
        let shape = self.network.stages.values[0].shape;
        let (values, labels) = self.preprocessing.on_host(kind, split, order, step, shape.features());
        let arrangement = self.network.orders[0].arrangement(step.count as usize, shape);
        (list(arrangement.store(values), &self.device), labels)
    }

    pub(super) fn training_batch(&mut self, step: &Step) -> (Tensor<1>, Vec<u32>) {
        self.order.advance(&self.job, self.step);
        self.batch(self.preprocessing.gather, &self.job.data.train, &self.order.samples, step)
    }

    /// Tests a batch over all views of its samples.
    fn test(&self, split: &Split, order: &[u32], step: &Step) -> Pending {
        let (mut sum, mut labels) = (None, Vec::new());
        for view in self.job.input.test_views {
            let (input, labels_of_view) = self.batch(self.preprocessing.gather.seen(view), split, order, step);
            labels = labels_of_view;
            let logits = self.network.forward(&mut self.pass(step), input);
            let weighted = if view.weight == 1.0 { logits } else { logits * view.weight };
            sum = Some(match sum {
                Some(sum) => weighted + sum,
                None => weighted,
            });
        }
        let (loss, correct) = self.judge(sum.expect("a recipe has at least one view"), &labels);
        Pending { loss: loss / (step.count * self.positions) as f32, correct, samples: step.count }
    }

    /// Reads pending losses and correct answers. Also reads a value of every tensor, so that no work remains queued.
    pub(super) async fn finish(&self, pending: &mut Vec<Pending>) -> Result<Vec<(f64, u64, u32)>> {
        let pending = std::mem::take(pending);
        let samples: Vec<u32> = pending.iter().map(|batch| batch.samples).collect();
        let (losses, correct): (Vec<_>, Vec<_>) = pending.into_iter().map(|batch| (batch.loss, batch.correct)).unzip();
        let touched = self.state.tensors.iter().map(|tensor| tensor.clone().narrow(0, 0, 1));
        let all = Tensor::cat(losses.into_iter().chain(correct).chain(touched).collect(), 0);
        let numbers = numbers(all.into_data_async().await.map_err(refused)?)?;
        let (losses, rest) = numbers.split_at(samples.len());
        let both = losses.iter().zip(rest).zip(samples);
        Ok(both.map(|((&loss, &correct), samples)| (f64::from(loss), to_count(correct), samples)).collect())
    }

    /// Reads lists in the layout of the model's tensors.
    async fn read(&self, lists: Vec<Tensor<1>>) -> Result<Vec<Vec<f32>>> {
        let transaction = lists.into_iter().fold(Transaction::default(), Transaction::register);
        let read = transaction.execute_async().await.map_err(refused)?;
        let arranged = read.into_iter().zip(&self.network.arrangements);
        arranged.map(|(data, arrangement)| Ok(arrangement.load(numbers(data)?))).collect()
    }
}

impl AsMut<[Self]> for BurnTrainer {
    fn as_mut(&mut self) -> &mut [Self] {
        std::slice::from_mut(self)
    }
}

#[async_trait(?Send)]
impl Trainer for BurnTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let mut report = StepReport::default();
        let mut pending = Vec::new();
        for left in (0..steps).rev() {
            pending.push(self.train_step(left == 0));
            if left == 0 || pending.len() == STEPS_PER_READ_BACK {
                for (loss, correct, samples) in self.finish(&mut pending).await? {
                    report.add_step(loss, correct, samples);
                }
            }
        }
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        let job = self.job.clone();
        let (order, split) = job.evaluated(set);
        let answers = u64::from(samples) * u64::from(self.positions);
        let mut report = TestReport { answers, ..TestReport::default() };
        self.state.swap_average(&job);
        let mut pending = Vec::new();
        for step in job.test_steps(self.step, samples, job.test_batch()) {
            pending.push(self.test(split, &order, &step));
            if step.offset + step.count == samples || pending.len() == STEPS_PER_READ_BACK {
                for (loss, correct, count) in self.finish(&mut pending).await? {
                    report.loss += loss * f64::from(count) / f64::from(samples);
                    report.correct += correct;
                }
            }
        }
        self.state.swap_average(&job);
        Ok(report)
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.read(self.state.tensors.clone()).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        let tensors = self.gradients.iter().zip(&self.state.tensors);
        let lists = tensors.map(|(gradient, tensor)| gradient.clone().unwrap_or_else(|| tensor.zeros_like()));
        self.read(lists.collect()).await
    }

    async fn logits(&mut self, answers: u32) -> Result<Vec<Vec<f64>>> {
        let Some(logits) = self.logits.clone() else { return Ok(Vec::new()) };
        let numbers = numbers(logits.into_data_async().await.map_err(refused)?)?;
        let answers = numbers.chunks_exact(self.classes).take(answers as usize);
        Ok(answers.map(|row| row.iter().map(|&logit| f64::from(logit)).collect()).collect())
    }

    fn begin_segment(&mut self, seed: u32) {
        self.job.segments.begin(self.step, seed);
    }

    async fn state(&mut self) -> Result<StateBytes> {
        let weights = weights_bytes(&self.weights().await?);
        let mut memory = Vec::new();
        for lists in self.state.memories(&self.job) {
            memory.append(&mut weights_bytes(&self.read(lists).await?));
        }
        Ok(StateBytes { weights, memory })
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<()> {
        let upload = |tensors| lists(tensors, &self.network.arrangements, &self.device);
        self.state.restore(&self.job, self.job.tensors_of_state(state)?.into_iter().map(upload));
        self.job.segments = segments.clone();
        (self.step, self.order) = (step, Order::default());
        Ok(())
    }

    fn facts(&self) -> TrainerFacts {
        self.facts.clone()
    }
}

/// Returns the number of bytes reserved by Burn's allocator, or 0 if it does not report them.
fn reserved(device: &Device) -> u64 {
    device.memory_pool_usage().map_or(0, |usage| usage.bytes_reserved)
}

fn lists(tensors: Vec<Vec<f32>>, arrangements: &[Arrangement], device: &Device) -> Vec<Tensor<1>> {
    let arranged = tensors.into_iter().zip(arrangements);
    arranged.map(|(ours, arrangement)| list(arrangement.store(ours), device)).collect()
}

pub(super) fn numbers(data: TensorData) -> Result<Vec<f32>> {
    let values = data.as_slice().map(<[f32]>::to_vec);
    values.map_err(|error| EngineError::refused(format!("{error:?}")))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count is whole and not negative")]
fn to_count(count: f32) -> u64 {
    count as u64
}
