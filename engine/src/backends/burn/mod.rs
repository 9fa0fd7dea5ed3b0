//! Burn, an established framework for machine learning in Rust, on the same networks.
//!
//! The layer list is interpreted with Burn's tensor operations and differentiated by Burn; initial weights, batches,
//! dropout masks and the constants of the optimisers are ours. Batches and masks are prepared on the host by the plain
//! loops, as Burn's own data loader would, and uploaded step by step. All back ends share this code and differ
//! in the device that they open.

mod arrangement;
#[cfg(any(feature = "burn-cuda", feature = "burn-rocm"))]
mod cuda_rocm;
mod failure;
mod first_use;
mod functions;
#[cfg(any(feature = "burn-wgpu", feature = "burn-vulkan", feature = "burn-metal"))]
mod graphics;
mod guard;
mod leaves;
mod network;
#[cfg(feature = "burn-flex")]
mod processor;
#[cfg(feature = "burn-remote")]
pub(super) mod remote;
#[cfg(all(test, feature = "wgsl"))]
mod tests;
mod trainer;
mod updater;
mod value;

use std::rc::Rc;

use async_trait::async_trait;
use burn_tensor::Device;
use results::{Adapter, Precision, Warning};

use super::{Opening, list};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{Backend, Trainer, TrainingJob};
use first_use::FirstUse;
use guard::{Guarded, guarded};
use trainer::BurnTrainer;

/// Version of Burn that this engine is built with.
const VERSION: &str = "0.22.1";
/// Whether Burn fuses operations and chooses among kernels, on every device that compiles any: one cargo feature
/// turns on both, for the whole program.
const TUNED: bool = cfg!(feature = "burn-tuned");

/// A device that Burn computes on.
pub(super) struct BurnBackend {
    name: &'static str,
    opened: Opened,
    /// Settings that the server of a remote device reported; empty on this machine.
    reported: Vec<String>,
    /// What happens when an operation is first used.
    first_use: FirstUse,
    clock: Rc<dyn Clock>,
}

/// A Burn device, and what is known about it.
struct Opened {
    device: Device,
    adapter: Adapter,
    /// What makes its kernels.
    compiler: &'static str,
    /// Whether kernels are compiled when they are first used.
    compiles: bool,
}

/// Opens the Burn back end of this name. The clock times the first use of its operations.
///
/// # Errors
/// No device that fits, one that Burn cannot use or panics about, and any other precision than f32.
pub(super) async fn open(
    name: &'static str,
    opening: &Opening,
    clock: Rc<dyn Clock>,
) -> Result<BurnBackend, EngineError> {
    guarded(open_unguarded(name, opening, clock)).await
}

async fn open_unguarded(
    name: &'static str,
    opening: &Opening,
    clock: Rc<dyn Clock>,
) -> Result<BurnBackend, EngineError> {
    if opening.precision != Precision::F32 {
        return Err(EngineError::NoPrecision {
            whose: format!("the back end `{name}`"),
            precision: opening.precision.name(),
            reason: "the networks are built for it in f32 only",
            instead: "f32",
        });
    }
    let opened: Result<Opened, EngineError> = match name {
        #[cfg(feature = "burn-flex")]
        list::BURN_FLEX => processor::open(opening),
        #[cfg(feature = "burn-wgpu")]
        list::BURN_WGPU => graphics::open(&opening.adapter, graphics::Compiler::Wgsl).await,
        #[cfg(feature = "burn-vulkan")]
        list::BURN_VULKAN => graphics::open(&opening.adapter, graphics::Compiler::SpirV).await,
        #[cfg(feature = "burn-metal")]
        list::BURN_METAL => graphics::open(&opening.adapter, graphics::Compiler::Metal).await,
        #[cfg(feature = "burn-cuda")]
        list::BURN_CUDA => cuda_rocm::open(&opening.adapter, cuda_rocm::Platform::Cuda),
        #[cfg(feature = "burn-rocm")]
        list::BURN_ROCM => cuda_rocm::open(&opening.adapter, cuda_rocm::Platform::Rocm),
        #[cfg(feature = "burn-remote")]
        list::BURN_REMOTE => return remote::open(opening, clock).await,
        // Names that this build has no features for.
        _ => Err(list::not_built(name)),
    };
    let opened = opened?;
    let first_use = FirstUse::new(opened.compiles, TUNED);
    Ok(BurnBackend { name, opened, reported: Vec::new(), first_use, clock })
}

impl BurnBackend {
    /// What decides how fast Burn is, for the record.
    fn settings(&self) -> Vec<String> {
        if !self.reported.is_empty() {
            return self.reported.clone();
        }
        let tuned = if self.first_use == FirstUse::CompilesAndTunes { "on" } else { "off" };
        let ours = [
            format!("burn: {VERSION}"),
            format!("burn compiler: {}", self.opened.compiler),
            format!("burn fusion: {tuned}"),
            format!("burn autotune: {tuned}"),
            "burn batches: prepared on the host".to_owned(),
        ];
        ours.into_iter().chain(self.threads()).collect()
    }

    /// How many threads Burn computes with on the processor; elsewhere it has no such number.
    fn threads(&self) -> Option<String> {
        #[cfg(feature = "burn-flex")]
        if self.name == list::BURN_FLEX {
            return Some(format!("threads: {}", processor::threads()));
        }
        None
    }
}

/// Whether Burn could fuse and tune here, and was built without: software adapters are never tuned for.
fn is_untuned_gpu(first_use: FirstUse, adapter: &Adapter) -> bool {
    first_use == FirstUse::Compiles && !adapter.software
}

#[async_trait(?Send)]
impl Backend for BurnBackend {
    fn name(&self) -> &'static str {
        self.name
    }

    fn adapter(&self) -> &Adapter {
        &self.opened.adapter
    }

    fn precision(&self) -> Precision {
        Precision::F32
    }

    fn warnings(&self) -> Vec<Warning> {
        let untuned = is_untuned_gpu(self.first_use, &self.opened.adapter);
        untuned.then(|| Warning::Untuned { backend: self.name.to_owned() }).into_iter().collect()
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        let (device, first_use) = (self.opened.device.clone(), self.first_use);
        let trainer = BurnTrainer::new(device, job, self.settings(), first_use, self.clock.as_ref());
        Ok(Box::new(Guarded::new(guarded(trainer).await?)))
    }
}
