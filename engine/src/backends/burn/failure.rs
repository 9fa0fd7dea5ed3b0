//! What Burn's errors mean.
//!
//! Burn has two kinds: the device is unusable from now on, and everything else, which only the message describes. A
//! device that is out of memory is among the latter, in the words of CubeCL, of wgpu or of a driver that they quote.

use burn_tensor::ExecutionError;

use crate::error::EngineError;

/// Words that say that there is no memory left, in lower case. The last three are names of drivers' errors.
const FULL: [&str; 7] = [
    "out of memory",
    "out-of-memory",
    "out of device memory",
    "can't allocate",
    "out_of_memory",
    "out_of_device_memory",
    "outofmemory",
];

/// The engine's error for one of Burn's.
pub(super) fn refused(error: ExecutionError) -> EngineError {
    let message = error.to_string();
    #[cfg(feature = "burn-remote")]
    if is_broken_link(&message) {
        return EngineError::LinkLost;
    }
    // A device that is gone may say that it has no memory.
    if error.is_device_poisoned() {
        return EngineError::DeviceLost { message };
    }
    let words = error.reason().to_lowercase();
    if FULL.iter().any(|full| words.contains(full)) {
        return EngineError::OutOfMemory { message };
    }
    EngineError::DeviceRefused { message }
}

/// Whether Burn's message says that the server's answer will never come. It has no other sign for that; a test that
/// ends a server in the middle of training checks the words.
#[cfg(feature = "burn-remote")]
pub(super) fn is_broken_link(message: &str) -> bool {
    message.contains("RecvError") || message.contains("Remote response channel closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poisoned_device_is_a_lost_one_whatever_else_it_says() {
        for reason in ["cuCtxSynchronize failed with status 700", "wgpu: Unknown: out of memory"] {
            let error = refused(ExecutionError::device_poisoned(reason));
            assert!(matches!(&error, EngineError::DeviceLost { message } if message.contains(reason)), "{error}");
        }
    }

    #[test]
    fn a_device_that_is_full_says_so_in_many_words() {
        for reason in [
            // CubeCL's errors of allocations and launches, alone and as the cause of others.
            "out of device memory allocating 1099511627776 bytes\nBacktrace",
            "An IO error happened\nCaused by:\n  can't allocate buffer of size: 1099511627776",
            "An out-of-memory error happened during launch\nCaused by:\n  none left",
            "Can't allocate 4096 bytes: every page size the memory tracks still holds live allocations",
            // What wgpu and the drivers say.
            "wgpu error: Out of Memory",
            "ERROR_OUT_OF_DEVICE_MEMORY",
            "CUDA_ERROR_OUT_OF_MEMORY",
            "hipErrorOutOfMemory",
        ] {
            let error = refused(ExecutionError::with_context(reason));
            assert!(matches!(&error, EngineError::OutOfMemory { message } if message.contains(reason)), "{error}");
        }
    }

    #[test]
    fn anything_else_is_refused_work() {
        for error in [
            ExecutionError::generic("a kernel cannot be compiled"),
            ExecutionError::with_context("the device ran out of registers; memory is fine"),
        ] {
            assert!(matches!(refused(error), EngineError::DeviceRefused { .. }));
        }
    }

    #[cfg(feature = "burn-remote")]
    #[test]
    fn an_answer_that_will_never_come_is_a_broken_link() {
        let error = refused(ExecutionError::generic("Failed to read tensor: RecvError(())"));
        assert!(matches!(error, EngineError::LinkLost), "{error}");
    }
}
