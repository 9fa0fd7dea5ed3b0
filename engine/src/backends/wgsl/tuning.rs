//! Choice of the fastest kernel variant for each product on a device, by a rule or by short timings.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::device::GpuDevice;
use super::device::buffer::Buffers;
use super::device::executor::{Executor, Timestamps};
use super::products::{Extents, Params, Product};
use super::recording::{Builder, Recording};
use super::variants::{Abilities, Variant};
use crate::clock::Clock;
use crate::error::Result;

/// Minimum duration of the repetitions of a variant, because browsers' clocks may be coarse.
const TRIAL_SECONDS: f64 = 0.004;
/// Number of timings per variant. The best counts.
const TRIALS: usize = 3;
const MAX_REPETITIONS: usize = 256;
/// Latency above which only the device's own clock can time it.
const MAX_LATENCY_SECONDS: f64 = 0.02;
/// Maximum time relative to the default for another variant to be chosen, so that noise does not decide.
const MAX_RATIO: f64 = 0.95;
/// Maximum total size of the scratch buffers of a timed product.
const MAX_SCRATCH_BYTES: u64 = 512 << 20;

#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) abilities: Abilities,
    by_product: BTreeMap<String, TunedKernel>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TunedKernel {
    kernel: String,
    /// Time relative to the default's.
    ratio: f64,
}

impl Choices {
    pub(super) fn new(abilities: Abilities) -> Self {
        Self { abilities, by_product: BTreeMap::new() }
    }

    /// Parses choices written by [`Choices::text`]. Returns none if the text is invalid.
    pub(super) fn recalled(abilities: Abilities, text: &str) -> Self {
        Self { abilities, by_product: serde_json::from_str(text).unwrap_or_default() }
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(&self.by_product).expect("words and finite numbers are always JSON")
    }

    /// Returns the variant for `product`: the fastest if it was timed, otherwise the usual one.
    pub(super) fn pick(&self, product: &Product) -> Variant {
        let timed = self.by_product.get(&key(product));
        let chosen =
            timed.and_then(|choice| product.candidates(self.abilities).find(|variant| variant.kernel == choice.kernel));
        chosen.unwrap_or_else(|| product.usual_variant(self.abilities))
    }

    /// Describes a product and its kernel for the record, with its relative time if kernels were timed.
    pub(super) fn describe(&self, product: &Product) -> String {
        let kernel = self.pick(product).kernel;
        let ratio = self.by_product.get(&key(product)).map(|choice| format!(" ({:.2})", choice.ratio));
        format!("{}: {kernel}{}", key(product), ratio.unwrap_or_default())
    }

    /// Times the variants of all `products` that were not timed before, and returns the number of those products.
    /// Nothing is timed on an emulated GPU, where the rule is as good and timing slow, or on a device with a high
    /// latency and no timestamps, where all variants would seem equally slow.
    pub(super) async fn tune(&mut self, device: &GpuDevice, clock: &dyn Clock, products: &[Product]) -> Result<usize> {
        if self.abilities.software
            || (!device.has_timestamps && device.latency_seconds(clock).await? > MAX_LATENCY_SECONDS)
        {
            return Ok(0);
        }
        let known = self.by_product.len();
        for product in products {
            let scratch_bytes = 4 * product.elements().iter().sum::<u64>();
            let worthwhile = product.candidates(self.abilities).count() > 1 && scratch_bytes <= MAX_SCRATCH_BYTES;
            if worthwhile && !self.by_product.contains_key(&key(product)) {
                let choice = fastest(device, clock, product).await?;
                self.by_product.insert(key(product), choice);
            }
        }
        Ok(self.by_product.len() - known)
    }
}

/// Returns the key of a product. Products with different keys are timed separately.
fn key(product: &Product) -> String {
    let Extents { rows, columns, depth, parts } = product.extents();
    let mut key = format!("{} {rows} × {columns} × {depth}", product.variants()[0].kernel);
    // Writing to a string cannot fail.
    _ = match product.params {
        Params::Recurrent(..) => write!(key, ", {parts} steps"),
        _ if parts > 1 => write!(key, " in {parts} parts"),
        _ => Ok(()),
    };
    if let Params::Conv2d(p) = product.params {
        _ = match (p.window_height, p.window_width) {
            (height, width) if height == width => write!(key, ", {width}² stride {}", p.stride),
            (height, width) => write!(key, ", {height} × {width} stride {}", p.stride),
        };
    }
    key
}

async fn fastest(device: &GpuDevice, clock: &dyn Clock, product: &Product) -> Result<TunedKernel> {
    // A step without training, because dropout costs the same in every variant.
    let mut builder = Builder::new(1);
    let operands: Vec<_> =
        product.elements().into_iter().map(|elements| builder.floats("tuned operand", elements)).collect();
    let mut candidates = Vec::new();
    for variant in product.candidates(device.abilities) {
        builder.product(&variant, product, &operands);
        candidates.push((variant, builder.take_recording()));
    }
    let buffers = Buffers::new(device, &builder.finish(), &[], None).await?;
    let mut seconds = Vec::new();
    for (variant, recording) in candidates {
        let executor = async |launches: usize| {
            let dispatches = vec![recording.dispatches[0].clone(); launches];
            let repeated = Recording { dispatches, exchanges: Vec::new() };
            Executor::new(device, &buffers, &repeated).await
        };
        seconds.push((variant, time(device, clock, executor).await?));
    }
    Ok(choose(&seconds))
}

/// Chooses the default, which comes first, unless another is clearly faster.
fn choose(seconds: &[(Variant, f64)]) -> TunedKernel {
    let (default, usual_seconds) = seconds[0];
    let mut choice = TunedKernel { kernel: default.kernel.to_owned(), ratio: 1.0 };
    for &(variant, variant_seconds) in &seconds[1..] {
        let ratio = variant_seconds / usual_seconds;
        if ratio < MAX_RATIO && ratio < choice.ratio {
            choice = TunedKernel { kernel: variant.kernel.to_owned(), ratio };
        }
    }
    choice
}

/// Returns the seconds of a launch, which `executor` repeats: the best trial, by the device's own clock if it has one.
async fn time(device: &GpuDevice, clock: &dyn Clock, executor: impl AsyncFn(usize) -> Result<Executor>) -> Result<f64> {
    let timestamps = Timestamps::new(device).await?;
    let mut launches = 1;
    let mut best = f64::INFINITY;
    let mut trials = 0;
    let mut warm = false;
    while trials < TRIALS {
        let executor = executor(launches).await?;
        let start = clock.now_seconds();
        let own_seconds = match &timestamps {
            Some(timestamps) => timestamps.seconds(device, &executor).await?,
            None => {
                device.submit(executor.encode(device, 0..1)).await?;
                None
            }
        };
        let seconds = own_seconds.unwrap_or(clock.now_seconds() - start);
        if !warm {
            warm = true;
        } else if seconds < TRIAL_SECONDS && launches < MAX_REPETITIONS {
            launches *= 4;
        } else {
            best = best.min(seconds / launches as f64);
            trials += 1;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::super::products::{Pass, dense};
    use super::super::workload_tests::{TickingClock, any_device};
    use super::*;
    use results::Feature;

    fn product() -> Product {
        dense(Pass::Forward, 40, 24, 36)
    }

    /// On llvmpipe, variants with subgroups take a third of the default's time.
    #[test]
    #[ignore = "needs subgroups of eight lanes, and the short tests have four"]
    fn a_device_with_timestamps_is_timed_by_them() {
        let Some(device) = any_device(&[]) else { return };
        let expected = crate::testing::has_everything(&device.adapter);
        if !device.has_timestamps || device.abilities.subgroup_lanes < 8 || !device.adapter.software {
            return crate::testing::skipped(
                expected,
                "this adapter has no clock, no subgroups of eight lanes, or is a GPU",
            );
        }
        let product = dense(Pass::Forward, 128, 784, 512);
        let choice = pollster::block_on(fastest(&device, &TickingClock::default(), &product)).unwrap();
        assert!(choice.kernel.starts_with("dense_forward_") && choice.ratio < 0.8, "{choice:?}");
    }

    #[test]
    fn a_late_device_without_timestamps_is_not_timed() {
        let Some(device) = any_device(&[Feature::Timestamps]) else { return };
        // Each reading is a second later, so the device seems to have a latency of a second.
        let mut choices = Choices::new(Abilities { software: false, ..device.abilities });
        let timed = pollster::block_on(choices.tune(&device, &TickingClock::default(), &[product()])).unwrap();
        assert_eq!(timed, 0);
    }

    #[test]
    fn another_variant_must_be_clearly_faster_than_the_default() {
        let [usual, other, ..] = product().variants()[..] else { panic!("a product with one variant only") };
        assert_eq!(choose(&[(usual, 1.0), (other, 0.96)]).kernel, usual.kernel);
        assert_eq!(choose(&[(usual, 1.0), (other, 0.94)]).kernel, other.kernel);
        let choice = choose(&[(usual, 2.0), (other, 1.0), (usual, 1.4)]);
        assert_eq!((choice.kernel.as_str(), choice.ratio), (other.kernel, 0.5));
    }

    #[test]
    fn every_candidate_is_timed_and_the_default_wins_a_draw() {
        let Some(device) = any_device(&[Feature::Timestamps]) else { return };
        let clock = TickingClock::default();
        let product = product();
        let choice = pollster::block_on(fastest(&device, &clock, &product)).unwrap();
        // A first launch and the trials, each between two clock readings.
        let readings = 2 * (1 + TRIALS) * product.candidates(device.abilities).count();
        assert_eq!(clock.now_seconds(), (readings + 1) as f64);
        assert_eq!(choice.kernel, product.variants()[0].kernel);
        let mut chosen = Choices::new(device.abilities);
        chosen.by_product.insert(key(&product), choice);
        assert_eq!(chosen.pick(&product), product.variants()[0]);
        assert_eq!(chosen.describe(&product), "dense_forward 40 × 36 × 24: dense_forward (1.00)");
    }

    #[test]
    fn recalled_choices_must_fit_the_product_and_the_device() {
        let product = product();
        let abilities = Abilities { software: true, subgroup_lanes: 8, ..Abilities::default() };
        let real = Abilities { software: false, ..abilities };
        let [usual, other, ..] = product.variants()[..] else { panic!("a product with one variant only") };
        let chosen = |kernel: &str, abilities| {
            let choice = TunedKernel { kernel: kernel.to_owned(), ratio: 0.5 };
            let chosen = Choices { abilities, by_product: BTreeMap::from([(key(&product), choice)]) };
            Choices::recalled(abilities, &chosen.text()).pick(&product)
        };
        assert_eq!(chosen(other.kernel, abilities), other);
        assert_eq!(chosen("dense_forward_shared", real).kernel, "dense_forward_shared");
        assert_eq!(chosen("a kernel of another version", real), usual);
        assert_eq!(chosen(other.kernel, real), usual, "it was made for emulated GPUs");
        assert_eq!(chosen("dense_forward_large", real), usual, "the product is smaller than its tile");
        assert_eq!(Choices::recalled(real, "half of a fi").pick(&product), usual);
    }
}
