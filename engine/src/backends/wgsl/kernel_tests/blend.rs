use proptest::prelude::*;
use shaders::params::Blend;
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, with_device};

#[test]
fn blend_equals_its_twin() {
    with_device(|device| {
        let check = |(fours, first): (u32, bool)| {
            let params = Blend { elements: 4 * fours, weight: 0.125, first: u32::from(first), reserved: 0 };
            let (x, sum) = (numbers(params.elements, 1), numbers(params.elements, 2));
            let found = launch(device, "blend", &params, &step(1), &[bytes(&x), bytes(&sum)], u64::from(fours));
            let mut expected = double(&sum);
            twin::blend(&params, &double(&x), &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[1]), &expected, 1e-6);
            Ok(())
        };
        runner().run(&(1u32..300, any::<bool>()), check).unwrap();
    });
}
