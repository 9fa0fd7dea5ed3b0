//! Burn on the processor.

use std::num::NonZero;
#[cfg(not(target_family = "wasm"))]
use std::sync::OnceLock;
use std::thread;

use burn_tensor::Device;
use results::{Adapter, DeviceKind};

use super::Opened;
use crate::backends::Opening;
use crate::error::EngineError;

/// What a processor is called where nobody knows its name, as in a browser.
const NAMELESS: &str = "processor";

/// Opens the processor, to compute with as many threads as were asked for.
///
/// # Errors
/// A choice that the processor does not fit, and another number of threads than this program computes with already.
pub(super) fn open(opening: &Opening) -> Result<Opened, EngineError> {
    if let Some(threads) = opening.threads {
        set_threads(threads)?;
    }
    let adapter = Adapter {
        name: format!("{} (Burn, {})", opening.processor.as_deref().unwrap_or(NAMELESS), cores()),
        vendor: String::new(),
        architecture: std::env::consts::ARCH.to_owned(),
        kind: DeviceKind::Cpu,
        api: "CPU".to_owned(),
        driver: String::new(),
        software: false,
    };
    opening.adapter.choose_processor(&adapter)?;
    Ok(Opened { device: Device::flex(), adapter, compiler: "rustc", compiles: false })
}

/// The environment may have made rayon's pool smaller than the machine, without anybody having asked us.
fn cores() -> String {
    match threads() {
        1 => "1 thread".to_owned(),
        count if thread::available_parallelism().is_ok_and(|cores| cores.get() == count) => "all cores".to_owned(),
        count => format!("{count} threads"),
    }
}

/// Number of threads. All of Burn's loops, and the products of `gemm`, run in rayon's global pool.
#[cfg(not(target_family = "wasm"))]
pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Burn has one thread in a page's worker.
#[cfg(target_family = "wasm")]
pub(super) fn threads() -> usize {
    1
}

/// Makes the pool, which is possible only once in a program.
#[cfg(not(target_family = "wasm"))]
fn set_threads(threads: NonZero<usize>) -> Result<(), EngineError> {
    static SET: OnceLock<NonZero<usize>> = OnceLock::new();
    match rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global() {
        Ok(()) => {
            SET.get_or_init(|| threads);
            Ok(())
        }
        Err(_) if SET.get() == Some(&threads) => Ok(()),
        Err(error) => {
            let message = format!("the processor cannot compute with {threads} threads in this program: {error}");
            Err(EngineError::DeviceRefused { message })
        }
    }
}

#[cfg(target_family = "wasm")]
fn set_threads(threads: NonZero<usize>) -> Result<(), EngineError> {
    if threads.get() == 1 {
        return Ok(());
    }
    let message = format!("a worker of a page is one thread, and cannot compute with {threads}");
    Err(EngineError::DeviceRefused { message })
}
