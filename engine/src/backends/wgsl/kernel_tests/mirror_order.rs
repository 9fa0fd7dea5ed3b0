use proptest::prelude::*;
use shaders::params::{MirrorOrder, Step};
use shaders::reference as twin;

use super::{bytes, launch, runner, step, with_device};

#[test]
fn mirror_order_equals_its_twin() {
    with_device(|device| {
        let check = |(samples, place, seed, number): (u32, u32, u32, u32)| {
            let params = MirrorOrder { samples, stream: 8000, reserved: [0; 2] };
            let step = Step { step: number, seed, offset: place % samples, ..step(1) };
            let mut expected: Vec<u32> = (5..5 + samples).collect();
            let found = launch(device, "mirror_order", &params, &step, &[bytes(&expected)], u64::from(samples));
            twin::mirror_order(&params, &step, &mut expected);
            prop_assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[0]), expected);
            Ok(())
        };
        runner().run(&(1u32..3000, any::<u32>(), any::<u32>(), any::<u32>()), check).unwrap();
    });
}
