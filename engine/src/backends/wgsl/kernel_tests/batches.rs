//! Kernels that assemble, augment and normalize batches, and kernels that shuffle samples.

use proptest::prelude::*;
use shaders::params::{
    DrawWindows, Gather, GatherAugmented, GatherWindows, LOCAL_CONTRAST_PIXELS, LocalContrast, MirrorOrder, Shuffle,
    Standardize, Step, edge, flip, normalization, shift,
};
use shaders::reference as twin;

use super::super::device::GpuDevice;
use super::{
    Case, assert_close, bytes, double, floats, launch, numbers, on_shapes, on_shapes_in_every_mode, on_shapes_with,
    step, storable, stored_on_the_way, with_device,
};

const SAMPLES: u32 = 12;

fn pixels_of_samples(samples: u32, features: u32) -> Vec<u8> {
    (0..=255u8).cycle().step_by(37).take((samples * features) as usize).collect()
}

#[test]
fn gather_equals_its_twin_across_epochs_and_in_short_batches() {
    let shapes = ((1u32..12, 1u32..9, 0u32..3), 0u32..10, 0u32..5, 1u32..10, 0u32..2);
    on_shapes(shapes, |device, ((rows, fours, padding), offset, missing, samples_in_first, streamed)| {
        let (samples, features) = (10, 4 * fours);
        let sizes = Gather { rows, features, stride: features + 4 * padding, samples, ..Gather::default() };
        let params = Gather { divisor: 255.0, samples_in_first, streamed, ..sizes };
        let step = Step { offset, count: rows.saturating_sub(missing).max(1), ..step(rows) };
        let images = pixels_of_samples(samples, features);
        // Labels spread over the range of u16.
        let labels: Vec<u16> = (0..10).map(|i| i * 6553).collect();
        let order: Vec<u32> = (0..samples).map(|i| i * 7 % samples).collect();
        let (batch, batch_labels) = (numbers(rows * params.stride, 1), vec![77u32; rows as usize]);
        let (first, second) = images.split_at((samples_in_first * features) as usize);
        let buffers = [first, second, bytes(&labels), bytes(&order), bytes(&batch), bytes(&batch_labels)];
        let found = launch(device, "gather", &params, &step, &buffers, u64::from(rows * params.stride / 4));
        let (mut expected, mut expected_labels) = (double(&batch), batch_labels);
        twin::gather(&params, &step, &images, &labels, &order, &mut expected, &mut expected_labels);
        assert_close(&format!("{params:?}"), &floats(&found[4]), &expected, 2e-7);
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[5]), expected_labels);
    });
}

/// Generates images smaller and larger than their sources, with odd sizes, padded channels and padded rows.
fn augmented() -> impl Strategy<Value = GatherAugmented> {
    let source = (3u32..9, 3u32..9, 1u32..5);
    let image = (1u32..12, 1u32..10, 1u32..10, -3i32..4, -3i32..4);
    let stored = (0u32..3, 0u32..3);
    (source, image, stored).prop_map(|(source, image, stored)| {
        let (source_height, source_width, channels) = source;
        let (rows, height, width, offset_y, offset_x) = image;
        let (spare_channels, spare_fours) = stored;
        let channel_stride = channels + spare_channels;
        GatherAugmented {
            rows,
            samples: SAMPLES,
            samples_in_first: 4 * (1 + rows % 2),
            streamed: rows / 2 % 2,
            source_height,
            source_width,
            height,
            width,
            channels,
            channel_stride,
            row_stride: (height * width * channel_stride).next_multiple_of(4) + 4 * spare_fours,
            offset_y,
            offset_x,
            divisor: 255.0,
            stream: 5000,
            mean: [0.5, 0.4, 0.3, 0.2],
            inverse_deviation: [4.0, 3.0, 2.0, 1.0],
            ..GatherAugmented::default()
        }
    })
}

fn check_gather_augmented(device: &GpuDevice, params: &GatherAugmented, step: &Step) {
    let features = params.source_height * params.source_width * params.channels;
    let images = pixels_of_samples(SAMPLES, features);
    let labels: Vec<u16> = (0..).map(|i: u16| i * 5461).take(SAMPLES as usize).collect();
    let order: Vec<u32> = (0..SAMPLES).map(|i| i * 7 % SAMPLES).collect();
    let mean_image = numbers(features, 2);
    let (batch, batch_labels) = (numbers(params.rows * params.row_stride, 1), vec![77u32; params.rows as usize]);
    // The device stores each sample padded to whole words.
    let padding = (features.next_multiple_of(4) - features) as usize;
    let stored: Vec<u8> =
        images.chunks(features as usize).flat_map(|sample| [sample, &[0; 4][..padding]].concat()).collect();
    let (first, second) = stored.split_at((params.samples_in_first * features.next_multiple_of(4)) as usize);
    let buffers =
        [first, second, bytes(&labels), bytes(&order), bytes(&mean_image), bytes(&batch), bytes(&batch_labels)];
    let invocations = u64::from(params.rows * params.row_stride / 4);
    let found = launch(device, "gather_augmented", params, step, &buffers, invocations);
    let (mut expected, mut expected_labels) = (double(&batch), batch_labels);
    twin::gather_augmented(params, step, &images, &labels, &order, &mean_image, &mut expected, &mut expected_labels);
    assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[6]), expected_labels, "{params:?}: labels");
    assert_close(&format!("{params:?}"), &floats(&found[5]), &expected, 5e-7);
}

#[test]
fn gather_augmented_equals_its_twin_in_every_mode() {
    // Training and evaluation steps in two epochs, with short batches and batches that cross the end of the set.
    let steps = (0u32..2, 0u32..2, 0u32..SAMPLES, 1u32..12);
    let shapes = (augmented(), steps, 0u32..3);
    let check = |device: &GpuDevice, change: &dyn Fn(GatherAugmented, u32) -> GatherAugmented| {
        on_shapes_with(device, &shapes, &|device, (shape, (training, epoch, offset, count), kind)| {
            let step = Step { training, epoch, offset, count, ..step(1) };
            check_gather_augmented(device, &change(shape, kind), &step);
        });
    };
    with_device(|device| {
        for edge in [edge::ZERO, edge::NEAREST, edge::REFLECT] {
            for normalization in [normalization::NONE, normalization::CHANNELS, normalization::MEAN_IMAGE] {
                check(device, &|shape, _| GatherAugmented { edge, normalization, ..shape });
            }
        }
        for flip in [flip::NEVER, flip::RANDOM, flip::ALTERNATING, flip::ALWAYS] {
            for (shift, shift_range) in [(shift::NONE, 0), (shift::WHOLE, 2), (shift::REAL, 2253)] {
                check(device, &|shape, edge| GatherAugmented { flip, shift, shift_range, edge, ..shape });
            }
        }
        check(device, &|shape, kind| GatherAugmented { grey: 1, normalization: kind % 2, ..shape });
    });
}

#[test]
fn shuffle_equals_its_twin() {
    let shapes = (1u32..3000, 0u32..9, any::<u32>(), any::<u32>());
    on_shapes(shapes, |device, (samples, first, seed, epoch)| {
        let params = Shuffle { samples, first, stream: 2000, ..Shuffle::default() };
        let step = Step { epoch, seed, ..step(1) };
        let mut expected = vec![0; samples as usize];
        let found = launch(device, "shuffle", &params, &step, &[bytes(&expected)], u64::from(samples));
        twin::shuffle(&params, &step, &mut expected);
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[0]), expected);
    });
}

#[test]
fn windows_equal_their_twins_at_any_place_and_in_short_batches() {
    let shapes = ((1u32..12, 1u32..30, 0u32..3), 1u32..40, 0u32..50, 0u32..5, any::<bool>());
    on_shapes(shapes, |device, ((rows, window, spare_fours), samples, offset, missing, drawn)| {
        let text: Vec<u8> = (0..=255u8).cycle().step_by(37).take((samples * window + 1) as usize).collect();
        let mut order: Vec<u32> = (0..samples).map(|sample| sample * window).collect();
        if drawn {
            let params = DrawWindows { samples, starts: (samples - 1) * window + 1, stream: 9000, reserved: 0 };
            let step = Step { epoch: offset, ..step(1) };
            let found = launch(device, "draw_windows", &params, &step, &[bytes(&order)], u64::from(samples));
            twin::draw_windows(&params, &step, &mut order);
            assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[0]), order);
        }
        let stride = window.next_multiple_of(4) + 4 * spare_fours;
        let params = GatherWindows { rows, window, stride, samples };
        let step = Step { offset, count: rows.saturating_sub(missing).max(1), ..step(rows) };
        let (batch, labels) = (numbers(rows * stride, 1), vec![77u32; (rows * window) as usize]);
        let mut words = text.clone();
        words.resize(text.len().next_multiple_of(4), 0);
        let buffers = [&words[..], bytes(&order), bytes(&batch), bytes(&labels)];
        let found = launch(device, "gather_windows", &params, &step, &buffers, u64::from(rows * stride / 4));
        let (mut expected, mut expected_labels) = (double(&batch), labels);
        twin::gather_windows(&params, &step, &text, &order, &mut expected, &mut expected_labels);
        // Characters are exact in every type.
        assert_eq!(double(&floats(&found[2])), expected, "{params:?}");
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[3]), expected_labels, "{params:?}");
    });
}

#[test]
fn mirror_order_equals_its_twin() {
    let shapes = (1u32..3000, any::<u32>(), any::<u32>(), any::<u32>());
    on_shapes(shapes, |device, (samples, place, seed, number)| {
        let params = MirrorOrder { samples, stream: 8000, ..MirrorOrder::default() };
        let step = Step { step: number, seed, offset: place % samples, ..step(1) };
        let mut expected: Vec<u32> = (5..5 + samples).collect();
        let found = launch(device, "mirror_order", &params, &step, &[bytes(&expected)], u64::from(samples));
        twin::mirror_order(&params, &step, &mut expected);
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[0]), expected);
    });
}

/// Returns values between 0 and 255, with different means for the three channels.
fn pixels(count: u32) -> Vec<f32> {
    storable(numbers(count, 1).iter().zip(0u16..).map(|(v, i)| (v + 1.0) * 100.0 + 20.0 * f32::from(i % 3)).collect())
}

#[test]
fn standardize_equals_its_twin_in_training_and_evaluation() {
    let shapes = (1u32..9, 1u32..300, 1u32..5, 0u32..3, 0u32..2, 0u32..3);
    on_shapes(shapes, |device, (rows, pixel_count, channels, tail, training, missing)| {
        let params = Standardize {
            rows,
            pixels: pixel_count,
            channels,
            row_stride: (pixel_count * channels).next_multiple_of(4) + 4 * tail,
            brightness: 63.0,
            lowest_contrast: 0.2,
            highest_contrast: 1.8,
            stream: 5002,
        };
        let step = Step { training, count: rows.saturating_sub(missing).max(1), ..step(rows) };
        let batch = pixels(rows * params.row_stride);
        let case = Case::new([], [&batch], |[], [batch]| twin::standardize(&params, &step, batch));
        case.check(device, "standardize", (&params, &step), rows * 64, stored_on_the_way(2.0, 2e-5));
    });
}

#[test]
fn standardize_maps_a_uniform_image_to_zero() {
    with_device(|device| {
        let sizes = Standardize { rows: 2, pixels: 5, channels: 3, row_stride: 16, ..Standardize::default() };
        let params = Standardize { lowest_contrast: 1.0, highest_contrast: 1.0, stream: 5002, ..sizes };
        let case = Case::new([], [&[7.0; 32]], |[], [batch]| twin::standardize(&params, &step(2), batch));
        assert!(case.expected[0][..15].iter().all(|value| value.abs() < 1e-12), "{:?}", case.expected);
        let found = case.launch(device, "standardize", &params, &step(2), 128).swap_remove(0);
        let (image, tail) = found[..16].split_at(15);
        assert!(image.iter().all(|value| value.abs() < 1e-5), "{image:?}");
        assert_eq!(tail, [7.0], "the tail changed");
    });
}

fn check_local_contrast(device: &GpuDevice, (rows, height, width, tail, missing): (u32, u32, u32, u32, u32)) {
    let params = LocalContrast {
        rows,
        height,
        width,
        row_stride: (3 * height * width).next_multiple_of(4) + 4 * tail,
        mean_u: -4.3,
        mean_v: 2.4,
        scale_u: -1.0 / 13.7,
        scale_v: -1.0 / 17.1,
        threshold: 1e-4,
        ..LocalContrast::default()
    };
    let step = Step { count: rows.saturating_sub(missing).max(1), ..step(rows) };
    let batch = pixels(rows * params.row_stride);
    let case = Case::new([], [&batch], |[], [batch]| twin::local_contrast(&params, &step, batch));
    case.check(device, "local_contrast", (&params, &step), rows * 256, stored_on_the_way(3.0, 1e-4));
}

#[test]
fn local_contrast_equals_its_twin_up_to_the_edges() {
    // A single pixel equals its local mean except for rounding, which the threshold would magnify.
    on_shapes_in_every_mode((1u32..4, 2u32..20, 2u32..20, 0u32..3, 0u32..2), check_local_contrast);
    with_device(|device| check_local_contrast(device, (1, 32, LOCAL_CONTRAST_PIXELS / 32, 0, 0)));
}

/// Returns parameters for one image that do not normalize U and V.
fn without_chroma_scaling(height: u32, width: u32, row_stride: u32, threshold: f32) -> LocalContrast {
    let sizes = LocalContrast { rows: 1, height, width, row_stride, ..LocalContrast::default() };
    LocalContrast { scale_u: 1.0, scale_v: 1.0, threshold, ..sizes }
}

#[test]
fn local_contrast_of_a_uniform_image_is_zero() {
    with_device(|device| {
        let params = without_chroma_scaling(9, 13, 352, 1e-4);
        let case = Case::new([], [&[251.0; 352]], |[], [batch]| twin::local_contrast(&params, &step(1), batch));
        assert!(case.expected[0][..351].iter().step_by(3).all(|&y| y == 0.0), "{:?}", case.expected);
        let found = case.launch(device, "local_contrast", &params, &step(1), 256).swap_remove(0);
        let (image, tail) = found.split_at(351);
        assert!(image.iter().step_by(3).all(|&y| y == 0.0), "{image:?}");
        assert_eq!(tail, [251.0], "the tail changed");
    });
}

#[test]
fn local_contrast_divides_small_deviations_by_the_threshold() {
    with_device(|device| {
        let (params, step) = (without_chroma_scaling(16, 16, 768, 50.0), step(1));
        // Black except for one gray pixel, whose deviation is below the threshold.
        let mut batch = vec![0.0f32; 768];
        batch[3 * (8 * 16 + 8)..][..3].fill(100.0);
        let case = Case::new([], [&batch], |[], [batch]| twin::local_contrast(&params, &step, batch));
        let found = case.launch(device, "local_contrast", &params, &step, 256).swap_remove(0);
        assert_close("one grey pixel", &found, &case.expected[0], stored_on_the_way(3.0, 1e-5));
        let center = (100.0 - 100.0 * 0.238_108_59f32.powi(2)) / 50.0;
        let difference = f64::from(found[3 * (8 * 16 + 8)] - center).abs();
        assert!(difference < stored_on_the_way(4.0, 1e-4), "the threshold replaces the deviation");
    });
}
