//! Burn on the processor.

#[cfg_attr(target_family = "wasm", path = "processor/one_thread.rs")]
mod pool;

use std::thread;

use burn_tensor::Device;
use results::{Adapter, DeviceKind};

use super::Opened;
use crate::backends::Opening;
use crate::error::EngineError;
pub(super) use pool::threads;

/// What a processor is called where nobody knows its name, as in a browser.
const NAMELESS: &str = "processor";

/// Opens the processor, to compute with as many threads as were asked for.
///
/// # Errors
/// A choice that the processor does not fit, and another number of threads than this program computes with already.
pub(super) fn open(opening: &Opening) -> Result<Opened, EngineError> {
    if let Some(threads) = opening.threads {
        pool::set_threads(threads)?;
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
