use super::pcg4d::pcg4d;
use crate::Real;
use crate::params::{Standardize, Step};

/// Twin of `standardize.wgsl`: `x = (x - mean_c)·contrast + mean_c + brightness` in training, then
/// `y = (x - mean) / max(deviation, 1/√N)`, over all N values of an image, in place.
///
/// `batch`: (rows, row stride), of which (pixels, channels) are in use; the rest, and rows from `step.count` on, stay.
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

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Standardize = Standardize {
        rows: 1,
        pixels: 2,
        channels: 2,
        row_stride: 5,
        brightness: 0.0,
        lowest_contrast: 1.0,
        highest_contrast: 1.0,
        stream: 5002,
    };

    #[test]
    fn an_image_gets_mean_zero_and_deviation_one_and_its_tail_stays() {
        let mut batch = [1.0f64, 3.0, 5.0, 7.0, 99.0];
        standardize(&PARAMS, &Step { count: 1, ..Step::default() }, &mut batch);
        let deviation = 5.0f64.sqrt();
        for (found, expected) in batch.iter().zip([-3.0, -1.0, 1.0, 3.0, 99.0 * deviation]) {
            assert!((found - expected / deviation).abs() < 1e-12, "{batch:?}");
        }
    }

    #[test]
    fn an_image_of_one_colour_becomes_zero_instead_of_being_divided_by_zero() {
        let mut batch = [5.0f64; 5];
        standardize(&PARAMS, &Step { count: 1, ..Step::default() }, &mut batch);
        assert_eq!(batch, [0.0, 0.0, 0.0, 0.0, 5.0]);
    }
}
