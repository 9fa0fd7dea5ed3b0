//! Burn, an established framework for machine learning in Rust, on the same networks.
//!
//! [Burn](https://burn.dev) is the framework that our kernels are compared with. All of its back ends share this code and
//! differ in the device that they open; each is behind the cargo feature of its name, and none is built unless it is asked
//! for.
//!
//! # The network
//!
//! `network.rs` interprets the layer list with Burn's tensor operations and Burn differentiates it; what Burn lacks (local
//! response normalisation, the gates and the optimisers with our constants) is composed from operations. Initial weights,
//! batches, dropout masks and schedules are those of every back end. Batches and masks are prepared on the host by the plain
//! loops, as Burn's own data loader would, and uploaded step by step. Values lie as Burn wants them (`value.rs`); weights are
//! turned once (`value.rs`).
//!
//! Two functions are tried on the device before training (`functions.rs`): tanh, which some graphics drivers compute inexactly
//! where it is small, and GELU, of which Burn's GPU back ends take the gradient of another function. Where one is off it is
//! composed from other operations, and the record's variants say so. A convolution's bias is added after the sum, with which
//! Burn's own kernels begin.
//!
//! # Compiling and tuning
//!
//! Burn compiles when an operation is first used, so a trainer warms up while it is built, with one step and one test that it
//! forgets: the record has their time as `compiling_seconds`, and says which compiler it was. SPIR-V is never given to a
//! software adapter, which crashes on it or computes wrong results. Where a driver lacks what Burn's own compiler needs, Burn
//! takes WGSL without a word; it is asked which compiler it took, and another than the one that the back end is named after
//! is refused.
//!
//! Whoever uses Burn with its defaults gets *fusion* (neighbouring operations become one kernel) and *autotune* (several
//! kernels for an operation are timed, the fastest is kept). The feature `burn-tuned` turns on both. Burn decides at compile
//! time, for every device of the program: CubeCL's configuration knows how much to tune and where to keep the choices, but
//! not "not at all". So the four platform compilers, which no software adapter runs, turn it on by themselves; `burn-wgpu`
//! alone has neither, because tests and browsers run it on software adapters, where a first step with them takes minutes. For
//! a comparison on a real GPU build `--features burn-wgpu,burn-tuned`. A program that has the feature refuses software
//! adapters for all of Burn.
//!
//! A tuned trainer also sees the short batches at the ends of an epoch and a test while it is built, and then trains until
//! three steps in a row take at most a tenth longer than the fastest (at most 64 steps or 60 s): the record has that as
//! `tuning_seconds`, and among its variants whether fusion and autotune were on and after how many steps the time had
//! settled; where it had not, that is a warning as well. Kernels are timed as they are compiled, most of them in the very
//! first step, so that all of it counts as tuning and `compiling_seconds` is absent. A program without the feature says so in
//! every run on a real GPU ([`Warning::Untuned`]). Choices are not kept for the next start (Burn's feature `persistence` is
//! off).
//!
//! # Memory, threads and failures
//!
//! A trainer's memory is what Burn's allocator has reserved for it; on the processor, where nothing reports it, what is known
//! to stay from step to step. `burn-flex` computes in rayon's global pool, `gemm`'s products included; `--threads N` sets its
//! size, and the record has it either way. Burn returns errors where results are read, and panics elsewhere: a panic is an
//! error of that back end's (`failure.rs`), and a comparison goes on with the others.
//!
//! Building `burn-cuda` or `burn-rocm` downloads LLVM 23, as a package of Burn's authors, into the user's data folder; the
//! driver and ROCm's compiler are looked for when the back end is opened, and what is missing is named.

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

use failure::{Guarded, guarded};
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
) -> Result<Box<dyn Backend>, EngineError> {
    #[cfg(feature = "burn-remote")]
    if name == list::BURN_REMOTE && opening.remote.len() > 1 {
        return Ok(Box::new(guarded(remote::open_several(opening, clock)).await?));
    }
    Ok(Box::new(open_one(name, opening, clock).await?))
}

/// The same of a single device.
async fn open_one(name: &'static str, opening: &Opening, clock: Rc<dyn Clock>) -> Result<BurnBackend, EngineError> {
    guarded(open_unguarded(name, opening, clock)).await
}

async fn open_unguarded(
    name: &'static str,
    opening: &Opening,
    clock: Rc<dyn Clock>,
) -> Result<BurnBackend, EngineError> {
    check_precision(name, opening.precision)?;
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

fn check_precision(name: &str, precision: Precision) -> Result<(), EngineError> {
    if precision == Precision::F32 {
        return Ok(());
    }
    Err(EngineError::NoPrecision {
        whose: format!("the back end `{name}`"),
        precision: precision.name(),
        reason: "the networks are built for it in f32 only".to_owned(),
        instead: "f32",
    })
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

    fn repeats_itself(&self) -> bool {
        self.name == list::BURN_FLEX
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

/// What happens on a device when an operation is first used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstUse {
    /// Nothing that would not happen later, too.
    Ordinary,
    /// It is compiled.
    Compiles,
    /// Operations are fused, each of several kernels is compiled and timed, and the fastest is kept for its size.
    CompilesAndTunes,
}

impl FirstUse {
    /// `compiles`: whether the device compiles kernels. `tunes`: whether Burn in this program tunes what it compiles.
    fn new(compiles: bool, tunes: bool) -> Self {
        match (compiles, tunes) {
            (false, _) => Self::Ordinary,
            (true, false) => Self::Compiles,
            (true, true) => Self::CompilesAndTunes,
        }
    }
}
