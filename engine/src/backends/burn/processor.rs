//! Burn on the processor.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

use burn_tensor::Device;
use results::{Adapter, DeviceKind};

use super::Opened;
use crate::backends::AdapterChoice;
use crate::error::EngineError;

/// Opens the processor, to compute with so many threads.
///
/// # Errors
/// A choice that the processor does not fit, and another number of threads than this program computes with already.
pub(super) fn open(choice: &AdapterChoice, threads: Option<NonZero<usize>>) -> Result<Opened, EngineError> {
    if let Some(threads) = threads {
        set_threads(threads)?;
    }
    let adapter = Adapter {
        name: format!("processor (Burn, {})", cores()),
        vendor: String::new(),
        architecture: std::env::consts::ARCH.to_owned(),
        kind: DeviceKind::Cpu,
        api: "CPU".to_owned(),
        driver: String::new(),
        software: false,
    };
    choice.choose_processor(&adapter)?;
    Ok(Opened { device: Device::flex(), adapter, compiler: "rustc", compiles: false })
}

/// Threads that Burn computes with: all its loops and the products of the crate `gemm` run in rayon's global pool.
/// Nothing else in this program uses it.
pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

/// The pool is made once in a program and never changes.
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

/// The environment may have made rayon's pool smaller than the machine, without anybody having asked us.
fn cores() -> String {
    match threads() {
        1 => "1 thread".to_owned(),
        count if thread::available_parallelism().is_ok_and(|cores| cores.get() == count) => "all cores".to_owned(),
        count => format!("{count} threads"),
    }
}
