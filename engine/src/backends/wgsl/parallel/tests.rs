use std::cell::Cell;
use std::num::NonZero;

use results::{Departure, Precision};

use super::super::NAME;
use super::super::plan::Plan;
use super::super::tuning::Choices;
use super::super::workload_tests::{Judged, narrow_job};
use super::*;
use crate::backends::open_with;
use crate::backends::sharing::comparison::{
    OF_EVERY_RULE, OF_OTHER_KINDS, ORDER_OF_ADDITIONS, THROUGH_NORMALIZATIONS, train, trains_as_one_does,
};
use crate::error::EngineError;
use crate::testing::{Standstill, skipped};
use crate::train::tests::{narrow_request, request, run};

fn opening(devices: u32) -> Opening {
    Opening { devices: NonZero::new(devices), ..Opening::new(Precision::F32, &AdapterChoice::Cpu) }
}

/// Opens the software adapter as several logical devices, which exchange gradients during the backward pass or after
/// it. Without one the test is skipped, or fails with `REQUIRE_GPU=1`.
fn logical_devices(devices: u32, overlap: Option<bool>) -> Option<Box<dyn Backend>> {
    let opening = Opening { overlap, ..opening(devices) };
    opened(pollster::block_on(open_with(NAME, &opening, Rc::new(Standstill))))
}

/// Like [`logical_devices`], for tests that break one of two devices.
fn two_devices(clock: Rc<dyn Clock>) -> Option<ParallelBackend> {
    let open = || async {
        let first = WgslBackend::open(&opening(1), Rc::clone(&clock)).await?;
        let second = WgslBackend::open(&opening(1), Rc::clone(&clock)).await?;
        let (devices, clock) = (vec![first, second], Rc::clone(&clock));
        Ok(ParallelBackend::new(devices, clock, Some(true)))
    };
    opened(pollster::block_on(open()))
}

fn opened<T>(opened: Result<T>) -> Option<T> {
    match opened {
        Ok(backend) => Some(backend),
        Err(EngineError::NoAdapter { .. }) => {
            skipped(true, "there is no software adapter");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn check_several_devices(names: &[&str], devices: u32, tolerance: f64) {
    let (Some(one), Some(several)) = (logical_devices(1, None), logical_devices(devices, None)) else { return };
    assert_eq!((one.devices(), several.devices()), (1, devices));
    for name in names {
        let job = narrow_job(&crate::workload(name).unwrap());
        trains_as_one_does(several.as_ref(), one.as_ref(), &job, tolerance);
    }
}

#[test]
#[ignore = "trains on up to four devices"]
fn several_devices_train_as_one_does() {
    check_several_devices(&OF_EVERY_RULE, 2, ORDER_OF_ADDITIONS);
    check_several_devices(&OF_OTHER_KINDS, 2, ORDER_OF_ADDITIONS);
    // Batch normalization uses the statistics of the whole batch.
    check_several_devices(&["resnet20-cifar10"], 2, THROUGH_NORMALIZATIONS);
    check_several_devices(&["resnet20-cifar10"], 3, THROUGH_NORMALIZATIONS);
    // The fourth of four devices has no samples.
    check_several_devices(&["keras-mnist-cnn"], 4, ORDER_OF_ADDITIONS);
    check_several_devices(&["resnet20-cifar10"], 4, THROUGH_NORMALIZATIONS);
}

/// With dropout, momentum, batch normalisation's exchanges between the parts, tensors that stages share, a limit of all
/// gradients together, and averages of weights.
#[test]
#[ignore = "trains on up to three devices"]
fn exchanges_during_and_after_the_backward_pass_give_equal_bits() {
    let names = ["keras-mnist-mlp", "tensorflow-mnist", "resnet20-cifar10", "memn2n-babi", "tensorflow-cifar10"];
    for devices in [2, 3] {
        let (Some(on), Some(off)) = [Some(true), Some(false)].map(|overlap| logical_devices(devices, overlap)).into()
        else {
            return;
        };
        for name in names {
            let job = narrow_job(&crate::workload(name).unwrap());
            let (found, expected) = (train(on.as_ref(), &job), train(off.as_ref(), &job));
            assert_eq!((found.losses, found.test.loss), (expected.losses, expected.test.loss), "{name}");
            assert_eq!(found.logits, expected.logits, "{name}");
            let bits = |tensors: &[Vec<f32>]| tensors.iter().flatten().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert!(bits(&found.gradients) == bits(&expected.gradients), "{name}: gradients on {devices} devices");
            assert!(bits(&found.weights) == bits(&expected.weights), "{name}: weights on {devices} devices");
        }
    }
}

/// Every workload at its full rate, compared with the plain loops by the check before timed steps: limits of gradients,
/// tensors that stages share, frozen ones, averages of weights and linear starts among them.
#[test]
#[ignore = "trains every network on two devices"]
fn two_devices_train_every_workload_as_the_reference_does() {
    let Some(two) = logical_devices(2, Some(true)) else { return };
    for workload in crate::testing::workloads() {
        let judged = Judged::new(workload);
        assert_eq!(judged.objection(two.as_ref(), &judged.job), None, "{}", judged.workload.name);
    }
}

#[test]
fn every_launch_omitted_by_the_second_device_is_caught() {
    let Some(two) = two_devices(Rc::new(Standstill)) else { return };
    for name in ["keras-mnist-mlp", "memn2n-babi"] {
        let judged = Judged::new(crate::workload(name).unwrap());
        let second = &two.devices[1].device;
        let choices = Choices::new(second.abilities);
        let plan = Plan::new(&judged.job, two.setup(), second.largest_binding_bytes(), &choices).unwrap();
        // The first device alone runs tests.
        let launches = plan.launches().into_iter().enumerate().filter(|(_, launch)| !launch.starts_with("test"));
        for (place, launch) in launches {
            second.omission.set(Some(place));
            assert!(judged.objection(&two, &judged.job).is_some(), "{name} without {launch} (launch {place})");
        }
        second.omission.set(None);
    }
}

#[test]
fn diverged_weights_are_found_before_the_next_test() {
    let Some(two) = two_devices(Rc::new(Standstill)) else { return };
    let job = narrow_job(&crate::workload("keras-mnist-mlp").unwrap());
    pollster::block_on(async {
        let build = |place: usize| two.devices[place].build_with(&job, two.setup());
        let mut trainer = two.trainer(vec![build(0).await.unwrap(), build(1).await.unwrap()], &job);
        trainer.train_steps(1).await.unwrap();
        trainer.evaluate(EvaluationSet::Test, 5).await.unwrap();
        // The second device forgets its part of what it learned.
        trainer.replicas.trainers[1] = build(1).await.unwrap();
        let error = trainer.evaluate(EvaluationSet::Test, 5).await.unwrap_err().to_string();
        let begin = format!("device 2 of 2 ({}): ", two.adapter().name);
        assert!(error.starts_with(&begin) && error.contains("differ from device 1"), "{error}");
    });
}

/// A clock that disconnects a device at one of its readings.
struct PullsThePlug {
    readings_left: Cell<u32>,
    device: Cell<Option<Rc<super::super::device::GpuDevice>>>,
}

impl Clock for PullsThePlug {
    fn now_seconds(&self) -> f64 {
        self.readings_left.set(self.readings_left.get().saturating_sub(1));
        if self.readings_left.get() == 0
            && let Some(device) = self.device.take()
        {
            device.lose();
        }
        0.0
    }
}

#[test]
fn a_device_lost_between_steps_ends_training_with_its_number() {
    let plug = Rc::new(PullsThePlug { readings_left: Cell::new(0), device: Cell::default() });
    let Some(two) = two_devices(Rc::<PullsThePlug>::clone(&plug)) else { return };
    let job = narrow_job(&crate::workload("keras-mnist-mlp").unwrap());
    let mut trainer = pollster::block_on(two.build(&job)).unwrap();
    assert_eq!(pollster::block_on(trainer.train_steps(2)).unwrap().losses.len(), 2);
    // In the first of these steps, after the gradients of the last layers were exchanged.
    plug.readings_left.set(9);
    plug.device.set(Some(Rc::clone(&two.devices[1].device)));
    let error = pollster::block_on(trainer.train_steps(4)).unwrap_err();
    let EngineError::OfDevice { number: 2, devices: 2, error, .. } = error else { panic!("{error}") };
    assert!(matches!(*error, EngineError::DeviceLost { .. }), "{error}");
}

#[test]
fn a_run_that_loses_a_device_stops_without_results() {
    let Some(two) = two_devices(Rc::new(Standstill)) else { return };
    two.devices[1].device.lose();
    let stopped = run(&narrow_request(&["keras-mnist-mlp"]), &two).unwrap_err();
    let text = stopped.error.to_string();
    assert!(text.starts_with("device 2 of 2 (") && text.contains("the device was lost"), "{text}");
    assert!(stopped.so_far.is_none());
}

#[test]
fn a_batch_smaller_than_the_devices_is_refused_before_training() {
    let Some(two) = two_devices(Rc::new(Standstill)) else { return };
    let mut of_one = narrow_request(&["keras-mnist-mlp"]);
    of_one.spec.batch_size = Some(1);
    let stopped = run(&of_one, &two).unwrap_err();
    let expected = "the batch size must be at least 2 for keras-mnist-mlp: one sample for each device, but is 1";
    assert_eq!(stopped.error.to_string(), expected);
}

#[test]
fn a_run_reports_its_devices_and_their_communication() {
    let Some(two) = two_devices(Rc::new(Standstill)) else { return };
    // The network has full width, so its gradients are exchanged in two parts.
    let record = run(&request(&["keras-mnist-mlp"]), &two).unwrap();
    assert_eq!(record.devices(), 2);
    let logical = record.device.adapter.software;
    assert!(record.departures.contains(&Departure::Devices { count: 2, logical }), "{:?}", record.departures);
    let told = record.workloads[0].communication.unwrap();
    let job_bytes = 4 * record.workloads[0].settings.parameters;
    // Two steps, two parts, from and to two devices each.
    assert_eq!(told.exchanges, 4);
    assert!(told.bytes >= 2 * 4 * job_bytes, "{told:?} of {job_bytes}");
}

#[test]
fn moments_of_uneven_parts_are_those_of_all_values() {
    // Two channels; one device has three pixels in parts of two, one has none, one has two.
    let values = [[1.0, 10.0], [2.0, 20.0], [6.0, -5.0], [4.0, 0.0], [7.0, 3.0]];
    let moments_of = |pixels: &[[f32; 2]]| -> Vec<f32> {
        let count = pixels.len().max(1) as f32;
        let mean = [0, 1].map(|c| pixels.iter().map(|p| p[c]).sum::<f32>() / count);
        let deviations = [0, 1].map(|c| pixels.iter().map(|p| (p[c] - mean[c]).powi(2)).sum::<f32>());
        [mean, deviations].concat()
    };
    let bytes = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|value| value.to_le_bytes()).collect() };
    let found = [
        bytes(&[moments_of(&values[..2]), moments_of(&values[2..3])].concat()),
        bytes(&[9.0; 8]),
        bytes(&[moments_of(&values[3..]), vec![9.0; 4]].concat()),
    ];
    let shares = [(0, 3), (3, 0), (3, 2)].map(|(first_row, count)| Share { first_row, count });
    let combination = Combination::Moments { channels: 2, pixels_of_sample: 1, pixels_per_part: 2 };
    // Earlier contents are replaced, whatever their length.
    let mut combined = vec![7.0; 3];
    combination.combine(&found, &shares, &mut combined);
    for (found, expected) in combined.into_iter().zip(moments_of(&values)) {
        assert!((found - expected).abs() < 1e-4 * expected.abs().max(1.0), "{found} instead of {expected}");
    }
}
