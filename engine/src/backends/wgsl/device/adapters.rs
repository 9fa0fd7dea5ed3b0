//! Which devices there are, before any of them is opened.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::OnceLock;

use async_recursion::async_recursion;
use results::software::program_of;
use results::{Adapter, DeviceKind, UNNAMED_ADAPTER};
use serde::{Deserialize, Serialize};
use shaders::Matrices;

#[cfg(target_arch = "wasm32")]
use super::answer::answer;
use super::matrices::{chosen, listed};
use crate::backends::Feature;
use crate::error::EngineError;

/// The adapters of this machine, in the order of their indices.
pub async fn adapters() -> Vec<Adapter> {
    enumerate().await.unwrap_or_default().iter().map(|adapter| describe(&adapter.get_info())).collect()
}

/// What an adapter has beyond what every WebGPU device has, as far as the kernels use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Whether it computes in f16.
    pub f16: bool,
    /// Lanes that every subgroup has at least; 0 without subgroups.
    pub subgroup_lanes: u32,
    /// Whether it tells when it begins and ends what it computes.
    pub timestamps: bool,
    /// Rows and columns of the matrices of f16 that its matrix units multiply with sums in f32, as kernels use them; 0
    /// where it lists none of those.
    pub matrix_side: u32,
}

/// Those of the adapters of this machine, in the order of their indices.
#[async_recursion(?Send)]
pub async fn features() -> Vec<Features> {
    enumerate().await.unwrap_or_default().iter().map(Features::of).collect()
}

/// Everything that an adapter says of itself before it is opened, as far as training depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Details {
    pub adapter: Adapter,
    pub identity: Identity,
    pub features: Features,
    pub limits: Limits,
}

/// How the system knows an adapter, so that it can be found there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Number of its maker on the PCI bus, or one beyond those numbers for what is on none; 0 where the platform gives none.
    pub vendor: u32,
    /// The maker's number of the model.
    pub device: u32,
    /// Its place, such as `0000:01:00.0`, where the driver tells.
    pub pci_bus_id: Option<String>,
}

/// What an adapter allows at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub buffer_bytes: u64,
    /// The part of a buffer that a kernel sees.
    pub binding_bytes: u64,
    /// Of one kernel.
    pub storage_buffers: u32,
    pub workgroup_invocations: u32,
    pub workgroup_memory_bytes: u32,
}

impl Limits {
    /// What every device of WebGPU grants. Kernels ask for no more, except of the two sizes of buffers.
    pub fn needed() -> Self {
        Self::of(&wgpu::Limits::default())
    }

    fn of(limits: &wgpu::Limits) -> Self {
        Self {
            buffer_bytes: limits.max_buffer_size,
            binding_bytes: limits.max_storage_buffer_binding_size,
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            workgroup_invocations: limits.max_compute_invocations_per_workgroup,
            workgroup_memory_bytes: limits.max_compute_workgroup_storage_size,
        }
    }
}

/// The adapters of this machine with all that they say of themselves, in the order of their indices.
#[async_recursion(?Send)]
pub async fn details() -> Vec<Details> {
    enumerate().await.unwrap_or_default().iter().map(Details::of).collect()
}

impl Details {
    fn of(adapter: &wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        Self {
            adapter: describe(&info),
            identity: Identity::of(&info),
            features: Features::of(adapter),
            limits: Limits::of(&adapter.limits()),
        }
    }
}

impl Identity {
    fn of(info: &wgpu::AdapterInfo) -> Self {
        let pci_bus_id = Some(info.device_pci_bus_id.clone()).filter(|id| !id.is_empty());
        Self { vendor: info.vendor, device: info.device, pci_bus_id }
    }
}

impl Features {
    pub(in crate::backends::wgsl) fn of(adapter: &wgpu::Adapter) -> Self {
        let features = adapter.features();
        let subgroups = features.contains(wgpu::Features::SUBGROUP);
        Self {
            f16: features.contains(wgpu::Features::SHADER_F16),
            subgroup_lanes: if subgroups { adapter.get_info().subgroup_min_size } else { 0 },
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            matrix_side: chosen(&listed(adapter)).and_then(Matrices::side).unwrap_or(0),
        }
    }

    /// What is left without these.
    pub(in crate::backends::wgsl) fn without(self, features: &[Feature]) -> Self {
        Self {
            f16: self.f16 && !features.contains(&Feature::F16),
            subgroup_lanes: if features.contains(&Feature::Subgroups) { 0 } else { self.subgroup_lanes },
            timestamps: self.timestamps && !features.contains(&Feature::Timestamps),
            ..self
        }
    }
}

pub(in crate::backends::wgsl) async fn enumerate() -> Result<Vec<wgpu::Adapter>, EngineError> {
    #[cfg(target_arch = "wasm32")]
    {
        let instance = new_instance();
        // A browser offers one adapter: of two GPUs, the fast one.
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = answer("it was asked for an adapter", instance.request_adapter(&options)).await?;
        Ok(adapter.into_iter().collect())
    }
    #[cfg(not(target_arch = "wasm32"))]
    {
        // One for the whole program: the last of several would unload the driver, and NVIDIA's crashes when a thread that
        // used it ends afterwards (gfx-rs/wgpu#8365).
        static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
        Ok(INSTANCE.get_or_init(new_instance).enumerate_adapters(wgpu::Backends::PRIMARY).await)
    }
}

/// OpenGL shows the same devices again, with fewer abilities.
fn new_instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

pub(in crate::backends::wgsl) fn describe(info: &wgpu::AdapterInfo) -> Adapter {
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
        wgpu::DeviceType::Cpu => DeviceKind::Cpu,
        wgpu::DeviceType::Other => DeviceKind::Unknown,
    };
    let driver = [info.driver.as_str(), info.driver_info.as_str()];
    let mut adapter = Adapter {
        name: if info.name.is_empty() { UNNAMED_ADAPTER.to_owned() } else { info.name.clone() },
        vendor: vendor_name(info.vendor),
        architecture: String::new(),
        kind,
        api: match info.backend {
            wgpu::Backend::BrowserWebGpu => "WebGPU".to_owned(),
            wgpu::Backend::Dx12 => "DX12".to_owned(),
            other => format!("{other:?}"),
        },
        driver: driver.join(" ").trim().to_owned(),
        software: kind == DeviceKind::Cpu,
    };
    // Some programs that act as GPUs do not say so in their kind.
    adapter.software |= program_of(&adapter).is_some();
    adapter
}

/// Name of a PCI vendor number; empty where the platform gives none.
fn vendor_name(number: u32) -> String {
    match number {
        0 => String::new(),
        0x1002 => "AMD".to_owned(),
        0x10de => "NVIDIA".to_owned(),
        0x8086 => "Intel".to_owned(),
        0x106b => "Apple".to_owned(),
        0x13b5 => "ARM".to_owned(),
        0x5143 => "Qualcomm".to_owned(),
        0x1414 => "Microsoft".to_owned(),
        0x10005 => "Mesa".to_owned(),
        0x1ae0 => "Google".to_owned(),
        other => format!("{other:#06x}"),
    }
}
