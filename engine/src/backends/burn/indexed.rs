//! Devices that Burn reaches through the platform of their maker. Its library is loaded when a device is looked for.

use burn_tensor::{Device, DeviceType};
use results::{Adapter, DeviceKind};

use super::Opened;
use crate::backends::AdapterChoice;
use crate::error::EngineError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    #[cfg(feature = "burn-cuda")]
    Cuda,
    #[cfg(feature = "burn-rocm")]
    Rocm,
}

impl Platform {
    fn devices(self) -> Vec<Device> {
        match self {
            #[cfg(feature = "burn-cuda")]
            Self::Cuda => Device::enumerate(DeviceType::Cuda).into_vec(),
            #[cfg(feature = "burn-rocm")]
            Self::Rocm => Device::enumerate(DeviceType::Rocm).into_vec(),
        }
    }

    /// Maker, interface, and what the platform compiles its kernels to.
    fn facts(self) -> [&'static str; 3] {
        match self {
            #[cfg(feature = "burn-cuda")]
            Self::Cuda => ["NVIDIA", "CUDA", "PTX"],
            #[cfg(feature = "burn-rocm")]
            Self::Rocm => ["AMD", "ROCm", "HIP"],
        }
    }
}

/// Opens the device that fits; an index counts among the platform's own.
pub(super) fn open(choice: &AdapterChoice, platform: Platform) -> Result<Opened, EngineError> {
    let [vendor, api, compiler] = platform.facts();
    let mut devices = platform.devices();
    if devices.is_empty() {
        let message = format!("there is no {api} device, or its driver is not installed");
        return Err(EngineError::DeviceRefused { message });
    }
    let describe = |device: &Device| {
        let identity = device.identity();
        let named = identity.as_ref().map(|identity| identity.name.clone());
        Adapter {
            name: named.unwrap_or_else(|| format!("unnamed {api} device")),
            vendor: vendor.to_owned(),
            architecture: identity.map(|identity| identity.fingerprint).unwrap_or_default(),
            kind: DeviceKind::Discrete,
            api: api.to_owned(),
            driver: String::new(),
            software: false,
        }
    };
    let mut adapters: Vec<Adapter> = devices.iter().map(describe).collect();
    let index = choice.choose(&adapters)?;
    Ok(Opened { device: devices.swap_remove(index), adapter: adapters.swap_remove(index), compiler, compiles: true })
}
