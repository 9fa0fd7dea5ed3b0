//! Every kernel against its plain twin, on odd shapes, on a real adapter, for everything that may be stored.

mod add;
mod blend;
mod conv2d;
mod dense;
mod embedding;
mod gather;
mod gather_augmented;
mod images;
mod mirror_order;
mod optimizers;
mod peak;
mod pool;
mod recurrent;
mod shuffle;
mod softmax;
mod subgroup_sizes;

mod attention;
mod batch_norm;
mod gelu;
mod layer_norm;
mod local_response;
mod memories;
mod position;
mod round_weights;

use std::cell::Cell;
use std::rc::Rc;

use bytemuck::Pod;
use half::f16;
use proptest::test_runner::{Config, TestRunner};
use shaders::params::{Epilogue, Step};
use shaders::reference::pcg4d::uniform;
use shaders::{Access, Kernel, Stored};

use super::device::Device;
use super::device::adapters::Kernels;
use super::device::buffer::Buffers;
use super::device::executor::Executor;
use super::products::Product;
use super::recording::{BufferContents, BufferPlan, BufferRange, Dispatch, Recording, workgroups};
use super::variants::Variant;
use crate::backends::AdapterChoice;
use crate::testing::{has_everything, skipped};

/// Random shapes that each kernel is tried on.
const CASES: u32 = 24;

/// By how much of itself a number of f16 may be off: half a unit of its last, eleventh, bit.
const ROUNDING: f64 = 1.0 / 2048.0;

/// A device that stores f32, and where it can one that stores f16: on its matrix units, or with loops in their place.
type Devices = (Rc<Device>, Option<Rc<Device>>);

thread_local! {
    static STORED: Cell<Stored> = const { Cell::new(Stored::F32) };
    /// Whether this test has told that it leaves variants out.
    static LEAVES_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `test` with a device that stores f32, and where it can with one that stores f16. Without a device it is skipped
/// and says so, or fails when `REQUIRE_GPU` is 1; so it does without f16 on an adapter that must have it.
pub(super) fn with_device(test: impl Fn(&Rc<Device>)) {
    let Some((single, half)) = open() else {
        return skipped(true, "there is no adapter");
    };
    STORED.set(Stored::F32);
    test(&single);
    match half {
        Some(half) => {
            STORED.set(Stored::F16);
            if !half.abilities().matrices {
                skipped(has_everything(half.adapter()), "the adapter has no subgroups, which multiply blocks");
            }
            test(&half);
        }
        None => skipped(has_everything(single.adapter()), "the adapter does not store f16"),
    }
}

fn open() -> Option<Devices> {
    [AdapterChoice::Any, AdapterChoice::Cpu].into_iter().find_map(|choice| {
        let open = |kernels: Kernels| pollster::block_on(Device::open(&choice, kernels, &[])).ok().map(Rc::new);
        // llvmpipe lists matrices of 8 × 8 numbers whatever the width of its vectors, and has them for eight lanes only.
        let units = subgroup_sizes::chosen_lanes().is_none_or(|lanes| lanes == 8).then_some(Kernels::OnMatrixUnits);
        let others = [Kernels::WithPlainMatrices, Stored::F16.into()];
        Some((open(Stored::F32.into())?, units.into_iter().chain(others).find_map(open)))
    })
}

/// Selects which kernels of a product a test launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variants {
    /// The default, and the one that a rule chooses for the product and the device.
    Usual,
    /// All that the device runs. A driver that has not cached them compiles for minutes.
    Every,
}

/// The variants of `product` that a test launches on `device`.
fn variants(device: &Device, product: &Product, which: Variants) -> Vec<&'static Variant> {
    let every = every_variant(device, product);
    if which == Variants::Every {
        return every;
    }
    let usual = [every[0], product.usual_variant(device.abilities())];
    every.into_iter().filter(|variant| usual.contains(variant)).collect()
}

/// The variants of `product` that `device` runs. Where those with subgroups are not among them the test says so, or fails
/// when `REQUIRE_GPU` is 1 and the adapter must have them.
fn every_variant(device: &Device, product: &Product) -> Vec<&'static Variant> {
    let variants: Vec<_> = product.variants_with(device.abilities()).collect();
    let is_for_device = |variant: &&Variant| device.abilities().matrices || !variant.multiplies_blocks();
    if variants.len() < product.variants().iter().filter(is_for_device).count() && !LEAVES_OUT.replace(true) {
        let lanes = device.abilities().subgroup_lanes;
        let why = format!("kernels for subgroups of eight lanes do not run, this adapter's subgroups have {lanes}");
        // Four are what llvmpipe was asked for, then.
        skipped(has_everything(device.adapter()) && lanes != 4, why);
    }
    variants
}

/// The same random shapes every time, so that a failure can be repeated.
fn runner() -> TestRunner {
    // What is stored makes no difference to indices, of which shapes find the mistakes.
    let cases = if STORED.get() == Stored::F32 { CASES } else { CASES / 3 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()))
}

/// Numbers in -1..1 that can be stored, different for each `stream`.
fn numbers(count: u32, stream: u32) -> Vec<f32> {
    storable((0..count).map(|i| 2.0 * uniform(i, stream, 0, 7) - 1.0).collect())
}

/// The nearest numbers that can be stored, so that a kernel and its twin begin with the same.
fn storable(values: Vec<f32>) -> Vec<f32> {
    match STORED.get() {
        Stored::F32 => values,
        Stored::F16 => values.into_iter().map(|value| f16::from_f32(value).to_f32()).collect(),
    }
}

/// What may be off after values were stored so many times on the way, and stored again at the end.
fn stored_on_the_way(times: f64, tolerance: f64) -> f64 {
    tolerance + if STORED.get() == Stored::F16 { times * ROUNDING } else { 0.0 }
}

/// Which of a kernel's storage buffers hold what is [`Stored`].
fn stored_buffers(kernel: &Kernel) -> Vec<bool> {
    let source = kernel.source(Stored::F32);
    let holds_stored = |binding| {
        let declaration = format!("@group(0) @binding({binding}) ");
        source.lines().any(|line| line.starts_with(&declaration) && line.contains(": array<Stored"))
    };
    (1..=kernel.storage.len()).map(holds_stored).collect()
}

/// `bytes` of numbers of f32, as they are stored.
fn as_stored(stored: Stored, bytes: &[u8]) -> Vec<u8> {
    if stored == Stored::F32 {
        return bytes.to_vec();
    }
    let store = |value: f32| {
        assert_eq!(f16::from_f32(value).to_f32(), value, "this cannot be stored as it is");
        f16::from_f32(value).to_le_bytes()
    };
    let mut stored: Vec<u8> = floats(bytes).into_iter().flat_map(store).collect();
    // Buffers are whole words.
    stored.resize(stored.len().next_multiple_of(4), 0);
    stored
}

/// A training step whose batch is full.
fn step(rows: u32) -> Step {
    Step { step: 3, seed: 11, count: rows, training: 1, learning_rate: 0.01, first_row: 2, ..Step::default() }
}

/// Runs `kernel` once; `buffers` are its storage buffers in binding order. Returns them as they are afterwards. What is
/// stored comes and goes as f32, whatever the device stores.
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
    let stored = |in_buffer| if in_buffer { device.stored() } else { Stored::F32 };
    let types: Vec<Stored> = stored_buffers(kernel).into_iter().map(stored).collect();
    let buffers: Vec<Vec<u8>> = buffers.iter().zip(&types).map(|(bytes, &stored)| as_stored(stored, bytes)).collect();
    plans.extend(buffers.iter().map(|bytes| plan("storage", false, bytes)));
    let recording = Recording {
        exchanges: Vec::new(),
        dispatches: vec![Dispatch {
            kernel,
            constants: constants.to_vec(),
            params_offset_bytes: 0,
            bindings: (2..)
                .zip(&buffers)
                .map(|(buffer, bytes)| BufferRange { buffer, offset_bytes: 0, bytes: bytes.len() as u64 })
                .collect(),
            workgroups: workgroups(invocations, kernel.workgroup_size),
            operations: 0,
        }],
    };
    pollster::block_on(async {
        let allocated = Buffers::new(device, &plans, 4).await.unwrap();
        let executor = Executor::new(device, &allocated, &recording, 0, 1).await.unwrap();
        device.submit(executor.encode(device, 0..1)).await.unwrap();
        let mut results = Vec::new();
        for (index, (before, access)) in (2..).zip(buffers.iter().zip(kernel.storage)) {
            let bytes = allocated.read(device, index, before.len() as u64).await.unwrap();
            assert!(*access == Access::ReadWrite || bytes == *before, "{} changed what it only reads", kernel.name);
            results.push(bytes);
        }
        let widen = |(bytes, &stored): (Vec<u8>, _)| match stored {
            Stored::F32 => bytes,
            Stored::F16 => bytemuck::cast_slice(&super::trainer::numbers(stored, &bytes)).to_vec(),
        };
        results.into_iter().zip(&types).map(widen).collect()
    })
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(bytes)
}

fn bytes<T: Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Holds a kernel's float32 results to its twin's in double precision; they may have been stored.
fn assert_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    let tolerance = stored_on_the_way(1.0, tolerance);
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
    let made = |(at, value)| shaders::reference::apply_epilogue(value, at, epilogue, step);
    storable((0..).zip(values).map(made).collect())
}
