use std::rc::Rc;

use super::*;
use crate::data::{DataSet, Split, data_set};
use crate::training::{BatchPlan, SampleOrder};
use crate::workload::Training;

/// More than any device needs.
const LARGEST_BINDING: u64 = 1 << 30;

fn job(workload: &str, batch_size: u32) -> TrainingJob {
    let workload = crate::workload(workload).unwrap();
    let definition = data_set(workload.data_set).unwrap();
    let features = definition.train.features() as usize;
    let split = |samples: usize| Split { images: vec![0; samples * features], labels: vec![0; samples] };
    let batches =
        BatchPlan { first: 0, samples: 10, batch_size, order: SampleOrder::File, batching: workload.batching, seed: 1 };
    workload.job(Training {
        data: Rc::new(DataSet { definition, train: split(10), test: split(5), generated: false }),
        batches,
        planned_steps: 100,
        seed: 1,
        dropout: true,
    })
}

fn plan(workload: &str, batch_size: u32) -> Plan {
    Plan::new(&job(workload, batch_size), LARGEST_BINDING, &Choices::default()).unwrap()
}

/// Every workload, by name.
fn workloads() -> impl Iterator<Item = &'static str> {
    crate::WORKLOADS.iter().map(|make| make().name)
}

fn launches(recording: &Recording) -> Vec<&'static str> {
    recording.dispatches.iter().map(|d| d.kernel.name).collect()
}

#[test]
fn a_step_of_the_perceptron_is_eleven_launches() {
    let plan = plan("keras-mnist-mlp", 8);
    let expected = [
        "gather",
        "dense_forward",
        "dense_forward",
        "dense_forward",
        "softmax_cross_entropy",
        "dense_weight_gradient",
        "dense_input_gradient",
        "dense_weight_gradient",
        "dense_input_gradient",
        "dense_weight_gradient",
        "rmsprop",
    ];
    assert_eq!(launches(&plan.training), expected);
    assert_eq!(launches(&plan.evaluation), expected[..5]);
}

#[test]
fn a_step_of_lenet_reads_the_image_with_the_narrow_kernels() {
    let plan = plan("caffe-mnist", 8);
    let launches = launches(&plan.training);
    assert_eq!(launches[..3], ["gather", "conv2d_forward_narrow", "max_pool_forward"]);
    assert_eq!(launches[launches.len() - 3..], ["conv2d_weight_gradient_narrow", "sum_parts", "sgd"]);
}

#[test]
fn every_binding_lies_inside_its_buffer_at_an_aligned_offset() {
    for (name, batch) in workloads().flat_map(|name| [(name, 1), (name, 3), (name, 64)]) {
        let plan = plan(name, batch);
        for dispatch in plan.training.dispatches.iter().chain(&plan.evaluation.dispatches) {
            for range in &dispatch.bindings {
                let buffer = &plan.buffers[range.buffer];
                assert!(range.offset_bytes + range.bytes <= buffer.bytes, "{name} {}", buffer.name);
                assert_eq!(range.offset_bytes % 256, 0, "{name} {}", buffer.name);
                assert!(range.bytes > 0, "{name} {}", buffer.name);
            }
        }
    }
}

#[test]
fn no_launch_reads_and_writes_the_same_bytes() {
    for name in workloads() {
        let plan = plan(name, 8);
        for dispatch in &plan.training.dispatches {
            let bindings = dispatch.bindings.iter().zip(dispatch.kernel.storage);
            let (written, read): (Vec<_>, Vec<_>) =
                bindings.partition(|(_, access)| **access == shaders::Access::ReadWrite);
            for (write, _) in &written {
                assert!(read.iter().all(|(r, _)| r.buffer != write.buffer), "{name} {}", dispatch.kernel.name);
            }
        }
    }
}

#[test]
fn steps_of_the_keras_networks_stay_within_their_launches() {
    for (name, most) in [("keras-mnist-mlp", 12), ("keras-mnist-cnn", 25)] {
        let plan = plan(name, 128);
        let launches = launches(&plan.training);
        assert!(launches.len() <= most, "{name}: {} launches, {launches:?}", launches.len());
    }
}

#[test]
fn a_batch_that_one_binding_cannot_hold_is_refused_with_both_numbers() {
    let refused = Plan::new(&job("keras-mnist-mlp", 4096), 1 << 20, &Choices::default()).err();
    let Some(EngineError::DoesNotFit { what, needed_bytes, allowed_bytes }) = refused else { panic!("{refused:?}") };
    // The images: 4096 × 784 values of four bytes.
    assert_eq!((needed_bytes, allowed_bytes), (4096 * 784 * 4, 1 << 20), "{what}");
    assert!(what.contains("4096 samples"), "{what}");
}
