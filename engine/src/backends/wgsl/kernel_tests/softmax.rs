use proptest::prelude::*;
use shaders::params::{Softmax, Step, StepResult};
use shaders::reference as twin;

use super::{assert_close, bytes, double, floats, launch, numbers, runner, step, storable, with_device};

#[test]
fn softmax_cross_entropy_equals_its_twin_in_full_and_in_short_batches() {
    with_device(|device| {
        let check = |((rows, classes, missing), varied): ((u32, u32, u32), bool)| {
            let params = Softmax {
                rows,
                classes,
                stride: classes.next_multiple_of(4),
                summed: u32::from(varied),
                label_smoothing: if varied { 0.2 } else { 0.0 },
                logits_scale: if varied { 1.0 / 9.0 } else { 1.0 },
                gradient_scale: if varied { 4.0 } else { 1.0 },
                reserved: 0,
            };
            let count = rows.saturating_sub(missing).max(1);
            let step = Step { count, elsewhere: 3, slot: 2, mark: 77, ..step(rows) };
            // Steep logits and a tie in every row.
            let mut logits = storable(numbers(rows * params.stride, 1).iter().map(|v| v * 20.0).collect());
            for row in logits.chunks_exact_mut(params.stride as usize) {
                row[(classes - 1) as usize] = row[0];
            }
            let labels: Vec<u32> = (0..rows).map(|row| row * 7 % classes).collect();
            let gradient = vec![9.0f32; logits.len()];
            let results = [StepResult::default(); 4];
            let buffers = [bytes(&logits), bytes(&labels), bytes(&gradient), bytes(&results)];
            let found = launch(device, "softmax_cross_entropy", &params, &step, &buffers, 1);
            let mut expected = double(&gradient);
            let (loss, result) = twin::softmax_cross_entropy(&params, &step, &double(&logits), &labels, &mut expected);
            assert_close(&format!("{params:?}"), &floats(&found[2]), &expected, 1e-6);
            let found: Vec<StepResult> = bytemuck::pod_collect_to_vec(&found[3]);
            assert_close(&format!("{params:?}: loss"), &[found[2].loss], &[loss], 1e-5);
            prop_assert_eq!((found[2].correct, found[2].mark), (result.correct, 77));
            prop_assert_eq!([found[0], found[1], found[3]], [StepResult::default(); 3]);
            Ok(())
        };
        runner().run(&((1u32..600, 2u32..40, 0u32..20), any::<bool>()), check).unwrap();
    });
}
