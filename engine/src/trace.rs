//! Golden traces: a few steps on the first samples, in the layout of `reference/golden/README.md`.

use async_recursion::async_recursion;
use std::sync::Arc;

use serde::Serialize;

use crate::data::DataSet;
use crate::error::{EngineError, Result};
use crate::model::TensorSpec;
use crate::norm::{doubles, norm};
use crate::trainer::{Backend, EvaluationSet, TrainingJob};
use crate::workload::Workload;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TraceRequest {
    pub seed: u32,
    pub batch_size: u32,
    pub steps: u32,
    pub dropout: bool,
    /// Number of test samples to classify after the last update, or as many as there are.
    pub test_samples: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    pub workload: String,
    pub backend: String,
    pub adapter: results::Adapter,
    #[serde(flatten)]
    pub request: TraceRequest,
    pub tensors: Vec<TensorSpec>,
    pub losses: Vec<f64>,
    /// L2 norm of each tensor's loss gradient at step 0.
    pub grad_norms: Vec<f64>,
    /// L2 norm of each tensor's change in update 0.
    pub first_update_norms: Vec<f64>,
    /// L2 norm of each tensor after the last update.
    pub final_norms: Vec<f64>,
    /// Logits of the first four answers at step 0.
    pub logits: Vec<Vec<f64>>,
    /// Share of the first test samples classified correctly after the last update.
    pub test_accuracy: f64,
}

const LOGIT_ROWS: u32 = 4;

/// Trains the first samples in file order and returns the values of a golden trace.
#[async_recursion(?Send)]
pub async fn trace(
    workload: &Workload,
    request: TraceRequest,
    backend: &dyn Backend,
    data: Arc<DataSet>,
) -> Result<Trace> {
    let workload = workload.clone().with_trace_conventions();
    let batches = workload.batches(data.train.samples(), request.batch_size)?;
    if request.steps == 0 {
        return Err(EngineError::invalid("the number of steps", "at least 1", 0));
    }
    let job = TrainingJob {
        planned_steps: u64::from(request.steps),
        dropout: request.dropout,
        ..workload.job(data, batches, request.seed)
    };
    let mut trainer = backend.build(&job).await?;
    let start = trainer.weights().await?;
    let mut losses = trainer.train_steps(1).await?.losses;
    let gradients = trainer.gradients().await?;
    let logits = trainer.logits(LOGIT_ROWS.min(request.batch_size * job.model.positions()?)).await?;
    let first = trainer.weights().await?;
    if request.steps > 1 {
        losses.extend(trainer.train_steps(request.steps - 1).await?.losses);
    }
    let last = trainer.weights().await?;
    let norms = |tensors: &[Vec<f32>]| tensors.iter().map(|tensor| norm(doubles(tensor))).collect();
    let test = trainer.evaluate(EvaluationSet::Test, request.test_samples.min(job.test_samples())).await?;
    Ok(Trace {
        workload: workload.name.to_owned(),
        backend: backend.name().to_owned(),
        adapter: backend.adapter().clone(),
        request,
        tensors: job.model.tensors()?,
        losses,
        grad_norms: norms(&gradients),
        first_update_norms: start
            .iter()
            .zip(&first)
            .map(|(start, first)| norm(doubles(first).zip(doubles(start)).map(|(first, start)| first - start)))
            .collect(),
        final_norms: norms(&last),
        logits,
        test_accuracy: test.accuracy(),
    })
}
