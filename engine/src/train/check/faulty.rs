//! Correct backend with injected faults.

use async_trait::async_trait;
use results::Warning;

use crate::backends::reference::ReferenceBackend;
use crate::error::{EngineError, Result};
use crate::model::TensorKind;
use crate::trainer::{Backend, BackendFacts, EvaluationSet, StepReport, TestReport, Trainer, TrainingJob};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    LossTooLarge,
    LossNotANumber,
    LossMissing,
    /// Zero gradient of the first trained tensor, as if a kernel had not run.
    GradientMissing,
    /// Zero gradients of fixed tensors. Not a fault, because these gradients are not needed.
    FixedGradientsLeftOut,
    /// Unchanged weights, as if the optimizer had not run.
    NoUpdate,
    /// Evaluation loss of an uninformed network.
    TestOfNothing,
}

pub(crate) struct Faulty {
    reference: ReferenceBackend<f32>,
    facts: BackendFacts,
    fault: Fault,
    from_batch_size: u32,
    /// Network that cannot be built.
    breaks_at: &'static str,
    error: fn() -> EngineError,
    recovers: bool,
    /// Predicted bytes of a batch size.
    predicts: Box<dyn Fn(u32) -> Result<Option<u64>>>,
}

impl Faulty {
    pub(crate) fn new(fault: Fault, from_batch_size: u32) -> Self {
        let reference = ReferenceBackend::new();
        let warnings = vec![Warning::Untuned { backend: "faulty".to_owned() }];
        // A comparison of steps does not check the reference itself.
        let facts = BackendFacts { name: "faulty", warnings, repeats_itself: false, ..reference.facts().clone() };
        let (error, predicts) = (device_lost, Box::new(|_| Ok(None)));
        Self { reference, facts, fault, from_batch_size, breaks_at: "", error, recovers: true, predicts }
    }

    pub(crate) fn faultless() -> Self {
        Self::new(Fault::None, 0)
    }

    pub(crate) fn predicting(predicts: impl Fn(u32) -> Result<Option<u64>> + 'static) -> Self {
        Self { predicts: Box::new(predicts), ..Self::faultless() }
    }

    pub(crate) fn breaking_at(network: &'static str, error: fn() -> EngineError, recovers: bool) -> Self {
        Self { breaks_at: network, error, recovers, ..Self::faultless() }
    }
}

pub(crate) fn device_lost() -> EngineError {
    EngineError::DeviceLost { message: "a test pulled the plug".to_owned() }
}

#[async_trait(?Send)]
impl Backend for Faulty {
    fn facts(&self) -> &BackendFacts {
        &self.facts
    }

    fn predicted_bytes(&self, job: &TrainingJob) -> Result<Option<u64>> {
        (self.predicts)(job.batches.batch_size)
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>> {
        if job.model.name == self.breaks_at {
            return Err((self.error)());
        }
        let trainer = self.reference.build(job).await?;
        if self.fault == Fault::None || job.batches.batch_size < self.from_batch_size {
            return Ok(trainer);
        }
        let trained = job.model.tensors()?.iter().map(|tensor| tensor.kind == TensorKind::Trained).collect();
        Ok(Box::new(FaultyTrainer { trainer, initial_weights: job.initial_weights()?, trained, fault: self.fault }))
    }

    async fn recover(&self) -> Result<()> {
        if self.recovers { Ok(()) } else { Err(device_lost()) }
    }
}

struct FaultyTrainer {
    trainer: Box<dyn Trainer>,
    initial_weights: Vec<Vec<f32>>,
    trained: Vec<bool>,
    fault: Fault,
}

#[async_trait(?Send)]
impl Trainer for FaultyTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let mut report = self.trainer.train_steps(steps).await?;
        match self.fault {
            Fault::LossTooLarge => report.losses.iter_mut().for_each(|loss| *loss *= 1.01),
            Fault::LossNotANumber => report.losses.fill(f64::NAN),
            Fault::LossMissing => report.losses.clear(),
            _ => {}
        }
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        let report = self.trainer.evaluate(set, samples).await?;
        let loss = if self.fault == Fault::TestOfNothing { 10_f64.ln() } else { report.loss };
        Ok(TestReport { loss, ..report })
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        if self.fault == Fault::NoUpdate { Ok(self.initial_weights.clone()) } else { self.trainer.weights().await }
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        let mut gradients = self.trainer.gradients().await?;
        let pairs = gradients.iter_mut().zip(&self.trained);
        let clear = |(gradient, _): (&mut Vec<f32>, &bool)| gradient.fill(0.0);
        match self.fault {
            Fault::GradientMissing => pairs.filter(|(_, trained)| **trained).take(1).for_each(clear),
            Fault::FixedGradientsLeftOut => pairs.filter(|(_, trained)| !**trained).for_each(clear),
            _ => {}
        }
        Ok(gradients)
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>> {
        self.trainer.logits(rows).await
    }
}
