use crate::Real;
use crate::params::{Gather, Step};

/// Twin of `gather.wgsl`.
///
/// `images`: (samples, features) bytes; `labels`, `order`: (samples); `batch`: (rows, stride);
/// `batch_labels`: (rows). Rows from `step.count` on become zero. Where they are streamed, images and labels lie in the order
/// of `order`.
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
        let place = ((step.offset + step.first_row + row) % params.samples) as usize;
        let lies_at = if params.streamed == 1 { place } else { order[place] as usize };
        let row = row as usize;
        batch_labels[row] = u32::from(labels[lies_at]);
        let pixels = &images[lies_at * features..][..features];
        for (value, &pixel) in batch[row * stride..].iter_mut().zip(pixels) {
            // The quotient is rounded to float32 in every precision, as in the golden traces.
            *value = T::from_f64(f64::from(f32::from(pixel) / params.divisor));
        }
    }
}
