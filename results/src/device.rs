use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The device that was asked for and the one that was used. A mismatch is an error, so no record has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Adapter as asked for: `any`, `discrete`, an index, part of a name, or `browser`.
    pub requested_adapter: String,
    /// Back end as asked for.
    pub requested_backend: String,
    /// Back end that trained.
    pub backend: String,
    /// Adapter as the platform reports it.
    pub adapter: Adapter,
    /// Name of the device as a person entered it, for platforms that hide it; absent if none was entered.
    pub claimed_name: Option<String>,
}

/// A device as the platform reports it. Browsers mask most of it; an unknown text is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Name of the device.
    pub name: String,
    /// Vendor of the device, by name or PCI number.
    pub vendor: String,
    /// Family of the device.
    pub architecture: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Interface to the device: `Vulkan`, `Metal`, `DX12`, `WebGPU`, `CUDA`, `ROCm`, or `CPU` for back ends that
    /// compute on the processor; of an external program, its framework.
    pub api: String,
    /// Name and version of the driver; of an external program, the version of its framework.
    pub driver: String,
    /// True for a software adapter, which acts as a GPU but computes on the processor. Its results are shown but never
    /// ranked.
    pub software: bool,
}

/// Kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A separate GPU with its own memory.
    Discrete,
    /// A GPU that shares memory with the processor.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// The processor, directly or through a software adapter.
    Cpu,
    /// A device whose kind the platform does not report.
    Unknown,
}

impl DeviceKind {
    /// Returns the word that the command line and tables use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Cpu => "cpu",
            Self::Unknown => "unknown",
        }
    }
}

/// Number format of the arithmetic. Results in different formats are never ranked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 16-bit numbers for values that are stored and multiplied; f32 for sums and for the weights that are trained.
    F16,
    /// The same as `f16`, with products computed by the device's matrix units.
    #[serde(rename = "f16-matrix")]
    F16Matrix,
    /// 32-bit numbers.
    F32,
    /// 64-bit numbers, on the `reference` back end only.
    F64,
}

impl Precision {
    pub const ALL: [Self; 4] = [Self::F16, Self::F16Matrix, Self::F32, Self::F64];

    /// Returns the name that command lines, addresses and records use.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F16Matrix => "f16-matrix",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Returns the precision of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|precision| precision.name() == name)
    }

    /// Returns true if values are stored in f16. Rounding, and with it the tolerances, depends on this alone.
    pub fn stores_f16(self) -> bool {
        matches!(self, Self::F16 | Self::F16Matrix)
    }
}
