//! Preprocessing of the images of a gathered batch.

use super::pcg4d::pcg4d;
use crate::Real;
use crate::params::{LocalContrast, Standardize, Step};

/// Twin of `standardize.wgsl`: `x = (x - mean_c)·contrast + mean_c + brightness` in training, then
/// `y = (x - mean) / max(deviation, 1/√N)`, over all N values of an image, in place.
/// `batch`: (rows, row stride), where (pixels, channels) are in use; the rest, and rows from `step.count` on, stay.
pub fn standardize<T: Real>(params: &Standardize, step: &Step, batch: &mut [T]) {
    let values = (params.pixels * params.channels) as usize;
    let count = step.count.min(params.rows);
    for (row, stored) in (0..count).zip(batch.chunks_mut(params.row_stride as usize)) {
        let image = &mut stored[..values];
        if step.training == 1 {
            relight(params, step, row, image);
        }
        let mean = mean(image.iter().copied());
        let variance = self::mean(image.iter().map(|&value| (value - mean) * (value - mean)));
        let smallest = T::ONE / size::<T>(values).sqrt();
        let deviation = variance.sqrt().maximum(smallest);
        for value in image {
            *value = (*value - mean) / deviation;
        }
    }
}

/// Changes brightness and contrast at random.
fn relight<T: Real>(params: &Standardize, step: &Step, row: u32, image: &mut [T]) {
    let [x, y, ..] = pcg4d([step.first_row + row, params.stream, step.step, step.seed]);
    let number = |value: f32| T::from_f64(f64::from(value));
    let uniform = |lane: u32| T::from_f64(f64::from(lane >> 8) / f64::from(1 << 24));
    let brightness = number(params.brightness) * (uniform(x) + uniform(x) - T::ONE);
    let (lowest, highest) = (number(params.lowest_contrast), number(params.highest_contrast));
    let contrast = lowest + (highest - lowest) * uniform(y);
    let channels = params.channels as usize;
    for channel in 0..channels {
        let mean = mean(image[channel..].iter().step_by(channels).copied());
        for value in image[channel..].iter_mut().step_by(channels) {
            *value = (*value - mean) * contrast + mean + brightness;
        }
    }
}

fn mean<T: Real>(values: impl ExactSizeIterator<Item = T>) -> T {
    let count = size(values.len());
    values.sum::<T>() / count
}

fn size<T: Real>(count: usize) -> T {
    T::from_f64(count as f64)
}

/// Taps of the Gaussian along each side.
const TAPS: usize = 7;

/// Twin of `local_contrast.wgsl`: RGB becomes YUV in place; `d = y - blur(y) / blur(1)`, `Y = d / s` with
/// `s = √blur(d²) / blur(1)`, or the threshold if s is not larger; `U = (u - mean)·scale`, and V alike.
/// `batch`: (rows, row stride), where (height, width, 3) are in use; the rest, and rows from `step.count` on, stay.
pub fn local_contrast<T: Real>(params: &LocalContrast, step: &Step, batch: &mut [T]) {
    let pixels = (params.height * params.width) as usize;
    let number = |value: f32| T::from_f64(f64::from(value));
    let count = step.count.min(params.rows) as usize;
    for stored in batch.chunks_mut(params.row_stride as usize).take(count) {
        let mut light = Vec::with_capacity(pixels);
        for pixel in stored[..3 * pixels].chunks_exact_mut(3) {
            let [y, u, v] = yuv([pixel[0], pixel[1], pixel[2]]);
            light.push(y);
            pixel[1] = (u - number(params.mean_u)) * number(params.scale_u);
            pixel[2] = (v - number(params.mean_v)) * number(params.scale_v);
        }
        let light = contrast(params, &light);
        for (pixel, y) in stored.chunks_exact_mut(3).zip(light) {
            pixel[0] = y;
        }
    }
}

/// Torch's `image.rgb2yuv`.
fn yuv<T: Real>([r, g, b]: [T; 3]) -> [T; 3] {
    let number = T::from_f64;
    [
        number(0.299) * r + number(0.587) * g + number(0.114) * b,
        number(-0.14713) * r + number(-0.28886) * g + number(0.436) * b,
        number(0.615) * r + number(-0.51499) * g + number(-0.10001) * b,
    ]
}

/// Torch's `nn.SpatialContrastiveNormalization(1, image.gaussian1D(7))` of one plane, (height, width).
fn contrast<T: Real>(params: &LocalContrast, plane: &[T]) -> Vec<T> {
    let covered = blur(params, |_, _| T::ONE);
    // y - blur(y) / blur(1), written so that it is zero, and not a rounding, where the plane is even.
    let distances: Vec<T> = blur(params, |at, tap| plane[at] - plane[tap])
        .into_iter()
        .zip(&covered)
        .map(|(sum, &covered)| sum / covered)
        .collect();
    let threshold = T::from_f64(f64::from(params.threshold));
    let variances = blur(params, |_, tap| distances[tap] * distances[tap]);
    let deviations = variances.into_iter().zip(covered).map(|(variance, covered)| variance.sqrt() / covered);
    distances.iter().zip(deviations).map(|(&distance, deviation)| distance / deviation.maximum(threshold)).collect()
}

/// For each pixel the sum of `value(pixel, tap)` over the taps of the Gaussian that are inside, by their weights.
fn blur<T: Real>(params: &LocalContrast, value: impl Fn(usize, usize) -> T) -> Vec<T> {
    let (height, width) = (params.height as usize, params.width as usize);
    let weights = gaussian();
    let reach = TAPS / 2;
    let mut result = vec![T::ZERO; height * width];
    for y in 0..height {
        for x in 0..width {
            for (i, a) in weights.iter().enumerate() {
                for (j, b) in weights.iter().enumerate() {
                    // The row and column of this tap, if it is inside.
                    let row = (y + i).checked_sub(reach).filter(|&row| row < height);
                    let column = (x + j).checked_sub(reach).filter(|&column| column < width);
                    if let Some((row, column)) = row.zip(column) {
                        let at = y * width + x;
                        result[at] += T::from_f64(a * b) * value(at, row * width + column);
                    }
                }
            }
        }
    }
    result
}

/// Weights of the Gaussian of sigma 0.25·7, with sum 1.
fn gaussian() -> [f64; TAPS] {
    let sigma = 0.25 * 7.0;
    let taps = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0].map(|distance: f64| (-(distance / sigma).powi(2) / 2.0).exp());
    let sum: f64 = taps.iter().sum();
    taps.map(|tap| tap / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums written out for a plane of three pixels in a row, where every tap but the farthest ones is inside.
    #[test]
    fn a_row_of_three_pixels_is_normalised_as_by_torch() {
        let params = LocalContrast { height: 1, width: 3, threshold: 1e-4, ..LocalContrast::default() };
        let [.., w0, w1, w2, _] = gaussian();
        let y = [10.0, 20.0, 60.0];
        let covered = [w0 * (w0 + w1 + w2), w0 * (w0 + 2.0 * w1), w0 * (w0 + w1 + w2)];
        let blurred = |v: [f64; 3]| {
            [
                w0 * (w0 * v[0] + w1 * v[1] + w2 * v[2]),
                w0 * (w1 * v[0] + w0 * v[1] + w1 * v[2]),
                w0 * (w2 * v[0] + w1 * v[1] + w0 * v[2]),
            ]
        };
        let means = blurred(y);
        let d = [0, 1, 2].map(|i| y[i] - means[i] / covered[i]);
        let squares = blurred(d.map(|d| d * d));
        let found = contrast(&params, &y);
        for i in 0..3 {
            let expected = d[i] / (squares[i].sqrt() / covered[i]);
            assert!((found[i] - expected).abs() < 1e-12, "pixel {i} is {}, not {expected}", found[i]);
        }
    }
}
