use serde::{Deserialize, Serialize};

/// What a device may have beyond what every WebGPU device has, and our kernels use where it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Invocations of a subgroup see each other's values.
    Subgroups,
    /// Numbers of 16 bits.
    F16,
    /// The device tells the time at which it begins and ends what it computes.
    Timestamps,
}

impl Feature {
    pub const ALL: [Self; 3] = [Self::Subgroups, Self::F16, Self::Timestamps];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Subgroups => "subgroups",
            Self::F16 => "f16",
            Self::Timestamps => "timestamps",
        }
    }

    /// The feature with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.name() == name)
    }
}
