//! Comparison of a large batch with its parts.

use results::{Compared, Correctness, FailureCause, Precision, WholeBatch};

use std::sync::Arc;

use crate::data::{DataSet, Split};
use crate::error::{EngineError, Result};
use crate::model::{Layer, Model};
use crate::norm::norm;
use crate::random::{Generator, stream};
use crate::trainer::{Backend, TrainingJob};
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
/// The learning rate is 0, so weights stay. Dropout and augmentation depend on the position in the batch and are off.
pub(crate) async fn against_parts(
    workload: &Workload,
    job: &TrainingJob,
    backend: &dyn Backend,
    checked: &Correctness,
) -> Result<Option<WholeBatch>> {
    let batch_size = job.batches.batch_size;
    let (part_size, samples, data) = if mixes_samples(&job.model) {
        let mut divisors = (1..=checked.batch_size.min(batch_size)).rev();
        let few = divisors.find(|divisor| batch_size.is_multiple_of(*divisor)).unwrap_or(1);
        (few, few, Arc::new(repeat_samples(&job.data, few, batch_size, job.seed)))
    } else {
        (checked.batch_size.max(batch_size.div_ceil(MAX_PARTS)), batch_size, Arc::clone(&job.data))
    };
    if part_size >= batch_size || part_size < 2 {
        return Ok(None);
    }
    // Nothing depends on the position in the batch.
    let plain = |batch_size, samples| {
        let workload = workload.clone().with_trace_conventions();
        let batches = BatchPlan { first: 0, samples, batch_size, order: workload.order, batching: Batching::ShortLast };
        let optimizer = Optimizer { learning_rate: 0.0, ..workload.optimizer.clone() };
        TrainingJob { optimizer, dropout: false, ..workload.job(Arc::clone(&data), batches, job.seed) }
    };
    let whole = add_up(&plain(batch_size, batch_size), backend).await;
    let cause = whole.as_ref().err().and_then(EngineError::failure_of_workload);
    if matches!(cause, Some(FailureCause::OutOfMemory | FailureCause::DoesNotFit)) {
        // The timed network already occupies memory.
        return Ok(None);
    }
    let (whole_loss, whole) = whole?;
    let (loss_of_parts, mut parts) = add_up(&plain(part_size, samples), backend).await?;
    if job.loss.summed {
        // As if the samples were repeated.
        let times = f64::from(batch_size / samples);
        parts.iter_mut().flatten().for_each(|gradient| *gradient *= times);
    }
    let found = WholeBatch {
        batch_size,
        part_size,
        loss: writable(whole_loss),
        loss_of_parts: writable(loss_of_parts),
        gradient_difference: writable(largest_difference(&whole, &parts, GRADIENT_FLOOR)),
        gradient_tolerance: gradient_tolerance(&job.model, backend.precision()),
        passed: false,
    };
    let passed = found.disagreement(checked.tolerance).is_none();
    Ok(Some(WholeBatch { passed, ..found }))
}

/// Replaces infinity and NaN, which JSON cannot represent, with the largest finite number.
pub(super) fn writable(number: f64) -> f64 {
    if number.is_finite() { number } else { f64::MAX }
}

/// Returns true if the result of a sample depends on other samples of its batch.
pub(super) fn mixes_samples(model: &Model) -> bool {
    model.nodes.iter().any(|node| matches!(node.layer, Layer::BatchNorm { .. }))
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

/// Returns the loss and the gradients of a job's samples, added up from its batches.
async fn add_up(job: &TrainingJob, backend: &dyn Backend) -> Result<(f64, Vec<Vec<f64>>)> {
    let mut trainer = backend.build(job).await?;
    let (mut loss, mut sums) = (0.0, Vec::<Vec<f64>>::new());
    for _ in 0..job.batches.steps_per_epoch() {
        let report = trainer.train_steps(1).await?;
        let share = report.samples as f64 / f64::from(job.batches.samples);
        loss += share * report.losses.first().copied().unwrap_or(f64::NAN);
        // Backends return gradients of the summed loss or of the mean loss.
        let share = if job.loss.summed { 1.0 } else { share };
        let gradients = trainer.gradients().await?;
        sums.resize_with(gradients.len(), Vec::new);
        for (sum, gradient) in sums.iter_mut().zip(&gradients) {
            sum.resize(gradient.len(), 0.0);
            sum.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += share * f64::from(*gradient));
        }
    }
    Ok((loss, sums))
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
