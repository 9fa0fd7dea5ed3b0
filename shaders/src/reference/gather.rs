use crate::Real;
use crate::params::{Gather, Step};

/// Twin of `gather.wgsl`.
///
/// `images`: (samples, features) bytes; `labels`, `order`: (samples); `batch`: (rows, stride);
/// `batch_labels`: (rows). Rows from `step.count` on become zero.
pub fn gather<T: Real>(
    params: &Gather,
    step: &Step,
    images: &[u8],
    labels: &[u16],
    order: &[u32],
    batch: &mut [T],
    batch_labels: &mut [u32],
) {
    let (features, stride) = (params.features as usize, params.stride as usize);
    batch.fill(T::ZERO);
    batch_labels.fill(0);
    for row in 0..step.count.min(params.rows) {
        let sample = order[((step.offset + step.first_row + row) % params.samples) as usize] as usize;
        let row = row as usize;
        batch_labels[row] = u32::from(labels[sample]);
        let pixels = &images[sample * features..(sample + 1) * features];
        for (value, &pixel) in batch[row * stride..].iter_mut().zip(pixels) {
            // The quotient is rounded to float32 in every precision, as in the golden traces.
            *value = T::from_f64(f64::from(f32::from(pixel) / params.divisor));
        }
    }
}
