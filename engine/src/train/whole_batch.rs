//! Comparison of a large batch with its parts.

use results::{Compared, Correctness, FailureCause, Precision, WholeBatch};

use std::sync::Arc;

use crate::data::{DataSet, Split};
use crate::error::EngineError;
use crate::model::{Layer, Model};
use crate::norm::norm;
use crate::random::{Generator, stream};
use crate::trainer::{Backend, Trainer, TrainingJob};
use crate::training::{BatchPlan, Batching, Optimizer};
use crate::workload::Workload;

const MAX_PARTS: u32 = 16;

/// Compares the loss and gradients of one batch of `job` with those added up from its parts, each with at least as many
/// samples as were `checked`. The plain loops would take too long on large batches. A backend that agrees with them on
/// small batches, and with itself on a large one, is also correct on the large one, although its kernels are chosen by
/// shape.
///
/// Batch normalization mixes the samples of a batch, so the batch cannot be divided. Instead, it is filled with a few
/// samples, repeated in random order. Means, variances, mean loss and mean gradients stay the same, and sums grow with
/// the number of repetitions.
///
/// The learning rate is zero, so the weights do not change. Dropout and augmentation are off, because they depend on
/// the position in the batch.
pub(crate) async fn against_parts(
    workload: &Workload,
    job: &TrainingJob,
    backend: &dyn Backend,
    checked: &Correctness,
) -> Result<Option<WholeBatch>, EngineError> {
    let batch_size = job.batches.batch_size;
    let (part_size, samples, data) = if mixes_samples(&job.model) {
        let few = largest_divisor(batch_size, checked.batch_size);
        (few, few, Arc::new(repeat_samples(&job.data, few, batch_size, job.seed)))
    } else {
        (checked.batch_size.max(batch_size.div_ceil(MAX_PARTS)), batch_size, Arc::clone(&job.data))
    };
    if part_size >= batch_size || part_size < 2 {
        return Ok(None);
    }
    let plain = |batch_size, samples| plain_job(workload, job, &data, batch_size, samples);
    let whole = match Sum::of(&plain(batch_size, batch_size), backend).await {
        // The timed network already occupies memory.
        Err(error) if is_of_memory(&error) => return Ok(None),
        whole => whole?,
    };
    let mut parts = Sum::of(&plain(part_size, samples), backend).await?;
    if job.loss.summed {
        parts.repeat(batch_size / samples);
    }
    let gradient_difference = largest_difference(&whole.gradients, &parts.gradients, GRADIENT_FLOOR);
    let found = WholeBatch {
        batch_size,
        part_size,
        loss: writable(whole.loss),
        loss_of_parts: writable(parts.loss),
        gradient_difference: writable(gradient_difference),
        gradient_tolerance: gradient_tolerance(&job.model, backend.precision()),
        passed: false,
    };
    let passed = found.disagreement(checked.tolerance).is_none();
    Ok(Some(WholeBatch { passed, ..found }))
}

fn is_of_memory(error: &EngineError) -> bool {
    matches!(error.failure_of_workload(), Some(FailureCause::OutOfMemory | FailureCause::DoesNotFit))
}

/// Replaces infinity and NaN, which JSON cannot represent, with the largest finite number.
pub(super) fn writable(number: f64) -> f64 {
    if number.is_finite() { number } else { f64::MAX }
}

/// Returns true if the result of a sample depends on other samples of its batch.
pub(super) fn mixes_samples(model: &Model) -> bool {
    model.nodes.iter().any(|node| matches!(node.layer, Layer::BatchNorm { .. }))
}

fn largest_divisor(number: u32, limit: u32) -> u32 {
    (1..=limit.min(number)).rev().find(|divisor| number.is_multiple_of(*divisor)).unwrap_or(1)
}

/// Returns `samples` samples: the first `few`, followed by repetitions of them in random order.
fn repeat_samples(data: &DataSet, few: u32, samples: u32, seed: u32) -> DataSet {
    let others = Generator { stream: stream::REPEATED, step: 0, seed }.permutation(samples - few);
    let places = (0..few).chain(others.into_iter().map(|other| other % few));
    let features = data.definition.train.features() as usize;
    let mut train = Split { images: Vec::with_capacity(samples as usize * features), labels: Vec::new() };
    for place in places.map(|place| place as usize) {
        train.images.extend_from_slice(&data.train.images[place * features..][..features]);
        train.labels.push(data.train.labels[place]);
    }
    let test = Split { images: train.images[..features].to_vec(), labels: train.labels[..1].to_vec() };
    DataSet::new(data.definition, train, test, data.generated)
}

/// Returns a job on the first samples, without anything that depends on the position in the batch.
fn plain_job(
    workload: &Workload,
    job: &TrainingJob,
    data: &Arc<DataSet>,
    batch_size: u32,
    samples: u32,
) -> TrainingJob {
    let workload = workload.clone().with_trace_conventions();
    let batches = BatchPlan { first: 0, samples, batch_size, order: workload.order, batching: Batching::ShortLast };
    let optimizer = Optimizer { learning_rate: 0.0, ..workload.optimizer.clone() };
    TrainingJob { optimizer, dropout: false, ..workload.job(Arc::clone(data), batches, job.seed) }
}

/// Loss and gradients of a batch, added up from its parts.
struct Sum {
    loss: f64,
    gradients: Vec<Vec<f64>>,
}

impl Sum {
    async fn of(job: &TrainingJob, backend: &dyn Backend) -> Result<Self, EngineError> {
        let mut trainer = backend.build(job).await?;
        let mut sum = Self { loss: 0.0, gradients: Vec::new() };
        for _ in 0..job.batches.steps_per_epoch() {
            sum.add_step(job, trainer.as_mut()).await?;
        }
        Ok(sum)
    }

    /// Scales gradients of a summed loss as if the samples were repeated.
    fn repeat(&mut self, times: u32) {
        self.gradients.iter_mut().flatten().for_each(|gradient| *gradient *= f64::from(times));
    }

    async fn add_step(&mut self, job: &TrainingJob, trainer: &mut dyn Trainer) -> Result<(), EngineError> {
        let report = trainer.train_steps(1).await?;
        let share = report.samples as f64 / f64::from(job.batches.samples);
        self.loss += share * report.losses.first().copied().unwrap_or(f64::NAN);
        // Backends return gradients of the summed loss or of the mean loss.
        let share = if job.loss.summed { 1.0 } else { share };
        let gradients = trainer.gradients().await?;
        self.gradients.resize_with(gradients.len(), Vec::new);
        for (sum, gradient) in self.gradients.iter_mut().zip(&gradients) {
            sum.resize(gradient.len(), 0.0);
            for (sum, gradient) in sum.iter_mut().zip(gradient) {
                *sum += share * f64::from(*gradient);
            }
        }
        Ok(())
    }
}

/// Returns the tolerance for the distance between a gradient and the sum of its parts, relative to its length.
///
/// A value close to the edge of a ReLU, or to another candidate for a maximum, may fall on the other side in another
/// kernel because of rounding. In the first step of `tensorflow-cifar10`, a single such value changes the gradient of
/// conv1 by 4e-3 of its length. A kernel that does not run, or leaves out a row of tiles, changes it much more.
/// Otherwise our kernels differ by 1e-6, and by up to 8e-4 in f16. Normalization over a few samples magnifies f16
/// rounding: to 0.1 to 0.17 in `resnet20-cifar10`, and up to 0.13 in `airbench94`.
fn gradient_tolerance(model: &Model, precision: Precision) -> f64 {
    Compared::Gradient.widest_tolerance(if mixes_samples(model) { precision } else { Precision::F32 })
}

/// Share of the length of all gradients that is added to a tensor's own length, because some gradients are only
/// rounding errors, such as that for the key bias of attention.
pub(super) const GRADIENT_FLOOR: f64 = 0.01;

/// Returns the largest distance between corresponding tensors, relative to the expected tensor's length plus `floor`
/// times the length of all. Returns infinity if the lists cannot be compared.
pub(super) fn largest_difference(found: &[Vec<f64>], expected: &[Vec<f64>], floor: f64) -> f64 {
    let whole = norm(expected.iter().flatten().copied());
    let differences = found.iter().zip(expected).map(|(found, expected)| {
        let distance = norm(found.iter().zip(expected).map(|(found, expected)| found - expected));
        let length = norm(expected.iter().copied()) + floor * whole;
        let difference = if distance == 0.0 { 0.0 } else { distance / length };
        let comparable = found.len() == expected.len() && difference.is_finite();
        if comparable { difference } else { f64::INFINITY }
    });
    let comparable = found.len() == expected.len() && !found.is_empty();
    differences.fold(if comparable { 0.0 } else { f64::INFINITY }, f64::max)
}
