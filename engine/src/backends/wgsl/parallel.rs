//! Synchronous data-parallel training: several devices of this machine hold the same network, and each trains on its
//! share of each batch.
//!
//! Gradients are in one arena, so an all-reduce uses one buffer. It is read back from each device, summed on the host
//! in device order, and written back, either after the backward pass or in parts during it. Then every device does the
//! same update, so weights stay identical to the last bit, which is checked before each test. Random numbers, loss and
//! gradients refer to the whole batch. Batch normalization exchanges its statistics and the sums of its gradients. The
//! result equals a single device's with the whole batch, up to the order of additions.

#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::rc::Rc;

use async_trait::async_trait;
use results::{Communication, ExchangeSeconds};

use super::WgslBackend;
use super::device::buffer::ReadBack;
use super::plan::{RESULT_SLOTS, TrainingSetup};
use super::recording::{Combination, Exchange};
use super::trainer::WgslTrainer;
use super::tuning::Choices;
use crate::backends::sharing::{Ending, Replicas, Share, UnderWay, moments, of_device, sum};
use crate::backends::{AdapterChoice, Opening};
use crate::clock::Clock;
use crate::error::Result;
use crate::trainer::{
    Backend, BackendFacts, EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob,
};

pub(in super::super) struct ParallelBackend {
    devices: Vec<WgslBackend>,
    clock: Rc<dyn Clock>,
    /// Requested exchange of gradients during the backward pass (true) or after it.
    overlap: Option<bool>,
    facts: BackendFacts,
}

/// Opens the adapters that share each batch. A software adapter may be opened several times. A single matching adapter
/// trains as an ordinary backend.
///
/// # Errors
/// Errors of [`AdapterChoice::choose_several`] and [`WgslBackend::open`].
pub(in super::super) async fn open(opening: &Opening, clock: Rc<dyn Clock>) -> Result<Box<dyn Backend>> {
    let adapters = super::adapters().await;
    let chosen = opening.adapter.choose_several(&adapters, opening.devices)?;
    let on = |index: usize| Opening { adapter: AdapterChoice::Index(index), devices: None, ..opening.clone() };
    if let [index] = chosen[..] {
        on(index).check_overlap()?;
        return Ok(Box::new(WgslBackend::open(&on(index), clock).await?));
    }
    let mut devices = Vec::new();
    for (place, &index) in chosen.iter().enumerate() {
        let opened = WgslBackend::open(&on(index), Rc::clone(&clock)).await;
        let of_device = of_device(place, chosen.len(), &adapters[index].name);
        devices.push(opened.map_err(of_device)?);
    }
    Ok(Box::new(ParallelBackend::new(devices, clock, opening.overlap)))
}

impl ParallelBackend {
    fn new(devices: Vec<WgslBackend>, clock: Rc<dyn Clock>, overlap: Option<bool>) -> Self {
        let count = u32::try_from(devices.len()).expect("devices are few");
        let facts = BackendFacts { devices: count, repeats_itself: false, ..devices[0].facts.clone() };
        Self { devices, clock, overlap, facts }
    }

    fn setup(&self) -> TrainingSetup {
        // A software adapter computes on the cores of the exchange, and measurements show a loss (docs/SCALING.md).
        let overlaps = self.overlap.unwrap_or(!self.adapter().software);
        TrainingSetup { devices: self.facts.devices, overlaps, ..TrainingSetup::STANDARD }
    }

    fn trainer(&self, replicas: Vec<WgslTrainer>, job: &TrainingJob) -> ParallelTrainer {
        let names = vec![self.adapter().name.clone(); replicas.len()];
        ParallelTrainer {
            replicas: Replicas::new(replicas, names, Rc::clone(&self.clock)),
            job: Rc::new(job.clone()),
            step: 0,
            overlaps: self.setup().overlaps,
        }
    }
}

#[async_trait(?Send)]
impl Backend for ParallelBackend {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    fn predicted_bytes(&self, job: &TrainingJob) -> Result<Option<u64>> {
        let bytes = self.devices.iter().map(|backend| backend.planned_bytes(job, self.setup()));
        bytes.sum::<Result<u64>>().map(Some)
    }

    async fn recover(&self) -> Result<()> {
        for (place, device) in self.devices.iter().enumerate() {
            let of_device = of_device(place, self.devices.len(), &self.adapter().name);
            device.recover().await.map_err(of_device)?;
        }
        Ok(())
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        let mut replicas = Vec::new();
        for (place, backend) in self.devices.iter().enumerate() {
            if place > 0 {
                // The first device has timed the kernels, and the others are identical.
                let known = self.devices[0].choices.borrow().text();
                backend.choices.replace(Choices::recalled(backend.device.abilities, &known));
            }
            let built = backend.build_with(job, self.setup()).await;
            replicas.push(built.map_err(of_device(place, self.devices.len(), &self.adapter().name))?);
        }
        Ok(Box::new(self.trainer(replicas, job)))
    }
}

/// One network on several devices, each training on its share of each batch.
struct ParallelTrainer {
    replicas: Replicas<WgslTrainer, ()>,
    job: Rc<TrainingJob>,
    step: u64,
    /// True if the devices exchange their gradients during the backward pass.
    overlaps: bool,
}

/// An exchange with results requested from all devices.
struct PendingExchange {
    exchange: Exchange,
    /// Work of each device before its results.
    computing: UnderWay<()>,
    readings: UnderWay<ReadBack>,
}

impl ParallelTrainer {
    /// Runs one step on all devices. The host waits only for exchanges, not for the end of the step.
    async fn run_step(&mut self, slot: u32, communication: &mut Communication) -> Result<()> {
        let started = self.replicas.clock.now_seconds();
        let whole = self.job.step(self.step + u64::from(slot), slot);
        for (replica, share) in self.replicas.divide(whole) {
            replica.begin_step(slot, share);
        }
        let exchanges = self.replicas.trainers[0].plan.training.exchanges.len();
        let mut asked = Vec::new();
        for number in 0..exchanges {
            let exchange = self.replicas.trainers[0].plan.training.exchanges[number];
            let epoch_begins = number == 0 && whole.offset == 0;
            let computing = self.on_all(|replica| replica.compute(slot, number, epoch_begins));
            let readings =
                self.on_all(|replica| replica.buffers.begin_to_read(&replica.device, exchange.read, exchange.staging));
            asked.push(PendingExchange { exchange, computing, readings });
            let is_waited_for = exchange.is_waited_for() || number + 1 == exchanges;
            if is_waited_for {
                self.replicas.wait_for_arrival(communication).await?;
                self.exchange(std::mem::take(&mut asked), communication).await?;
            }
        }
        for replica in &self.replicas.trainers {
            // The next awaited submission reports its errors.
            drop(replica.compute(slot, exchanges, false));
        }
        self.replicas.wait_for_arrival(communication).await?;
        let seconds = self.replicas.clock.now_seconds() - started;
        self.replicas.trainers.iter_mut().for_each(|replica| replica.note_step(seconds));
        Ok(())
    }

    fn on_all<T, W: Future<Output = Result<T>> + 'static>(&self, start: impl Fn(&WgslTrainer) -> W) -> UnderWay<T> {
        UnderWay::new(self.replicas.trainers.iter().map(|replica| Box::pin(start(replica)) as Ending<T>))
    }

    /// Completes the requested exchanges one after the other, but only starts the write of the last one. The devices
    /// compute during all except the last.
    async fn exchange(&mut self, mut asked: Vec<PendingExchange>, communication: &mut Communication) -> Result<()> {
        let Some(mut last) = asked.pop() else { return Ok(()) };
        for PendingExchange { exchange, computing, readings } in asked {
            self.replicas.wait_for(computing).await?;
            self.combine(exchange, readings, Some(&mut last.computing), communication).await?;
            let since = self.replicas.clock.now_seconds();
            for replica in &self.replicas.trainers {
                replica.hand_over(exchange.write, bytemuck::cast_slice(&self.replicas.combined));
            }
            let writing_seconds = self.replicas.clock.now_seconds() - since;
            let seconds = ExchangeSeconds { writing_seconds, ..ExchangeSeconds::default() };
            communication.spend(seconds, !last.computing.has_ended());
        }
        let PendingExchange { exchange, computing, readings } = last;
        self.replicas.wait_for(computing).await?;
        self.combine(exchange, readings, None, communication).await?;
        let since = self.replicas.clock.now_seconds();
        let combined = bytemuck::cast_slice(&self.replicas.combined);
        let arriving = self.on_all(|replica| replica.write(exchange.write, combined));
        self.replicas.writing = Some((since, arriving));
        Ok(())
    }

    /// Combines the results of the devices. `meanwhile` is their concurrent work. Only the time after its end counts as
    /// waiting for the exchange.
    async fn combine(
        &mut self,
        exchange: Exchange,
        readings: UnderWay<ReadBack>,
        mut meanwhile: Option<&mut UnderWay<()>>,
        communication: &mut Communication,
    ) -> Result<()> {
        let mut is_overlapped = || meanwhile.as_mut().is_some_and(|computing| !computing.has_ended());
        let computed = self.replicas.clock.now_seconds();
        let found = self.replicas.wait_for(readings).await?;
        let read = self.replicas.clock.now_seconds();
        let seconds = ExchangeSeconds { reading_seconds: read - computed, ..ExchangeSeconds::default() };
        communication.spend(seconds, is_overlapped());
        exchange.combination.combine(&found, &self.replicas.shares, &mut self.replicas.combined);
        let summing_seconds = self.replicas.clock.now_seconds() - read;
        let seconds = ExchangeSeconds { summing_seconds, ..ExchangeSeconds::default() };
        communication.spend(seconds, is_overlapped());
        communication.exchanges += 1;
        communication.bytes += found.len() as u64 * (exchange.read.bytes + exchange.write.bytes);
        Ok(())
    }

    async fn collect(&mut self, steps: u32, report: &mut StepReport) -> Result<()> {
        let mut losses = vec![0.0; steps as usize];
        for place in 0..self.replicas.trainers.len() {
            let results = self.replicas.trainers[place].results(steps).await;
            let results = results.map_err(self.replicas.of_device(place))?;
            for (loss, result) in losses.iter_mut().zip(results) {
                // Each loss is the device's share of the mean over the whole batch.
                *loss += f64::from(result.loss);
                report.correct += u64::from(result.correct);
            }
        }
        report.losses.append(&mut losses);
        let samples = |slot| u64::from(self.job.step(self.step + u64::from(slot), slot).count);
        report.samples += (0..steps).map(samples).sum::<u64>();
        Ok(())
    }
}

#[async_trait(?Send)]
impl Trainer for ParallelTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let mut report = StepReport::default();
        let mut communication = Communication::among(self.replicas.count());
        communication.overlapped = self.overlaps.then(ExchangeSeconds::default);
        let mut left = steps;
        while left > 0 {
            let count = left.min(RESULT_SLOTS);
            for slot in 0..count {
                self.run_step(slot, &mut communication).await?;
            }
            self.collect(count, &mut report).await?;
            self.step += u64::from(count);
            left -= count;
        }
        report.communication = Some(communication);
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        self.replicas.agreed(WgslTrainer::weights_arena).await?;
        self.replicas.evaluate(set, samples).await
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.replicas.agreed(WgslTrainer::weights_arena).await?;
        self.replicas.trainers[0].weights().await.map_err(self.replicas.of_device(0))
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        self.replicas.gradients().await
    }

    async fn logits(&mut self, answers: u32) -> Result<Vec<Vec<f64>>> {
        self.replicas.logits(answers, self.job.model.positions()?).await
    }

    fn latency_seconds(&self) -> f64 {
        self.replicas.trainers.iter().map(Trainer::latency_seconds).fold(0.0, f64::max)
    }

    fn facts(&self) -> TrainerFacts {
        let all: Vec<TrainerFacts> = self.replicas.trainers.iter().map(Trainer::facts).collect();
        let sum = |of: fn(&TrainerFacts) -> Option<f64>| all.iter().filter_map(of).reduce(|a, b| a + b);
        TrainerFacts {
            compiling_seconds: sum(|facts| facts.compiling_seconds),
            tuning_seconds: sum(|facts| facts.tuning_seconds),
            device_memory_bytes: all.iter().map(|facts| facts.device_memory_bytes).sum(),
            ..all[0].clone()
        }
    }
}

impl Combination {
    /// Combines the devices' results, `found` as f32 bytes, in `result`, reusing its memory.
    fn combine<B: Deref<Target = [u8]>>(self, found: &[B], shares: &[Share], result: &mut Vec<f32>) {
        match self {
            Self::Sum => sum(found, result),
            Self::Moments { channels, pixels_of_sample, pixels_per_part } => {
                let found: Vec<Vec<f32>> = found.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
                let pixels = shares.iter().map(|share| u64::from(share.count) * u64::from(pixels_of_sample));
                let parts = found.iter().zip(pixels).flat_map(|(parts, pixels)| {
                    let begin = move |number: u64| (number * u64::from(pixels_per_part)).min(pixels);
                    let parts = (0..).zip(parts.chunks_exact(2 * channels as usize));
                    parts.map(move |(number, part)| (part, begin(number + 1) - begin(number)))
                });
                *result = moments(parts, channels as usize);
            }
        }
    }
}
