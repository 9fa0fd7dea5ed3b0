//! Synchronous data-parallel training: several devices of this machine hold the same network, and each trains on its
//! share of each batch.
//!
//! Gradients are in one arena, so an all-reduce uses one buffer. It is read back from each device, summed on the host
//! in device order, and written back, either after the backward pass or in parts during it. Then every device does the
//! same update, so weights stay identical to the last bit, which is checked before each test. Random numbers, loss and
//! gradients refer to the whole batch. Batch normalization exchanges its statistics and the sums of its gradients. The
//! result equals a single device's with the whole batch, up to the order of additions.

mod trainer;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use async_trait::async_trait;

use super::WgslBackend;
use super::choices::Choices;
use super::plan::TrainingSetup;
use super::trainer::WgslTrainer;
use crate::backends::sharing::{Replicas, of_device};
use crate::backends::{AdapterChoice, Opening};
use crate::clock::Clock;
use crate::error::Result;
use crate::trainer::{Backend, BackendFacts, Trainer, TrainingJob};
use trainer::ParallelTrainer;

/// Several devices with our kernels.
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
        // A software adapter computes on the same cores as the exchange, and measurements show a loss (docs/SCALING.md).
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
            combined: Vec::new(),
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
