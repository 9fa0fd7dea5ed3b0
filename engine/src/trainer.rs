//! The seam between the training loop and a back end.

use std::rc::Rc;

use async_trait::async_trait;
use results::{Adapter, Precision};

use crate::data::DataSet;
use crate::error::EngineError;
use crate::model::Model;
use crate::training::{BatchPlan, Optimizer};
use crate::workload::InputScale;

/// Everything a back end must know to train: the same for all of them.
#[derive(Clone)]
pub struct TrainingJob {
    pub model: Model,
    pub data: Rc<DataSet>,
    pub input_scale: InputScale,
    pub optimizer: Optimizer,
    pub batches: BatchPlan,
    /// Seed of weights and dropout (shuffles are in `batches`).
    pub seed: u32,
    /// Whether dropout layers drop in training.
    pub dropout: bool,
}

/// A device with a way to compute on it.
#[async_trait(?Send)]
pub trait Backend {
    /// The word that chooses it.
    fn name(&self) -> &'static str;
    fn adapter(&self) -> &Adapter;
    fn precision(&self) -> Precision;
    /// Compiles, allocates and uploads; afterwards a step allocates nothing.
    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError>;
}

/// One network being trained on one device.
#[async_trait(?Send)]
pub trait Trainer {
    /// Trains the next `steps` steps and returns when the device has finished all of them.
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError>;

    /// Classifies the first `samples` samples of the test set, without dropout.
    async fn evaluate(&mut self, samples: u32) -> Result<TestReport, EngineError>;

    /// All tensors in the model's order and logical layout, as float32.
    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError>;

    /// Loss gradients of the last training step, in the layout of [`Trainer::weights`], without weight decay.
    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError>;

    /// Logits of the first `rows` samples of the last training step's batch, before its update; ask before the next
    /// evaluation, which overwrites them.
    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError>;

    /// Bytes allocated on the device.
    fn device_memory_bytes(&self) -> u64;

    /// `kernel: variant` for each kernel that comes in variants.
    fn variants(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What some training steps did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Mean loss of each step's batch, before its update.
    pub losses: Vec<f64>,
    /// Samples classified rightly by the network in training mode.
    pub correct: u64,
    pub samples: u64,
}

/// What a pass over test samples found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestReport {
    /// Mean over the samples.
    pub loss: f64,
    pub correct: u64,
    pub samples: u64,
}

impl TestReport {
    /// Share classified rightly, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.samples.max(1) as f64
    }
}
