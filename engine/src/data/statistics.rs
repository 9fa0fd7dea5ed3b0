//! Training set statistics for normalization, in units of byte values (0 to 255).

use std::sync::OnceLock;

use super::{DataSet, Split};

/// Mean and population standard deviation. Torch's sample deviation is the same in float32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    pub mean: f64,
    pub standard_deviation: f64,
}

/// Statistics of a training set, computed on first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Statistics {
    mean_image: OnceLock<Vec<f32>>,
    /// Sum of the bytes, and of their squares.
    sums: OnceLock<[u64; 2]>,
    chrominance: OnceLock<[Moments; 2]>,
}

impl DataSet {
    pub fn mean_image(&self) -> &[f32] {
        self.statistics.mean_image.get_or_init(|| mean_image(&self.train))
    }

    /// Returns the moments of all training values. `values_per_sample` includes a border of zeros, if any.
    pub fn moments(&self, values_per_sample: u32) -> Moments {
        let bytes = || self.train.images.iter().map(|&byte| u64::from(byte));
        let sums = || [bytes().sum(), bytes().map(|byte| byte * byte).sum()];
        let [sum, squares] = self.statistics.sums.get_or_init(sums).map(|sum| sum as f64);
        let count = (u64::from(self.train.samples()) * u64::from(values_per_sample)) as f64;
        let mean = sum / count;
        Moments { mean, standard_deviation: (squares / count - mean * mean).max(0.0).sqrt() }
    }

    /// Returns the moments of U and V of the training images, with RGB converted to YUV as in `local_contrast`.
    pub fn chrominance_moments(&self) -> [Moments; 2] {
        *self.statistics.chrominance.get_or_init(|| chrominance_moments(&self.train))
    }
}

fn mean_image(split: &Split) -> Vec<f32> {
    let samples = split.labels.len();
    let mut sums = vec![0u64; split.images.len() / samples];
    for image in split.images.chunks_exact(sums.len()) {
        for (sum, &byte) in sums.iter_mut().zip(image) {
            *sum += u64::from(byte);
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    sums.iter().map(|&sum| (sum as f64 / samples as f64) as f32).collect()
}

fn chrominance_moments(split: &Split) -> [Moments; 2] {
    let weights = [[-0.14713, -0.28886, 0.436], [0.615, -0.51499, -0.10001]];
    weights.map(|weights: [f64; 3]| {
        let values = || {
            split.images.chunks_exact(3).map(move |pixel| {
                pixel.iter().zip(weights).map(|(&byte, weight)| f64::from(byte) * weight).sum::<f64>()
            })
        };
        let count = values().len() as f64;
        let mean = values().sum::<f64>() / count;
        let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        Moments { mean, standard_deviation: variance.sqrt() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split() -> Split {
        Split { images: vec![0, 10, 255, 4, 10, 0, 0, 30, 255, 4, 30, 0], labels: vec![0, 1] }
    }

    #[test]
    fn moments_include_a_border_of_zeros() {
        let split = || Split { images: vec![3, 3, 3, 3], labels: vec![0] };
        let data = DataSet::new(crate::data::data_set("mnist").unwrap(), split(), split(), false);
        for (values, mean, variance) in [(4, 3.0, 0.0), (16, 0.75, 9.0 * 4.0 / 16.0 - 0.75 * 0.75)] {
            let found = data.moments(values);
            let expected: [f64; 2] = [mean, f64::sqrt(variance)];
            let differences = [found.mean - expected[0], found.standard_deviation - expected[1]];
            assert!(differences.iter().all(|difference| difference.abs() < 1e-9), "{found:?}, not {expected:?}");
        }
    }

    #[test]
    fn mean_image_averages_each_value() {
        assert_eq!(mean_image(&split()), [0.0, 20.0, 255.0, 4.0, 20.0, 0.0]);
    }

    #[test]
    fn chrominance_matches_the_reference_kernel() {
        use shaders::params::{LocalContrast, Step};
        let split = split();
        let found = chrominance_moments(&split);
        // The reference kernel then normalizes U and V to mean 0 and deviation 1.
        #[expect(clippy::cast_possible_truncation, reason = "parameters of kernels are float32")]
        let single = |value: f64| value as f32;
        let params = LocalContrast {
            rows: 2,
            height: 1,
            width: 2,
            row_stride: 6,
            mean_u: single(found[0].mean),
            mean_v: single(found[1].mean),
            scale_u: single(-1.0 / found[0].standard_deviation),
            scale_v: single(-1.0 / found[1].standard_deviation),
            threshold: 1e-4,
            reserved: [0; 3],
        };
        let mut batch: Vec<f64> = split.images.iter().map(|&byte| f64::from(byte)).collect();
        shaders::reference::local_contrast(&params, &Step { count: 2, ..Step::default() }, &mut batch);
        for channel in [1, 2] {
            let values: Vec<f64> = batch.iter().skip(channel).step_by(3).copied().collect();
            let mean = values.iter().sum::<f64>() / 4.0;
            let square = values.iter().map(|v| v * v).sum::<f64>() / 4.0;
            assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-6, "channel {channel}: {values:?}");
        }
    }
}
