//! The threads that Burn computes with: all its loops and the products of the crate `gemm` run in rayon's global pool.
//! Nothing else in this program uses it.

use std::num::NonZero;
use std::sync::OnceLock;

use crate::error::EngineError;

pub(in crate::backends::burn) fn threads() -> usize {
    rayon::current_num_threads()
}

/// The pool is made once in a program and never changes.
///
/// # Errors
/// Another number of threads than this program computes with already.
pub(super) fn set_threads(threads: NonZero<usize>) -> Result<(), EngineError> {
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
