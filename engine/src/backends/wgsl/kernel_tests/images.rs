//! What is done to the images of a batch after they were gathered.

use shaders::params::{LOCAL_CONTRAST_PIXELS, LocalContrast, Standardize, Step};
use shaders::reference as twin;

use super::{
    assert_close, bytes, double, floats, launch, numbers, runner, step, storable, stored_on_the_way, with_device,
};

/// Values between 0 and 255, different in each channel.
fn pixels(count: u32) -> Vec<f32> {
    storable(numbers(count, 1).iter().zip(0u16..).map(|(v, i)| (v + 1.0) * 100.0 + 20.0 * f32::from(i % 3)).collect())
}

#[test]
fn standardize_equals_its_twin_in_training_and_in_tests() {
    with_device(|device| {
        let check = |(rows, pixel_count, channels, tail, training, missing): (u32, u32, u32, u32, u32, u32)| {
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
            let found = launch(device, "standardize", &params, &step, &[bytes(&batch)], u64::from(rows) * 64);
            let mut expected = double(&batch);
            twin::standardize(&params, &step, &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[0]), &expected, stored_on_the_way(2.0, 2e-5));
            Ok(())
        };
        runner().run(&(1u32..9, 1u32..300, 1u32..5, 0u32..3, 0u32..2, 0u32..3), check).unwrap();
    });
}

#[test]
fn standardize_does_not_divide_an_image_of_one_colour_by_zero() {
    with_device(|device| {
        let params = Standardize {
            rows: 2,
            pixels: 5,
            channels: 3,
            row_stride: 16,
            brightness: 0.0,
            lowest_contrast: 1.0,
            highest_contrast: 1.0,
            stream: 5002,
        };
        let batch = [7.0f32; 32];
        let found = floats(&launch(device, "standardize", &params, &step(2), &[bytes(&batch)], 128)[0]);
        let (image, tail) = found[..16].split_at(15);
        assert!(image.iter().all(|value| value.abs() < 1e-5), "{image:?}");
        assert_eq!(tail, [7.0], "the tail stays");
    });
}

#[test]
fn local_contrast_equals_its_twin_up_to_the_edges() {
    with_device(|device| {
        let check = |(rows, height, width, tail, missing): (u32, u32, u32, u32, u32)| {
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
                reserved: [0; 3],
            };
            let step = Step { count: rows.saturating_sub(missing).max(1), ..step(rows) };
            let batch = pixels(rows * params.row_stride);
            let invocations = u64::from(rows) * 256;
            let found = launch(device, "local_contrast", &params, &step, &[bytes(&batch)], invocations);
            let mut expected = double(&batch);
            twin::local_contrast(&params, &step, &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[0]), &expected, stored_on_the_way(3.0, 1e-4));
            Ok(())
        };
        // A single pixel is its own local mean up to rounding, which the threshold then blows up.
        runner().run(&(1u32..4, 2u32..20, 2u32..20, 0u32..3, 0u32..2), check).unwrap();
        check((1, 32, LOCAL_CONTRAST_PIXELS / 32, 0, 0)).unwrap();
    });
}

#[test]
fn local_contrast_of_an_even_image_is_zero_in_spite_of_rounding() {
    with_device(|device| {
        let params = LocalContrast {
            rows: 1,
            height: 9,
            width: 13,
            row_stride: 352,
            mean_u: 0.0,
            mean_v: 0.0,
            scale_u: 1.0,
            scale_v: 1.0,
            threshold: 1e-4,
            reserved: [0; 3],
        };
        let batch = vec![251.0f32; 352];
        let found = floats(&launch(device, "local_contrast", &params, &step(1), &[bytes(&batch)], 256)[0]);
        let (image, tail) = found.split_at(351);
        assert!(image.iter().step_by(3).all(|&y| y == 0.0), "{image:?}");
        assert_eq!(tail, [251.0], "the tail stays");
    });
}

#[test]
fn local_contrast_divides_by_the_threshold_where_an_image_is_even() {
    with_device(|device| {
        let params = LocalContrast {
            rows: 1,
            height: 16,
            width: 16,
            row_stride: 768,
            mean_u: 0.0,
            mean_v: 0.0,
            scale_u: 1.0,
            scale_v: 1.0,
            threshold: 50.0,
            reserved: [0; 3],
        };
        // Black but for one grey pixel: its deviation is below the threshold.
        let mut batch = vec![0.0f32; 768];
        batch[3 * (8 * 16 + 8)..][..3].fill(100.0);
        let found = floats(&launch(device, "local_contrast", &params, &step(1), &[bytes(&batch)], 256)[0]);
        let mut expected = double(&batch);
        twin::local_contrast(&params, &step(1), &mut expected);
        assert_close("one grey pixel", &found, &expected, stored_on_the_way(3.0, 1e-5));
        let centre = (100.0 - 100.0 * 0.238_108_59f32.powi(2)) / 50.0;
        let difference = f64::from(found[3 * (8 * 16 + 8)] - centre).abs();
        assert!(difference < stored_on_the_way(4.0, 1e-4), "the deviation is taken for the threshold");
    });
}
