//! Burn's panics as errors.
//!
//! Burn returns an error where a result is read, and panics in many other places: a driver that refuses a kernel, a
//! thread of its own that has ended. Such a panic is one back end's, and must not take along what others have measured.
//! (In the page nothing can be caught: its worker ends and says so.)

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use async_trait::async_trait;
use results::StateBytes;

use crate::error::EngineError;
use crate::trainer::{EvaluationSet, Preparation, StepReport, TestReport, Trainer, TrainerFacts};
use crate::training::Segments;

/// What `work` returns.
///
/// # Errors
/// Its own, and its panic, which has been printed.
pub(super) async fn guarded<T>(work: impl Future<Output = Result<T, EngineError>>) -> Result<T, EngineError> {
    let mut work = pin!(work);
    poll_fn(|context| {
        // What a panic may leave half changed is not used again.
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|panic| Poll::Ready(Err(panicked(panic.as_ref()))))
    })
    .await
}

fn panicked(panic: &(dyn Any + Send)) -> EngineError {
    EngineError::Panicked { message: words(panic).to_owned() }
}

/// What a panic said.
pub(super) fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it did not say why")
}

/// A trainer whose panics are errors. Of one that has panicked nothing more is asked; not even that it frees its memory,
/// which might panic again.
pub(super) struct Guarded<T> {
    /// Absent once it has panicked.
    trainer: Option<T>,
    facts: TrainerFacts,
}

impl<T: Trainer> Guarded<T> {
    pub(super) fn new(trainer: T) -> Self {
        let facts = TrainerFacts::of(&trainer);
        Self { trainer: Some(trainer), facts }
    }

    async fn call<R>(&mut self, work: impl AsyncFnOnce(&mut T) -> Result<R, EngineError>) -> Result<R, EngineError> {
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
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        self.call(async |trainer| trainer.train_steps(steps).await).await
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.call(async |trainer| trainer.evaluate(set, samples).await).await
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.call(async |trainer| trainer.weights().await).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.call(async |trainer| trainer.gradients().await).await
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        self.call(async |trainer| trainer.logits(rows).await).await
    }

    fn begin_segment(&mut self, seed: u32) {
        if let Some(trainer) = &mut self.trainer {
            trainer.begin_segment(seed);
        }
    }

    async fn state(&mut self) -> Result<StateBytes, EngineError> {
        self.call(async |trainer| trainer.state().await).await
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<(), EngineError> {
        self.call(async |trainer| trainer.restore(state, step, segments).await).await
    }

    fn preparation(&self) -> Preparation {
        self.facts.preparation
    }

    fn device_memory_bytes(&self) -> u64 {
        self.facts.device_memory_bytes
    }

    fn variants(&self) -> Vec<String> {
        self.facts.variants.clone()
    }
}
