use proptest::prelude::*;
use shaders::params::{GatherAugmented, Step, edge, flip, normalization, shift};
use shaders::reference as twin;

use super::{Device, assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

const SAMPLES: u32 = 12;

/// Sources, images larger and smaller than them, and ways to store them: odd sizes, padded channels, tails.
fn shapes() -> impl Strategy<Value = GatherAugmented> {
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

/// Steps of training and of tests, in two epochs, with short batches and across the end of the set.
fn steps() -> impl Strategy<Value = Step> {
    (0u32..2, 0u32..2, 0u32..SAMPLES, 1u32..12).prop_map(|(training, epoch, offset, count)| Step {
        training,
        epoch,
        offset,
        count,
        ..step(1)
    })
}

fn in_whole_words(sample: &[u8]) -> Vec<u8> {
    let mut stored = sample.to_vec();
    stored.resize(sample.len().next_multiple_of(4), 0);
    stored
}

/// What the kernel makes of a batch and what its twin does; labels are compared here.
fn gathered(device: &Device, params: &GatherAugmented, step: &Step) -> (Vec<f32>, Vec<f64>) {
    let features = params.source_height * params.source_width * params.channels;
    let images: Vec<u8> = (0..=255u8).cycle().step_by(37).take((SAMPLES * features) as usize).collect();
    let labels: Vec<u16> = (0..).map(|i: u16| i * 5461).take(SAMPLES as usize).collect();
    let order: Vec<u32> = (0..SAMPLES).map(|i| i * 7 % SAMPLES).collect();
    let mean_image = numbers(features, 2);
    let (batch, batch_labels) = (numbers(params.rows * params.row_stride, 1), vec![77u32; params.rows as usize]);
    // On the device each sample is filled up to whole words.
    let stored: Vec<u8> = images.chunks(features as usize).flat_map(in_whole_words).collect();
    let (first, second) = stored.split_at((params.samples_in_first * features.next_multiple_of(4)) as usize);
    let buffers =
        [first, second, bytes(&labels), bytes(&order), bytes(&mean_image), bytes(&batch), bytes(&batch_labels)];
    let invocations = u64::from(params.rows * params.row_stride / 4);
    let found = launch(device, "gather_augmented", params, step, &buffers, invocations);
    let (mut expected, mut expected_labels) = (double(&batch), batch_labels);
    twin::gather_augmented(params, step, &images, &labels, &order, &mean_image, &mut expected, &mut expected_labels);
    assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[6]), expected_labels, "{params:?}: labels");
    (floats(&found[5]), expected)
}

#[test]
fn gather_augmented_equals_its_twin_at_every_edge_with_every_normalization() {
    with_device(|device| {
        for edge in [edge::ZERO, edge::NEAREST, edge::REFLECT] {
            for normalization in [normalization::NONE, normalization::CHANNELS, normalization::MEAN_IMAGE] {
                let check = |(shape, step): (GatherAugmented, Step)| {
                    let params = GatherAugmented { edge, normalization, ..shape };
                    let (found, expected) = gathered(device, &params, &step);
                    assert_close(&format!("{params:?}"), &found, &expected, 5e-7);
                    Ok(())
                };
                runner().run(&(shapes(), steps()), check).unwrap();
            }
        }
    });
}

#[test]
fn gather_augmented_equals_its_twin_with_every_flip_and_shift() {
    with_device(|device| {
        for flip in [flip::NEVER, flip::RANDOM, flip::ALTERNATING, flip::ALWAYS] {
            for (shift, shift_range) in [(shift::NONE, 0), (shift::WHOLE, 2), (shift::REAL, 2253)] {
                let check = |(shape, step, edge): (GatherAugmented, Step, u32)| {
                    let params = GatherAugmented { flip, shift, shift_range, edge, ..shape };
                    let (found, expected) = gathered(device, &params, &step);
                    assert_close(&format!("{params:?}"), &found, &expected, 5e-7);
                    Ok(())
                };
                runner().run(&(shapes(), steps(), 0u32..3), check).unwrap();
            }
        }
    });
}

#[test]
fn gather_augmented_equals_its_twin_in_grey() {
    with_device(|device| {
        let check = |(shape, step, normalization): (GatherAugmented, Step, u32)| {
            let params = GatherAugmented { grey: 1, normalization, ..shape };
            let (found, expected) = gathered(device, &params, &step);
            assert_close(&format!("{params:?}"), &found, &expected, 5e-7);
            Ok(())
        };
        runner().run(&(shapes(), steps(), 0u32..2), check).unwrap();
    });
}

#[test]
fn shifts_and_random_flips_happen_in_training_only_and_differ_from_row_to_row_and_step_to_step() {
    with_device(|device| {
        let plain = GatherAugmented {
            rows: 12,
            samples: SAMPLES,
            samples_in_first: 4,
            source_height: 8,
            source_width: 8,
            height: 8,
            width: 8,
            channels: 1,
            channel_stride: 1,
            row_stride: 64,
            divisor: 255.0,
            edge: edge::REFLECT,
            stream: 5000,
            ..GatherAugmented::default()
        };
        let changes = |flip, shift, training, number| {
            let step = Step { training, step: number, count: 12, ..step(12) };
            let augmented = GatherAugmented { flip, shift, shift_range: 2, ..plain };
            let before = gathered(device, &plain, &step).0;
            let after = gathered(device, &augmented, &step).0;
            let rows = before.chunks(64).zip(after.chunks(64));
            rows.map(|(before, after)| before != after).collect::<Vec<bool>>()
        };
        for (flip, shift) in [(flip::RANDOM, shift::NONE), (flip::ALTERNATING, shift::NONE), (0, shift::WHOLE)] {
            assert!(!changes(flip, shift, 0, 0).contains(&true), "flip {flip}, shift {shift}, in a test");
            let first = changes(flip, shift, 1, 0);
            assert!(first.contains(&true), "flip {flip}, shift {shift}: no row changes in training");
            if flip == flip::RANDOM {
                assert!(first.contains(&false), "every row is mirrored");
                assert_ne!(first, changes(flip, shift, 1, 1), "the same rows are mirrored in the next step");
            }
        }
    });
}
