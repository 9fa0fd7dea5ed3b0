use std::rc::Rc;

use async_trait::async_trait;
use burn_tensor::Tensor;
use results::Communication;
use shaders::params::Step;

use super::exchange::{Combination, Party};
use crate::backends::burn::trainer::replica::Passage;
use crate::backends::burn::trainer::warm_up::Rehearsing;
use crate::backends::burn::trainer::{BurnTrainer, Pending, STEPS_PER_READ_BACK, State};
use crate::backends::sharing::check_agreement;
use crate::backends::sharing::division::{Share, shares};
use crate::error::EngineError;
use crate::trainer::{EvaluationSet, Preparation, StepReport, TestReport, Trainer, TrainingJob};

/// One network, the same on several devices, each of which trains on its share of each batch.
pub(super) struct ParallelTrainer {
    pub(super) replicas: Vec<BurnTrainer>,
    pub(super) party: Party,
    pub(super) job: Rc<TrainingJob>,
    /// Steps done so far.
    pub(super) step: u64,
    /// How the last batch was divided.
    pub(super) shares: Vec<Share>,
    pub(super) preparation: Preparation,
    pub(super) settings: Vec<String>,
}

impl ParallelTrainer {
    /// One step on all devices. Nobody waits for its end, only for what the devices tell each other.
    async fn run_step(&mut self, communication: &mut Communication) -> Result<Vec<Pending>, EngineError> {
        let whole = self.job.step(self.step, 0);
        self.shares = shares(whole.count, self.party.count()).collect();
        let mut passages: Vec<Option<Passage>> = Vec::new();
        for (replica, share) in self.replicas.iter_mut().zip(&self.shares) {
            passages.push((share.count > 0).then(|| replica.begin_share(share.of(whole))));
        }
        let statistics = self.go_forwards(&whole, &mut passages, communication).await?;
        self.go_backwards(&mut passages, statistics.len(), communication).await?;
        let found = passages.iter().flatten().next().map(Passage::found).unwrap_or_default();
        let gradients = self.each(&mut passages, |_, passage| passage.gradients());
        let gradients = self.party.exchange(gradients, &Combination::Sum, communication).await?;
        // Burn's client seems to spin (docs/SCALING.md) where a server has not taken yet what was sent before, on a core that
        // the devices may need.
        self.party.arrived(communication).await?;
        let mut pending = Vec::new();
        for (place, (passage, gradients)) in passages.into_iter().zip(gradients).enumerate() {
            let replica = &mut self.replicas[place];
            for (layer, statistics) in &statistics {
                replica.move_averages(*layer, statistics[place].clone(), whole.count);
            }
            pending.push(replica.end_share(passage, &whole, &found, gradients));
        }
        self.step += 1;
        Ok(pending)
    }

    /// What each device that has samples does with its part of the step, with its place.
    fn each<T>(
        &self,
        passages: &mut [Option<Passage>],
        mut work: impl FnMut(&BurnTrainer, &mut Passage) -> T,
    ) -> Vec<(usize, T)> {
        let parts = passages.iter_mut().zip(&self.replicas).enumerate();
        parts.filter_map(|(place, (passage, replica))| Some((place, work(replica, passage.as_mut()?)))).collect()
    }

    /// Through all layers, and back through those after the last batch normalisation. Returns for each batch normalisation the
    /// statistics of the whole batch on each device.
    async fn go_forwards(
        &mut self,
        whole: &Step,
        passages: &mut [Option<Passage>],
        communication: &mut Communication,
    ) -> Result<Vec<(usize, Vec<Tensor<1>>)>, EngineError> {
        let mut all = Vec::new();
        for layer in self.replicas[0].batch_norms() {
            let (pixels, channels) = self.replicas[0].normalized_sizes(layer);
            let with_samples = self.shares.iter().map(|share| share.count).filter(|count| *count > 0);
            let values = with_samples.map(|count| u64::from(count) * u64::from(pixels)).collect();
            let found = self.each(passages, |replica, passage| replica.arrive(passage, layer));
            let combination = Combination::Moments { channels, values };
            let statistics = self.party.exchange(found, &combination, communication).await?;
            for ((statistics, passage), replica) in statistics.iter().zip(&mut *passages).zip(&self.replicas) {
                if let Some(passage) = passage {
                    replica.normalize(passage, statistics.clone(), whole.count);
                }
            }
            all.push((layer, statistics));
        }
        self.each(passages, |replica, passage| replica.turn(passage, whole.count));
        Ok(all)
    }

    /// Back through so many batch normalisations, and what is before them.
    async fn go_backwards(
        &mut self,
        passages: &mut [Option<Passage>],
        normalizations: usize,
        communication: &mut Communication,
    ) -> Result<(), EngineError> {
        for _ in 0..normalizations {
            let found = self.each(passages, |replica, passage| replica.come_back(passage));
            let sums = self.party.exchange(found, &Combination::Sum, communication).await?;
            for ((sums, passage), replica) in sums.into_iter().zip(&mut *passages).zip(&self.replicas) {
                if let Some(passage) = passage {
                    replica.go_back(passage, sums);
                }
            }
        }
        Ok(())
    }

    /// Adds up what the devices found in steps of which they have these results pending, for each device a list.
    async fn collect(&self, pending: &mut [Vec<Pending>], report: &mut StepReport) -> Result<(), EngineError> {
        let mut losses = vec![0.0; pending[0].len()];
        for (place, (replica, pending)) in self.replicas.iter().zip(pending).enumerate() {
            let results = replica.finish(pending).await.map_err(self.party.of_device(place))?;
            for (sum, (loss, correct, samples)) in losses.iter_mut().zip(results) {
                // Each is the device's part of the mean over the whole batch.
                *sum += loss;
                report.correct += correct;
                report.samples += u64::from(samples);
            }
        }
        report.losses.append(&mut losses);
        Ok(())
    }

    /// All weights of the first device, which the others have as well.
    async fn agreed_weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        let mut weights = Vec::new();
        for (place, replica) in self.replicas.iter_mut().enumerate() {
            weights.push(replica.weights().await.map_err(self.party.of_device(place))?);
        }
        let arenas: Vec<Vec<f32>> = weights.iter().map(|tensors| tensors.concat()).collect();
        let others = arenas.iter().skip(1).map(Vec::as_slice);
        check_agreement(&arenas[0], others, |place, error| self.party.of_device(place)(error))?;
        Ok(weights.swap_remove(0))
    }
}

impl Rehearsing for ParallelTrainer {
    type State = Vec<State>;

    fn job(&self) -> &TrainingJob {
        &self.job
    }

    fn learned(&self) -> Vec<State> {
        self.replicas.iter().map(Rehearsing::learned).collect()
    }

    fn jump(&mut self, step: u64) {
        self.step = step;
        self.replicas.iter_mut().for_each(|replica| replica.jump(step));
    }

    fn forget(&mut self, start: Vec<State>) {
        self.step = 0;
        self.replicas.iter_mut().zip(start).for_each(|(replica, start)| replica.forget(start));
    }

    fn notes(&mut self) -> (&mut Preparation, &mut Vec<String>) {
        (&mut self.preparation, &mut self.settings)
    }
}

#[async_trait(?Send)]
impl Trainer for ParallelTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let mut report = StepReport::default();
        let mut communication = Communication::among(self.party.count());
        let mut pending: Vec<Vec<Pending>> = self.replicas.iter().map(|_| Vec::new()).collect();
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

    /// On the first device, after all of them were found to have the same weights, which is not part of its time.
    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.agreed_weights().await?;
        let started = self.party.clock.now_seconds();
        let report = self.replicas[0].evaluate(set, samples).await.map_err(self.party.of_device(0))?;
        Ok(TestReport { seconds: Some(self.party.clock.now_seconds() - started), ..report })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.agreed_weights().await
    }

    /// The sum, which all devices have.
    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.replicas[0].gradients().await.map_err(self.party.of_device(0))
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        let mut logits = Vec::new();
        for (place, share) in self.shares.iter().enumerate() {
            let wanted = share.count.min(rows.saturating_sub(share.first_row));
            if wanted > 0 {
                logits.extend(self.replicas[place].logits(wanted).await.map_err(self.party.of_device(place))?);
            }
        }
        Ok(logits)
    }

    fn preparation(&self) -> Preparation {
        self.preparation
    }

    /// Of all devices together.
    fn device_memory_bytes(&self) -> u64 {
        self.replicas.iter().map(Trainer::device_memory_bytes).sum()
    }

    fn variants(&self) -> Vec<String> {
        self.settings.clone()
    }
}
