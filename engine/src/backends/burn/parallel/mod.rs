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

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Waker};

use async_trait::async_trait;
use burn_tensor::{Device, Tensor};
use futures_channel::oneshot;
use results::{Adapter, Communication};

use super::failure::{Guarded, guarded, refused};
use super::trainer::warm_up::warm_up;
use super::trainer::{BurnTrainer, Pending, STEPS_PER_READ_BACK, numbers};
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
    /// Creates a backend of at least two devices, with names for error messages. Fails if they differ.
    pub(super) fn new(devices: Vec<(BurnBackend, String)>, clock: Rc<dyn Clock>) -> Result<Self> {
        let (devices, names): (Vec<BurnBackend>, Vec<String>) = devices.into_iter().unzip();
        let facts = |device: &BurnBackend| (device.facts.clone(), device.settings.clone(), device.first_use);
        let first = facts(&devices[0]);
        if let Some(other) = devices.iter().position(|device| facts(device) != first) {
            let one_line = |place: usize| {
                let Adapter { name, api, driver, .. } = devices[place].adapter();
                format!("{} is {name} ({api}, {driver}; {})", names[place], devices[place].settings.join(", "))
            };
            let (one, other) = (one_line(0), one_line(other));
            return Err(EngineError::UnlikeDevices { one, other, instead: "--remote HOST:4400,HOST:4401" });
        }
        let count = u32::try_from(devices.len()).expect("the device count fits into u32");
        let facts = BackendFacts { devices: count, threads: None, repeats_itself: false, ..first.0 };
        Ok(Self { devices, names, facts, clock })
    }

    async fn trainer(&self, job: &TrainingJob) -> Result<ParallelTrainer> {
        let devices = self.devices.iter().map(|backend| backend.device.clone()).collect();
        let (names, clock) = (self.names.clone(), Rc::clone(&self.clock));
        let communication = Communication::default();
        let group = DeviceGroup { devices, names, clock, combined: Vec::new(), writing: None, communication };
        let mut replicas = Vec::new();
        for (place, backend) in self.devices.iter().enumerate() {
            let (device, settings) = (backend.device.clone(), backend.settings.clone());
            // All replicas warm up together.
            let replica = BurnTrainer::new(device, job, settings, FirstUse::Ordinary, self.clock.as_ref());
            replicas.push(replica.await.map_err(group.of_device(place))?);
        }
        let facts = replicas[0].facts();
        let replicas = Replicas::new(replicas, self.names.clone(), Rc::clone(&self.clock));
        let mut trainer = ParallelTrainer { replicas, group, job: job.clone(), facts };
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

struct DeviceGroup {
    devices: Vec<Device>,
    names: Vec<String>,
    clock: Rc<dyn Clock>,
    /// Result of the last exchange. Each exchange reuses its memory.
    combined: Vec<f32>,
    /// Transfers in progress and their start time.
    writing: Option<(f64, UnderWay<Vec<f32>>)>,
    communication: Communication,
}

impl DeviceGroup {
    fn of_device(&self, place: usize) -> impl Fn(EngineError) -> EngineError + use<> {
        of_device(place, self.devices.len(), &self.names[place])
    }

    /// Combines the results of the devices with `combine`, and sends the combination to all devices without waiting for
    /// its arrival. Devices without samples have no result.
    async fn exchange(
        &mut self,
        found: Vec<Option<Tensor<1>>>,
        combine: impl FnOnce(&[Vec<f32>], &mut Vec<f32>),
    ) -> Result<Vec<Tensor<1>>> {
        let found = found.into_iter().enumerate().filter_map(|(place, tensor)| Some((place, tensor?)));
        let (places, found): (Vec<usize>, Vec<Tensor<1>>) = found.unzip();
        // Once a device can read one number, it has computed all of them.
        let mut computing = UnderWay::new(found.iter().map(|tensor| read(tensor.clone().narrow(0, 0, 1))));
        let mut reading = UnderWay::new(found.into_iter().map(read));
        // Start both on all devices before waiting for one.
        computing.has_ended();
        reading.has_ended();
        self.wait_for_arrival().await?;
        let failed = |(of, error): (usize, EngineError)| self.of_device(places[of])(error);
        computing.ended().await.map_err(failed)?;
        let computed = self.clock.now_seconds();
        let found = reading.ended().await.map_err(failed)?;
        let arrived = self.clock.now_seconds();
        assert!(found.windows(2).all(|pair| pair[0].len() == pair[1].len()), "the devices' results differ in length");
        combine(&found, &mut self.combined);
        let combined = self.clock.now_seconds();
        let communication = &mut self.communication;
        communication.reading_seconds += arrived - computed;
        communication.summing_seconds += combined - arrived;
        communication.exchanges += 1;
        let values = found.iter().map(Vec::len).sum::<usize>() + self.combined.len() * self.devices.len();
        communication.bytes += (values * size_of::<f32>()) as u64;
        let sent: Vec<Tensor<1>> = self.devices.iter().map(|device| list(self.combined.clone(), device)).collect();
        let mut arriving = UnderWay::new(sent.iter().map(|sent| read(sent.clone().narrow(0, 0, 1))));
        arriving.has_ended();
        self.writing = Some((combined, arriving));
        Ok(sent)
    }

    /// Waits until all devices have received the last combination.
    async fn wait_for_arrival(&mut self) -> Result<()> {
        let Some((since, arriving)) = self.writing.take() else { return Ok(()) };
        arriving.ended().await.map_err(|(place, error)| self.of_device(place)(error))?;
        self.communication.writing_seconds += self.clock.now_seconds() - since;
        Ok(())
    }
}

fn add_up(found: &[Vec<f32>], result: &mut Vec<f32>) {
    sum(&found.iter().map(|values| bytemuck::cast_slice(values)).collect::<Vec<_>>(), result);
}

fn read(tensor: Tensor<1>) -> Ending<Vec<f32>> {
    Box::pin(async move { numbers(tensor.into_data_async().await.map_err(refused)?) })
}

/// Trainer of a network that is replicated on several devices, each with its share of every batch.
struct ParallelTrainer {
    replicas: Replicas<BurnTrainer, ()>,
    group: DeviceGroup,
    job: TrainingJob,
    facts: TrainerFacts,
}

impl ParallelTrainer {
    /// Runs one training step on all devices. Waits only for exchanges.
    async fn run_step(&mut self) -> Result<Vec<Pending>> {
        let BurnTrainer { step, network, .. } = &self.replicas.trainers[0];
        let whole = self.job.step(*step, 0);
        let norms: Vec<_> = network.batch_norms().into_iter().map(|norm| network.normalized_sizes(norm)).collect();
        // Numbers of the devices that wait for an exchange, and receivers of its result.
        let (requests, reached) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let (mut working, mut counts) = (Vec::new(), Vec::new());
        for (replica, share) in self.replicas.divide(whole) {
            counts.extend((share.count > 0).then_some(u64::from(share.count)));
            let batch = (share.count > 0).then(|| replica.training_batch(&share));
            let exchange = async |numbers| {
                let (answer, answered) = oneshot::channel();
                requests.borrow_mut().push((numbers, answer));
                answered.await.expect("every exchange is answered")
            };
            working.push(Box::pin(replica.train_share(share, batch, &whole, &reached, exchange)));
        }
        for number in 0..2 * norms.len() + 1 {
            for work in &mut working {
                let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending(), "a share waits for each exchange");
            }
            let (found, answers): (Vec<_>, Vec<_>) = requests.take().into_iter().unzip();
            let combined = match norms.get(number) {
                Some(&(pixels, channels)) => {
                    let values = counts.iter().map(|count| count * u64::from(pixels));
                    let combine = |found: &[Vec<f32>], all: &mut Vec<f32>| {
                        *all = moments(found.iter().map(Vec::as_slice).zip(values), channels);
                    };
                    self.group.exchange(found, combine).await?
                }
                None => self.group.exchange(found, add_up).await?,
            };
            for (answer, combined) in answers.into_iter().zip(combined) {
                answer.send(combined).expect("a share waits for its exchange");
            }
        }
        // Until a server has received everything, Burn's client seems to spin (docs/SCALING.md) on a core that the
        // devices may need.
        self.group.wait_for_arrival().await?;
        let mut pending = Vec::new();
        for work in working {
            pending.push(work.await);
        }
        Ok(pending)
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

impl AsMut<[BurnTrainer]> for ParallelTrainer {
    fn as_mut(&mut self) -> &mut [BurnTrainer] {
        &mut self.replicas.trainers
    }
}

#[async_trait(?Send)]
impl Trainer for ParallelTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let mut report = StepReport::default();
        self.group.communication = Communication::among(self.replicas.count());
        let mut pending: Vec<Vec<Pending>> = self.replicas.trainers.iter().map(|_| Vec::new()).collect();
        for left in (0..steps).rev() {
            let results = self.run_step().await?;
            pending.iter_mut().zip(results).for_each(|(pending, result)| pending.push(result));
            if left == 0 || pending[0].len() == STEPS_PER_READ_BACK {
                self.collect(&mut pending, &mut report).await?;
            }
        }
        report.communication = Some(self.group.communication);
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        self.weights().await?;
        self.replicas.evaluate(set, samples).await
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.replicas.agreed(async |replica| replica.weights().await).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        self.replicas.gradients().await
    }

    async fn logits(&mut self, answers: u32) -> Result<Vec<Vec<f64>>> {
        self.replicas.logits(answers, self.job.model.positions()?).await
    }

    fn facts(&self) -> TrainerFacts {
        let device_memory_bytes =
            self.replicas.trainers.iter().map(|replica| replica.facts().device_memory_bytes).sum();
        TrainerFacts { device_memory_bytes, ..self.facts.clone() }
    }
}
