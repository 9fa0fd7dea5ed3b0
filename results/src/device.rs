use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was asked for and what was used. A mismatch is an error, so no record has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The adapter as asked for: `any`, `discrete`, an index, part of a name, or `browser`.
    pub requested_adapter: String,
    /// The back end as asked for.
    pub requested_backend: String,
    /// The back end that trained.
    pub backend: String,
    /// As the platform reported it.
    pub adapter: Adapter,
    /// As the person said it, when the platform hides the name.
    pub claimed_name: Option<String>,
}

/// A device as the platform reports it; browsers mask most of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Name of the device.
    pub name: String,
    /// Its maker, or the maker's PCI number.
    pub vendor: String,
    /// Its family, where the platform tells.
    pub architecture: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// `Vulkan`, `Metal`, `DX12`, `WebGPU`, or `CPU` for back ends without a graphics interface.
    pub api: String,
    /// Driver name and version, where offered.
    pub driver: String,
    /// Whether the work runs on a processor that pretends to be a GPU. Shown, never ranked.
    pub software: bool,
}

/// Kinds of device that a person may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Discrete,
    Integrated,
    Virtual,
    Cpu,
    /// The platform does not say.
    Unknown,
}

impl DeviceKind {
    /// The word used on the command line and in tables.
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
    /// What is stored and multiplied; sums, and the weights that are trained, are f32.
    F16,
    /// As [`Precision::F16`], with products computed by the device's matrix units.
    #[serde(rename = "f16-matrix")]
    F16Matrix,
    F32,
    F64,
}

impl Precision {
    pub const ALL: [Self; 4] = [Self::F16, Self::F16Matrix, Self::F32, Self::F64];

    /// As it is written on command lines, in addresses and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F16Matrix => "f16-matrix",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|precision| precision.name() == name)
    }

    /// Whether f16 is stored: what is rounded is the same, and so is what may be off, whatever multiplies it.
    pub fn stores_f16(self) -> bool {
        matches!(self, Self::F16 | Self::F16Matrix)
    }
}
