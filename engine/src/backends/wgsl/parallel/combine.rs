//! What our kernels leave in buffers becomes one.

use std::ops::Deref;

use crate::backends::sharing::Share;
use crate::backends::sharing::{moments, sum};
use crate::backends::wgsl::recording::Combination;

impl Combination {
    /// Puts what becomes of them in the place of `result`, whose memory is used again. `found`: bytes of f32 of each device,
    /// which had these shares of the batch.
    pub(super) fn of<B: Deref<Target = [u8]>>(self, found: &[B], shares: &[Share], result: &mut Vec<f32>) {
        match self {
            Self::Sum => sum(found, result),
            Self::Moments { channels, pixels_of_sample, pixels_per_part } => {
                let found: Vec<Vec<f32>> = found.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
                let pixels = shares.iter().map(|share| u64::from(share.count) * u64::from(pixels_of_sample));
                let devices = found.iter().zip(pixels);
                let parts = devices.flat_map(|(parts, pixels)| {
                    parts_of(parts, 2 * channels as usize, pixels, u64::from(pixels_per_part))
                });
                *result = moments(parts, channels as usize);
            }
        }
    }
}

/// Each part with its number of pixels.
fn parts_of(parts: &[f32], stride: usize, pixels: u64, pixels_per_part: u64) -> impl Iterator<Item = (&[f32], u64)> {
    (0u64..).zip(parts.chunks_exact(stride)).map(move |(number, part)| {
        let begin = (number * pixels_per_part).min(pixels);
        (part, ((number + 1) * pixels_per_part).min(pixels) - begin)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn of(combination: Combination, found: &[Vec<u8>], shares: &[Share]) -> Vec<f32> {
        // What was there before is gone, however long it was.
        let mut result = vec![7.0; 3];
        combination.of(found, shares, &mut result);
        result
    }

    #[test]
    fn moments_of_uneven_parts_are_those_of_all_values() {
        // Two channels; one device has three pixels in parts of two, one has none, one has two.
        let values = [[1.0, 10.0], [2.0, 20.0], [6.0, -5.0], [4.0, 0.0], [7.0, 3.0]];
        let moments_of = |pixels: &[[f32; 2]]| -> Vec<f32> {
            let count = pixels.len().max(1) as f32;
            let mean = [0, 1].map(|c| pixels.iter().map(|p| p[c]).sum::<f32>() / count);
            let deviations = [0, 1].map(|c| pixels.iter().map(|p| (p[c] - mean[c]).powi(2)).sum::<f32>());
            [mean, deviations].concat()
        };
        let found = [
            bytes(&[moments_of(&values[..2]), moments_of(&values[2..3])].concat()),
            bytes(&[9.0; 8]),
            bytes(&[moments_of(&values[3..]), vec![9.0; 4]].concat()),
        ];
        let shares = [(0, 3), (3, 0), (3, 2)].map(|(first_row, count)| Share { first_row, count });
        let combination = Combination::Moments { channels: 2, pixels_of_sample: 1, pixels_per_part: 2 };
        for (found, expected) in of(combination, &found, &shares).into_iter().zip(moments_of(&values)) {
            assert!((found - expected).abs() < 1e-4 * expected.abs().max(1.0), "{found} instead of {expected}");
        }
    }
}
