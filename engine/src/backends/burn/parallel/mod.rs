//! Synchronous data-parallel training with Burn: several devices hold the same network, and each trains on its share of each
//! batch.
//!
//! Each device differentiates the loss of its share, which is its part of the mean over the whole batch. The gradients, one
//! behind the other in a single tensor, are read from each device after the backward pass, added on the host in the order of
//! the devices, and handed to each. Then every device does the same update, and weights stay the same to the last bit, which
//! is looked at before each test. Random numbers are counted over the whole batch. At a batch normalisation the graph ends,
//! and another begins: there the devices tell each other the statistics of their shares, and on the way back the sums of their
//! gradients. So the result is that of one device with the whole batch, but for the order in which numbers are added.
//!
//! Whatever devices Burn has can do that. Served ones do: any of Burn's back ends can be served, several of them on one
//! machine, and each computes in a process of its own.

mod exchange;
#[cfg(all(test, feature = "burn-flex", feature = "wgsl"))]
mod tests;
mod trainer;

use std::rc::Rc;

use async_trait::async_trait;
use results::{Adapter, Precision, Warning};

use super::BurnBackend;
use super::first_use::FirstUse;
use super::guard::{Guarded, guarded};
use super::trainer::BurnTrainer;
use super::trainer::warm_up::warm_up;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{Backend, Preparation, Trainer, TrainingJob};
use exchange::Party;
use trainer::ParallelTrainer;

/// Several devices that Burn computes on, which are alike.
pub(super) struct ParallelBackend {
    devices: Vec<BurnBackend>,
    /// What they are called in errors.
    names: Vec<String>,
    clock: Rc<dyn Clock>,
}

impl ParallelBackend {
    /// Of two devices at least, each with what it is called in errors.
    ///
    /// # Errors
    /// Devices that are not alike: those that round differently would not keep the same weights. `instead` says how others are
    /// named.
    pub(super) fn new(
        devices: Vec<(BurnBackend, String)>,
        clock: Rc<dyn Clock>,
        instead: &'static str,
    ) -> Result<Self, EngineError> {
        let (devices, names): (Vec<BurnBackend>, Vec<String>) = devices.into_iter().unzip();
        let facts = |device: &BurnBackend| (device.opened.adapter.clone(), device.settings(), device.first_use);
        let first = facts(&devices[0]);
        if let Some(other) = devices.iter().position(|device| facts(device) != first) {
            let one_line = |place: usize| {
                let (Adapter { name, api, driver, .. }, settings, _) = facts(&devices[place]);
                format!("{} is {name} ({api}, {driver}; {})", names[place], settings.join(", "))
            };
            return Err(EngineError::UnlikeDevices { one: one_line(0), other: one_line(other), instead });
        }
        Ok(Self { devices, names, clock })
    }

    /// One that has used everything for the first time.
    async fn trainer(&self, job: &TrainingJob) -> Result<ParallelTrainer, EngineError> {
        let devices = self.devices.iter().map(|backend| backend.opened.device.clone()).collect();
        let party = Party::new(devices, self.names.clone(), Rc::clone(&self.clock));
        let mut replicas = Vec::new();
        for (place, backend) in self.devices.iter().enumerate() {
            let device = backend.opened.device.clone();
            // What is used for the first time is used by all of them together.
            let replica = BurnTrainer::new(device, job, backend.settings(), FirstUse::Ordinary, self.clock.as_ref());
            replicas.push(replica.await.map_err(party.of_device(place))?);
        }
        let settings = replicas[0].variants();
        let (step, shares, preparation) = (0, Vec::new(), Preparation::default());
        let job = Rc::new(job.clone());
        let mut trainer = ParallelTrainer { replicas, party, job, step, shares, preparation, settings };
        warm_up(&mut trainer, self.devices[0].first_use, self.clock.as_ref()).await?;
        Ok(trainer)
    }
}

#[async_trait(?Send)]
impl Backend for ParallelBackend {
    fn name(&self) -> &'static str {
        self.devices[0].name
    }

    fn adapter(&self) -> &Adapter {
        self.devices[0].adapter()
    }

    fn devices(&self) -> u32 {
        u32::try_from(self.devices.len()).expect("devices are few")
    }

    fn precision(&self) -> Precision {
        Precision::F32
    }

    fn warnings(&self) -> Vec<Warning> {
        self.devices[0].warnings()
    }

    fn non_standard(&self) -> Vec<String> {
        vec![format!("{} devices", self.devices.len())]
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        Ok(Box::new(Guarded::new(guarded(self.trainer(job)).await?)))
    }
}
