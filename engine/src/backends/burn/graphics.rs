use std::sync::{Mutex, PoisonError};

use burn_backend::Backend as _;
use burn_dispatch::Dispatch;
use burn_tensor::{Device, DeviceKind as BurnKind, wgpu as graphics};
use results::{Adapter, DeviceKind};

use super::{Opened, TUNED};
use crate::backends::{AdapterChoice, wgsl};
use crate::error::{EngineError, Result};

/// Kernel compiler. Burn chooses it by interface, build features and driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    name: &'static str,
    /// Part of the names of its devices, such as `fusion<cubecl<wgpu<spirv>>>`.
    part: &'static str,
    /// The only supported interface, or `None` if it supports several.
    api: Option<&'static str>,
}

impl Compiler {
    pub(super) const WGSL: Self = Self { name: "WGSL", part: "wgpu<wgsl>", api: None };
    pub(super) const SPIR_V: Self = Self { name: "SPIR-V", part: "wgpu<spirv>", api: Some("Vulkan") };
    pub(super) const METAL: Self = Self { name: "MSL", part: "wgpu<msl>", api: Some("Metal") };

    /// Returns the compiler that Burn uses on this interface in this build.
    fn of_build(api: &str) -> Self {
        match api {
            "Vulkan" if cfg!(feature = "burn-vulkan") => Self::SPIR_V,
            "Metal" if cfg!(feature = "burn-metal") => Self::METAL,
            _ => Self::WGSL,
        }
    }

    /// Checks the compiler of an opened device. Burn silently falls back to WGSL if the driver lacks a feature.
    fn check_chosen(self, device: &str, adapter: &Adapter) -> Result<()> {
        if device.contains(self.part) {
            return Ok(());
        }
        let message = format!("the driver of {} lacks a feature that Burn's {} needs", adapter.name, self.name);
        refused(format!("{message}, so Burn would compute with {device} instead"))
    }

    fn check(self, adapter: &Adapter) -> Result<()> {
        let used = Self::of_build(&adapter.api);
        if used != self {
            return refused(format!(
                "in this program Burn compiles {} on {}, because it was built with several Burn backends; build it \
                 with a single one",
                used.name, adapter.api
            ));
        }
        if self == Self::SPIR_V && adapter.software {
            return refused(format!("{} fails on Burn's SPIR-V, or computes wrong results with it", adapter.name));
        }
        if TUNED && adapter.software {
            return refused(format!(
                "in this program Burn tunes its kernels, which takes many minutes on {}, a software adapter; build it \
                 without `burn-tuned` and without the backends that enable it",
                adapter.name
            ));
        }
        Ok(())
    }
}

fn refused<T>(message: String) -> Result<T> {
    Err(EngineError::DeviceRefused { message })
}

pub(super) async fn open(choice: &AdapterChoice, compiler: Compiler) -> Result<Opened> {
    let mut adapters = wgsl::adapters().await;
    let index = pick(choice, &adapters, compiler.api)?;
    let location = AdapterLocation::of(&adapters, index)?;
    let adapter = adapters.swap_remove(index);
    compiler.check(&adapter)?;
    let device = location.open(&adapter).await?;
    compiler.check_chosen(&Dispatch::name(device.as_dispatch()), &adapter)?;
    Ok(Opened { device, adapter, compiler: compiler.name, compiles: true, threads: None })
}

/// Returns the index of the matching adapter with this interface. Indices in `choice` count all adapters.
fn pick(choice: &AdapterChoice, adapters: &[Adapter], api: Option<&str>) -> Result<usize> {
    let fits = |adapter: &Adapter| api.is_none_or(|api| adapter.api == api);
    if let AdapterChoice::Index(_) = choice {
        let index = choice.choose(adapters)?;
        return if fits(&adapters[index]) {
            Ok(index)
        } else {
            refused(format!("adapter {index} uses {}, not {}", adapters[index].api, api.unwrap_or("")))
        };
    }
    let fitting: Vec<usize> = (0..adapters.len()).filter(|&index| fits(&adapters[index])).collect();
    if let (true, Some(api)) = (fitting.is_empty(), api) {
        return refused(format!("this machine has no adapter with {api}"));
    }
    let listed: Vec<Adapter> = fitting.iter().map(|&index| adapters[index].clone()).collect();
    Ok(fitting[choice.choose(&listed)?])
}

/// Burn's address of an adapter: its kind, and its index among adapters of this kind and interface.
#[derive(Clone, Copy, PartialEq)]
struct AdapterLocation {
    kind: DeviceKind,
    number: usize,
    api: graphics::WgpuBackend,
}

impl AdapterLocation {
    fn of(adapters: &[Adapter], index: usize) -> Result<Self> {
        let Adapter { kind, api, .. } = &adapters[index];
        let number = adapters[..index].iter().filter(|a| a.kind == *kind && a.api == *api).count();
        let api = match api.as_str() {
            "Vulkan" => graphics::WgpuBackend::Vulkan,
            "Metal" => graphics::WgpuBackend::Metal,
            "DX12" => graphics::WgpuBackend::Dx12,
            "WebGPU" => graphics::WgpuBackend::WebGpu,
            other => return refused(format!("Burn does not support the interface {other}")),
        };
        Ok(Self { kind: *kind, number, api })
    }

    fn kind(self) -> BurnKind {
        match self.kind {
            DeviceKind::Discrete => BurnKind::DiscreteGpu(self.number),
            DeviceKind::Integrated => BurnKind::IntegratedGpu(self.number),
            DeviceKind::Virtual => BurnKind::VirtualGpu(self.number),
            DeviceKind::Cpu => BurnKind::Cpu,
            // Browsers do not report the kind.
            DeviceKind::Unknown => BurnKind::DefaultDevice,
        }
    }

    /// Opens the adapter once per program.
    async fn open(self, wanted: &Adapter) -> Result<Device> {
        static OPENED: Mutex<Vec<(AdapterLocation, Device)>> = Mutex::new(Vec::new());

        let found =
            |list: &[(Self, Device)]| list.iter().find(|(location, _)| *location == self).map(|(_, d)| d.clone());
        let options = Device::wgpu_options().device_kind(self.kind()).graphics_api(self.api);
        // Tests that open an adapter at the same time wait for each other.
        #[cfg(not(target_family = "wasm"))]
        let (mut list, opened) = {
            let list = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(device) = found(&list) {
                return Ok(device);
            }
            (list, options.init_with_setup())
        };
        // A page's worker opens devices sequentially.
        #[cfg(target_family = "wasm")]
        let (mut list, opened) = {
            if let Some(device) = found(&OPENED.lock().unwrap_or_else(PoisonError::into_inner)) {
                return Ok(device);
            }
            let opened = options.init_with_setup_async().await;
            (OPENED.lock().unwrap_or_else(PoisonError::into_inner), opened)
        };
        let (device, setup) = opened.map_err(|error| EngineError::DeviceRefused { message: error.to_string() })?;
        let name = setup.adapter.get_info().name;
        if !name.is_empty() && name != wanted.name {
            return refused(format!("Burn opened {name} instead of {}", wanted.name));
        }
        list.push((self, device.clone()));
        Ok(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::adapter;

    #[test]
    fn adapters_are_numbered_by_kind_and_interface() {
        let all = [
            adapter("A", DeviceKind::Discrete, "DX12"),
            adapter("B", DeviceKind::Integrated, "Vulkan"),
            adapter("A", DeviceKind::Discrete, "Vulkan"),
            adapter("C", DeviceKind::Discrete, "Vulkan"),
        ];
        let location = AdapterLocation::of(&all, 3).unwrap();
        assert_eq!(location.kind(), BurnKind::DiscreteGpu(1));
        assert_eq!(pick(&AdapterChoice::Any, &all, Some("Vulkan")).unwrap(), 2);
        assert_eq!(pick(&AdapterChoice::Index(3), &all, Some("Vulkan")).unwrap(), 3);
        assert!(pick(&AdapterChoice::Index(0), &all, Some("Vulkan")).is_err());
        let error = pick(&AdapterChoice::Any, &all, Some("Metal")).unwrap_err().to_string();
        assert!(error.ends_with("no adapter with Metal"), "{error}");
    }

    #[test]
    fn another_compiler_than_the_one_asked_for_is_refused() {
        let gpu = adapter("A", DeviceKind::Discrete, "Vulkan");
        let spir_v = "dispatch<autodiff<fusion<cubecl<wgpu<spirv>>>>>";
        assert!(Compiler::SPIR_V.check_chosen(spir_v, &gpu).is_ok());
        for unfit in ["dispatch<fusion<cubecl<wgpu<wgsl>>>>", "dispatch<flex>"] {
            let error = Compiler::SPIR_V.check_chosen(unfit, &gpu).unwrap_err().to_string();
            assert!(error.contains("the driver of A lacks") && error.contains(unfit), "{error}");
        }
        assert!(Compiler::WGSL.check_chosen(spir_v, &gpu).is_err());
    }

    #[test]
    fn software_adapters_get_neither_spir_v_nor_timed_kernels() {
        let llvmpipe = adapter("llvmpipe", DeviceKind::Cpu, "Vulkan");
        assert!(Compiler::SPIR_V.check(&llvmpipe).is_err());
        assert_eq!(Compiler::WGSL.check(&llvmpipe).is_ok(), !cfg!(feature = "burn-vulkan") && !TUNED);
        let fits = |name, kind| Compiler::of_build("DX12").check(&adapter(name, kind, "DX12")).is_ok();
        assert_eq!(fits("WARP", DeviceKind::Cpu), !TUNED);
        assert!(fits("A", DeviceKind::Discrete));
    }
}
