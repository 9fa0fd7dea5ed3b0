//! What a device can do at best.

use results::kernels::{Peak, Peaks, Suite, Timing, Tried, Unit};
use shaders::params::{PEAK_FMAS, PeakFma, PeakStream};

use super::lab::{Lab, Setup};
use super::work::Work;
use crate::error::EngineError;
use crate::measure::Window;

/// Independent chains of the kernels, and their names.
const CHAINS: [(u32, &str); 3] = [(2, "peak_fma_2"), (4, "peak_fma_4"), (8, "peak_fma_8")];
/// Iterations of an invocation: long enough that starting it costs little.
const ITERATIONS: u32 = 256;
/// Invocations that are tried, in this order, until one launch takes so long that more cannot help.
const FMA_INVOCATIONS: [u32; 5] = [1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
const LONG_LAUNCH_SECONDS: f64 = 0.05;

/// Invocations that share an array.
const STREAM_INVOCATIONS: [u32; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// An array this large fits into no cache of a GPU that is sold, or of a processor.
const ARRAY_BYTES: u64 = 512 << 20;
const ARRAY_BYTES_ON_SOFTWARE: u64 = 128 << 20;
/// What is copied in a run, beside a network that needs room as well: larger than the caches of nearly all GPUs, and bound
/// whole on every WebGPU device.
const GAUGED_ARRAY_BYTES: u64 = 128 << 20;
const GAUGED_INVOCATIONS: u32 = 1 << 18;
/// A device that cannot hold two arrays of this size is not measured.
const SMALLEST_ARRAY_BYTES: u64 = 16 << 20;

/// Launches in a repetition, about as many as in a training step.
const LAUNCHES: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeakKind {
    Arithmetic,
    Copy,
    Read,
    Launches,
    RoundTrip,
}

/// The peaks that these suites ask for.
pub(super) fn wanted(suites: &[Suite]) -> Vec<PeakKind> {
    let has = |any: &[Suite]| any.iter().any(|suite| suites.contains(suite));
    let mut kinds = Vec::new();
    if has(&[Suite::Arithmetic, Suite::Gemm, Suite::Conv, Suite::Rnn]) {
        kinds.push(PeakKind::Arithmetic);
    }
    if has(&[Suite::Memory]) {
        kinds.extend([PeakKind::Copy, PeakKind::Read]);
    }
    if has(&[Suite::Launch]) {
        kinds.extend([PeakKind::Launches, PeakKind::RoundTrip]);
    }
    kinds
}

impl PeakKind {
    /// Puts what was measured where it belongs.
    pub(super) fn put(self, peak: Peak, peaks: &mut Peaks) {
        let place = match self {
            Self::Arithmetic => &mut peaks.arithmetic,
            Self::Copy => &mut peaks.copy,
            Self::Read => &mut peaks.read,
            Self::Launches => &mut peaks.launches,
            Self::RoundTrip => &mut peaks.round_trip,
        };
        *place = Some(peak);
    }

    /// What its buffers take together at most: the best variant so far stays while another one is looked at.
    pub(super) fn most_bytes(self) -> u64 {
        match self {
            Self::Arithmetic => 2 * 16 * FMA_INVOCATIONS.iter().copied().map(u64::from).max().unwrap_or(0),
            Self::Copy => 4 * ARRAY_BYTES,
            Self::Read => 2 * ARRAY_BYTES,
            Self::Launches | Self::RoundTrip => 16 * 64,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Arithmetic => "Arithmetic, fused multiply-adds",
            Self::Copy => "Memory, copying",
            Self::Read => "Memory, reading",
            Self::Launches => "Launches of a small kernel",
            Self::RoundTrip => "Round trip to the device",
        }
    }

    pub(super) async fn measure(self, lab: &Lab) -> Result<Peak, EngineError> {
        match self {
            Self::Arithmetic => Ok(arithmetic(lab).await?.peak),
            Self::Copy | Self::Read => self.stream(lab).await,
            Self::Launches => {
                let mut setup = lab.set_up(launches(LAUNCHES)).await?;
                let timing = setup.timing().await?;
                let variant = format!("{LAUNCHES} in a row, each of 64 invocations");
                Ok(self.peak(Unit::LaunchesPerSecond, f64::from(LAUNCHES), variant, timing, Vec::new()))
            }
            Self::RoundTrip => {
                let timing = lab.set_up(launches(1)).await?.round_trips().await?;
                Ok(self.peak(Unit::Seconds, 1.0, "one launch of 64 invocations".to_owned(), timing, Vec::new()))
            }
        }
    }

    fn peak(self, unit: Unit, work: f64, variant: String, timing: Timing, tried: Vec<Tried>) -> Peak {
        let value = if unit == Unit::Seconds { timing.seconds } else { work / timing.seconds };
        Peak { title: self.title().to_owned(), unit, value, variant, work_per_repetition: work, timing, tried }
    }

    /// Copies or reads arrays of the largest size that the device can hold, shared by the best number of invocations.
    async fn stream(self, lab: &Lab) -> Result<Peak, EngineError> {
        let wished = if lab.device.adapter().software { ARRAY_BYTES_ON_SOFTWARE } else { ARRAY_BYTES };
        let mut bytes = wished.min(lab.device.largest_binding_bytes()).next_power_of_two();
        if bytes > lab.device.largest_binding_bytes() {
            bytes /= 2;
        }
        let mut best: Option<Best> = None;
        let mut tried = Vec::new();
        for invocations in STREAM_INVOCATIONS {
            // Two arrays at a time are enough for any memory.
            let variant = format!("{invocations} invocations, arrays of {} MiB", bytes >> 20);
            let setup = loop {
                match lab.set_up(self.stream_work(bytes, invocations)).await {
                    Err(EngineError::OutOfMemory { .. } | EngineError::DoesNotFit { .. })
                        if bytes > SMALLEST_ARRAY_BYTES =>
                    {
                        bytes /= 2
                    }
                    result => break result?,
                }
            };
            Best::consider(&mut best, &mut tried, setup, self.stream_bytes(bytes), variant).await?;
        }
        best.expect("there are candidates").measure(self, Unit::BytesPerSecond, tried).await
    }

    /// Bytes that one pass over an array of `bytes` moves.
    fn stream_bytes(self, bytes: u64) -> f64 {
        (if self == Self::Copy { 2 * bytes } else { bytes }) as f64
    }

    fn stream_work(self, bytes: u64, invocations: u32) -> Work {
        let mut work = Work::new(1);
        let x = work.zeros("array", bytes / 4);
        let quads = u32::try_from(bytes / 16).expect("arrays are smaller than 64 GiB");
        // Memory that holds nothing but zeros may be compressed.
        let fill = PeakFma { iterations: 0, invocations: quads, multiplier: 1.0, addend: 0.0 };
        work.prepare(FILL, &fill, &[x], u64::from(quads));
        let params = PeakStream { quads, invocations, reserved: [0; 2] };
        let (kernel, output) = if self == Self::Copy {
            ("peak_copy", work.zeros("copy", bytes / 4))
        } else {
            ("peak_read", work.zeros("sums", 4 * u64::from(invocations)))
        };
        work.repeat(kernel, &params, &[x, output], u64::from(invocations));
        work.output = Some(output);
        work
    }
}

/// Writes something into every number of an array, or does as good as nothing.
const FILL: &str = "peak_fma_2";

fn launches(count: u32) -> Work {
    let mut work = Work::new(1);
    let output = work.zeros("result", 4 * 64);
    for _ in 0..count {
        let params = PeakFma { iterations: 0, invocations: 64, multiplier: 1.0, addend: 0.0 };
        work.repeat(FILL, &params, &[output], 64);
    }
    work.output = Some(output);
    work
}

/// The peak of arithmetic, and the kernel that it was measured with.
pub(super) struct Arithmetic {
    pub(super) peak: Peak,
    pub(super) setup: Setup,
    /// Operations of a repetition.
    pub(super) flops: f64,
    /// Repetitions of a window.
    pub(super) repetitions: u32,
}

pub(super) async fn arithmetic(lab: &Lab) -> Result<Arithmetic, EngineError> {
    let mut best: Option<Best> = None;
    let mut tried = Vec::new();
    for (chains, kernel) in CHAINS {
        for invocations in FMA_INVOCATIONS {
            let mut work = Work::new(1);
            let result = work.zeros("result", 4 * u64::from(invocations));
            // The chains come to rest at 1, far from infinity and from the tiniest numbers.
            let params = PeakFma { iterations: ITERATIONS, invocations, multiplier: 0.999, addend: 0.001 };
            work.repeat(kernel, &params, &[result], u64::from(invocations));
            work.output = Some(result);
            let flops = 2.0 * f64::from(PEAK_FMAS) * f64::from(ITERATIONS) * f64::from(invocations);
            let variant = format!("{chains} chains of four, {invocations} invocations");
            let setup = lab.set_up(work).await?;
            let look = Best::consider(&mut best, &mut tried, setup, flops, variant).await?;
            if look.seconds_each() > LONG_LAUNCH_SECONDS {
                break;
            }
        }
    }
    let Best { mut setup, work, variant, .. } = best.expect("there are candidates");
    let timing = setup.timing().await?;
    let repetitions = timing.windows[0].repetitions;
    let peak = PeakKind::Arithmetic.peak(Unit::FlopsPerSecond, work, variant, timing, tried);
    Ok(Arithmetic { peak, setup, flops: work, repetitions })
}

/// An array that a gauge copies, and the bytes of a repetition; `None` where the device has no room for it.
pub(super) async fn copying(lab: &Lab) -> Result<Option<(Setup, f64)>, EngineError> {
    let bytes = GAUGED_ARRAY_BYTES;
    match lab.set_up(PeakKind::Copy.stream_work(bytes, GAUGED_INVOCATIONS)).await {
        Ok(setup) => Ok(Some((setup, PeakKind::Copy.stream_bytes(bytes)))),
        Err(EngineError::OutOfMemory { .. } | EngineError::DoesNotFit { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The fastest of some variants.
struct Best {
    setup: Setup,
    value: f64,
    work: f64,
    variant: String,
}

impl Best {
    /// Looks at a variant whose repetition does so much `work`, and keeps it if it is faster than `best`.
    async fn consider(
        best: &mut Option<Self>,
        tried: &mut Vec<Tried>,
        mut setup: Setup,
        work: f64,
        variant: String,
    ) -> Result<Window, EngineError> {
        let look = setup.look().await?;
        let value = work * look.rate();
        tried.push(Tried { variant: variant.clone(), value });
        if best.as_ref().is_none_or(|best| value > best.value) {
            *best = Some(Self { setup, value, work, variant });
        }
        Ok(look)
    }

    async fn measure(mut self, kind: PeakKind, unit: Unit, tried: Vec<Tried>) -> Result<Peak, EngineError> {
        let timing = self.setup.timing().await?;
        Ok(kind.peak(unit, self.work, self.variant, timing, tried))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_need_the_peak_of_arithmetic_and_launches_do_not() {
        assert_eq!(wanted(&[Suite::Gemm]), [PeakKind::Arithmetic]);
        assert_eq!(wanted(&[Suite::Rnn]), [PeakKind::Arithmetic]);
        assert_eq!(wanted(&[Suite::Launch]), [PeakKind::Launches, PeakKind::RoundTrip]);
        assert_eq!(wanted(&Suite::ALL).len(), 5);
    }
}
