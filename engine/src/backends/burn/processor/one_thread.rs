//! A worker of a page is one thread, and Burn is built without others there.

use std::num::NonZero;

use crate::error::EngineError;

pub(in crate::backends::burn) fn threads() -> usize {
    1
}

/// # Errors
/// More than one.
pub(super) fn set_threads(threads: NonZero<usize>) -> Result<(), EngineError> {
    if threads.get() == 1 {
        return Ok(());
    }
    let message = format!("a worker of a page is one thread, and cannot compute with {threads}");
    Err(EngineError::DeviceRefused { message })
}
