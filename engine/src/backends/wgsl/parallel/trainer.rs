use std::pin::Pin;
use std::rc::Rc;

use async_trait::async_trait;
use results::Communication;
use shaders::params::Step;

use super::super::plan::RESULT_SLOTS;
use super::super::trainer::WgslTrainer;
use super::division::{Share, shares};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{EvaluationSet, Preparation, StepReport, TestReport, Trainer, TrainingJob};

/// One network, the same on several devices, each of which trains on its share of each batch.
pub(super) struct ParallelTrainer {
    pub(super) replicas: Vec<WgslTrainer>,
    pub(super) clock: Rc<dyn Clock>,
    pub(super) job: Rc<TrainingJob>,
    /// What the devices are called in errors.
    pub(super) name: String,
    /// Steps done so far.
    pub(super) step: u64,
    /// How the last batch was divided.
    pub(super) shares: Vec<Share>,
}

/// What was written to all devices and may not have arrived.
struct Writing {
    since: f64,
    arriving: Vec<Arriving>,
}

/// Ends when a device has what was written to it.
type Arriving = Pin<Box<dyn Future<Output = Result<(), EngineError>>>>;

impl ParallelTrainer {
    fn devices(&self) -> u32 {
        u32::try_from(self.replicas.len()).expect("devices are few")
    }

    fn of_device(&self, place: usize) -> impl Fn(EngineError) -> EngineError + use<> {
        super::of_device(place, self.replicas.len(), &self.name)
    }

    /// One step on all devices. Nobody waits for its end, only for what the devices tell each other.
    async fn run_step(&mut self, slot: u32, communication: &mut Communication) -> Result<(), EngineError> {
        let started = self.clock.now_seconds();
        let whole = self.job.step(self.step + u64::from(slot), slot);
        self.shares = shares(whole.count, self.devices()).collect();
        for (replica, share) in self.replicas.iter().zip(&self.shares) {
            replica.begin_step(slot, share.of(whole));
        }
        let exchanges = self.replicas[0].exchanges().len();
        let mut writing = None;
        for number in 0..exchanges {
            writing = Some(self.stretch(&whole, number, writing, communication).await?);
        }
        for replica in &self.replicas {
            // What goes wrong with it is told by the next one that is waited for.
            drop(replica.compute(slot, exchanges, false));
        }
        self.arrived(writing, communication).await?;
        let seconds = self.clock.now_seconds() - started;
        self.replicas.iter_mut().for_each(|replica| replica.note_step(seconds));
        Ok(())
    }

    /// The launches up to the exchange of this number, and the exchange.
    async fn stretch(
        &self,
        whole: &Step,
        number: usize,
        writing: Option<Writing>,
        communication: &mut Communication,
    ) -> Result<Writing, EngineError> {
        let epoch_begins = number == 0 && whole.offset == 0;
        let exchange = self.replicas[0].exchanges()[number];
        let begin = |replica: &WgslTrainer| {
            let computing = replica.compute(whole.slot, number, epoch_begins);
            (computing, replica.begin_to_read(exchange.read))
        };
        let under_way: Vec<_> = self.replicas.iter().map(begin).collect();
        self.arrived(writing, communication).await?;
        let mut readings = Vec::new();
        for (place, (computing, reading)) in under_way.into_iter().enumerate() {
            computing.await.map_err(self.of_device(place))?;
            readings.push(reading);
        }
        let computed = self.clock.now_seconds();
        let mut found = Vec::new();
        for (place, reading) in readings.into_iter().enumerate() {
            found.push(reading.await.map_err(self.of_device(place))?);
        }
        let read = self.clock.now_seconds();
        let combined = exchange.combination.of(&found, &self.shares);
        let since = self.clock.now_seconds();
        communication.reading_seconds += read - computed;
        communication.summing_seconds += since - read;
        communication.exchanges += 1;
        communication.bytes += found.len() as u64 * (exchange.read.bytes + exchange.write.bytes);
        let write = |replica: &WgslTrainer| -> Arriving {
            Box::pin(replica.write(exchange.write, bytemuck::cast_slice(&combined)))
        };
        Ok(Writing { since, arriving: self.replicas.iter().map(write).collect() })
    }

    /// Waits until all devices have what was written to them.
    async fn arrived(&self, writing: Option<Writing>, communication: &mut Communication) -> Result<(), EngineError> {
        let Some(Writing { since, arriving }) = writing else { return Ok(()) };
        for (place, arriving) in arriving.into_iter().enumerate() {
            arriving.await.map_err(self.of_device(place))?;
        }
        communication.writing_seconds += self.clock.now_seconds() - since;
        Ok(())
    }

    /// Adds up what the devices found in so many steps.
    async fn collect(&mut self, steps: u32, report: &mut StepReport) -> Result<(), EngineError> {
        let mut losses = vec![0.0; steps as usize];
        for place in 0..self.replicas.len() {
            let of_device = self.of_device(place);
            let results = self.replicas[place].results(steps).await.map_err(of_device)?;
            for (loss, result) in losses.iter_mut().zip(results) {
                // Each is the device's share of the mean over the whole batch.
                *loss += f64::from(result.loss);
                report.correct += u64::from(result.correct);
            }
        }
        report.losses.append(&mut losses);
        let samples = |slot| u64::from(self.job.step(self.step + u64::from(slot), slot).count);
        report.samples += (0..steps).map(samples).sum::<u64>();
        Ok(())
    }

    /// Devices that did the same updates have the same weights, to the last bit.
    async fn check_agreement(&self) -> Result<(), EngineError> {
        let first = self.replicas[0].arena().await.map_err(self.of_device(0))?;
        for (place, replica) in self.replicas.iter().enumerate().skip(1) {
            let other = replica.arena().await.map_err(self.of_device(place))?;
            let differing = first.iter().zip(&other).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            if differing > 0 {
                let missing = format!("{differing} of its weights are not those of device 1");
                return Err(self.of_device(place)(EngineError::WorkDropped { missing }));
            }
        }
        Ok(())
    }
}

#[async_trait(?Send)]
impl Trainer for ParallelTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let mut report = StepReport::default();
        let mut communication = Communication::among(self.devices());
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

    /// On the first device, after all of them were found to have the same weights.
    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.check_agreement().await?;
        let started = self.clock.now_seconds();
        let of_device = self.of_device(0);
        let report = self.replicas[0].evaluate(set, samples).await.map_err(of_device)?;
        Ok(TestReport { seconds: Some(self.clock.now_seconds() - started), ..report })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.check_agreement().await?;
        let of_device = self.of_device(0);
        self.replicas[0].weights().await.map_err(of_device)
    }

    /// The sum, which all devices have.
    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        let of_device = self.of_device(0);
        self.replicas[0].gradients().await.map_err(of_device)
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        let mut logits = Vec::new();
        for place in 0..self.replicas.len() {
            let Share { first_row, count } = self.shares[place];
            let wanted = count.min(rows.saturating_sub(first_row));
            if wanted > 0 {
                let of_device = self.of_device(place);
                logits.extend(self.replicas[place].logits(wanted).await.map_err(of_device)?);
            }
        }
        Ok(logits)
    }

    fn preparation(&self) -> Preparation {
        let all = || self.replicas.iter().map(Trainer::preparation);
        let sum = |of: fn(Preparation) -> Option<f64>| all().filter_map(of).reduce(|a, b| a + b);
        Preparation {
            compiling_seconds: sum(|preparation| preparation.compiling_seconds),
            tuning_seconds: sum(|preparation| preparation.tuning_seconds),
            unsettled_after_steps: None,
        }
    }

    fn latency_seconds(&self) -> f64 {
        self.replicas.iter().map(Trainer::latency_seconds).fold(0.0, f64::max)
    }

    /// Of all devices together.
    fn device_memory_bytes(&self) -> u64 {
        self.replicas.iter().map(Trainer::device_memory_bytes).sum()
    }

    fn variants(&self) -> Vec<String> {
        self.replicas[0].variants()
    }
}
