use half::f16;
use shaders::Stored;
use shaders::params::{RoundWeights, Step, StepResult};
use shaders::reference as twin;

use super::super::device::Device;
use super::{STORED, bytes, double, floats, launch, runner, step, uniform, with_device};

const RESULTS: [StepResult; 3] = [StepResult { loss: 1.5, correct: 3, mark: 7 }; 3];

fn params(device: &Device, elements: u32) -> RoundWeights {
    RoundWeights { elements, largest: device.stored().largest(), reserved: [0; 2] }
}

/// What is stored of `weights`, and the results of three steps after the second of them.
fn rounded(device: &Device, weights: &[f32]) -> (Vec<f32>, Vec<StepResult>) {
    let elements = u32::try_from(weights.len()).unwrap();
    let stored = vec![9.0f32; weights.len()];
    let buffers = [bytes(weights), bytes(&stored), bytes(&RESULTS)];
    let step = Step { slot: 1, ..step(1) };
    let invocations = u64::from(elements / 4);
    let found = launch(device, "round_weights", &params(device, elements), &step, &buffers, invocations);
    (floats(&found[1]), bytemuck::pod_collect_to_vec(&found[2]))
}

#[test]
fn round_weights_rounds_to_the_nearest_as_its_twin_does() {
    with_device(|device| {
        let check = |fours: u32| {
            // Not rounded before, and some so small that f16 has few digits left.
            let weight = |i| (2.0 * uniform(i, 1, 0, 7) - 1.0) * 0.5f32.powi((i % 24).cast_signed());
            let weights: Vec<f32> = (0..4 * fours).map(weight).collect();
            let mut expected = double(&weights);
            #[expect(clippy::cast_possible_truncation, reason = "the weights are of float32")]
            let round = |value: f64| match STORED.get() {
                Stored::F32 => value,
                Stored::F16 => f64::from(f16::from_f32(value as f32)),
            };
            assert!(twin::round_weights(&params(device, 4 * fours), &double(&weights), &mut expected, round));
            let (found, results) = rounded(device, &weights);
            assert_eq!(double(&found), expected);
            assert_eq!(results, RESULTS);
            Ok(())
        };
        runner().run(&(1u32..300), check).unwrap();
    });
}

#[test]
fn a_weight_that_cannot_be_stored_makes_the_loss_of_its_step_no_number() {
    with_device(|device| {
        let largest = device.stored().largest();
        for weight in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, largest * 1.001] {
            let mut weights = [0.5f32; 12];
            weights[6] = weight;
            let (found, results) = rounded(device, &weights);
            assert!(!found[6].is_finite(), "{weight} became {}", found[6]);
            assert!(
                results[1].loss.is_nan() && (results[1].correct, results[1].mark) == (3, 7),
                "{weight}: {results:?}"
            );
            assert_eq!([results[0], results[2]], [RESULTS[0]; 2]);
        }
        let (found, results) = rounded(device, &[-largest; 4]);
        assert_eq!((found, results), (vec![-largest; 4], RESULTS.to_vec()));
    });
}
