//! Resource usage of the machine during training, and energy computed from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::interpolate;
use crate::{Phase, WorkloadRecord};

/// Use of the machine during the training. A value that the platform does not offer is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Processor time of this process in user mode, in percent of wall time; 100 is one core.
    pub cpu_user_percent: Option<f64>,
    /// Processor time of this process in system mode, in percent of wall time; 100 is one core.
    pub cpu_system_percent: Option<f64>,
    /// Time that cores of the whole machine were idle while waiting for disks, in percent of wall time; 100 is one
    /// core. Reads of all programs count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_io_wait_percent: Option<f64>,
    /// Resident memory of this process in bytes, mean over the time of the training.
    pub resident_memory_average_bytes: Option<u64>,
    /// Largest resident memory of this process during the training, in bytes.
    pub resident_memory_maximum_bytes: Option<u64>,
    /// Reading of the energy of the device that trained, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_source: Option<EnergySource>,
    /// Readings of the machine's sensors from the start to the end of the training, at most 128. If there were more,
    /// every second one was dropped, as often as needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<ResourceSample>,
}

impl Resources {
    /// Maximum number of samples in a record.
    pub const MAX_SAMPLES: usize = 128;
}

/// Reading that tells the energy of the device that trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergySource {
    /// Energy counter of the GPU (`gpu_energy_joules`).
    GpuCounter,
    /// Power of the GPU (`gpu_power_watts`), summed over time.
    GpuPower,
    /// Energy counters of the processor that trained (`processor_energy_joules`), which count all programs.
    ProcessorCounter,
}

/// Readings of the machine's sensors at one moment. A reading that the machine does not offer is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceSample {
    /// Seconds since the training of this workload began, after its check.
    pub seconds: f64,
    /// Share of the preceding interval that the training GPU was busy, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_busy_percent: Option<f64>,
    /// Memory of the GPU that all programs use, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory_bytes: Option<u64>,
    /// Power of the GPU's board, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_power_watts: Option<f64>,
    /// Energy of the GPU since the first sample by its own counter, in joules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_energy_joules: Option<f64>,
    /// Clock of the GPU's cores, in hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_clock_hertz: Option<f64>,
    /// Temperature of the GPU's chip, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_temperature_celsius: Option<f64>,
    /// Energy of all processor packages since the first sample by their own counters, in joules. It includes all
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_energy_joules: Option<f64>,
}

/// Minimum number of samples for computing energy, which two seconds of training provide.
const MIN_ENERGY_SAMPLES: usize = 8;

/// Returns the joules that the device used while windows were timed; `None` unless every sample has a reading.
pub(crate) fn energy_of_timed_training(record: &WorkloadRecord) -> Option<f64> {
    let curve = energy_curve(&record.resources)?;
    // Sampling starts after the correctness check, when training begins.
    let is_preparation = |phase| matches!(phase, Phase::LoadingData | Phase::Building | Phase::Checking);
    let mut start = 0.0;
    let mut joules = 0.0;
    for stretch in record.timeline.iter().skip_while(|stretch| is_preparation(stretch.phase)) {
        if stretch.phase.is_timed() {
            joules += interpolate(&curve, start + stretch.seconds)? - interpolate(&curve, start)?;
        }
        start += stretch.seconds;
    }
    (joules > 0.0).then_some(joules)
}

/// Returns the seconds and the cumulative joules of each sample.
fn energy_curve(resources: &Resources) -> Option<Vec<(f64, f64)>> {
    let samples = &resources.samples;
    let counted = |value: fn(&ResourceSample) -> Option<f64>| {
        samples.iter().map(|sample| Some((sample.seconds, value(sample)?))).collect::<Option<Vec<_>>>()
    };
    let points = match resources.energy_source? {
        EnergySource::GpuCounter => counted(|sample| sample.gpu_energy_joules)?,
        EnergySource::ProcessorCounter => counted(|sample| sample.processor_energy_joules)?,
        EnergySource::GpuPower => integrate_power(&counted(|sample| sample.gpu_power_watts)?),
    };
    Some(points).filter(|points| points.len() >= MIN_ENERGY_SAMPLES)
}

/// Integrates power with the trapezoidal rule, into cumulative joules at each sample.
fn integrate_power(watts: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let trapezoid = |pair: &[(f64, f64)]| (pair[1].1 + pair[0].1) / 2.0 * (pair[1].0 - pair[0].0);
    let added = std::iter::once(0.0).chain(watts.windows(2).map(trapezoid));
    let cumulative = added.scan(0.0, |joules, more| {
        *joules += more;
        Some(*joules)
    });
    watts.iter().map(|(seconds, _)| *seconds).zip(cumulative).collect()
}
