//! Plain loops in single or double precision: the slow, obviously correct twin of all other backends.

mod classifier;
mod examiner;
mod network;
mod trainer;

use std::marker::PhantomData;

use async_trait::async_trait;
use half::f16;
use results::{Adapter, Precision};
use shaders::Real;

use super::{REFERENCE, processor};
use crate::error::EngineError;
use crate::trainer::{Backend, Trainer, TrainingJob};
pub use classifier::Classifier;
pub use examiner::{Examiner, TrainedPart};
#[cfg(feature = "wgsl")]
pub(super) use network::{recurrent_backward, recurrent_forward};
use trainer::ReferenceTrainer;

pub struct ReferenceBackend<T> {
    adapter: Adapter,
    weights: StartWeights,
    precision: PhantomData<T>,
}

#[derive(Clone, Copy)]
enum StartWeights {
    OfTheJob,
    RoundedToF16,
}

impl<T: Real> ReferenceBackend<T> {
    pub fn new() -> Self {
        let adapter = processor("processor (plain loops, one core)".to_owned());
        Self { adapter, weights: StartWeights::OfTheJob, precision: PhantomData }
    }

    /// Starts training with weights rounded to f16, to measure the effect of such rounding.
    pub(crate) fn from_weights_in_f16() -> Self {
        Self { weights: StartWeights::RoundedToF16, ..Self::new() }
    }
}

impl<T: Real> Default for ReferenceBackend<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait(?Send)]
impl<T: Real> Backend for ReferenceBackend<T> {
    fn name(&self) -> &'static str {
        REFERENCE
    }

    fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    fn precision(&self) -> Precision {
        if size_of::<T>() == size_of::<f64>() { Precision::F64 } else { Precision::F32 }
    }

    /// Returns false for float64, because a state has float32 numbers.
    fn repeats_itself(&self) -> bool {
        self.precision() == Precision::F32
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        let mut weights = job.initial_weights()?;
        if matches!(self.weights, StartWeights::RoundedToF16) {
            weights.iter_mut().flatten().for_each(|weight| *weight = f16::from_f32(*weight).to_f32());
        }
        Ok(Box::new(ReferenceTrainer::<T>::from_weights(job, weights)?))
    }
}
