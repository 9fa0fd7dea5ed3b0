//! Checks and times one pass of a layer, with random matrices and plain sums of their products.

use std::collections::HashMap;

use results::kernels::{Difference, Entry, KernelFigures, KernelOutcome, KernelSuite, Pass};
use shaders::reference::pcg4d::uniform;

use super::super::plan::products::sum_of_parts;
use super::super::products::Product;
use super::super::recording::BufferRange;
use super::super::tuning::Choices;
use super::super::variants::Variant;
use super::lab::{Lab, MIN_WINDOWS, Work};
use crate::error::{EngineError, Result};
use crate::measure::{Event, Gauge, Observer, median_peaks};
use crate::random::Generator;

const CHECKED_RESULTS: u32 = 16;
/// Maximum difference as a share of the sum of magnitudes, many times the rounding error.
const TOLERANCE: f64 = 1e-5;
/// Expected share of the peak before a kernel of the same kind has been measured.
const EXPECTED_SHARE: f64 = 0.2;
/// Reason for skipping a product if its buffers can be bound but do not fit into memory.
const OUT_OF_MEMORY: &str = "the device ran out of memory";
/// Share of an entry's budget per repetition: one for the check, two for the warm-up, and one per window.
const BUDGET_SHARE: f64 = 1.0 / (3 + MIN_WINDOWS) as f64;

#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Suites to measure. Suites of products include the arithmetic peak, which they need.
    pub suites: Vec<KernelSuite>,
    /// Time limit per entry. Entries whose minimum number of repetitions would exceed it are skipped.
    pub budget_seconds: f64,
    /// Memory limit per entry. Entries that would exceed it are skipped.
    pub budget_bytes: u64,
}

/// One pass of a layer with one size.
pub(super) struct LayerPass {
    pub(super) suite: KernelSuite,
    pub(super) size: String,
    pub(super) flops: u64,
    pub(super) product: Product,
    pub(super) rows: u32,
    /// True if it is planned for a GPU that a CPU emulates, which sums gradients in fewer parts.
    pub(super) emulated: bool,
    pub(super) impossible: Option<&'static str>,
    /// Initial contents of the buffers, in binding order.
    pub(super) operands: Vec<Operand>,
    /// Index of the operand that becomes the result, or its parts.
    pub(super) output: usize,
    /// Indices of the results to compare with plain sums.
    pub(super) checked: Vec<u64>,
    /// Computes the result at an index as a plain sum.
    pub(super) plain: Box<dyn Fn(u64) -> PlainSum>,
}

impl LayerPass {
    pub(super) fn title(&self) -> String {
        format!("{} {}, {}", self.suite.name(), self.size, self.product.pass.title())
    }

    pub(super) fn buffers(&self) -> impl Iterator<Item = u64> {
        let sum = self.product.sum_of_parts().map(|sum| u64::from(sum.elements));
        self.operands.iter().map(Operand::elements).chain(sum).map(|elements| 4 * elements)
    }

    fn work(&self, variant: &Variant) -> Work {
        let mut work = Work::new(self.rows);
        let builder = &mut work.builder;
        let fill = |operand: &Operand| {
            if operand.limit == 0.0 {
                builder.floats("zeros", operand.elements())
            } else {
                builder.filled("operand", bytemuck::cast_slice(&operand.numbers()).to_vec())
            }
        };
        let bindings: Vec<BufferRange> = self.operands.iter().map(fill).collect();
        builder.product(variant, &self.product, &bindings);
        work.output = bindings[self.output];
        if let Some(params) = self.product.sum_of_parts() {
            let sum = builder.floats("gradient", u64::from(params.elements));
            let (kernel, invocations) = sum_of_parts(&params, self.emulated);
            builder.dispatch(kernel, &params, &[work.output, sum], invocations);
            work.output = sum;
        }
        work
    }
}

pub(super) struct ProductBenchmark<'a> {
    lab: &'a Lab,
    request: &'a Request,
    choices: Choices,
    /// Arithmetic peak, which predicts the time of the first product of each kind.
    pub(super) peak: Option<f64>,
    pub(super) gauge: Option<Box<dyn Gauge>>,
    /// Best rate so far of each kind of product, which predicts the time of the next one.
    reached: HashMap<(KernelSuite, Pass), f64>,
}

impl<'a> ProductBenchmark<'a> {
    pub(super) fn new(lab: &'a Lab, request: &'a Request) -> Self {
        let choices = Choices::new(lab.device.abilities);
        Self { lab, request, choices, peak: None, gauge: None, reached: HashMap::new() }
    }

    pub(super) async fn measure(&mut self, layer: &LayerPass, observer: &mut dyn Observer<Event>) -> Result<Entry> {
        let LayerPass { suite, flops, product, .. } = *layer;
        let Lab { device, clock } = self.lab;
        let mut variant = product.usual_variant(device.abilities);
        let outcome = match self.obstacle(layer) {
            Some(outcome) => outcome,
            None => {
                self.choices.tune(device, clock.as_ref(), &[product]).await?;
                variant = self.choices.pick(&product);
                match self.attempt(layer, &variant, observer).await {
                    Err(EngineError::OutOfMemory { .. }) => KernelOutcome::Skipped { reason: OUT_OF_MEMORY.to_owned() },
                    result => result?,
                }
            }
        };
        if let Some(&KernelFigures { flops_per_second: rate, .. }) = outcome.measured() {
            let best = self.reached.entry((suite, product.pass)).or_insert(rate);
            *best = best.max(rate);
        }
        let sum = product.sum_of_parts().map(|sum| sum_of_parts(&sum, layer.emulated).0);
        let kernels = [variant.kernel].into_iter().chain(sum).map(str::to_owned).collect();
        let size = layer.size.clone();
        Ok(Entry { suite, size, pass: product.pass, flops, bytes: layer.buffers().sum(), kernels, outcome })
    }

    fn obstacle(&self, layer: &LayerPass) -> Option<KernelOutcome> {
        if let Some(reason) = layer.impossible {
            return Some(KernelOutcome::Skipped { reason: reason.to_owned() });
        }
        let does_not_fit = |what: &str, needed_bytes, allowed_bytes| {
            let what = what.to_owned();
            (needed_bytes > allowed_bytes).then_some(KernelOutcome::DoesNotFit { what, needed_bytes, allowed_bytes })
        };
        let largest = layer.buffers().max().unwrap_or(0);
        let too_large = does_not_fit("a buffer on this device", largest, self.lab.device.largest_binding_bytes());
        let too_slow = || {
            let reached = self.reached.get(&(layer.suite, layer.product.pass)).copied();
            let rate = reached.or_else(|| Some(EXPECTED_SHARE * self.peak?))?;
            let allowed_seconds = self.request.budget_seconds * BUDGET_SHARE;
            let predicted_seconds = layer.flops as f64 / rate;
            let outcome = KernelOutcome::TooSlow { predicted_seconds, allowed_seconds };
            (predicted_seconds > allowed_seconds).then_some(outcome)
        };
        too_large
            .or_else(|| does_not_fit("all buffers together", layer.buffers().sum(), self.request.budget_bytes))
            .or_else(too_slow)
    }

    async fn attempt(
        &mut self,
        layer: &LayerPass,
        variant: &Variant,
        observer: &mut dyn Observer<Event>,
    ) -> Result<KernelOutcome> {
        let mut bench = self.lab.set_up(layer.work(variant)).await?;
        bench.window(1).await?;
        for &at in &layer.checked {
            let (found, expected) = (f64::from(bench.value(at).await?), (layer.plain)(at));
            let tolerance = TOLERANCE * (1.0 + expected.magnitude);
            // A comparison with NaN is false, so it fails.
            let close = (found - expected.value).abs() <= tolerance;
            if !close {
                return Ok(KernelOutcome::Wrong(Difference { at, found, expected: expected.value }));
            }
        }
        let timing = bench.timing_with_gauge(self.request.budget_seconds, &mut self.gauge, observer).await?;
        let Some(timing) = timing else { return Ok(KernelOutcome::Cancelled) };
        let flops = layer.flops as f64;
        let flops_per_second = flops / timing.seconds;
        let (peak_flops_per_second, peak_share) = median_peaks(&timing.windows, flops);
        Ok(KernelOutcome::Measured(KernelFigures { flops_per_second, peak_flops_per_second, peak_share, timing }))
    }
}

/// Returns the indices of the first and last result, and of random ones in between.
pub(super) fn choose_indices(results: u64) -> Vec<u64> {
    let generator = Generator { stream: 0, step: 0, seed: 0 };
    let bound = u32::try_from(results).unwrap_or(u32::MAX);
    let between = (0..CHECKED_RESULTS - 2).map(|i| u64::from(generator.below(i, bound)));
    [0, results - 1].into_iter().chain(between).collect()
}

const SEED: u32 = 7;

/// Row-major matrix of random numbers in -1..1, or in another range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// Stream of random numbers, different for each operand.
    pub(super) stream: u32,
    pub(super) rows: u32,
    pub(super) columns: u32,
    /// Number of columns that are not padding of zeros.
    pub(super) known: u32,
    /// Factor of the numbers; 0 for a matrix of zeros.
    pub(super) limit: f32,
    /// True for random numbers in 0..1 instead.
    pub(super) unsigned: bool,
}

impl Operand {
    pub(super) fn full(stream: u32, rows: u32, columns: u32) -> Self {
        Self { stream, rows, columns, known: columns, limit: 1.0, unsigned: false }
    }

    pub(super) fn zeros(rows: u32, columns: u32) -> Self {
        Self { limit: 0.0, ..Self::full(0, rows, columns) }
    }

    pub(super) fn elements(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    pub(super) fn at(&self, row: u32, column: u32) -> f32 {
        if column >= self.known {
            return 0.0;
        }
        // The index never wraps in practice: no buffer holds four billion numbers.
        let index = row.wrapping_mul(self.columns).wrapping_add(column);
        let number = 2.0 * uniform(index, self.stream, 0, SEED) - 1.0;
        self.limit * if self.unsigned { number.abs() } else { number }
    }

    pub(super) fn numbers(&self) -> Vec<f32> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| self.at(row, column))).collect()
    }
}

/// Sum of products in double precision, with the sum of their magnitudes, which bounds the rounding error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PlainSum {
    pub(super) value: f64,
    pub(super) magnitude: f64,
}

impl PlainSum {
    pub(super) fn of(products: impl Iterator<Item = (f32, f32)>) -> Self {
        products.fold(Self::default(), |sum, (a, b)| {
            let product = f64::from(a) * f64::from(b);
            Self { value: sum.value + product, magnitude: sum.magnitude + product.abs() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_results_are_always_checked() {
        let indices = choose_indices(1000);
        assert_eq!(indices.len(), CHECKED_RESULTS as usize);
        assert!(indices.contains(&0) && indices.contains(&999) && indices.iter().all(|&index| index < 1000));
        assert!(choose_indices(1).iter().all(|&index| index == 0));
    }
}
