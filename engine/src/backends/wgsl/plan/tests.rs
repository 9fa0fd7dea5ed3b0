use std::ops::Range;

use results::InputMode;
use shaders::{Access, SMALL_WORKGROUP, Stored};

use super::super::variants::Abilities;
use super::*;
use crate::model::ModelError;
use crate::testing::{file_batches, samples};
use crate::training::BatchPlan;

impl Plan {
    /// Names of all launches, in the order in which [`Plan::omit`] counts them.
    pub(crate) fn launches(&self) -> Vec<String> {
        let recordings = [
            ("shuffle", &self.shuffle),
            ("training", &self.training),
            ("test", &self.evaluation),
            ("held-out test", &self.held_out),
        ];
        let named = |(name, recording): (&'static str, &Recording)| {
            launches(recording).into_iter().map(move |kernel| format!("{name}: {kernel}"))
        };
        recordings.into_iter().flat_map(named).collect()
    }

    /// Leaves out a launch, as a broken device does, given its place among all launches.
    pub(crate) fn omit(&mut self, omitted: usize) {
        let mut place = omitted;
        for recording in [&mut self.shuffle, &mut self.training, &mut self.evaluation, &mut self.held_out] {
            if place < recording.dispatches.len() {
                recording.dispatches.remove(place);
                for exchange in &mut recording.exchanges {
                    exchange.after -= usize::from(exchange.after > place);
                    exchange.until -= usize::from(exchange.until > place);
                }
                return;
            }
            place -= recording.dispatches.len();
        }
        panic!("a plan has no launch {omitted}");
    }
}

/// More than any device needs.
const MAX_BINDING_BYTES: u64 = 1 << 30;

fn job(workload: &str, batch_size: u32) -> TrainingJob {
    let workload = crate::workload(workload).unwrap();
    let batches = BatchPlan { batching: workload.batching, ..file_batches(10, batch_size) };
    let data = samples(workload.data_set, [10, 5], |_| 0);
    TrainingJob { planned_steps: 100, ..workload.job(data, batches, 1) }
}

fn plan_with(job: &TrainingJob, setup: TrainingSetup, abilities: Abilities) -> Plan {
    Plan::new(job, setup, MAX_BINDING_BYTES, &Choices::new(abilities)).unwrap()
}

fn plan(workload: &str, batch_size: u32) -> Plan {
    plan_of(Stored::F32, workload, batch_size)
}

/// Returns a plan of a device that stores `stored`.
fn plan_of(stored: Stored, workload: &str, batch_size: u32) -> Plan {
    let abilities = Abilities { stored, ..Abilities::default() };
    plan_with(&job(workload, batch_size), TrainingSetup::STANDARD, abilities)
}

/// Every workload, by name.
fn workloads() -> impl Iterator<Item = &'static str> {
    crate::WORKLOADS.iter().map(|make| make().name)
}

fn launches(recording: &Recording) -> Vec<&'static str> {
    recording.dispatches.iter().map(|d| d.kernel.name).collect()
}

#[test]
fn every_launch_fits_small_workgroups_in_compatibility_mode() {
    for (name, software) in workloads().flat_map(|name| [(name, false), (name, true)]) {
        let abilities = Abilities { software, subgroup_lanes: 8, small_workgroups: true, ..Abilities::default() };
        let plan = plan_with(&job(name, 64), TrainingSetup::STANDARD, abilities);
        for kernel in plan.training.dispatches.iter().chain(&plan.evaluation.dispatches).map(|launch| launch.kernel) {
            assert!(kernel.in_small_workgroups().workgroup_size <= SMALL_WORKGROUP, "{name}: {}", kernel.name);
        }
        for product in plan.products() {
            let large = product.variants_with(abilities).find(|variant| {
                shaders::kernel(variant.kernel).is_some_and(|kernel| kernel.workgroup_size > SMALL_WORKGROUP)
            });
            assert_eq!(large, None, "{name}");
        }
    }
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
fn steps_of_large_batches_add_few_launches() {
    for (name, most) in [("keras-mnist-mlp", 12), ("keras-mnist-cnn", 25)] {
        let launches = launches(&plan(name, 128).training);
        assert!(launches.len() <= most, "{name}: {} launches, {launches:?}", launches.len());
    }
}

#[test]
fn sums_hand_gradients_on_without_launches() {
    let copies = |name| {
        let launches = launches(&plan(name, 8).training);
        launches.into_iter().filter(|kernel| ["add_gradient", "pass_gradient"].contains(kernel)).count()
    };
    // Dropout changes the gradients of two branches per block, and of the first input.
    assert_eq!((copies("gpt-nano"), copies("gpt-small")), (0, 13));
}

#[test]
fn lenet_reads_the_image_with_narrow_kernels() {
    let plan = plan("caffe-mnist", 8);
    let launches = launches(&plan.training);
    assert_eq!(launches[..3], ["gather", "conv2d_forward_narrow", "max_pool_forward"]);
    assert_eq!(launches[launches.len() - 3..], ["conv2d_weight_gradient_narrow", "sum_many_parts", "sgd"]);
}

#[test]
fn bindings_are_aligned_inside_buffers_and_never_alias() {
    let each = workloads().flat_map(|name| [(name, 1), (name, 3), (name, 64)]);
    for ((name, batch), stored) in each.flat_map(|case| Stored::ALL.map(|stored| (case, stored))) {
        let plan = plan_of(stored, name, batch);
        for dispatch in plan.training.dispatches.iter().chain(&plan.evaluation.dispatches) {
            let what = format!("{name} {}", dispatch.kernel.name);
            for range in &dispatch.bindings {
                assert!(range.offset_bytes + range.bytes <= plan.buffers[range.buffer].bytes, "{what}");
                assert_eq!(range.offset_bytes % 256, 0, "{what}");
                assert!(range.bytes > 0 && range.bytes % 4 == 0, "{what}");
            }
            let bindings = dispatch.bindings.iter().zip(dispatch.kernel.storage);
            let (written, read): (Vec<_>, Vec<_>) = bindings.partition(|(_, access)| **access == Access::ReadWrite);
            let is_read = |buffer| read.iter().any(|(range, _)| range.buffer == buffer);
            assert!(!written.iter().any(|(range, _)| is_read(range.buffer)), "{what} reads and writes the same buffer");
        }
    }
}

/// A submission is no shorter than a launch. This takes three tenths of a second at 280 GFLOP/s, as slow phones have them, and
/// two seconds, after which drivers end it, at a seventh of that.
const MAX_LAUNCH_FLOPS: u64 = 80_000_000_000;

#[test]
fn no_launch_exceeds_the_time_limit_of_drivers() {
    for workload in crate::WORKLOADS.iter().map(|make| make()) {
        let plan = plan(workload.name, workload.batch_size);
        let largest =
            plan.recordings().flat_map(|recording| &recording.dispatches).max_by_key(|launch| launch.operations);
        let largest = largest.unwrap();
        let what = format!("{}: {} of {:e}", workload.name, largest.kernel.name, largest.operations as f64);
        eprintln!("{what}");
        assert!(largest.operations <= MAX_LAUNCH_FLOPS, "{what}");
    }
}

#[test]
fn refuses_batches_too_large_for_a_binding() {
    let refused = Plan::new(&job("keras-mnist-mlp", 4096), TrainingSetup::STANDARD, 1 << 20, &Choices::default()).err();
    let Some(EngineError::DoesNotFit { what, needed_bytes, allowed_bytes }) = refused else { panic!("{refused:?}") };
    // The images: 4096 × 784 values of four bytes.
    assert_eq!((needed_bytes, allowed_bytes), (4096 * 784 * 4, 1 << 20), "{what}");
    assert!(what.contains("4096 samples"), "{what}");
}

#[test]
fn in_f16_a_step_rounds_the_weights_of_the_next() {
    let (single, half) = (plan("keras-mnist-mlp", 8), plan_of(Stored::F16, "keras-mnist-mlp", 8));
    let mut expected = launches(&single.training);
    expected.push("round_weights");
    assert_eq!(launches(&half.training), expected);
    assert_eq!(launches(&half.evaluation), launches(&single.evaluation));
    // Averages are tested here, and only then rounded.
    let averaged = plan_of(Stored::F16, "tensorflow-cifar10", 8);
    assert_eq!(launches(&averaged.evaluation)[0], "round_weights");
}

#[test]
fn f16_halves_only_activations_and_their_gradients() {
    for name in workloads() {
        let (single, half) = (plan(name, 64), plan_of(Stored::F16, name, 64));
        let bytes = |plan: &Plan, names: &[&str]| {
            plan.buffers.iter().filter(|buffer| names.contains(&buffer.name)).map(|buffer| buffer.bytes).sum::<u64>()
        };
        let stored = ["batch", "activation", "activation gradient", "logits gradient", "gates", "hidden states"];
        assert_eq!(2 * bytes(&half, &stored), bytes(&single, &stored), "{name}");
        let trained = ["weights", "gradients", "gradient parts", "optimiser state", "cell states", "batch statistics"];
        assert_eq!(bytes(&half, &trained), bytes(&single, &trained), "{name}");
        assert_eq!(2 * bytes(&half, &["rounded weights"]), bytes(&single, &["weights"]), "{name}");
        assert_eq!(bytes(&single, &["rounded weights"]), 0, "{name}");
    }
}

#[test]
fn smallest_batch_sets_the_f16_loss_scale() {
    // Ten samples: batches of eight leave two, whose mean has the largest gradients.
    assert_eq!(plan_of(Stored::F16, "keras-mnist-mlp", 8).gradient_scale, 256.0);
    assert_eq!(plan_of(Stored::F16, "keras-mnist-mlp", 5).gradient_scale, 512.0);
    assert_eq!(plan("keras-mnist-mlp", 8).gradient_scale, 1.0);
    for name in workloads() {
        let scale = plan_of(Stored::F16, name, 8).gradient_scale;
        assert_eq!(scale.log2().fract(), 0.0, "{name}: {scale}");
    }
}

#[test]
fn streamed_batches_are_gathered_from_a_small_buffer() {
    for name in workloads() {
        let (job, setup) = (job(name, 8), TrainingSetup::of_input(InputMode::Stream));
        if job.data.definition.is_text() {
            let refused = Plan::new(&job, setup, MAX_BINDING_BYTES, &Choices::default()).err();
            assert!(matches!(refused, Some(EngineError::Model(ModelError::Unsupported { .. }))), "{refused:?}");
            continue;
        }
        let (streamed, resident) = (plan_with(&job, setup, Abilities::default()), plan(name, 8));
        assert!(streamed.shuffle.dispatches.is_empty(), "{name}");
        assert_eq!(launches(&streamed.training), launches(&resident.training), "{name}");
        let place = streamed.streamed.unwrap();
        let seen = streamed.training.dispatches[0].bindings[0];
        assert_eq!((seen.buffer, place.rows), (place.images.buffer, 8), "{name}");
        assert!(place.images.bytes <= 16 << 20, "{name}: {} bytes", place.images.bytes);
        assert_eq!(place.images.bytes, u64::from(place.steps) * 8 * place.sample_bytes as u64, "{name}");
        assert!(resident.streamed.is_none(), "{name}");
    }
}

/// The plan of one of two devices, which exchange gradients during the backward pass.
fn overlapping_plan(name: &str) -> Plan {
    let setup = TrainingSetup { devices: 2, overlaps: true, ..TrainingSetup::STANDARD };
    plan_with(&job(name, 8), setup, Abilities::default())
}

#[test]
fn gradient_parts_cover_the_arena_and_stay_untouched_during_exchange() {
    for name in workloads() {
        let plan = overlapping_plan(name);
        let Recording { dispatches, exchanges } = &plan.training;
        assert!(exchanges.is_sorted_by_key(|exchange| exchange.after), "{name}");
        let gradients = plan.arenas.gradients.buffer;
        let mut next = plan.buffers[gradients].bytes;
        for exchange in exchanges.iter().filter(|exchange| exchange.write.buffer == gradients) {
            let part = exchange.write;
            assert_eq!((part, part.offset_bytes + part.bytes), (exchange.read, next), "{name}");
            next = part.offset_bytes;
            let meanwhile = &dispatches[exchange.after..exchange.until];
            let touching = meanwhile.iter().find(|launch| launch.bindings.iter().any(|range| range.overlaps(&part)));
            assert!(touching.is_none(), "{name}: {}", touching.unwrap().kernel.name);
        }
        assert_eq!(next, 0, "{name}");
        // The update begins when all parts are there.
        let first_user = exchanges.iter().map(|exchange| exchange.until).max().unwrap();
        assert!(dispatches[first_user].bindings.iter().any(|range| range.buffer == gradients), "{name}");
    }
}

#[test]
fn the_perceptron_computes_its_first_layer_during_the_exchange() {
    let plan = overlapping_plan("keras-mnist-mlp");
    let [others, first] = plan.training.exchanges[..] else { panic!("{:?}", plan.training.exchanges) };
    let names = |range: Range<usize>| {
        launches(&Recording { dispatches: plan.training.dispatches[range].to_vec(), ..Recording::default() })
    };
    assert_eq!(names(others.after..others.until), ["dense_input_gradient", "dense_weight_gradient"]);
    assert!(!others.is_waited_for() && first.is_waited_for());
    // Weights of 784 × 512 and their bias come last; each part is read through its own buffer.
    assert_eq!(first.read.bytes, 4 * (784 * 512 + 512));
    assert_eq!((others.staging, first.staging, plan.staging_bytes()[1]), (1, 0, others.read.bytes));
}

#[test]
fn a_batch_larger_than_the_streaming_buffer_enlarges_it() {
    let mut large = job("keras-cifar10-cnn", 8);
    // 3,072 bytes each, so that 16 MiB hold 5,461.
    large.batches.batch_size = 6000;
    let setup = TrainingSetup::of_input(InputMode::Prefetch);
    let place = Plan::new(&large, setup, u64::MAX, &Choices::default()).unwrap().streamed.unwrap();
    assert_eq!((place.steps, place.images.bytes), (1, 6000 * 3072));
}
