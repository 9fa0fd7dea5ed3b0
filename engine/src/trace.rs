//! Golden traces: a few steps on the first samples, in the layout of `reference/golden/README.md`.

use async_recursion::async_recursion;
use std::sync::Arc;

use serde::Serialize;

use crate::data::DataSet;
use crate::error::EngineError;
use crate::trainer::{Backend, EvaluationSet};
use crate::workload::{Training, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    pub seed: u32,
    pub batch_size: u32,
    pub steps: u32,
    pub dropout: bool,
    /// Test samples to classify after the last update.
    pub test_samples: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    pub workload: String,
    pub backend: String,
    pub adapter: results::Adapter,
    pub seed: u32,
    pub batch_size: u32,
    pub steps: u32,
    pub dropout: bool,
    pub tensors: Vec<TracedTensor>,
    pub losses: Vec<f64>,
    /// L2 norm of each tensor's loss gradient at step 0.
    pub grad_norms: Vec<f64>,
    /// L2 norm of each tensor's change in update 0.
    pub first_update_norms: Vec<f64>,
    /// L2 norm of each tensor after the last update.
    pub final_norms: Vec<f64>,
    /// Logits of the first four samples at step 0.
    pub logits: Vec<Vec<f64>>,
    /// Share of the first test samples classified correctly after the last update.
    pub test_accuracy: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracedTensor {
    pub number: u32,
    pub name: String,
    pub shape: Vec<u32>,
}

const LOGIT_ROWS: u32 = 4;

/// Trains the first samples in file order and returns the values of a golden trace. Fails if the batch size is 0 or
/// exceeds the set, or if there are no steps.
#[async_recursion(?Send)]
pub async fn trace(
    workload: &Workload,
    request: TraceRequest,
    backend: &dyn Backend,
    data: Arc<DataSet>,
) -> Result<Trace, EngineError> {
    let workload = workload.clone().with_trace_conventions();
    let batches = workload.batches(data.train.samples(), request.batch_size, request.seed)?;
    if request.steps == 0 {
        let allowed = "at least 1".to_owned();
        return Err(EngineError::InvalidSetting { what: "the number of steps", allowed, value: "0".to_owned() });
    }
    let job = workload.job(Training {
        data,
        batches,
        planned_steps: u64::from(request.steps),
        seed: request.seed,
        dropout: request.dropout,
    });
    let mut trainer = backend.build(&job).await?;
    let start = trainer.weights().await?;
    let mut losses = trainer.train_steps(1).await?.losses;
    let gradients = trainer.gradients().await?;
    let logits = trainer.logits(LOGIT_ROWS.min(request.batch_size)).await?;
    let first = trainer.weights().await?;
    if request.steps > 1 {
        losses.extend(trainer.train_steps(request.steps - 1).await?.losses);
    }
    let last = trainer.weights().await?;
    let test = trainer.evaluate(EvaluationSet::Test, request.test_samples.min(job.data.test.samples())).await?;
    Ok(Trace {
        workload: workload.name.to_owned(),
        backend: backend.name().to_owned(),
        adapter: backend.adapter().clone(),
        seed: request.seed,
        batch_size: request.batch_size,
        steps: request.steps,
        dropout: request.dropout,
        tensors: job
            .model
            .tensors()?
            .into_iter()
            .map(|t| TracedTensor { number: t.number, name: t.name, shape: t.shape })
            .collect(),
        losses,
        grad_norms: gradients.iter().map(|g| norm(g.iter().copied())).collect(),
        first_update_norms: start.iter().zip(&first).map(|(a, b)| difference_norm(a, b)).collect(),
        final_norms: last.iter().map(|w| norm(w.iter().copied())).collect(),
        logits,
        test_accuracy: test.accuracy(),
    })
}

fn norm(values: impl Iterator<Item = f32>) -> f64 {
    values.map(|v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt()
}

fn difference_norm(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*b) - f64::from(*a)).powi(2)).sum::<f64>().sqrt()
}
