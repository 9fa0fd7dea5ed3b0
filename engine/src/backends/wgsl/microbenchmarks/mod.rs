//! Measured peaks of a device, and the throughput of our kernels on DeepBench's sizes (baidu-research/DeepBench,
//! `code/kernels`).
//!
//! Work is repeated until a window is long enough for any clock. A window ends when the device has finished and a value
//! has been read back. Each kernel's results are compared with plain sums before it is timed.

mod lab;
mod layers;
mod peaks;
mod product;
mod profile;
mod recurrent;

use async_recursion::async_recursion;
use results::Precision;
use std::rc::Rc;

use super::device::GpuDevice;
use crate::backends::adapter::AdapterChoice;
use crate::clock::Clock;
use crate::error::Result;
use crate::measure::{Event, Observer};
use lab::Lab;
pub use peaks::Gauge;
use peaks::PeakKind;
pub use product::Request;
use product::{LayerPass, ProductBenchmark};
pub use profile::{Cost, Launch, Profile, profile};
pub use results::kernels::{
    Difference, Entry, KernelFigures, KernelOutcome, KernelReport, KernelSuite, KernelTiming, Pass, Peak, PeakUnit,
    Peaks, Tried,
};

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
    let device = Rc::new(GpuDevice::open(choice, Precision::F32, None, &[]).await?);
    observer.event(&Event::Opened { adapter: device.adapter.clone() });
    let emulated = device.adapter.software;
    let peaks = peaks::wanted(&request.suites).into_iter().map(Measurement::Peak);
    let products = request
        .suites
        .iter()
        .flat_map(|suite| products(*suite, emulated))
        .map(|product| Measurement::Product(Box::new(product)));
    let measurements: Vec<Measurement> = peaks.chain(products).collect();
    let count = measurements.len();
    let mut report = KernelReport::new(device.adapter.clone());
    let lab = Lab { device, clock };
    let mut benchmark = ProductBenchmark::new(&lab, request);
    for (number, measurement) in (1..).zip(measurements) {
        if observer.cancelled() {
            break;
        }
        let what = match &measurement {
            Measurement::Peak(kind) => kind.title().to_owned(),
            Measurement::Product(product) => product.title(),
        };
        observer.event(&Event::Started { what, number, count });
        match measurement {
            Measurement::Peak(kind) => {
                if let Some(gauge) = kind.measure(&lab, &mut report.peaks).await? {
                    benchmark.peak = report.peaks.arithmetic.as_ref().map(|peak| peak.value);
                    benchmark.gauge = Some(Box::new(gauge));
                }
            }
            Measurement::Product(product) => report.entries.push(benchmark.measure(&product, observer).await?),
        }
    }
    report.cancelled = observer.cancelled();
    Ok(report)
}

enum Measurement {
    Peak(PeakKind),
    Product(Box<LayerPass>),
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
