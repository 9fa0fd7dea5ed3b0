//! Small measurements on a real adapter.

use std::time::Instant;

use async_trait::async_trait;

use super::super::workload_tests::{TickingClock, any_device};
use super::lab::Lab;
use super::layers::MeasuredLayer;
use super::product::{LayerPass, Operand, PlainSum};
use super::recurrent::RecurrentLayer;
use super::*;
use crate::error::Result;
use crate::model::{Activation, Cell};

struct RealClock(Instant);

impl Clock for RealClock {
    fn now_seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

struct GigaflopGauge;

#[async_trait(?Send)]
impl crate::measure::Gauge for GigaflopGauge {
    async fn peak_flops_per_second(&mut self) -> Result<f64> {
        Ok(1e9)
    }
}

fn device() -> Option<Rc<GpuDevice>> {
    any_device(&[]).map(Rc::new)
}

fn request(budget_seconds: f64) -> Request {
    Request { suites: Vec::new(), budget_seconds, budget_bytes: 64 << 20 }
}

fn outcome(device: &Rc<GpuDevice>, product: &LayerPass, budget_seconds: f64) -> KernelOutcome {
    let entry = pollster::block_on(async {
        let lab = Lab { device: Rc::clone(device), clock: Rc::new(TickingClock::default()) };
        let request = request(budget_seconds);
        let mut benchmark = ProductBenchmark::new(&lab, &request);
        benchmark.peak = Some(1e9);
        benchmark.gauge = Some(Box::new(GigaflopGauge));
        benchmark.measure(product, &mut Listener { started: 0, cancel_after: usize::MAX }).await
    });
    entry.unwrap().outcome
}

/// Returns small products of every kind, with partial tiles and several parts.
fn small_products() -> Vec<LayerPass> {
    // The usual, with a stride, and with a narrow input.
    let sizes = [([8, 3], 1, 1), ([36, 3], 1, 2), ([3, 5], 0, 1)]
        .map(|([channels, side], padding, stride)| ([9, 7, channels], 3, 12, [side; 2], padding, stride));
    let cells = [Cell::Lstm, Cell::Gru(Activation::Relu), Cell::SimpleRnn(Activation::Relu)];
    let passes = Pass::ALL.into_iter().flat_map(|pass| {
        let layers = sizes.map(|size| MeasuredLayer::new(size).pass(pass, true)).into_iter();
        let recurrent = cells.map(|cell| RecurrentLayer::new(cell, [22, 35, 4]).pass(pass, true));
        layers.chain([matrix_product([35, 83, 20], pass)]).chain(recurrent)
    });
    passes.inspect(|pass| assert!(pass.operands.iter().map(Operand::elements).eq(pass.product.elements()))).collect()
}

fn matrix_product([units, rows, inputs]: [u32; 3], pass: Pass) -> LayerPass {
    MeasuredLayer::dense(units, rows, inputs).pass(pass, true)
}

#[test]
fn correct_products_are_timed() {
    let Some(device) = device() else { return };
    for product in small_products() {
        // The minimum number of windows already exceeds this budget. It is odd, so that the median rate belongs to the
        // median time.
        match outcome(&device, &product, 0.05) {
            KernelOutcome::Measured(KernelFigures { flops_per_second, peak_flops_per_second, peak_share, timing }) => {
                assert_eq!(timing.windows.len(), 3, "{}: {timing:?}", product.title());
                assert!(timing.windows.iter().all(|window| window.peak_flops_per_second == Some(1e9)));
                assert_eq!(peak_flops_per_second, Some(1e9));
                let share = peak_share.unwrap();
                assert!((share * 1e9 / flops_per_second - 1.0).abs() < 1e-9, "{share} of {flops_per_second}");
            }
            KernelOutcome::Skipped { reason } => {
                assert!(reason.contains("raw data"), "{}: {reason}", product.title());
                assert!(product.size.contains("×3 →") && product.product.pass == Pass::InputGradient);
            }
            other => panic!("{}: {other:?}", product.title()),
        }
    }
}

#[test]
fn a_wrong_result_is_reported_instead_of_a_rate() {
    let LayerPass { plain, .. } = matrix_product([8; 3], Pass::Forward);
    let wrong = move |at| PlainSum { value: plain(at).value + 0.01, ..plain(at) };
    let product = LayerPass { plain: Box::new(wrong), ..matrix_product([8; 3], Pass::Forward) };
    let Some(device) = device() else { return };
    let outcome = outcome(&device, &product, 1.0);
    let KernelOutcome::Wrong(Difference { at: 0, found, expected }) = outcome else { panic!("{outcome:?}") };
    assert!((expected - found - 0.01).abs() < 1e-5, "{found} {expected}");
}

#[test]
fn products_over_budget_are_skipped_with_both_numbers() {
    let product = matrix_product([512; 3], Pass::Forward);
    // The prediction assumes a fifth of 1 GFLOP/s.
    let Some(device) = device() else { return };
    let slow = outcome(&device, &product, 0.1);
    let KernelOutcome::TooSlow { predicted_seconds, allowed_seconds } = slow else { panic!("{slow:?}") };
    assert!((predicted_seconds - 1.342).abs() < 1e-3 && (allowed_seconds - 0.1 / 6.0).abs() < 1e-9);
    let large = matrix_product([512, 1 << 16, 512], Pass::Forward);
    let large = outcome(&device, &large, 1e6);
    let KernelOutcome::DoesNotFit { needed_bytes, allowed_bytes, .. } = large else { panic!("{large:?}") };
    assert!(needed_bytes > allowed_bytes && allowed_bytes <= 64 << 20, "{needed_bytes} of {allowed_bytes}");
}

/// Observer that cancels once a number of measurements have started.
struct Listener {
    started: usize,
    cancel_after: usize,
}

impl Observer<Event> for Listener {
    fn event(&mut self, event: &Event) {
        if let Event::Started { number, count, .. } = event {
            self.started += 1;
            assert!(*number == self.started && number <= count);
        }
    }

    fn cancelled(&self) -> bool {
        self.started >= self.cancel_after
    }
}

#[test]
fn cancelled_runs_keep_finished_measurements() {
    let Some(device) = device() else { return };
    let choice = if device.adapter.software { AdapterChoice::Cpu } else { AdapterChoice::Any };
    let request = Request { suites: vec![KernelSuite::Launch], ..request(1.0) };
    let mut listener = Listener { started: 0, cancel_after: 1 };
    let clock = Rc::new(RealClock(Instant::now()));
    let report = pollster::block_on(measure(&choice, clock, &request, &mut listener)).unwrap();
    assert!(report.cancelled && report.peaks.launches.is_some() && report.peaks.round_trip.is_none());
    let launches = report.peaks.launches.unwrap();
    assert!(launches.value > 100.0, "{launches:?}");
}
