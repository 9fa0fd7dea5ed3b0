use shaders::params::{PeakFma, PeakStream};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

#[test]
fn chains_of_multiply_adds_equal_their_twin() {
    with_device(|device| {
        for chains in [2, 4, 8] {
            let check = |(iterations, invocations): (u32, u32)| {
                let params = PeakFma { iterations, invocations, multiplier: 0.99, addend: 0.01 };
                let result = numbers(4 * invocations, 1);
                let kernel = format!("peak_fma_{chains}");
                let found = launch(device, &kernel, &params, &step(1), &[bytes(&result)], u64::from(invocations));
                let mut expected = double(&result);
                twin::peak_fma(&params, chains, &mut expected);
                assert_close(&format!("{chains} chains: {params:?}"), &floats(&found[0]), &expected, 1e-5);
                Ok(())
            };
            runner().run(&(0u32..6, 1u32..2000), check).unwrap();
        }
    });
}

#[test]
fn streams_reach_every_number_once_however_many_invocations_share_them() {
    with_device(|device| {
        let check = |(quads, invocations): (u32, u32)| {
            let params = PeakStream { quads, invocations, reserved: [0; 2] };
            let x = numbers(4 * quads, 1);
            let y = numbers(4 * quads, 2);
            let sums = numbers(4 * invocations, 3);
            let count = u64::from(invocations);

            let copied = launch(device, "peak_copy", &params, &step(1), &[bytes(&x), bytes(&y)], count);
            let mut expected = double(&y);
            twin::peak_copy(&params, &double(&x), &mut expected);
            assert_close(&format!("copy: {params:?}"), &floats(&copied[1]), &expected, 0.0);

            let read = launch(device, "peak_read", &params, &step(1), &[bytes(&x), bytes(&sums)], count);
            let mut expected = double(&sums);
            twin::peak_read(&params, &double(&x), &mut expected);
            assert_close(&format!("read: {params:?}"), &floats(&read[1]), &expected, 1e-5);
            Ok(())
        };
        runner().run(&(1u32..3000, 1u32..1000), check).unwrap();
    });
}
