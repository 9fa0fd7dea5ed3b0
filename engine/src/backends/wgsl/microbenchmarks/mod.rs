//! What a device can do, and how near to it our kernels come: measured peaks, and kernels by themselves on the sizes
//! of DeepBench (baidu-research/DeepBench, `code/kernels`).
//!
//! Whatever is timed is repeated until a window is long enough for any clock, and a window ends when the device has
//! finished and a value has come back. A kernel's results are compared with plain sums before it is timed.

mod convolution;
mod gauge;
mod lab;
mod layer;
mod matrix;
mod operands;
mod outline;
mod peaks;
mod product;
mod profile;
mod recurrent;
mod work;

use async_recursion::async_recursion;
use std::rc::Rc;

use super::choices::Choices;
use super::device::Device;
use crate::backends::AdapterChoice;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::measure::{self, Event, Observer};
pub use gauge::Gauge;
use lab::Lab;
pub use outline::{Outline, outline};
use peaks::PeakKind;
use product::{Product, Rates};
pub use profile::{Cost, Launch, Profile, profile};
pub use results::kernels::{
    Difference, Entry, Figures, KernelReport, Outcome, Pass, Peak, Peaks, Suite, Timing, Tried, Unit,
};

/// What to measure, and how much each entry may cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Products also need, and so measure, the peak of arithmetic.
    pub suites: Vec<Suite>,
    /// An entry that would take longer than this for its few repetitions is skipped.
    pub budget_seconds: f64,
    /// An entry that needs more memory than this is skipped.
    pub budget_bytes: u64,
}

/// Measures peaks and kernels on the adapter that fits `choice`.
///
/// # Errors
/// No such adapter, and a device that refuses or is lost. An entry that is too large, takes too long or computes
/// wrongly is no error but says so in its outcome.
#[async_recursion(?Send)]
pub async fn measure(
    choice: &AdapterChoice,
    clock: Rc<dyn Clock>,
    request: &Request,
    observer: &mut dyn Observer<Event>,
) -> Result<KernelReport, EngineError> {
    let device = Rc::new(Device::open(choice, shaders::Stored::F32).await?);
    observer.event(&Event::Opened { adapter: device.adapter().clone() });
    let emulated = device.adapter().software;
    let products: Vec<Box<dyn Product>> = request.suites.iter().flat_map(|suite| products(*suite, emulated)).collect();
    let peaks_wanted = peaks::wanted(&request.suites);
    let lab = Lab::new(Rc::clone(&device), clock);
    let mut choices = Choices::new(device.abilities());
    let mut run = Run { observer, started: 0, count: peaks_wanted.len() + products.len() };
    let mut report = KernelReport::new(device.adapter().clone());
    let mut gauge: Option<Box<dyn measure::Gauge>> = None;
    for kind in peaks_wanted {
        if !run.start(kind.title()) {
            report.cancelled = true;
            return Ok(report);
        }
        let peak = if kind == PeakKind::Arithmetic {
            let found = peaks::arithmetic(&lab).await?;
            let peak = found.peak.clone();
            gauge = Some(Box::new(Gauge::of(found)));
            peak
        } else {
            kind.measure(&lab).await?
        };
        kind.put(peak, &mut report.peaks);
    }
    let mut rates = Rates::new(report.peaks.arithmetic.as_ref().map(|peak| peak.value), gauge);
    for product in &products {
        if !run.start(&product.title()) {
            report.cancelled = true;
            return Ok(report);
        }
        let entry = product::measure(&lab, product.as_ref(), request, &mut rates, &mut choices, run.observer).await?;
        report.entries.push(entry);
    }
    report.cancelled = run.observer.cancelled();
    Ok(report)
}

/// Counts what was started.
struct Run<'a> {
    observer: &'a mut dyn Observer<Event>,
    started: usize,
    count: usize,
}

impl Run<'_> {
    /// Announces the next measurement, unless somebody wants to stop.
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

fn products(suite: Suite, emulated: bool) -> Vec<Box<dyn Product>> {
    match suite {
        Suite::Arithmetic | Suite::Memory | Suite::Launch => Vec::new(),
        Suite::Gemm => matrix::products(emulated),
        Suite::Conv => convolution::products(emulated),
        Suite::Rnn => recurrent::products(emulated),
    }
}

#[cfg(test)]
mod tests;
