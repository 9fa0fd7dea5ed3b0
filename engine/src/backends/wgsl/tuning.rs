//! Which variant of a product's kernel a device runs fastest: by a rule, or by a short look at each of them.

use super::choices::Choice;
use super::choices::Choices;
use super::device::Device;
use super::device::buffer::Buffers;
use super::device::executor::Executor;
use super::device::timestamps::Timestamps;
use super::products::Product;
use super::recording::{BufferContents, BufferPlan, BufferRange, Dispatch, Recording, STEP_STRIDE_BYTES, workgroups};
use super::variants::Variant;
use crate::clock::Clock;
use crate::error::EngineError;

/// A look at a variant ends when its repetitions have taken so long together; browsers' clocks may be coarse.
const LOOK_SECONDS: f64 = 0.004;
/// The best of so many looks counts.
const LOOKS: usize = 3;
/// At most so many repetitions in a submission.
const MOST_REPETITIONS: u32 = 256;
/// A device that tells so late what it has finished can be timed by its own clock only.
const LATE_SECONDS: f64 = 0.02;
/// Another variant than the default is chosen when it takes less than this share of the default's time, so that chance
/// does not choose.
const CLEARLY_FASTER: f64 = 0.95;
/// Products that need larger scratch buffers than this, together, are not timed.
const SCRATCH_BYTES: u64 = 512 << 20;

impl Choices {
    /// Times the variants of all `products` that were not timed before. On an emulated GPU nothing is timed: there the
    /// rule is as good, and timing slow. Nor is anything on a device that tells late what it has finished, unless it has a
    /// clock of its own: all variants would seem to take as long. Returns how many products were timed.
    ///
    /// # Errors
    /// A device that refuses a kernel, is full or lost.
    pub(super) async fn tune(
        &mut self,
        device: &Device,
        clock: &dyn Clock,
        products: &[Product],
    ) -> Result<usize, EngineError> {
        if self.abilities().software
            || (!device.has_timestamps() && device.latency_seconds(clock).await? > LATE_SECONDS)
        {
            return Ok(0);
        }
        let known = self.timed();
        for product in products {
            let worthwhile =
                product.candidates(self.abilities()).count() > 1 && scratch_bytes(product) <= SCRATCH_BYTES;
            if worthwhile && !self.has_timed(product) {
                let choice = fastest(device, clock, product).await?;
                self.insert(product, choice);
            }
        }
        Ok(self.timed() - known)
    }
}

fn scratch_bytes(product: &Product) -> u64 {
    product.elements().iter().map(|elements| 4 * elements).sum()
}

/// Times every candidate for `product`.
async fn fastest(device: &Device, clock: &dyn Clock, product: &Product) -> Result<Choice, EngineError> {
    let zeros = |name, bytes, uniform| BufferPlan { name, bytes, uniform, contents: BufferContents::Zeros };
    let params = BufferContents::Bytes(product.params.bytes().to_vec());
    let params =
        BufferPlan { contents: params, ..zeros("tuned parameters", product.params.bytes().len() as u64, true) };
    // A step without training: dropout is the same work for every variant.
    let mut plans = vec![params, zeros("tuned step", u64::from(STEP_STRIDE_BYTES), true)];
    plans.extend(product.elements().iter().map(|elements| zeros("tuned operand", 4 * elements, false)));
    let buffers = Buffers::new(device, &plans, 4).await?;
    let mut seconds = Vec::new();
    for variant in product.candidates(device.abilities()) {
        seconds.push((variant, time(device, clock, &buffers, &plans, product, variant).await?));
    }
    Ok(choose(&seconds))
}

/// The default, which is the first, unless another is clearly faster.
fn choose(seconds: &[(&'static Variant, f64)]) -> Choice {
    let (default, usual_seconds) = seconds[0];
    let mut choice = Choice { kernel: default.kernel.to_owned(), ratio: 1.0 };
    for &(variant, variant_seconds) in &seconds[1..] {
        let ratio = variant_seconds / usual_seconds;
        if ratio < CLEARLY_FASTER && ratio < choice.ratio {
            choice = Choice { kernel: variant.kernel.to_owned(), ratio };
        }
    }
    choice
}

/// Seconds of one launch: the best of a few looks, by the device's own clock where it has one.
async fn time(
    device: &Device,
    clock: &dyn Clock,
    buffers: &Buffers,
    plans: &[BufferPlan],
    product: &Product,
    variant: &Variant,
) -> Result<f64, EngineError> {
    let kernel = shaders::kernel(variant.kernel).expect("the name of a registered kernel");
    let bind = |buffer| BufferRange { buffer, offset_bytes: 0, bytes: plans[buffer].bytes };
    let recording = |launches: u32| Recording {
        exchanges: Vec::new(),
        dispatches: (0..launches)
            .map(|_| Dispatch {
                kernel,
                constants: product.constants(),
                params_offset_bytes: 0,
                bindings: (2..plans.len()).map(bind).collect(),
                workgroups: workgroups(variant.invocations(product), kernel.workgroup_size),
                operations: product.flops(),
            })
            .collect(),
    };
    let timestamps = Timestamps::new(device).await?;
    let mut launches = 1;
    let mut best = f64::INFINITY;
    let mut looks = 0;
    let mut warm = false;
    while looks < LOOKS {
        let executor = Executor::new(device, buffers, &recording(launches), 0, 1).await?;
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
        } else if seconds < LOOK_SECONDS && launches < MOST_REPETITIONS {
            launches *= 4;
        } else {
            best = best.min(seconds / f64::from(launches));
            looks += 1;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use shaders::Stored;

    use super::super::products::{Pass, dense};
    use super::super::variants::Abilities;
    use super::*;
    use crate::backends::{AdapterChoice, Feature};

    fn product() -> Product {
        Product::new(Pass::Forward, dense(40, 24, 36))
    }

    /// Each reading is a second later than the one before.
    #[derive(Default)]
    struct CountingClock(Cell<f64>);

    impl Clock for CountingClock {
        fn now_seconds(&self) -> f64 {
            self.0.set(self.0.get() + 1.0);
            self.0.get()
        }
    }

    fn opened(without: &[Feature]) -> Option<Device> {
        let choices = [AdapterChoice::Any, AdapterChoice::Cpu];
        let open = |choice| pollster::block_on(Device::open_without(&choice, Stored::F32, without)).ok();
        let device = choices.into_iter().find_map(open);
        if device.is_none() {
            crate::testing::skipped(true, "there is no adapter");
        }
        device
    }

    /// On llvmpipe lanes of a subgroup take a third of the time of the default.
    #[test]
    #[ignore = "needs subgroups of eight lanes, and the short tests have four"]
    fn a_device_with_a_clock_of_its_own_is_timed_by_it_whatever_the_hosts_clock_says() {
        let Some(device) = opened(&[]) else { return };
        let expected = crate::testing::has_everything(device.adapter());
        if !device.has_timestamps() || device.abilities().subgroup_lanes < 8 || !device.adapter().software {
            return crate::testing::skipped(
                expected,
                "this adapter has no clock, no subgroups of eight lanes, or is a GPU",
            );
        }
        let product = Product::new(Pass::Forward, dense(128, 784, 512));
        let choice = pollster::block_on(fastest(&device, &CountingClock::default(), &product)).unwrap();
        assert!(choice.kernel.starts_with("dense_forward_") && choice.ratio < 0.8, "{choice:?}");
    }

    #[test]
    fn a_late_device_without_a_clock_of_its_own_is_not_timed() {
        let Some(device) = opened(&[Feature::Timestamps]) else { return };
        // Each reading is a second later, so that the device seems to tell a second late what it has finished.
        let mut choices = Choices::new(Abilities { software: false, ..device.abilities() });
        let timed = pollster::block_on(choices.tune(&device, &CountingClock::default(), &[product()])).unwrap();
        assert_eq!(timed, 0);
    }

    #[test]
    fn another_variant_must_be_clearly_faster_than_the_default() {
        let [usual, other, ..] = product().variants() else { panic!("a product with one variant only") };
        assert_eq!(choose(&[(usual, 1.0), (other, 0.96)]).kernel, usual.kernel);
        assert_eq!(choose(&[(usual, 1.0), (other, 0.94)]).kernel, other.kernel);
        let choice = choose(&[(usual, 2.0), (other, 1.0), (usual, 1.4)]);
        assert_eq!((choice.kernel.as_str(), choice.ratio), (other.kernel, 0.5));
    }

    #[test]
    fn every_candidate_is_timed_and_the_default_wins_a_draw() {
        let Some(device) = opened(&[Feature::Timestamps]) else { return };
        let clock = CountingClock::default();
        let product = product();
        let choice = pollster::block_on(fastest(&device, &clock, &product)).unwrap();
        // A first launch and the looks, each between two readings of the clock.
        let readings = 2 * (1 + LOOKS) * product.candidates(device.abilities()).count();
        assert_eq!(clock.0.get(), readings as f64);
        assert_eq!(choice.kernel, product.variants()[0].kernel);
        let mut chosen = Choices::new(device.abilities());
        chosen.insert(&product, choice);
        assert_eq!(chosen.pick(&product), &product.variants()[0]);
        assert_eq!(chosen.describe(&product), "dense_forward 40 × 36 × 24: dense_forward (1.00)");
    }
}
