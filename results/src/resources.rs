use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use of the machine while training; what a platform does not offer is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Processor time of this process in user mode over wall time; 100 is one core.
    pub cpu_user_percent: Option<f64>,
    /// The same in system mode.
    pub cpu_system_percent: Option<f64>,
    /// Time in which cores of the whole machine had nothing to do but wait for its discs, whoever asked for what they read;
    /// 100 is one core. Absent, as all that follows, from records of layouts before 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_io_wait_percent: Option<f64>,
    /// Memory of this process while training, mean over time.
    pub resident_memory_average_bytes: Option<u64>,
    /// The most memory that this process had while training.
    pub resident_memory_maximum_bytes: Option<u64>,
    /// Which of the energies in the samples is that of the device that trained; nothing where none is known to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_source: Option<EnergySource>,
    /// What the machine told of itself now and then, from the beginning to the end. Of long trainings every second sample
    /// was left out as often as was needed for at most [`Resources::MOST_SAMPLES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<ResourceSample>,
}

impl Resources {
    /// More samples than these no record has.
    pub const MOST_SAMPLES: usize = 128;
}

/// Where the energy of the device that trained can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergySource {
    /// The GPU counts its own energy.
    GpuCounter,
    /// The GPU tells its power, which is summed over time.
    GpuPower,
    /// The processor trained, and its packages count their energy, whoever uses them.
    ProcessorCounter,
}

/// What the machine told at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceSample {
    /// Since the training of this workload began, after its check.
    pub seconds: f64,
    /// Share of the time, since a moment before, in which the GPU that trains did anything at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_busy_percent: Option<f64>,
    /// Memory of that GPU in use, by all programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory_bytes: Option<u64>,
    /// Power of its board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_power_watts: Option<f64>,
    /// Since the first sample, by the GPU's own counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_energy_joules: Option<f64>,
    /// Clock of its cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_clock_hertz: Option<f64>,
    /// Temperature of its chip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_temperature_celsius: Option<f64>,
    /// Of all packages of the processor since the first sample, by their own counters, whoever uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_energy_joules: Option<f64>,
}
