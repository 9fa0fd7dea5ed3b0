//! Peak rates of a device, and a gauge that measures them repeatedly.

use std::rc::Rc;

use async_trait::async_trait;
use results::Precision;
use results::kernels::{KernelSuite, KernelTiming, Peak, PeakUnit, Peaks, Tried};
use shaders::params::{PEAK_FMAS, PeakFma, PeakStream};

use super::super::device::GpuDevice;
use super::lab::{Bench, Lab, Work};
use crate::backends::adapter::AdapterChoice;
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::measure::{self, Window};

/// Number of independent chains and name of each kernel.
const CHAINS: [(u32, &str); 3] = [(2, "peak_fma_2"), (4, "peak_fma_4"), (8, "peak_fma_8")];
/// Iterations per invocation, enough to make the start-up cost negligible.
const ITERATIONS: u32 = 256;
/// Invocation counts to try, in this order, until a launch is so long that more invocations cannot help.
const FMA_INVOCATIONS: [u32; 5] = [1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
const LONG_LAUNCH_SECONDS: f64 = 0.05;

const STREAM_INVOCATIONS: [u32; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// Array size that exceeds the cache of every GPU and CPU on the market.
const ARRAY_BYTES: u64 = 512 << 20;
const ARRAY_BYTES_ON_SOFTWARE: u64 = 128 << 20;
/// Size of the array that is copied during a run, when a network needs memory too. It exceeds the caches of nearly all
/// GPUs and fits into one binding on every WebGPU device.
const GAUGED_ARRAY_BYTES: u64 = 128 << 20;
const GAUGED_INVOCATIONS: u32 = 1 << 18;
/// Minimum array size. A device that cannot hold two such arrays is not measured.
const MIN_ARRAY_BYTES: u64 = 16 << 20;

/// Launches per repetition, about as many as in a training step.
const LAUNCHES: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeakKind {
    Arithmetic,
    Copy,
    Read,
    Launches,
    RoundTrip,
}

/// Suites that need the arithmetic peak. Products are compared with it.
const ARITHMETIC_SUITES: [KernelSuite; 4] =
    [KernelSuite::Arithmetic, KernelSuite::Gemm, KernelSuite::Conv, KernelSuite::Rnn];

/// Peaks in the order of measurement, each with its title and the suites that need it.
const PEAKS: [(PeakKind, &str, &[KernelSuite]); 5] = [
    (PeakKind::Arithmetic, "Arithmetic, fused multiply-adds", &ARITHMETIC_SUITES),
    (PeakKind::Copy, "Memory, copying", &[KernelSuite::Memory]),
    (PeakKind::Read, "Memory, reading", &[KernelSuite::Memory]),
    (PeakKind::Launches, "Launches of a small kernel", &[KernelSuite::Launch]),
    (PeakKind::RoundTrip, "Round trip to the device", &[KernelSuite::Launch]),
];

pub(super) fn wanted(suites: &[KernelSuite]) -> Vec<PeakKind> {
    let is_wanted = |(.., by): &&(_, _, &[KernelSuite])| by.iter().any(|suite| suites.contains(suite));
    PEAKS.iter().filter(is_wanted).map(|(kind, ..)| *kind).collect()
}

impl PeakKind {
    pub(super) fn title(self) -> &'static str {
        PEAKS.iter().find(|(kind, ..)| *kind == self).expect("every peak is listed").1
    }

    /// Measures the peak and puts it into `peaks`. Returns the kernel of the arithmetic peak.
    pub(super) async fn measure(self, lab: &Lab, peaks: &mut Peaks) -> Result<Option<Gauge>> {
        match self {
            Self::Arithmetic => {
                let (peak, gauge) = arithmetic(lab).await?;
                peaks.arithmetic = Some(peak);
                return Ok(Some(gauge));
            }
            Self::Copy => peaks.copy = Some(self.stream(lab).await?),
            Self::Read => peaks.read = Some(self.stream(lab).await?),
            Self::Launches => {
                let timing = lab.set_up(launches(LAUNCHES)).await?.timing().await?;
                let variant = format!("{LAUNCHES} in a row, each of 64 invocations");
                let work = f64::from(LAUNCHES);
                peaks.launches = Some(self.peak(PeakUnit::LaunchesPerSecond, work, variant, timing, Vec::new()));
            }
            Self::RoundTrip => {
                let timing = lab.set_up(launches(1)).await?.round_trips().await?;
                let variant = "one launch of 64 invocations".to_owned();
                peaks.round_trip = Some(self.peak(PeakUnit::Seconds, 1.0, variant, timing, Vec::new()));
            }
        }
        Ok(None)
    }

    fn peak(self, unit: PeakUnit, work: f64, variant: String, timing: KernelTiming, tried: Vec<Tried>) -> Peak {
        let value = if unit == PeakUnit::Seconds { timing.seconds } else { work / timing.seconds };
        Peak { title: self.title().to_owned(), unit, value, variant, work_per_repetition: work, timing, tried }
    }

    /// Copies or reads arrays of the largest size that the device can hold, with the best number of invocations.
    async fn stream(self, lab: &Lab) -> Result<Peak> {
        let wished = if lab.device.adapter.software { ARRAY_BYTES_ON_SOFTWARE } else { ARRAY_BYTES };
        let mut bytes = wished.min(lab.device.largest_binding_bytes()).next_power_of_two();
        if bytes > lab.device.largest_binding_bytes() {
            bytes /= 2;
        }
        let mut trials = Trials::default();
        for invocations in STREAM_INVOCATIONS {
            let bench = loop {
                match lab.set_up(self.stream_work(bytes, invocations)).await {
                    Err(EngineError::OutOfMemory { .. } | EngineError::DoesNotFit { .. })
                        if bytes > MIN_ARRAY_BYTES =>
                    {
                        bytes /= 2
                    }
                    result => break result?,
                }
            };
            let variant = format!("{invocations} invocations, arrays of {} MiB", bytes >> 20);
            trials.consider(bench, self.stream_bytes(bytes), variant).await?;
        }
        Ok(trials.measure_best(self, PeakUnit::BytesPerSecond).await?.0)
    }

    /// Returns the number of bytes that one pass over an array of `bytes` moves.
    fn stream_bytes(self, bytes: u64) -> f64 {
        (if self == Self::Copy { 2 * bytes } else { bytes }) as f64
    }

    fn stream_work(self, bytes: u64, invocations: u32) -> Work {
        let mut work = Work::new(1);
        let x = work.builder.floats("array", bytes / 4);
        let quads = u32::try_from(bytes / 16).expect("arrays are smaller than 64 GiB");
        // Fill the array, because the device may compress zeros.
        let fill = PeakFma { iterations: 0, invocations: quads, multiplier: 1.0, addend: 0.0 };
        work.builder.dispatch(FILL, &fill, &[x], u64::from(quads));
        work.preparation = work.builder.take_recording();
        let params = PeakStream { quads, invocations, ..PeakStream::default() };
        let kernel = if self == Self::Copy { "peak_copy" } else { "peak_read" };
        let results = if self == Self::Copy { bytes / 4 } else { 4 * u64::from(invocations) };
        work.output = work.builder.floats("results", results);
        work.builder.dispatch(kernel, &params, &[x, work.output], u64::from(invocations));
        work
    }
}

/// Kernel that fills arrays, and that serves as a launch with almost no work.
const FILL: &str = "peak_fma_2";

fn launches(count: u32) -> Work {
    let mut work = Work::new(1);
    work.output = work.builder.floats("result", 4 * 64);
    for _ in 0..count {
        let params = PeakFma { iterations: 0, invocations: 64, multiplier: 1.0, addend: 0.0 };
        work.builder.dispatch(FILL, &params, &[work.output], 64);
    }
    work
}

async fn arithmetic(lab: &Lab) -> Result<(Peak, Gauge)> {
    let mut trials = Trials::default();
    for (chains, kernel) in CHAINS {
        for invocations in FMA_INVOCATIONS {
            let mut work = Work::new(1);
            work.output = work.builder.floats("result", 4 * u64::from(invocations));
            // The chains converge to 1, far from infinity and from subnormal numbers.
            let params = PeakFma { iterations: ITERATIONS, invocations, multiplier: 0.999, addend: 0.001 };
            work.builder.dispatch(kernel, &params, &[work.output], u64::from(invocations));
            let flops = 2.0 * f64::from(PEAK_FMAS) * f64::from(ITERATIONS) * f64::from(invocations);
            let variant = format!("{chains} chains of four, {invocations} invocations");
            let trial = trials.consider(lab.set_up(work).await?, flops, variant).await?;
            if trial.seconds_each() > LONG_LAUNCH_SECONDS {
                break;
            }
        }
    }
    let (peak, bench) = trials.measure_best(PeakKind::Arithmetic, PeakUnit::FlopsPerSecond).await?;
    let (flops, repetitions) = (peak.work_per_repetition, peak.timing.windows[0].repetitions);
    Ok((peak, Gauge { bench, flops, repetitions, copying: None }))
}

/// Variants of a kernel in short windows.
#[derive(Default)]
struct Trials {
    tried: Vec<Tried>,
    /// Fastest variant so far, with its work per repetition.
    best: Option<(Bench, f64, Tried)>,
}

impl Trials {
    /// Tries a variant that does `work` per repetition, and keeps it if it is the fastest so far.
    async fn consider(&mut self, mut bench: Bench, work: f64, variant: String) -> Result<Window> {
        let trial = bench.trial().await?;
        let tried = Tried { variant, value: work * trial.rate() };
        self.tried.push(tried.clone());
        if self.best.as_ref().is_none_or(|(_, _, best)| tried.value > best.value) {
            self.best = Some((bench, work, tried));
        }
        Ok(trial)
    }

    async fn measure_best(self, kind: PeakKind, unit: PeakUnit) -> Result<(Peak, Bench)> {
        let (mut bench, work, Tried { variant, .. }) = self.best.expect("there are candidates");
        let timing = bench.timing().await?;
        Ok((kind.peak(unit, work, variant, timing, self.tried), bench))
    }
}

/// Fastest kernel of fused multiply-adds, ready to be timed at any moment.
pub struct Gauge {
    bench: Bench,
    flops: f64,
    repetitions: u32,
    /// Copying of an array, and the bytes read and written per repetition.
    copying: Option<(Bench, f64)>,
}

impl Gauge {
    /// Finds the fastest kernel on an open device, and allocates the arrays to copy if they fit.
    pub(crate) async fn on(device: Rc<GpuDevice>, clock: Rc<dyn Clock>) -> Result<Self> {
        let lab = Lab { device, clock };
        let (_, gauge) = arithmetic(&lab).await?;
        let copying = match lab.set_up(PeakKind::Copy.stream_work(GAUGED_ARRAY_BYTES, GAUGED_INVOCATIONS)).await {
            Ok(bench) => Some((bench, PeakKind::Copy.stream_bytes(GAUGED_ARRAY_BYTES))),
            Err(EngineError::OutOfMemory { .. } | EngineError::DoesNotFit { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { copying, ..gauge })
    }

    /// Opens the adapter again and finds its fastest kernel.
    ///
    /// # Errors
    /// No matching adapter, and a device that refuses a request or is lost.
    pub async fn open(choice: &AdapterChoice, clock: Rc<dyn Clock>) -> Result<Self> {
        let device = Rc::new(GpuDevice::open(choice, Precision::F32, None, &[]).await?);
        Ok(arithmetic(&Lab { device, clock }).await?.1)
    }
}

#[async_trait(?Send)]
impl measure::Gauge for Gauge {
    async fn peak_flops_per_second(&mut self) -> Result<f64> {
        let window = self.bench.window(self.repetitions).await?;
        Ok(self.flops * window.rate())
    }

    async fn copied_bytes_per_second(&mut self) -> Result<Option<f64>> {
        let Some((bench, bytes)) = &mut self.copying else { return Ok(None) };
        let window = bench.trial().await?;
        Ok(Some(*bytes * window.rate()))
    }
}
