//! What gradients are multiplied by, so that small ones survive being stored in few bits.

use shaders::Stored;

use crate::trainer::TrainingJob;
use crate::training::Batching;

/// Where f16 is stored, the largest gradient of a logit is made to lie between half of this and this. It is in the
/// middle of what f16 holds: 2⁹ times as much is the largest number, and 2⁻³¹ times as much the smallest.
const LARGEST_GRADIENT: f64 = 128.0;

/// A power of two, so that multiplying by it and by its inverse rounds nothing. Method: Micikevicius et al., "Mixed
/// Precision Training", ICLR 2018, section 3.2, with a constant factor. Theirs was found by trying; this one follows
/// from the batch, because a sample's share of the mean, 1 / batch, is what makes gradients small.
#[expect(clippy::cast_possible_truncation, reason = "a power of two within the range of float32")]
pub(super) fn gradient_scale(job: &TrainingJob, stored: Stored) -> f32 {
    if stored == Stored::F32 {
        return 1.0;
    }
    // The gradient of a logit is a difference of probabilities times this.
    let share = if job.loss.summed { 1.0 } else { 1.0 / f64::from(smallest_batch(job)) };
    let largest = share * f64::from(job.loss.logits_scale);
    (LARGEST_GRADIENT / largest).log2().floor().exp2() as f32
}

/// Samples of the smallest batch, whose mean has the largest gradients.
fn smallest_batch(job: &TrainingJob) -> u32 {
    let plan = &job.batches;
    let last = plan.samples % plan.batch_size;
    match plan.batching {
        Batching::ShortLast if last > 0 => last,
        Batching::ShortLast | Batching::DropLast | Batching::Wrap => plan.batch_size.min(plan.samples),
    }
}
