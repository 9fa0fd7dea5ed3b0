use proptest::prelude::*;
use shaders::params::{Gather, Step};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

#[test]
fn gather_equals_its_twin_across_the_end_of_the_set_and_in_short_batches() {
    with_device(|device| {
        let check = |(shape, offset, missing, samples_in_first, streamed): ((u32, u32, u32), u32, u32, u32, u32)| {
            let (rows, fours, padding) = shape;
            let (samples, features) = (10, 4 * fours);
            let params = Gather {
                rows,
                features,
                stride: features + 4 * padding,
                samples,
                divisor: 255.0,
                samples_in_first,
                streamed,
                reserved: 0,
            };
            let count = rows.saturating_sub(missing).max(1);
            let step = Step { offset, count, ..step(rows) };
            let images: Vec<u8> = (0..=255u8).cycle().step_by(37).take((samples * features) as usize).collect();
            // Any number of 16 bits.
            let labels: Vec<u16> = (0..10).map(|i| i * 6553).collect();
            let order: Vec<u32> = (0..samples).map(|i| i * 7 % samples).collect();
            let (batch, batch_labels) = (numbers(rows * params.stride, 1), vec![77u32; rows as usize]);
            let (first, second) = images.split_at((samples_in_first * features) as usize);
            let buffers = [first, second, bytes(&labels), bytes(&order), bytes(&batch), bytes(&batch_labels)];
            let invocations = u64::from(rows * params.stride / 4);
            let found = launch(device, "gather", &params, &step, &buffers, invocations);
            let (mut expected, mut expected_labels) = (double(&batch), batch_labels);
            twin::gather(&params, &step, &images, &labels, &order, &mut expected, &mut expected_labels);
            assert_close(&format!("{params:?}"), &floats(&found[4]), &expected, 2e-7);
            prop_assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[5]), expected_labels);
            Ok(())
        };
        runner().run(&((1u32..12, 1u32..9, 0u32..3), 0u32..10, 0u32..5, 1u32..10, 0u32..2), check).unwrap();
    });
}
