//! Plain loops in single or double precision: the slow, obviously correct twin of all other backends.

mod examiner;
mod network;
mod trainer;
mod writer;

use std::marker::PhantomData;

use async_trait::async_trait;
use half::f16;
use results::Precision;
use shaders::Real;

use super::{REFERENCE, processor};
use crate::error::Result;
use crate::trainer::{Backend, BackendFacts, Trainer, TrainingJob};
pub use examiner::{Examiner, TestedState, TrainedPart};
#[cfg(feature = "wgsl")]
pub(super) use network::{recurrent_backward, recurrent_forward};
pub use trainer::Classifier;
use trainer::ReferenceTrainer;
pub use writer::Writer;

pub struct ReferenceBackend<T> {
    facts: BackendFacts,
    /// True if training starts from weights rounded to f16.
    rounds_to_f16: bool,
    precision: PhantomData<T>,
}

impl<T: Real> ReferenceBackend<T> {
    pub fn new() -> Self {
        let adapter = processor("processor (plain loops, one core)".to_owned());
        let precision = if size_of::<T>() == size_of::<f64>() { Precision::F64 } else { Precision::F32 };
        // A state has float32 numbers.
        let repeats_itself = precision == Precision::F32;
        let facts = BackendFacts { repeats_itself, ..BackendFacts::new(REFERENCE, adapter, precision) };
        Self { facts, rounds_to_f16: false, precision: PhantomData }
    }

    /// Starts training with weights rounded to f16, to measure the effect of such rounding.
    pub(crate) fn from_weights_in_f16() -> Self {
        Self { rounds_to_f16: true, ..Self::new() }
    }
}

impl<T: Real> Default for ReferenceBackend<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait(?Send)]
impl<T: Real> Backend for ReferenceBackend<T> {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        let mut weights = job.initial_weights()?;
        if self.rounds_to_f16 {
            weights.iter_mut().flatten().for_each(|weight| *weight = f16::from_f32(*weight).to_f32());
        }
        Ok(Box::new(ReferenceTrainer::<T>::new(job, weights)?))
    }
}
