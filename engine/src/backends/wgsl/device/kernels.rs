//! Which kernels a device is opened for, and whether an adapter runs them.

use results::Precision;
use shaders::{Form, Stored};

use super::adapters::Features;
use super::matrices::{chosen, listed, none_fits};
use crate::backends::Feature;

/// The kernels that a device is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backends::wgsl) enum Kernels {
    /// Those that store this.
    Storing(Stored),
    /// Those that store f16 and multiply blocks of it with the device's matrix units.
    OnMatrixUnits,
    /// The same with loops instead of units, which run where there are none.
    #[cfg(test)]
    WithPlainMatrices,
}

impl From<Stored> for Kernels {
    fn from(stored: Stored) -> Self {
        Self::Storing(stored)
    }
}

/// Why a device has no f16.
const LACKS_F16: &str = if cfg!(target_arch = "wasm32") {
    "this browser does not offer WebGPU's feature `shader-f16` here; Chrome keeps it off on NVIDIA's GPUs, where native-runner \
     has it"
} else {
    "this device or its driver lacks WebGPU's feature `shader-f16`"
};

/// More lanes would leave blocks of a tile to nobody.
const MOST_LANES: u32 = 64;

impl Kernels {
    pub(super) fn precision(self) -> Precision {
        match self {
            Self::Storing(Stored::F32) => Precision::F32,
            Self::Storing(Stored::F16) => Precision::F16,
            _ => Precision::F16Matrix,
        }
    }

    /// What to ask for where these cannot be had.
    pub(super) fn instead(self) -> &'static str {
        if self.precision() == Precision::F16Matrix { "f16" } else { "f32" }
    }

    /// The form in which `adapter` runs them, of which it has `features`, or why it does not.
    pub(super) fn form_on(
        self,
        adapter: &wgpu::Adapter,
        features: Features,
        without: &[Feature],
    ) -> Result<Form, String> {
        if self == Self::Storing(Stored::F32) {
            return Ok(Form::default());
        }
        if !features.f16 {
            return Err(lack(Feature::F16, LACKS_F16, without));
        }
        if let Self::Storing(stored) = self {
            return Ok(stored.into());
        }
        if features.subgroup_lanes == 0 {
            return Err(lack(Feature::Subgroups, "this device or its driver lacks subgroups", without));
        }
        let lanes = adapter.get_info().subgroup_max_size;
        if lanes > MOST_LANES {
            return Err(format!(
                "its subgroups have up to {lanes} lanes, and the kernels divide a tile among {MOST_LANES}"
            ));
        }
        #[cfg(test)]
        if self == Self::WithPlainMatrices {
            return Ok(Form::with_matrices(shaders::Matrices::Plain));
        }
        let listed = listed(adapter);
        chosen(&listed).map(Form::with_matrices).ok_or_else(|| none_fits(&listed))
    }
}

/// Why `feature` is missing: because it was to be, or else because of what `reason` says.
fn lack(feature: Feature, reason: &str, without: &[Feature]) -> String {
    if without.contains(&feature) { format!("it was to do without {}", feature.name()) } else { reason.to_owned() }
}
