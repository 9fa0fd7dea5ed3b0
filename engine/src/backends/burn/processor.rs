#[cfg(not(target_family = "wasm"))]
use std::error::Error as _;
use std::num::NonZero;
use std::thread;

use burn_tensor::Device;

use super::Opened;
use crate::backends::{Opening, processor};
use crate::error::{EngineError, Result};

pub(super) fn open(opening: &Opening) -> Result<Opened> {
    if let Some(threads) = opening.threads {
        set_threads(threads)?;
    }
    let name = opening.processor.as_deref().unwrap_or("processor");
    let adapter = processor(format!("{name} (Burn, {})", cores()));
    opening.adapter.choose_processor(&adapter)?;
    let threads = u32::try_from(threads()).ok();
    Ok(Opened { device: Device::flex(), adapter, compiler: "rustc", compiles: false, threads })
}

/// Describes the number of cores. The environment may have limited rayon's pool.
fn cores() -> String {
    match threads() {
        1 => "1 thread".to_owned(),
        count if thread::available_parallelism().is_ok_and(|cores| cores.get() == count) => "all cores".to_owned(),
        count => format!("{count} threads"),
    }
}

/// Returns the number of threads of rayon's global pool, which runs Burn's loops and the products of `gemm`.
fn threads() -> usize {
    #[cfg(not(target_family = "wasm"))]
    return rayon::current_num_threads();
    #[cfg(target_family = "wasm")]
    return 1;
}

/// Creates the pool, which is possible only once per program.
#[cfg(not(target_family = "wasm"))]
fn set_threads(wanted: NonZero<usize>) -> Result<()> {
    match rayon::ThreadPoolBuilder::new().num_threads(wanted.get()).build_global() {
        Err(error) if error.source().is_some() || threads() != wanted.get() => Err(EngineError::refused(format!(
            "the processor cannot compute with {wanted} threads in this program: {error}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(target_family = "wasm")]
fn set_threads(threads: NonZero<usize>) -> Result<()> {
    if threads.get() == 1 {
        return Ok(());
    }
    Err(EngineError::refused(format!("a web worker has one thread, so it cannot compute with {threads}")))
}
