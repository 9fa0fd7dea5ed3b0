//! Our own kernels on WebGPU, Vulkan, Metal or DX12.
//!
//! A job becomes a [`plan`]: buffers and recordings, as data. The executor turns recordings into commands. A submission
//! contains many steps, with no read-back between them.

mod contents;
mod device;
#[cfg(test)]
mod kernel_tests;
mod layout;
pub mod microbenchmarks;
mod pace;
pub(in crate::backends) mod parallel;
mod plan;
mod products;
mod recording;
mod trainer;
mod tuning;
mod variants;
#[cfg(test)]
pub(in crate::backends) mod workload_tests;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use results::{Adapter, InputMode, Precision};
use sha2::{Digest, Sha256};

use super::opening::{Keeper, Opening};
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::measure::Gauge;
use crate::trainer::{Backend, BackendFacts, Trainer, TrainingJob};
use device::GpuDevice;
use plan::{Plan, TrainingSetup};
use trainer::WgslTrainer;
use tuning::Choices;

/// Name that selects this backend.
pub const NAME: &str = super::list::WGSL;

pub use device::adapters::{Details, Features, Identity, Limits, adapters, details};

/// A device with our kernels.
pub struct WgslBackend {
    device: Rc<GpuDevice>,
    clock: Rc<dyn Clock>,
    /// Fastest kernels found on this device.
    choices: RefCell<Choices>,
    keeper: Option<Arc<dyn Keeper>>,
    facts: BackendFacts,
}

/// Returns the key of a device's choices, which the same device, driver and kernels share.
fn choices_key(device: &GpuDevice) -> String {
    let Adapter { name, vendor, api, driver, .. } = &device.adapter;
    let mut digest = Sha256::new();
    shaders::KERNELS.iter().for_each(|kernel| digest.update(kernel.source(device.form)));
    let digest: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let lanes = device.abilities.subgroup_lanes;
    let small = if device.abilities.small_workgroups { ", small workgroups" } else { "" };
    format!("kernels {digest} of {name}, {vendor}, {api}, {driver}, {:?}, {lanes} lanes{small}", device.form)
}

impl WgslBackend {
    /// Opens the matching adapter.
    ///
    /// # Errors
    /// No such adapter, one that does not compute in this precision, or a driver that refuses to open it.
    pub async fn open(opening: &Opening, clock: Rc<dyn Clock>) -> Result<Self> {
        let Opening { precision, adapter, keeper, without, input, .. } = opening.clone();
        let input = input.unwrap_or(InputMode::Resident);
        if precision == Precision::F64 {
            return Err(EngineError::NoPrecision {
                whose: format!("the backend `{NAME}`"),
                precision: precision.name(),
                reason: "WebGPU has no numbers of 64 bits".to_owned(),
                instead: "f32",
            });
        }
        let device = GpuDevice::open(&adapter, precision, None, &without).await?;
        let kept = keeper.as_ref().and_then(|keeper| keeper.recall(&choices_key(&device)));
        let choices = Choices::recalled(device.abilities, kept.as_deref().unwrap_or_default());
        let backend = Self { choices: RefCell::new(choices), keeper, ..Self::on(Rc::new(device), clock) };
        Ok(backend.with_input(input))
    }

    /// Creates a backend without known choices or storage.
    fn on(device: Rc<GpuDevice>, clock: Rc<dyn Clock>) -> Self {
        let choices = RefCell::new(Choices::new(device.abilities));
        let facts = BackendFacts::new(NAME, device.adapter.clone(), device.precision);
        Self { device, clock, choices, keeper: None, facts }.with_input(InputMode::Resident)
    }

    fn with_input(mut self, input: InputMode) -> Self {
        (self.facts.input, self.facts.repeats_itself) = (input, input == InputMode::Resident);
        self
    }
}

#[async_trait(?Send)]
impl Backend for WgslBackend {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    fn predicted_bytes(&self, job: &TrainingJob) -> Result<Option<u64>> {
        self.planned_bytes(job, TrainingSetup::of_input(self.facts.input)).map(Some)
    }

    async fn gauge(&self) -> Result<Option<Box<dyn Gauge>>> {
        let gauge = microbenchmarks::Gauge::on(Rc::clone(&self.device), Rc::clone(&self.clock)).await?;
        Ok(Some(Box::new(gauge)))
    }

    async fn recover(&self) -> Result<()> {
        self.device.recover().await
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(self.build_with(job, TrainingSetup::of_input(self.facts.input)).await?))
    }
}

impl WgslBackend {
    fn planned_bytes(&self, job: &TrainingJob, setup: TrainingSetup) -> Result<u64> {
        Ok(Plan::new(job, setup, self.device.largest_binding_bytes(), &self.choices.borrow())?.bytes())
    }

    async fn build_with(&self, job: &TrainingJob, setup: TrainingSetup) -> Result<WgslTrainer> {
        // Nothing else is built meanwhile, because networks are trained one after the other.
        let mut choices = self.choices.take();
        let (device, clock) = (Rc::clone(&self.device), Rc::clone(&self.clock));
        let trainer = WgslTrainer::new(device, clock, &mut choices, job, setup).await;
        let was_tuned = trainer.as_ref().is_ok_and(|trainer| trainer.facts().tuning_seconds.is_some());
        if let (Some(keeper), true) = (&self.keeper, was_tuned) {
            keeper.keep(&choices_key(&self.device), &choices.text());
        }
        self.choices.replace(choices);
        trainer
    }
}
