use super::pcg4d::pcg4d;
use crate::Real;
use crate::params::{Gather, GatherAugmented, GatherWindows, Step, edge, flip, normalization, shift};

/// Twin of `gather.wgsl`.
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

/// Twin of `gather_windows.wgsl`.
/// `text`: characters; `order`: (samples), the first characters of windows; `batch`: (rows, stride); `batch_labels`:
/// (rows, window). Rows from `step.count` on become zero.
pub fn gather_windows<T: Real>(
    params: &GatherWindows,
    step: &Step,
    text: &[u8],
    order: &[u32],
    batch: &mut [T],
    batch_labels: &mut [u32],
) {
    let (window, stride) = (params.window as usize, params.stride as usize);
    batch.fill(T::ZERO);
    batch_labels.fill(0);
    for row in 0..step.count.min(params.rows) {
        let start = order[((step.offset + step.first_row + row) % params.samples) as usize] as usize;
        let row = row as usize;
        for (value, &character) in batch[row * stride..].iter_mut().zip(&text[start..][..window]) {
            *value = T::from_f64(f64::from(character));
        }
        for (label, &next) in batch_labels[row * window..].iter_mut().zip(&text[start + 1..][..window]) {
            *label = u32::from(next);
        }
    }
}

/// Placement of an image over its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placement {
    y: i32,
    x: i32,
    mirrored: bool,
}

/// Twin of `gather_augmented.wgsl`.
/// `images`: (samples, source height, source width, channels) bytes; `labels`, `order`: (samples); `mean_image`:
/// (source height, source width, channels), or anything when the normalisation is not by it; `batch`: (rows, row
/// stride), where (height, width, channel stride) are in use; `batch_labels`: (rows). Rows from `step.count` on,
/// channels that are only stored and the tails of rows become zero. Where they are streamed, images and labels lie in the
/// order of `order`, which still says the sample numbers.
#[expect(clippy::too_many_arguments, reason = "they are the bindings of the kernel")]
pub fn gather_augmented<T: Real>(
    params: &GatherAugmented,
    step: &Step,
    images: &[u8],
    labels: &[u16],
    order: &[u32],
    mean_image: &[f32],
    batch: &mut [T],
    batch_labels: &mut [u32],
) {
    let features = (params.source_height * params.source_width * params.channels) as usize;
    batch.fill(T::ZERO);
    batch_labels.fill(0);
    for row in 0..step.count.min(params.rows) {
        let turn = ((step.offset + step.first_row + row) % params.samples) as usize;
        let sample = order[turn];
        let lies_at = if params.streamed == 1 { turn } else { sample as usize };
        batch_labels[row as usize] = u32::from(labels[lies_at]);
        let image = &images[lies_at * features..][..features];
        let placement = placement(params, step, row, sample);
        for y in 0..params.height {
            for x in 0..params.width {
                let column = if placement.mirrored { params.width - 1 - x } else { x };
                let source = on_source(y, placement.y, params.source_height, params.edge).zip(on_source(
                    column,
                    placement.x,
                    params.source_width,
                    params.edge,
                ));
                let at = (row * params.row_stride + (y * params.width + x) * params.channel_stride) as usize;
                let channels = if params.grey == 1 { 1 } else { params.channels as usize };
                for channel in 0..channels {
                    let place = source
                        .map(|(y, x)| (y * params.source_width as usize + x) * params.channels as usize + channel);
                    batch[at + channel] = normal(params, channel, place, image, mean_image);
                }
            }
        }
    }
}

/// The value at a place of the source, or of nothing.
fn normal<T: Real>(
    params: &GatherAugmented,
    channel: usize,
    place: Option<usize>,
    image: &[u8],
    mean_image: &[f32],
) -> T {
    let number = |value: f32| T::from_f64(f64::from(value));
    let stride = if params.grey == 1 { params.channels as usize } else { 1 };
    let bytes: u16 = place.map_or(0, |place| image[place..place + stride].iter().copied().map(u16::from).sum());
    // The quotient is rounded to float32 in every precision, as in the golden traces.
    let divisor = if params.grey == 1 { params.divisor * params.channels as f32 } else { params.divisor };
    let value = number(f32::from(bytes) / divisor);
    match params.normalization {
        normalization::CHANNELS => (value - number(params.mean[channel])) * number(params.inverse_deviation[channel]),
        normalization::MEAN_IMAGE => value - place.map_or(T::ZERO, |place| number(mean_image[place])),
        _ => value,
    }
}

/// Source coordinate under a coordinate of the image, if any.
fn on_source(at: u32, offset: i32, extent: u32, edge: u32) -> Option<usize> {
    let (at, last) = (i64::from(at) + i64::from(offset), i64::from(extent) - 1);
    let inside = match edge {
        _ if (0..=last).contains(&at) => at,
        edge::ZERO => return None,
        edge::REFLECT if at < 0 => (-at).clamp(0, last),
        edge::REFLECT => (2 * last - at).clamp(0, last),
        _ => at.clamp(0, last),
    };
    usize::try_from(inside).ok()
}

fn placement(params: &GatherAugmented, step: &Step, row: u32, sample: u32) -> Placement {
    let mut placement = Placement { y: params.offset_y, x: params.offset_x, mirrored: params.flip == flip::ALWAYS };
    if step.training == 1 {
        let [y, x, side, _] = pcg4d([step.first_row + row, params.stream, step.step, step.seed]);
        placement.y += shift_by(params, y);
        placement.x += shift_by(params, x);
        let [first, ..] = pcg4d([sample, params.stream + 1, 0, step.seed]);
        match params.flip {
            flip::RANDOM => placement.mirrored = is_high(side),
            flip::ALTERNATING => placement.mirrored = is_high(first) != (step.epoch % 2 == 1),
            _ => {}
        }
    }
    placement
}

/// Returns true if a random number is in the upper half.
fn is_high(number: u32) -> bool {
    number >= 1 << 31
}

/// Shift drawn by a random number; double precision is exact here.
///
/// Keras 2.0.8 draws a real shift, and SciPy's interpolation of order 0 then reads the pixel at floor(place + 1/2).
#[expect(clippy::cast_possible_truncation, reason = "shifts are small whole numbers")]
fn shift_by(params: &GatherAugmented, number: u32) -> i32 {
    let sixteen_bits = f64::from(number >> 16);
    let range = f64::from(params.shift_range);
    match params.shift {
        shift::WHOLE => ((sixteen_bits / 65_536.0 * (2.0 * range + 1.0)).floor() - range) as i32,
        shift::REAL => {
            let uniform = (2.0 * sixteen_bits + 1.0) / 65_536.0 - 1.0;
            (uniform * range / f64::from(shift::REAL_UNITS) + 0.5).floor() as i32
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels 10, 20, 30, 40 of one row, of samples that are all alike, gathered without normalisation.
    fn params() -> GatherAugmented {
        GatherAugmented {
            rows: 1,
            samples: 40,
            source_height: 1,
            source_width: 4,
            height: 1,
            width: 4,
            channels: 1,
            channel_stride: 1,
            row_stride: 4,
            divisor: 1.0,
            stream: 5000,
            ..GatherAugmented::default()
        }
    }

    fn gathered(params: &GatherAugmented, step: &Step) -> Vec<f64> {
        let images = [10, 20, 30, 40].repeat(params.samples as usize);
        let order: Vec<u32> = (0..params.samples).collect();
        let labels = vec![1; order.len()];
        let mut batch = vec![9.0; (params.rows * params.row_stride) as usize];
        let mean = [1.0, 2.0, 3.0, 4.0];
        let mut batch_labels = vec![7; params.rows as usize];
        gather_augmented(params, step, &images, &labels, &order, &mean, &mut batch, &mut batch_labels);
        batch
    }

    /// A step of a test, in which nothing is random.
    fn test_step() -> Step {
        Step { seed: 1, count: 40, ..Step::default() }
    }

    #[test]
    fn edges_are_black_nearest_or_mirrored_without_repetition() {
        let padded = |edge| {
            let wide = GatherAugmented { width: 8, row_stride: 8, offset_x: -2, edge, ..params() };
            gathered(&wide, &test_step())
        };
        assert_eq!(padded(edge::ZERO), [0.0, 0.0, 10.0, 20.0, 30.0, 40.0, 0.0, 0.0]);
        assert_eq!(padded(edge::NEAREST), [10.0, 10.0, 10.0, 20.0, 30.0, 40.0, 40.0, 40.0]);
        assert_eq!(padded(edge::REFLECT), [30.0, 20.0, 10.0, 20.0, 30.0, 40.0, 30.0, 20.0]);
    }

    #[test]
    fn crops_are_mirrored_in_place() {
        let crop = GatherAugmented { width: 2, offset_x: 1, flip: flip::ALWAYS, ..params() };
        assert_eq!(gathered(&crop, &test_step()), [30.0, 20.0, 0.0, 0.0]);
    }

    #[test]
    fn black_edges_are_normalised_except_beyond_a_mean_image() {
        let padded = |normalization| {
            let mean = [10.0, 0.0, 0.0, 0.0];
            let inverse_deviation = [0.5, 0.0, 0.0, 0.0];
            gathered(
                &GatherAugmented { offset_x: -1, normalization, mean, inverse_deviation, ..params() },
                &test_step(),
            )
        };
        assert_eq!(padded(normalization::CHANNELS), [-5.0, 0.0, 5.0, 10.0]);
        assert_eq!(padded(normalization::MEAN_IMAGE), [0.0, 9.0, 18.0, 27.0]);
    }

    #[test]
    fn alternating_flips_show_each_side_in_every_other_epoch() {
        let params = GatherAugmented { rows: 40, flip: flip::ALTERNATING, ..params() };
        let epoch = |epoch, step| gathered(&params, &Step { epoch, step, training: 1, ..test_step() });
        let (first, second) = (epoch(0, 0), epoch(1, 7));
        let mirrored = first.chunks(4).filter(|row| row[0] == 40.0).count();
        assert!((8..32).contains(&mirrored), "{mirrored} of 40 images are mirrored");
        for (first, second) in first.chunks(4).zip(second.chunks(4)) {
            assert_eq!(first[0] == 10.0, second[0] == 40.0);
        }
        assert_eq!(first, epoch(2, 9));
    }

    #[test]
    fn shifts_and_flips_are_random_and_training_only() {
        let gathered = |flip, shift, training, step| {
            let params = GatherAugmented { rows: 40, flip, shift, shift_range: 2, ..params() };
            gathered(&params, &Step { training, step, ..test_step() })
        };
        let plain = gathered(flip::NEVER, shift::NONE, 0, 0);
        for (flip, shift) in
            [(flip::RANDOM, shift::NONE), (flip::ALTERNATING, shift::NONE), (flip::NEVER, shift::WHOLE)]
        {
            assert_eq!(gathered(flip, shift, 0, 0), plain, "flip {flip}, shift {shift}, in an evaluation");
            let first = gathered(flip, shift, 1, 0);
            assert_ne!(first, plain, "flip {flip}, shift {shift}: no row changes in training");
            let mut rows = first.chunks(4).zip(plain.chunks(4));
            assert!(shift == shift::WHOLE || rows.any(|(row, plain)| row == plain), "flip {flip}: every row");
            let is_redrawn = gathered(flip, shift, 1, 1) != first;
            assert_eq!(is_redrawn, flip != flip::ALTERNATING, "flip {flip}, shift {shift} in the next step");
        }
    }

    #[test]
    fn grey_is_the_mean_of_the_channels() {
        let grey = GatherAugmented { source_width: 2, channels: 2, grey: 1, width: 2, ..params() };
        assert_eq!(gathered(&grey, &test_step()), [15.0, 35.0, 0.0, 0.0]);
    }

    #[test]
    fn shifts_are_uniform_before_rounding() {
        // Whole shifts are equally likely. Real ones are rounded, so the largest are rarer.
        for (shift, shift_range, range) in [(shift::WHOLE, 2, 2.5), (shift::REAL, 3277, 3.2)] {
            let params = GatherAugmented { shift, shift_range, ..params() };
            // Shares of the shifts from -4 to 4 in 100,000 draws.
            let mut shares = [0.0; 9];
            for step in 0..50_000 {
                let placement = placement(&params, &Step { step, training: 1, ..test_step() }, 0, 0);
                for at in [placement.y, placement.x] {
                    shares[usize::try_from(at + 4).unwrap()] += 1e-5;
                }
            }
            for (shift, share) in (-4i32..).zip(shares) {
                // Real shifts that round to this one.
                let width = f64::clamp(range - (f64::from(shift.abs()) - 0.5), 0.0, 1.0);
                assert!((share - width / (2.0 * range)).abs() < 0.01, "{shift} in ±{range}: {share}");
            }
        }
    }
}
