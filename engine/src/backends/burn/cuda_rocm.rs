//! GPUs used through CUDA or ROCm. The platform's library is loaded when devices are enumerated.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_tensor::{Device, DeviceType, Tensor};
use results::{Adapter, DeviceKind};

use super::Opened;
use super::failure::words;
use crate::backends::AdapterChoice;
use crate::error::{EngineError, Result};

/// Opens the matching device of a platform with this vendor, interface and compilation target. An index counts the
/// platform's own devices.
pub(super) fn open(choice: &AdapterChoice, platform: DeviceType, facts: [&'static str; 3]) -> Result<Opened> {
    catch_panic(facts[1], || find(choice, platform, facts))
}

/// Catches panics: Burn panics if part of a platform is missing or too old.
fn catch_panic(api: &str, open: impl FnOnce() -> Result<Opened>) -> Result<Opened> {
    catch_unwind(AssertUnwindSafe(open))
        .unwrap_or_else(|panic| Err(EngineError::refused(format!("{api} cannot be used: {}", words(panic.as_ref())))))
}

fn find(choice: &AdapterChoice, platform: DeviceType, [vendor, api, compiler]: [&'static str; 3]) -> Result<Opened> {
    let mut devices = Device::enumerate(platform).into_vec();
    if devices.is_empty() {
        return Err(EngineError::refused(format!("there is no {api} device, or its driver is not installed")));
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
            ..Adapter::default()
        }
    };
    let mut adapters: Vec<Adapter> = devices.iter().map(describe).collect();
    let index = choice.choose(&adapters)?;
    let device = devices.swap_remove(index);
    probe(&device);
    Ok(Opened { device, adapter: adapters.swap_remove(index), compiler, compiles: true, threads: None })
}

/// Compiles a kernel to test the compiler, which is a separate library. Panics if Burn cannot use it.
fn probe(device: &Device) {
    let four = (Tensor::<1>::ones([2], device) + 1.0).sum().into_data();
    assert_eq!(four.as_slice::<f32>().ok(), Some([4.0].as_slice()), "the sum of two twos");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_that_panics_is_an_error_that_says_why() {
        let message = |opened: Result<Opened>| opened.err().map(|error| error.to_string());
        let missing = message(catch_panic("CUDA", || panic!("a library is missing")));
        assert_eq!(missing.as_deref(), Some("the device refused the work: CUDA cannot be used: a library is missing"));
        let version = 3;
        let old = message(catch_panic("ROCm", || panic!("version {version} is too old")));
        assert!(old.is_some_and(|message| message.ends_with("version 3 is too old")));
    }
}
