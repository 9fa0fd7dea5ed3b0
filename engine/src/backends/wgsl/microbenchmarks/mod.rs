//! Measured peaks of a device, and the throughput of our kernels on DeepBench's sizes (baidu-research/DeepBench,
//! `code/kernels`).
//!
//! Work is repeated until a window is long enough for any clock. A window ends when the device has finished and a value
//! has been read back. Each kernel's results are compared with plain sums before it is timed.

mod lab;
mod layers;
mod operand;
mod peaks;
mod product;
mod profile;
mod recurrent;

use async_recursion::async_recursion;
use results::Precision;
use std::rc::Rc;

use super::device::GpuDevice;
use super::tuning::Choices;
use crate::backends::AdapterChoice;
use crate::clock::Clock;
use crate::error::Result;
use crate::measure::{self, Event, Observer};
use lab::Lab;
pub use peaks::Gauge;
use product::{LayerPass, ProductRates};
pub use profile::{Cost, Launch, Profile, profile};
pub use results::kernels::{
    Difference, Entry, KernelFigures, KernelOutcome, KernelReport, KernelSuite, KernelTiming, Pass, Peak, PeakUnit,
    Peaks, Tried,
};

/// Suites to measure, with the budget per entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Suites to measure. Suites of products include the arithmetic peak, which they need.
    pub suites: Vec<KernelSuite>,
    /// Time limit per entry. Entries whose minimum number of repetitions would exceed it are skipped.
    pub budget_seconds: f64,
    /// Memory limit per entry. Entries that would exceed it are skipped.
    pub budget_bytes: u64,
}

/// Measures peaks and kernels on the adapter that matches `choice`.
///
/// # Errors
/// No matching adapter, and a device that refuses a request or is lost. An entry that is too large, takes too long or
/// computes a wrong result is not an error: its outcome says which.
#[async_recursion(?Send)]
pub async fn measure(
    choice: &AdapterChoice,
    clock: Rc<dyn Clock>,
    request: &Request,
    observer: &mut dyn Observer<Event>,
) -> Result<KernelReport> {
    let device = Rc::new(GpuDevice::open(choice, Precision::F32, &[]).await?);
    observer.event(&Event::Opened { adapter: device.adapter().clone() });
    let emulated = device.adapter().software;
    let products: Vec<LayerPass> = request.suites.iter().flat_map(|suite| products(*suite, emulated)).collect();
    let peaks_wanted = peaks::wanted(&request.suites);
    let lab = Lab { device: Rc::clone(&device), clock };
    let mut choices = Choices::new(device.abilities);
    let mut announcer = Announcer { observer, started: 0, count: peaks_wanted.len() + products.len() };
    let mut report = KernelReport::new(device.adapter().clone());
    let mut gauge: Option<Box<dyn measure::Gauge>> = None;
    for kind in peaks_wanted {
        if !announcer.start(kind.title()) {
            report.cancelled = true;
            return Ok(report);
        }
        let (peak, found) = kind.measure(&lab).await?;
        if let Some(found) = found {
            gauge = Some(Box::new(found));
        }
        kind.put(peak, &mut report.peaks);
    }
    let mut rates = ProductRates::new(report.peaks.arithmetic.as_ref().map(|peak| peak.value), gauge);
    for product in &products {
        if !announcer.start(&product.title()) {
            report.cancelled = true;
            return Ok(report);
        }
        let entry = product::measure(&lab, product, request, &mut rates, &mut choices, announcer.observer).await?;
        report.entries.push(entry);
    }
    report.cancelled = announcer.observer.cancelled();
    Ok(report)
}

/// Announces and counts measurements.
struct Announcer<'a> {
    observer: &'a mut dyn Observer<Event>,
    started: usize,
    count: usize,
}

impl Announcer<'_> {
    /// Announces the next measurement. Returns false if the observer canceled the run.
    fn start(&mut self, what: &str) -> bool {
        if self.observer.cancelled() {
            return false;
        }
        self.started += 1;
        let (what, number, count) = (what.to_owned(), self.started, self.count);
        self.observer.event(&Event::Started { what, number, count });
        true
    }
}

fn products(suite: KernelSuite, emulated: bool) -> Vec<LayerPass> {
    match suite {
        KernelSuite::Arithmetic | KernelSuite::Memory | KernelSuite::Launch => Vec::new(),
        KernelSuite::Gemm => layers::matrix_products(emulated),
        KernelSuite::Conv => layers::convolutions(emulated),
        KernelSuite::Rnn => recurrent::products(emulated),
    }
}

/// Returns the distinct sizes of a suite, in the order of measurement.
pub fn sizes(suite: KernelSuite) -> Vec<String> {
    let mut sizes: Vec<String> = products(suite, false).into_iter().map(|product| product.size).collect();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests;
