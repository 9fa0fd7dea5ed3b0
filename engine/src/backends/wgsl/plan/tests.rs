use std::rc::Rc;

use super::*;
use crate::data::{DataSet, data_set};
use crate::training::{BatchPlan, SampleOrder};

fn job(workload: &str, batch_size: u32) -> TrainingJob {
    let workload = crate::workload(workload).unwrap();
    let split = |samples: usize| Split { images: vec![0; samples * 784], labels: vec![0; samples] };
    TrainingJob {
        model: workload.model.clone(),
        data: Rc::new(DataSet {
            definition: data_set("mnist").unwrap(),
            train: split(10),
            test: split(5),
            generated: false,
        }),
        input_scale: workload.input_scale,
        optimizer: workload.optimizer.clone(),
        batches: BatchPlan { samples: 10, batch_size, order: SampleOrder::File, batching: workload.batching, seed: 1 },
        seed: 1,
        dropout: true,
    }
}

fn launches(recording: &Recording) -> Vec<&'static str> {
    recording.dispatches.iter().map(|d| d.kernel.name).collect()
}

#[test]
fn a_step_of_the_perceptron_is_eleven_launches() {
    let plan = Plan::new(&job("keras-mnist-mlp", 8)).unwrap();
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
    let plan = Plan::new(&job("caffe-mnist", 8)).unwrap();
    let launches = launches(&plan.training);
    assert_eq!(launches[..3], ["gather", "conv2d_forward_narrow", "max_pool_forward"]);
    assert_eq!(launches[launches.len() - 3..], ["conv2d_weight_gradient_narrow", "sum_parts", "sgd"]);
}

#[test]
fn every_binding_lies_inside_its_buffer_at_an_aligned_offset() {
    for (name, batch) in [("keras-mnist-mlp", 1), ("keras-mnist-mlp", 128), ("caffe-mnist", 3), ("caffe-mnist", 64)] {
        let plan = Plan::new(&job(name, batch)).unwrap();
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
    for name in ["keras-mnist-mlp", "caffe-mnist"] {
        let plan = Plan::new(&job(name, 8)).unwrap();
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
