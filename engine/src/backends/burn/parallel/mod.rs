//! Synchronous data-parallel training with Burn.
//!
//! Each device differentiates the loss of its share of the batch. After the backward pass, the concatenated gradients
//! are read from each device, added on the host in device order, and sent to all devices. Every device then performs
//! the same update, so the weights stay bitwise equal, which is checked before each evaluation. Random numbers are
//! indexed over the whole batch. In batch normalizations, the devices also exchange the statistics of their shares and,
//! in the backward pass, the sums of their gradients. The result equals a single device's, except for the order of
//! additions.
//!
//! Burn's own all-reduce (`burn::tensor::distributed`) uses NCCL and supports only CUDA devices of one process. This
//! one supports all devices, including served devices in separate processes.

#[cfg(all(test, feature = "burn-flex", feature = "wgsl"))]
mod tests;

use std::rc::Rc;

use async_trait::async_trait;
use burn_tensor::Tensor;
use results::{Adapter, Communication};
use shaders::params::Step;

use super::failure::{Guarded, guarded, refused};
use super::trainer::replica::Passage;
use super::trainer::warm_up::{Rehearsing, warm_up};
use super::trainer::{BurnTrainer, Pending, STEPS_PER_READ_BACK, numbers};
use super::updater::TrainingState;
use super::value::list;
use super::{BurnBackend, FirstUse};
use crate::backends::sharing::{Ending, Replicas, UnderWay, moments, of_device, sum};
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::trainer::{
    Backend, BackendFacts, EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob,
};

pub(super) struct ParallelBackend {
    devices: Vec<BurnBackend>,
    names: Vec<String>,
    facts: BackendFacts,
    clock: Rc<dyn Clock>,
}

impl ParallelBackend {
    /// Creates a backend of at least two devices, with names for error messages. Fails if they differ. The message
    /// suggests `instead`, an example of equal devices.
    pub(super) fn new(
        devices: Vec<(BurnBackend, String)>,
        clock: Rc<dyn Clock>,
        instead: &'static str,
    ) -> Result<Self> {
        let (devices, names): (Vec<BurnBackend>, Vec<String>) = devices.into_iter().unzip();
        let facts = |device: &BurnBackend| (device.facts.clone(), device.settings.clone(), device.first_use);
        let first = facts(&devices[0]);
        if let Some(other) = devices.iter().position(|device| facts(device) != first) {
            let one_line = |place: usize| {
                let Adapter { name, api, driver, .. } = devices[place].adapter();
                format!("{} is {name} ({api}, {driver}; {})", names[place], devices[place].settings.join(", "))
            };
            return Err(EngineError::UnlikeDevices { one: one_line(0), other: one_line(other), instead });
        }
        let count = u32::try_from(devices.len()).expect("the device count fits into u32");
        let facts = BackendFacts { devices: count, threads: None, repeats_itself: false, ..first.0 };
        Ok(Self { devices, names, facts, clock })
    }

    async fn trainer(&self, job: &TrainingJob) -> Result<ParallelTrainer> {
        let mut replicas = Vec::new();
        for (place, backend) in self.devices.iter().enumerate() {
            let (device, settings) = (backend.device.clone(), backend.settings.clone());
            // All replicas warm up together.
            let replica = BurnTrainer::new(device, job, settings, FirstUse::Ordinary, self.clock.as_ref());
            replicas.push(replica.await.map_err(of_device(place, self.devices.len(), &self.names[place]))?);
        }
        let facts = replicas[0].facts();
        let replicas = Replicas::new(replicas, self.names.clone(), Rc::clone(&self.clock));
        let mut trainer = ParallelTrainer { replicas, job: job.clone(), step: 0, facts };
        let warmed = warm_up(&mut trainer, job, self.devices[0].first_use, self.clock.as_ref()).await?;
        let variants = [trainer.facts.variants, warmed.variants].concat();
        trainer.facts = TrainerFacts { variants, ..warmed };
        Ok(trainer)
    }
}

#[async_trait(?Send)]
impl Backend for ParallelBackend {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(Guarded::new(guarded(self.trainer(job)).await?)))
    }
}

/// Trainer of a network that is replicated on several devices, each with its share of every batch.
struct ParallelTrainer {
    replicas: Replicas<BurnTrainer, Vec<f32>>,
    job: TrainingJob,
    step: u64,
    facts: TrainerFacts,
}

impl ParallelTrainer {
    /// Runs one training step on all devices. Waits only for exchanges.
    async fn run_step(&mut self, communication: &mut Communication) -> Result<Vec<Pending>> {
        let whole = self.job.step(self.step, 0);
        let shares = self.replicas.divide(whole);
        let mut passages: Vec<Option<Passage>> =
            shares.map(|(replica, share)| (share.count > 0).then(|| replica.begin_share(share))).collect();
        let statistics = self.run_forward(&whole, &mut passages, communication).await?;
        for _ in &statistics {
            let found = self.each(&mut passages, |_, replica, passage| replica.come_back(passage));
            let sums = self.exchange(found, add_up, communication).await?;
            self.each(&mut passages, |place, replica, passage| replica.go_back(passage, sums[place].clone()));
        }
        let found = passages.iter().flatten().next().map(Passage::found).unwrap_or_default();
        let gradients = self.each(&mut passages, |_, _, passage| passage.gradients());
        let gradients = self.exchange(gradients, add_up, communication).await?;
        // Until a server has received everything, Burn's client seems to spin (docs/SCALING.md) on a core that the
        // devices may need.
        self.replicas.wait_for_arrival(communication).await?;
        let mut pending = Vec::new();
        for (place, (passage, gradients)) in passages.into_iter().zip(gradients).enumerate() {
            let statistics = statistics.iter().map(|(layer, of_devices)| (*layer, of_devices[place].clone()));
            pending.push(self.replicas.trainers[place].end_share(passage, &whole, statistics, &found, gradients));
        }
        self.step += 1;
        Ok(pending)
    }

    /// Calls `work` with each device that has samples and its index, and returns the results with the indices.
    fn each<T>(
        &self,
        passages: &mut [Option<Passage>],
        mut work: impl FnMut(usize, &BurnTrainer, &mut Passage) -> T,
    ) -> Vec<(usize, T)> {
        let parts = passages.iter_mut().zip(&self.replicas.trainers).enumerate();
        parts.filter_map(|(place, (passage, replica))| Some((place, work(place, replica, passage.as_mut()?)))).collect()
    }

    /// Runs the forward pass, and the backward pass down to the last batch normalization.
    ///
    /// Returns the statistics of each batch normalization on each device.
    async fn run_forward(
        &mut self,
        whole: &Step,
        passages: &mut [Option<Passage>],
        communication: &mut Communication,
    ) -> Result<Vec<(usize, Vec<Tensor<1>>)>> {
        let mut all = Vec::new();
        for layer in self.replicas.trainers[0].network.batch_norms() {
            let (pixels, channels) = self.replicas.trainers[0].network.normalized_sizes(layer);
            let with_samples = self.replicas.shares.iter().filter(|share| share.count > 0);
            let values: Vec<u64> = with_samples.map(|share| u64::from(share.count) * u64::from(pixels)).collect();
            let found = self.each(passages, |_, replica, passage| replica.arrive(passage, layer));
            let combine = |found: &[Vec<f32>], all: &mut Vec<f32>| {
                *all = moments(found.iter().map(Vec::as_slice).zip(values), channels);
            };
            let statistics = self.exchange(found, combine, communication).await?;
            self.each(passages, |place, replica, passage| {
                replica.normalize(passage, statistics[place].clone(), whole.count);
            });
            all.push((layer, statistics));
        }
        self.each(passages, |_, replica, passage| replica.turn(passage, whole.count));
        Ok(all)
    }

    /// Combines the results of the devices with `combine`, and sends the combination to all devices without waiting for
    /// its arrival. Each result in `found` comes with the index of its device.
    async fn exchange(
        &mut self,
        found: Vec<(usize, Tensor<1>)>,
        combine: impl FnOnce(&[Vec<f32>], &mut Vec<f32>),
        communication: &mut Communication,
    ) -> Result<Vec<Tensor<1>>> {
        let places: Vec<usize> = found.iter().map(|(place, _)| *place).collect();
        // Once a device can read one number, it has computed all of them.
        let mut computing = UnderWay::new(found.iter().map(|(_, tensor)| read(tensor.clone().narrow(0, 0, 1))));
        let mut reading = UnderWay::new(found.into_iter().map(|(_, tensor)| read(tensor)));
        // Start both on all devices before waiting for one.
        computing.has_ended();
        reading.has_ended();
        self.replicas.wait_for_arrival(communication).await?;
        let failed = |(of, error): (usize, EngineError)| self.replicas.of_device(places[of])(error);
        computing.ended().await.map_err(failed)?;
        let computed = self.replicas.clock.now_seconds();
        let found = reading.ended().await.map_err(failed)?;
        let arrived = self.replicas.clock.now_seconds();
        assert!(found.windows(2).all(|pair| pair[0].len() == pair[1].len()), "the devices' results differ in length");
        combine(&found, &mut self.replicas.combined);
        let combined = self.replicas.clock.now_seconds();
        communication.reading_seconds += arrived - computed;
        communication.summing_seconds += combined - arrived;
        communication.exchanges += 1;
        let values =
            found.iter().map(Vec::len).sum::<usize>() + self.replicas.combined.len() * self.replicas.trainers.len();
        communication.bytes += (values * size_of::<f32>()) as u64;
        let devices = self.replicas.trainers.iter().map(|replica| &replica.device);
        let sent: Vec<Tensor<1>> = devices.map(|device| list(self.replicas.combined.clone(), device)).collect();
        let mut arriving = UnderWay::new(sent.iter().map(|sent| read(sent.clone().narrow(0, 0, 1))));
        arriving.has_ended();
        self.replicas.writing = Some((combined, arriving));
        Ok(sent)
    }

    async fn collect(&self, pending: &mut [Vec<Pending>], report: &mut StepReport) -> Result<()> {
        let mut losses = vec![0.0; pending[0].len()];
        for (place, (replica, pending)) in self.replicas.trainers.iter().zip(pending).enumerate() {
            let results = replica.finish(pending).await.map_err(self.replicas.of_device(place))?;
            for (sum, (loss, correct, samples)) in losses.iter_mut().zip(results) {
                // Each loss is one device's part of the mean over the whole batch.
                *sum += loss;
                report.correct += correct;
                report.samples += u64::from(samples);
            }
        }
        report.losses.append(&mut losses);
        Ok(())
    }
}

fn add_up(found: &[Vec<f32>], result: &mut Vec<f32>) {
    sum(&found.iter().map(|values| bytemuck::cast_slice(values)).collect::<Vec<_>>(), result);
}

fn read(tensor: Tensor<1>) -> Ending<Vec<f32>> {
    Box::pin(async move { numbers(tensor.into_data_async().await.map_err(refused)?) })
}

impl Rehearsing for ParallelTrainer {
    type State = Vec<TrainingState>;

    fn learned(&self) -> Vec<TrainingState> {
        self.replicas.trainers.iter().map(Rehearsing::learned).collect()
    }

    fn jump(&mut self, step: u64) {
        self.step = step;
        self.replicas.trainers.iter_mut().for_each(|replica| replica.jump(step));
    }

    fn forget(&mut self, start: Vec<TrainingState>) {
        self.step = 0;
        self.replicas.trainers.iter_mut().zip(start).for_each(|(replica, start)| replica.forget(start));
    }
}

#[async_trait(?Send)]
impl Trainer for ParallelTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let mut report = StepReport::default();
        let mut communication = Communication::among(self.replicas.count());
        let mut pending: Vec<Vec<Pending>> = self.replicas.trainers.iter().map(|_| Vec::new()).collect();
        for left in (0..steps).rev() {
            let results = self.run_step(&mut communication).await?;
            pending.iter_mut().zip(results).for_each(|(pending, result)| pending.push(result));
            if left == 0 || pending[0].len() == STEPS_PER_READ_BACK {
                self.collect(&mut pending, &mut report).await?;
            }
        }
        report.communication = Some(communication);
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        self.replicas.evaluate(set, samples).await
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.replicas.weights().await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        self.replicas.gradients().await
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>> {
        self.replicas.logits(rows).await
    }

    fn facts(&self) -> TrainerFacts {
        let device_memory_bytes =
            self.replicas.trainers.iter().map(|replica| replica.facts().device_memory_bytes).sum();
        TrainerFacts { device_memory_bytes, ..self.facts.clone() }
    }
}
