//! Conversion of Burn's errors and panics to engine errors.
//!
//! Burn has two kinds of error: the device is permanently unusable, and everything else, described only by the message.
//! Out of memory belongs to the second kind, with a message from CubeCL, wgpu or a driver.
//!
//! Burn also panics, for example when a driver rejects a kernel. Such a panic is an error of one backend and must not
//! discard the measurements of others. A web page cannot catch it: its worker ends and reports it.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use async_trait::async_trait;
use burn_tensor::ExecutionError;
use results::StateBytes;

use crate::error::{EngineError, Result};
use crate::trainer::{EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts};
use crate::training::Segments;

/// Phrases that indicate lack of memory, in lower case and with spaces. The last one is part of HIP's error name.
const OUT_OF_MEMORY_PHRASES: [&str; 4] = ["out of memory", "out of device memory", "can't allocate", "outofmemory"];

pub(super) fn refused(error: ExecutionError) -> EngineError {
    let message = error.to_string();
    #[cfg(feature = "burn-remote")]
    if is_broken_link(&message) {
        return EngineError::LinkLost;
    }
    // A lost device may report a lack of memory.
    if error.is_device_poisoned() {
        return EngineError::DeviceLost { message };
    }
    let words = error.reason().to_lowercase().replace(['-', '_'], " ");
    if OUT_OF_MEMORY_PHRASES.iter().any(|full| words.contains(full)) {
        return EngineError::OutOfMemory { message };
    }
    EngineError::DeviceRefused { message }
}

/// Returns true if the message says that the server's answer will never arrive. Burn gives no other indication; a test
/// that ends a server during training checks the wording.
#[cfg(feature = "burn-remote")]
pub(super) fn is_broken_link(message: &str) -> bool {
    message.contains("RecvError") || message.contains("Remote response channel closed")
}

pub(super) async fn guarded<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut work = pin!(work);
    poll_fn(|context| {
        // State left inconsistent by a panic is not used again.
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|panic| {
            Poll::Ready(Err(EngineError::Panicked { message: words(panic.as_ref()).to_owned() }))
        })
    })
    .await
}

pub(super) fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

/// Wrapper that turns a trainer's panics into errors. After a panic the trainer is neither called nor dropped, because
/// freeing its memory might panic again.
pub(super) struct Guarded<T> {
    trainer: Option<T>,
    facts: TrainerFacts,
}

impl<T: Trainer> Guarded<T> {
    pub(super) fn new(trainer: T) -> Self {
        Self { facts: trainer.facts(), trainer: Some(trainer) }
    }

    async fn call<R>(&mut self, work: impl AsyncFnOnce(&mut T) -> Result<R>) -> Result<R> {
        let Some(trainer) = &mut self.trainer else {
            return Err(EngineError::Panicked { message: "it has panicked before".to_owned() });
        };
        let result = guarded(work(trainer)).await;
        if matches!(result, Err(EngineError::Panicked { .. })) {
            std::mem::forget(self.trainer.take());
        }
        result
    }
}

#[async_trait(?Send)]
impl<T: Trainer> Trainer for Guarded<T> {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        self.call(async |trainer| trainer.train_steps(steps).await).await
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        self.call(async |trainer| trainer.evaluate(set, samples).await).await
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        self.call(async |trainer| trainer.weights().await).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        self.call(async |trainer| trainer.gradients().await).await
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>> {
        self.call(async |trainer| trainer.logits(rows).await).await
    }

    fn begin_segment(&mut self, seed: u32) {
        self.trainer.iter_mut().for_each(|trainer| trainer.begin_segment(seed));
    }

    async fn state(&mut self) -> Result<StateBytes> {
        self.call(async |trainer| trainer.state().await).await
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<()> {
        self.call(async |trainer| trainer.restore(state, step, segments).await).await
    }

    fn facts(&self) -> TrainerFacts {
        self.facts.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart_by_poison_and_by_words() {
        for reason in ["cuCtxSynchronize failed with status 700", "wgpu: Unknown: out of memory"] {
            let error = refused(ExecutionError::device_poisoned(reason));
            assert!(matches!(&error, EngineError::DeviceLost { message } if message.contains(reason)), "{error}");
        }
        for reason in [
            // CubeCL's errors of allocations and launches, alone and as a cause.
            "out of device memory allocating 1099511627776 bytes\nBacktrace",
            "An IO error happened\nCaused by:\n  can't allocate buffer of size: 1099511627776",
            "An out-of-memory error happened during launch\nCaused by:\n  none left",
            "Can't allocate 4096 bytes: every page size the memory tracks still holds live allocations",
            // Messages of wgpu and drivers.
            "wgpu error: Out of Memory",
            "ERROR_OUT_OF_DEVICE_MEMORY",
            "CUDA_ERROR_OUT_OF_MEMORY",
            "hipErrorOutOfMemory",
        ] {
            let error = refused(ExecutionError::with_context(reason));
            assert!(matches!(&error, EngineError::OutOfMemory { message } if message.contains(reason)), "{error}");
        }
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
