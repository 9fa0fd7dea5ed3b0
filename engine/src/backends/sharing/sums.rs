//! What several devices found becomes one, on the host and always in the order of the devices, so that the same run gives
//! the same bits.

use std::ops::Deref;

/// Puts the sum, element by element, in the place of `sum`, whose memory is used again. `found`: bytes of f32 of each device.
pub(crate) fn sum<B: Deref<Target = [u8]>>(found: &[B], sum: &mut Vec<f32>) {
    let Some((first, others)) = found.split_first() else { return sum.clear() };
    sum.resize(first.len() / 4, 0.0);
    bytemuck::cast_slice_mut(sum).copy_from_slice(first);
    for other in others {
        for (sum, bytes) in sum.iter_mut().zip(other.chunks_exact(4)) {
            *sum += f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
}

/// Means and sums of squared deviations of all parts together, `2·channels` numbers. Each part has those of its own pixels,
/// and says how many these are. Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", 1983.
#[expect(clippy::cast_possible_truncation, reason = "devices compute in float32")]
pub(crate) fn moments<'a>(parts: impl Iterator<Item = (&'a [f32], u64)>, channels: usize) -> Vec<f32> {
    let mut seen = 0.0;
    let mut all = vec![0.0; 2 * channels];
    for (part, pixels) in parts.filter(|(_, pixels)| *pixels > 0) {
        let share = pixels as f64 / (seen + pixels as f64);
        for channel in 0..channels {
            let distance = f64::from(part[channel]) - all[channel];
            all[channels + channel] += f64::from(part[channels + channel]) + distance * distance * seen * share;
            all[channel] += distance * share;
        }
        seen += pixels as f64;
    }
    all.into_iter().map(|value: f64| value as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_added_element_by_element() {
        let found = [[1.0f32, -2.0], [0.5, 4.0], [0.0, 1.0]].map(|values| values.map(f32::to_le_bytes).concat());
        // What was there before is gone, however long it was.
        let mut result = vec![7.0; 3];
        sum(&found, &mut result);
        assert_eq!(result, [1.5, 3.0]);
    }
}
