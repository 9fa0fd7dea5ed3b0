//! Every kernel against its plain twin, on odd shapes, on a real adapter.

mod add;
mod blend;
mod conv2d;
mod dense;
mod embedding;
mod gather;
mod gather_augmented;
mod images;
mod optimizers;
mod peak;
mod pool;
mod recurrent;
mod softmax;

mod attention;
mod batch_norm;
mod gelu;
mod layer_norm;
mod local_response;
mod position;

use std::cell::OnceCell;
use std::rc::Rc;

use bytemuck::Pod;
use proptest::test_runner::{Config, TestRunner};
use shaders::Access;
use shaders::params::{Epilogue, Step};
use shaders::reference::pcg4d::uniform;

use super::buffer::Buffers;
use super::device::Device;
use super::executor::{Executor, Pipelines};
use super::recording::{BufferContents, BufferPlan, BufferRange, Dispatch, Recording, workgroups};
use crate::backends::AdapterChoice;

/// Random shapes that each kernel is tried on.
const CASES: u32 = 24;

thread_local! {
    static DEVICE: OnceCell<Option<Rc<Device>>> = const { OnceCell::new() };
}

/// Runs `test` with a device; without one it is skipped and says so, or fails when `REQUIRE_GPU` is 1.
pub(super) fn with_device(test: impl FnOnce(&Rc<Device>)) {
    DEVICE.with(|cell| {
        let device = cell.get_or_init(|| {
            [AdapterChoice::Any, AdapterChoice::Cpu]
                .into_iter()
                .find_map(|choice| pollster::block_on(Device::open(&choice)).ok().map(Rc::new))
        });
        match device {
            Some(device) => test(device),
            None => {
                assert!(std::env::var("REQUIRE_GPU").as_deref() != Ok("1"), "REQUIRE_GPU=1, but there is no adapter");
                eprintln!("skipped: there is no adapter");
            }
        }
    });
}

/// The same random shapes every time, so that a failure can be repeated.
fn runner() -> TestRunner {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()))
}

/// Numbers in -1..1, different for each `stream`.
fn numbers(count: u32, stream: u32) -> Vec<f32> {
    (0..count).map(|i| 2.0 * uniform(i, stream, 0, 7) - 1.0).collect()
}

/// A training step whose batch is full.
fn step(rows: u32) -> Step {
    Step { step: 3, seed: 11, count: rows, training: 1, learning_rate: 0.01, ..Step::default() }
}

/// Runs `kernel` once; `buffers` are its storage buffers in binding order. Returns them as they are afterwards.
fn launch<P: Pod>(
    device: &Device,
    kernel: &str,
    params: &P,
    step: &Step,
    buffers: &[&[u8]],
    invocations: u64,
) -> Vec<Vec<u8>> {
    launch_with(device, kernel, &[], params, step, buffers, invocations)
}

/// As [`launch`], with values of the kernel's constants.
fn launch_with<P: Pod>(
    device: &Device,
    kernel: &str,
    constants: &[(&'static str, f64)],
    params: &P,
    step: &Step,
    buffers: &[&[u8]],
    invocations: u64,
) -> Vec<Vec<u8>> {
    let kernel = shaders::kernel(kernel).unwrap();
    assert_eq!(kernel.storage.len(), buffers.len(), "{}", kernel.name);
    assert_eq!(kernel.params_bytes, size_of::<P>(), "{}", kernel.name);
    let plan = |name, uniform, bytes: &[u8]| BufferPlan {
        name,
        bytes: bytes.len() as u64,
        uniform,
        contents: BufferContents::Bytes(bytes.to_vec()),
    };
    let mut plans =
        vec![plan("params", true, bytemuck::bytes_of(params)), plan("step", true, bytemuck::bytes_of(step))];
    plans.extend(buffers.iter().map(|bytes| plan("storage", false, bytes)));
    let recording = Recording {
        dispatches: vec![Dispatch {
            kernel,
            constants: constants.to_vec(),
            params_offset_bytes: 0,
            bindings: (2..)
                .zip(buffers)
                .map(|(buffer, bytes)| BufferRange { buffer, offset_bytes: 0, bytes: bytes.len() as u64 })
                .collect(),
            workgroups: workgroups(invocations, kernel.workgroup_size),
        }],
    };
    pollster::block_on(async {
        let pipelines = Pipelines::new(device, &[&recording]).await.unwrap();
        let allocated = Buffers::new(device, &plans, 4).await.unwrap();
        let executor = Executor::new(device, &pipelines, &allocated, &recording, 0, 1).await.unwrap();
        device.submit(executor.encode(device, 0..1)).await.unwrap();
        let mut results = Vec::new();
        for (index, (before, access)) in (2..).zip(buffers.iter().zip(kernel.storage)) {
            let bytes = allocated.read(device, index, before.len() as u64).await.unwrap();
            assert!(*access == Access::ReadWrite || bytes == **before, "{} changed what it only reads", kernel.name);
            results.push(bytes);
        }
        results
    })
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(bytes)
}

fn bytes<T: Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Holds a kernel's float32 results to its twin's in double precision.
fn assert_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths differ");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let difference = (f64::from(*found) - expected).abs();
        // A comparison with a value that is not a number is false, so it fails.
        assert!(
            difference <= tolerance * (1.0 + expected.abs()),
            "{what}: element {i} is {found:e}, its twin's is {expected:e}"
        );
    }
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// Numbers in -1..1 for `pixels` of `channels` known channels each; the padding up to `stored` channels is zero.
fn padded(pixels: u32, channels: u32, stored: u32, stream: u32) -> Vec<f32> {
    let mut values = numbers(pixels * stored, stream);
    for pixel in values.chunks_exact_mut(stored as usize) {
        pixel[channels as usize..].fill(0.0);
    }
    values
}

/// What `epilogue` makes of the values of a batch.
fn made_by(epilogue: &Epilogue, step: &Step, values: Vec<f32>) -> Vec<f32> {
    (0..).zip(values).map(|(at, value)| shaders::reference::apply_epilogue(value, at, epilogue, step)).collect()
}
