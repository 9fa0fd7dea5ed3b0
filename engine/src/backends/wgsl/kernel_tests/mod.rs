//! Tests of every kernel against its plain twin, on odd shapes, on a real adapter, for all storage types.

mod batches;
mod elementwise;
mod memories;
mod normalizers;
mod products;
mod recurrent;
mod training;

use std::cell::Cell;
use std::env;
use std::fmt::Debug;
use std::process::Command;
use std::rc::Rc;

use bytemuck::Pod;
use half::f16;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use results::{Feature, Precision};
use shaders::params::{Epilogue, Step, activation};
use shaders::reference::pcg4d::uniform;
use shaders::{Access, Matrices, Stored};

use super::device::GpuDevice;
use super::device::buffer::Buffers;
use super::device::executor::Executor;
use super::products::Product;
use super::recording::{BufferRange, Builder, STEPS};
use super::variants::Variant;
use super::workload_tests::any_device;
use crate::backends::AdapterChoice;
use crate::testing::{has_everything, skipped};

const CASES: u32 = 24;

/// Relative rounding error of f16: half a unit of its last (eleventh) bit.
const ROUNDING: f64 = 1.0 / 2048.0;

thread_local! {
    static STORED: Cell<Stored> = const { Cell::new(Stored::F32) };
    /// True once the current test has reported that it skips variants.
    static REPORTED_SKIP: Cell<bool> = const { Cell::new(false) };
}

/// Runs `test` with a device that stores f32, and with one that stores f16 if the adapter can. Without a device,
/// reports that the test is skipped, or fails if `REQUIRE_GPU` is 1. The same applies if an adapter that must support
/// f16 does not.
pub(super) fn with_device(test: impl Fn(&Rc<GpuDevice>)) {
    let Some((single, half)) = open() else {
        return skipped(true, "there is no adapter");
    };
    STORED.set(Stored::F32);
    test(&single);
    match half {
        Some(half) => {
            STORED.set(Stored::F16);
            if !half.abilities.matrices {
                skipped(has_everything(&half.adapter), "the adapter has no subgroups, which multiply blocks");
            }
            test(&half);
        }
        None => skipped(has_everything(&single.adapter), "the adapter does not store f16"),
    }
}

/// Opens a device that stores f32, and one that stores f16 if the adapter can, with matrix units or with loops that
/// emulate them.
fn open() -> Option<(Rc<GpuDevice>, Option<Rc<GpuDevice>>)> {
    [AdapterChoice::Any, AdapterChoice::Cpu].into_iter().find_map(|choice| {
        let open = |(precision, matrices)| {
            pollster::block_on(GpuDevice::open(&choice, precision, matrices, &[])).ok().map(Rc::new)
        };
        // llvmpipe lists 8 × 8 matrices for all vector widths, but supports them only with eight lanes.
        let units = chosen_lanes().is_none_or(|lanes| lanes == 8).then_some((Precision::F16Matrix, None));
        let others = [(Precision::F16Matrix, Some(Matrices::Plain)), (Precision::F16, None)];
        Some((open((Precision::F32, None))?, units.into_iter().chain(others).find_map(open)))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variants {
    /// The default variant, and the one that the heuristic chooses for the product and device.
    Usual,
    /// All variants that the device runs. A driver without cached kernels compiles for minutes.
    Every,
}

/// Defines a test with the usual variants of a product, and one with every variant, which runs only on request.
macro_rules! test_variants {
    ($($name:ident: $check:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn usual_variants_equal_the_twin() {
                ($check)(Variants::Usual);
            }

            #[test]
            #[ignore = "compiles every variant"]
            fn every_variant_equals_the_twin() {
                ($check)(Variants::Every);
            }
        }
    )*};
}
use test_variants;

/// Returns the variants of `product` that a test launches on `device`. If variants with subgroups are missing, reports
/// it, or fails if `REQUIRE_GPU` is 1 and the adapter must have them.
fn variants(device: &GpuDevice, product: &Product, which: Variants) -> Vec<Variant> {
    let every: Vec<_> = product.variants_with(device.abilities).collect();
    let is_for_device = |variant: &&Variant| device.abilities.matrices || !variant.multiplies_blocks();
    if every.len() < product.variants().iter().filter(is_for_device).count() && !REPORTED_SKIP.replace(true) {
        let lanes = device.abilities.subgroup_lanes;
        let why = format!("kernels for subgroups of eight lanes do not run, this adapter's subgroups have {lanes}");
        // Four lanes means that llvmpipe was configured with that width.
        skipped(has_everything(&device.adapter) && lanes != 4, why);
    }
    let usual = [every[0], product.usual_variant(device.abilities)];
    let only_subgroups = env::var_os(ONLY_SUBGROUPS).is_some();
    let is_launched = |variant: &Variant| match which {
        Variants::Usual => usual.contains(variant),
        Variants::Every => !only_subgroups || shaders::kernel(variant.kernel).unwrap().needs_subgroups(),
    };
    every.into_iter().filter(is_launched).collect()
}

/// Returns a runner with the same random shapes every time, so that failures are repeatable.
fn runner() -> TestRunner {
    // Shapes reveal indexing errors, which do not depend on the stored type.
    let cases = if STORED.get() == Stored::F32 { CASES } else { CASES / 3 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()))
}

/// Returns storable numbers in -1..1, different for each `stream`.
fn numbers(count: u32, stream: u32) -> Vec<f32> {
    storable((0..count).map(|i| 2.0 * uniform(i, stream, 0, 7) - 1.0).collect())
}

/// Returns the nearest storable numbers, so that a kernel and its twin start with the same values.
fn storable(values: Vec<f32>) -> Vec<f32> {
    match STORED.get() {
        Stored::F32 => values,
        Stored::F16 => values.into_iter().map(|value| f16::from_f32(value).to_f32()).collect(),
    }
}

/// Returns the tolerance for values that were stored `times` times in between.
fn stored_on_the_way(times: f64, tolerance: f64) -> f64 {
    tolerance + if STORED.get() == Stored::F16 { times * ROUNDING } else { 0.0 }
}

/// Converts the bytes of f32 numbers to the stored type.
fn as_stored(stored: Stored, bytes: &[u8]) -> Vec<u8> {
    if stored == Stored::F32 {
        return bytes.to_vec();
    }
    let store = |value: f32| {
        assert_eq!(f16::from_f32(value).to_f32(), value, "not representable in f16");
        f16::from_f32(value).to_le_bytes()
    };
    let mut stored: Vec<u8> = floats(bytes).into_iter().flat_map(store).collect();
    // Buffers are whole words.
    stored.resize(stored.len().next_multiple_of(4), 0);
    stored
}

fn step(rows: u32) -> Step {
    Step { step: 3, seed: 11, count: rows, training: 1, learning_rate: 0.01, first_row: 2, ..Step::default() }
}

const ACTIVATIONS: [u32; 3] = [activation::IDENTITY, activation::RELU, activation::TANH];

/// Returns an epilogue with dropout after an activation, for layers with padding in the last stored channel.
fn dropout_after(activation: u32, stored_channels: u32) -> Epilogue {
    Epilogue {
        activation,
        dropout_stream: 1000,
        dropout_rate: 0.2,
        channels: stored_channels - 1,
        stored_channels,
        features: 3 * (stored_channels - 1),
        ..Epilogue::default()
    }
}

fn on_shapes<S: Strategy>(shapes: S, check: impl Fn(&GpuDevice, S::Value)) {
    with_device(|device| on_shapes_with(device, &shapes, &check));
}

/// Like [`on_shapes`], also with a device in compatibility mode, which runs another variant of the kernel.
fn on_shapes_in_every_mode<S: Strategy>(shapes: S, check: impl Fn(&GpuDevice, S::Value)) {
    with_device(|device| on_shapes_with(device, &shapes, &check));
    if let Some(device) = any_device(&[Feature::Core]) {
        STORED.set(Stored::F32);
        on_shapes_with(&device, &shapes, &check);
    }
}

fn on_shapes_with<S: Strategy>(device: &GpuDevice, shapes: &S, check: &impl Fn(&GpuDevice, S::Value)) {
    let check = |shape| {
        check(device, shape);
        Ok(())
    };
    runner().run(shapes, check).unwrap();
}

/// Buffers of a kernel, and the twin's results for those that it writes, which come last.
struct Case {
    buffers: Vec<Vec<f32>>,
    expected: Vec<Vec<f64>>,
}

impl Case {
    /// Creates a case that reads `inputs` and writes `outputs`, computed by `twin` in double precision.
    fn new<const N: usize, const M: usize>(
        inputs: [&[f32]; N],
        outputs: [&[f32]; M],
        twin: impl FnOnce([&[f64]; N], [&mut [f64]; M]),
    ) -> Self {
        let (wide, mut expected) = (inputs.map(double), outputs.map(double));
        twin(wide.each_ref().map(Vec::as_slice), expected.each_mut().map(Vec::as_mut_slice));
        let buffers = inputs.into_iter().chain(outputs).map(<[f32]>::to_vec).collect();
        Self { buffers, expected: expected.into() }
    }

    fn launch<P: Pod>(
        &self,
        device: &GpuDevice,
        kernel: &str,
        params: &P,
        step: &Step,
        invocations: u64,
    ) -> Vec<Vec<f32>> {
        self.record(device, kernel, step, |builder, bindings| builder.dispatch(kernel, params, bindings, invocations))
    }

    fn launch_variant(&self, device: &GpuDevice, variant: &Variant, product: &Product, step: &Step) -> Vec<Vec<f32>> {
        self.record(device, variant.kernel, step, |builder, bindings| builder.product(variant, product, bindings))
    }

    fn record(
        &self,
        device: &GpuDevice,
        kernel: &str,
        step: &Step,
        record: impl FnOnce(&mut Builder, &[BufferRange]),
    ) -> Vec<Vec<f32>> {
        let buffers: Vec<&[u8]> = self.buffers.iter().map(|buffer| bytes(buffer)).collect();
        let found = run(device, kernel, step, &buffers, record);
        found[buffers.len() - self.expected.len()..].iter().map(|buffer| floats(buffer)).collect()
    }

    fn check<P: Pod + Debug>(
        &self,
        device: &GpuDevice,
        kernel: &str,
        (params, step): (&P, &Step),
        invocations: u32,
        tolerance: f64,
    ) {
        let found = self.launch(device, kernel, params, step, invocations.into());
        for (found, expected) in found.iter().zip(&self.expected) {
            assert_close(&format!("{kernel} {params:?}, {step:?}"), found, expected, tolerance);
        }
    }
}

/// Runs `kernel` once and returns its storage buffers afterwards. `buffers` are in binding order. Buffers of the stored
/// type are passed as f32, even if the device stores f16.
fn launch<P: Pod>(
    device: &GpuDevice,
    kernel: &str,
    params: &P,
    step: &Step,
    buffers: &[&[u8]],
    invocations: u64,
) -> Vec<Vec<u8>> {
    run(device, kernel, step, buffers, |builder, bindings| builder.dispatch(kernel, params, bindings, invocations))
}

/// Like [`launch`]; `record` records the launch.
fn run(
    device: &GpuDevice,
    kernel: &str,
    step: &Step,
    buffers: &[&[u8]],
    record: impl FnOnce(&mut Builder, &[BufferRange]),
) -> Vec<Vec<u8>> {
    let kernel = shaders::kernel(kernel).unwrap();
    let source = kernel.source(Stored::F32);
    let stored = |binding| {
        let declaration = format!("@group(0) @binding({binding}) ");
        let is_stored = |line: &str| line.starts_with(&declaration) && line.contains(": array<Stored");
        if source.lines().any(is_stored) { device.form.stored } else { Stored::F32 }
    };
    let types: Vec<Stored> = (1..=kernel.storage.len()).map(stored).collect();
    let buffers: Vec<Vec<u8>> = buffers.iter().zip(&types).map(|(bytes, &stored)| as_stored(stored, bytes)).collect();
    let mut builder = Builder::new(1);
    let bindings: Vec<_> = buffers.iter().map(|bytes| builder.filled("storage", bytes.clone())).collect();
    record(&mut builder, &bindings);
    let recording = builder.take_recording();
    pollster::block_on(async {
        let allocated = Buffers::new(device, &builder.finish(), &[4], None).await.unwrap();
        allocated.write(device, STEPS, 0, bytemuck::bytes_of(step));
        let executor = Executor::new(device, &allocated, &recording).await.unwrap();
        device.submit(executor.encode(device, 0..1)).await.unwrap();
        let mut results = Vec::new();
        for ((range, &stored), (before, access)) in bindings.iter().zip(&types).zip(buffers.iter().zip(kernel.storage))
        {
            let found = allocated.read(device, *range).await.unwrap();
            assert!(*access == Access::ReadWrite || found == *before, "{} changed what it only reads", kernel.name);
            results.push(bytes(&super::trainer::numbers(stored, &found)).to_vec());
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

/// Compares a kernel's float32 results, possibly rounded by storage, with its twin's in double precision.
fn assert_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    let tolerance = stored_on_the_way(1.0, tolerance);
    assert_eq!(found.len(), expected.len(), "{what}: lengths differ");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let difference = (f64::from(*found) - expected).abs();
        // A comparison with NaN is false, so it fails.
        assert!(
            difference <= tolerance * (1.0 + expected.abs()),
            "{what}: element {i} is {found:e}, its twin's is {expected:e}"
        );
    }
}

#[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&v| v as f32).collect()
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// Returns numbers in -1..1 for `pixels` of `channels` channels each, with zeros as padding up to `stored` channels.
fn padded(pixels: u32, channels: u32, stored: u32, stream: u32) -> Vec<f32> {
    let mut values = numbers(pixels * stored, stream);
    for pixel in values.chunks_exact_mut(stored as usize) {
        pixel[channels as usize..].fill(0.0);
    }
    values
}

fn with_epilogue(epilogue: &Epilogue, step: &Step, values: Vec<f32>) -> Vec<f32> {
    let made = |(at, value)| shaders::reference::apply_epilogue(value, at, epilogue, step);
    storable((0..).zip(values).map(made).collect())
}

/// Width of llvmpipe's vectors in bits: 32 per lane of a subgroup. llvmpipe reads it when it is loaded, so each width
/// needs a separate process.
const VECTOR_WIDTH: &str = "LP_NATIVE_VECTOR_WIDTH";
const VECTOR_WIDTHS: [u32; 3] = [128, 256, 512];
/// Set in such a process, which runs only kernels whose code depends on the size of subgroups.
const ONLY_SUBGROUPS: &str = "GRADMARK_TEST_ONLY_SUBGROUPS";

/// Returns the number of lanes per llvmpipe subgroup, if set in the environment.
fn chosen_lanes() -> Option<u32> {
    env::var(VECTOR_WIDTH).ok()?.parse::<u32>().ok().map(|width| width / 32)
}

#[test]
#[ignore = "tests kernels with subgroups again for each size"]
fn kernels_match_their_twins_with_every_subgroup_size() {
    if env::var_os(VECTOR_WIDTH).is_some() {
        return;
    }
    let native = Cell::new(None);
    with_device(|device| {
        native.set(has_everything(&device.adapter).then(|| 32 * device.abilities.subgroup_lanes));
    });
    let Some(native) = native.get() else {
        return skipped(false, "only llvmpipe has a configurable vector width");
    };
    // The regular tests cover the native width.
    for width in VECTOR_WIDTHS.into_iter().filter(|&width| width != native) {
        let output = Command::new(env::current_exe().unwrap())
            .args(["--include-ignored", "every_variant_equals_the_twin"])
            .arg("subgroups_have_one_lane_per_32_vector_bits")
            .env(VECTOR_WIDTH, width.to_string())
            .env(ONLY_SUBGROUPS, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.contains(" 0 passed"), "with vectors of {width} bits: {said}");
    }
}

#[test]
fn subgroups_have_one_lane_per_32_vector_bits() {
    let Some(lanes) = chosen_lanes() else { return };
    with_device(|device| assert_eq!(device.abilities.subgroup_lanes, lanes));
}
