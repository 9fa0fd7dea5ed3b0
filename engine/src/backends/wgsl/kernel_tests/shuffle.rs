use proptest::prelude::*;
use shaders::params::{Shuffle, Step};
use shaders::reference as twin;

use super::{bytes, launch, runner, step, with_device};

#[test]
fn shuffle_equals_its_twin() {
    with_device(|device| {
        let check = |(samples, first, seed, epoch): (u32, u32, u32, u32)| {
            let params = Shuffle { samples, first, stream: 2000, reserved: 0 };
            let step = Step { epoch, seed, ..step(1) };
            let mut expected = vec![0; samples as usize];
            let found = launch(device, "shuffle", &params, &step, &[bytes(&expected)], u64::from(samples));
            twin::shuffle(&params, &step, &mut expected);
            prop_assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&found[0]), expected);
            Ok(())
        };
        runner().run(&(1u32..3000, 0u32..9, any::<u32>(), any::<u32>()), check).unwrap();
    });
}
