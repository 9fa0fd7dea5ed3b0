//! [Burn](https://burn.dev), the framework that our kernels are compared with. Its backends share this code and differ
//! only in the device. Each has a Cargo feature with its name.
//!
//! # The network
//!
//! `network.rs` interprets the stages of a model with Burn's tensor operations, and Burn differentiates them. What Burn
//! lacks (local response normalization, gates and optimizers with our constants) is composed from them. Batches and
//! dropout masks are prepared on the host and uploaded step by step, as Burn's own data loader does. `functions.rs`
//! tests two functions on the device before training and replaces inaccurate ones; the record's variants name them.
//!
//! # Compiling and tuning
//!
//! Burn compiles an operation on first use, so building a trainer includes a warm-up: one step and one test, both
//! discarded. The record stores the time as `compiling_seconds`. SPIR-V is rejected on software adapters, which crash
//! on it or compute wrong results.
//!
//! Burn enables fusion and autotune by default; here, the feature `burn-tuned` enables both. They can only be chosen at
//! compile time, for all devices of a program. The four platform compilers enable them, because no software adapter
//! runs these; `burn-wgpu` does not, because the first step on a software adapter would take minutes. For a comparison
//! on a real GPU, build with `--features burn-wgpu,burn-tuned`. Such a program rejects software adapters, and a program
//! without the feature warns on a GPU ([`Warning::Untuned`]).
//!
//! A tuned trainer also runs the short batches at the end of an epoch and a test, and then trains until the step time
//! settles. Burn times kernels as it compiles them, so all of this counts as `tuning_seconds`. Tuning results are not
//! kept for the next start.
//!
//! # Memory and threads
//!
//! A trainer's memory is the memory reserved by Burn's allocator. The processor does not report it; there it is the
//! size of the tensors kept between steps. `burn-flex` computes in rayon's global pool with `--threads N` threads.
//!
//! Building `burn-cuda` or `burn-rocm` downloads LLVM 23, packaged by Burn's authors, into the user's data folder. The
//! driver and ROCm's compiler are located when the backend is opened.

#[cfg(any(feature = "burn-cuda", feature = "burn-rocm"))]
mod cuda_rocm;
mod failure;
mod functions;
#[cfg(any(feature = "burn-wgpu", feature = "burn-vulkan", feature = "burn-metal"))]
mod graphics;
mod network;
#[cfg(feature = "burn-remote")]
mod parallel;
#[cfg(feature = "burn-flex")]
mod processor;
#[cfg(feature = "burn-remote")]
pub mod remote;
#[cfg(all(test, feature = "wgsl"))]
mod tests;
mod trainer;
mod updater;
mod value;

use std::rc::Rc;

use async_trait::async_trait;
use burn_tensor::Device;
use results::{Adapter, Precision, Warning};

use super::{Opening, check_f32, list};
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::trainer::{Backend, BackendFacts, Trainer, TrainingJob};

use failure::{Guarded, guarded};
use trainer::BurnTrainer;

const VERSION: &str = "0.22.1";
/// True if Burn fuses operations and autotunes kernels, on every device that compiles.
const TUNED: bool = cfg!(feature = "burn-tuned");

pub(super) struct BurnBackend {
    facts: BackendFacts,
    device: Device,
    /// Lines of the record on settings that affect Burn's speed.
    settings: Vec<String>,
    first_use: FirstUse,
    clock: Rc<dyn Clock>,
}

struct Opened {
    device: Device,
    adapter: Adapter,
    compiler: &'static str,
    compiles: bool,
    /// Number of threads, on the processor.
    threads: Option<u32>,
}

pub(super) async fn open(name: &'static str, opening: &Opening, clock: Rc<dyn Clock>) -> Result<Box<dyn Backend>> {
    #[cfg(feature = "burn-remote")]
    if name == list::BURN_REMOTE {
        return guarded(remote::open(opening, clock)).await;
    }
    Ok(Box::new(open_one(name, opening, clock).await?))
}

async fn open_one(name: &'static str, opening: &Opening, clock: Rc<dyn Clock>) -> Result<BurnBackend> {
    let opening = async {
        check_precision(name, opening.precision)?;
        let opened: Result<Opened> = match name {
            #[cfg(feature = "burn-flex")]
            list::BURN_FLEX => processor::open(opening),
            #[cfg(feature = "burn-wgpu")]
            list::BURN_WGPU => graphics::open(&opening.adapter, graphics::Compiler::WGSL).await,
            #[cfg(feature = "burn-vulkan")]
            list::BURN_VULKAN => graphics::open(&opening.adapter, graphics::Compiler::SPIR_V).await,
            #[cfg(feature = "burn-metal")]
            list::BURN_METAL => graphics::open(&opening.adapter, graphics::Compiler::METAL).await,
            #[cfg(feature = "burn-cuda")]
            list::BURN_CUDA => {
                cuda_rocm::open(&opening.adapter, burn_tensor::DeviceType::Cuda, ["NVIDIA", "CUDA", "PTX"])
            }
            #[cfg(feature = "burn-rocm")]
            list::BURN_ROCM => cuda_rocm::open(&opening.adapter, burn_tensor::DeviceType::Rocm, ["AMD", "ROCm", "HIP"]),
            // Names without a feature in this build.
            _ => Err(EngineError::BackendNotBuilt { name }),
        };
        Ok(BurnBackend::new(name, opened?, clock))
    };
    guarded(opening).await
}

fn check_precision(name: &str, precision: Precision) -> Result<()> {
    check_f32(format!("the backend `{name}`"), precision, "its networks are built in f32 only")
}

impl BurnBackend {
    fn new(name: &'static str, opened: Opened, clock: Rc<dyn Clock>) -> Self {
        let Opened { device, adapter, compiler, compiles, threads } = opened;
        let first_use = FirstUse::new(compiles, TUNED);
        let tuned = if first_use == FirstUse::CompilesAndTunes { "on" } else { "off" };
        let mut settings = vec![
            format!("burn: {VERSION}"),
            format!("burn compiler: {compiler}"),
            format!("burn fusion: {tuned}"),
            format!("burn autotune: {tuned}"),
            "burn batches: prepared on the host".to_owned(),
        ];
        settings.extend(threads.map(|threads| format!("threads: {threads}")));
        let facts = BackendFacts {
            threads,
            repeats_itself: name == list::BURN_FLEX,
            warnings: untuned(name, first_use, &adapter),
            ..BackendFacts::new(name, adapter, Precision::F32)
        };
        Self { facts, device, settings, first_use, clock }
    }
}

/// Warns of a GPU that could be tuned if the build had tuning.
fn untuned(backend: &str, first_use: FirstUse, adapter: &Adapter) -> Vec<Warning> {
    let is_untuned = first_use == FirstUse::Compiles && !adapter.software;
    is_untuned.then(|| Warning::Untuned { backend: backend.to_owned() }).into_iter().collect()
}

#[async_trait(?Send)]
impl Backend for BurnBackend {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        let (device, settings) = (self.device.clone(), self.settings.clone());
        let trainer = BurnTrainer::new(device, job, settings, self.first_use, self.clock.as_ref());
        Ok(Box::new(Guarded::new(guarded(trainer).await?)))
    }
}

/// Cost of the first use of an operation on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstUse {
    Ordinary,
    Compiles,
    CompilesAndTunes,
}

impl FirstUse {
    fn new(compiles: bool, tunes: bool) -> Self {
        match (compiles, tunes) {
            (false, _) => Self::Ordinary,
            (true, false) => Self::Compiles,
            (true, true) => Self::CompilesAndTunes,
        }
    }
}
