//! Properties of adapters that are not open yet, and the kernels that they can run.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::OnceLock;

use async_recursion::async_recursion;
use results::software::program_of;
use results::{Adapter, DeviceKind, Feature, Precision, UNNAMED_ADAPTER};
use serde::{Deserialize, Serialize};
use shaders::{Form, Matrices, Stored};

#[cfg(target_arch = "wasm32")]
use super::answer::answer;
use crate::error::Result;

/// Returns the adapters of this machine, in index order.
pub async fn adapters() -> Vec<Adapter> {
    enumerate().await.unwrap_or_default().iter().map(describe).collect()
}

/// Optional WebGPU features that the kernels use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    pub f16: bool,
    /// Minimum number of lanes in a subgroup; 0 without subgroups.
    pub subgroup_lanes: u32,
    pub timestamps: bool,
    /// Number of rows and columns of the f16 matrices that the adapter's matrix units multiply with f32 sums; 0 if it
    /// lists no shape that the kernels support.
    pub matrix_side: u32,
}

/// Adapter properties that training depends on, as reported before the adapter is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Details {
    pub adapter: Adapter,
    pub identity: Identity,
    pub features: Features,
    pub limits: Limits,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// PCI vendor number, or a larger number for an adapter that is not a PCI device; 0 if the platform reports none.
    pub vendor: u32,
    /// Model number assigned by the vendor.
    pub device: u32,
    /// PCI address, such as `0000:01:00.0`, if the driver reports it.
    pub pci_bus_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub buffer_bytes: u64,
    /// Largest part of a buffer that a kernel can bind, in bytes.
    pub binding_bytes: u64,
    pub storage_buffers: u32,
    pub workgroup_invocations: u32,
    pub workgroup_memory_bytes: u32,
}

impl Limits {
    /// Returns the limits that every WebGPU device grants, also in compatibility mode. They suffice for the kernels
    /// except for the two buffer sizes.
    pub fn needed() -> Self {
        Self::of(&compatibility_limits())
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

/// Returns the details of this machine's adapters, in index order.
#[async_recursion(?Send)]
pub async fn details() -> Vec<Details> {
    enumerate().await.unwrap_or_default().iter().map(Details::of).collect()
}

impl Details {
    fn of(adapter: &wgpu::Adapter) -> Self {
        let wgpu::AdapterInfo { vendor, device, device_pci_bus_id, .. } = adapter.get_info();
        let pci_bus_id = Some(device_pci_bus_id).filter(|id| !id.is_empty());
        Self {
            adapter: describe(adapter),
            identity: Identity { vendor, device, pci_bus_id },
            features: Features::of(adapter),
            limits: Limits::of(&adapter.limits()),
        }
    }
}

impl Features {
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Self {
        let (features, info) = (adapter.features(), adapter.get_info());
        // wgpu 30 does not list subgroups in a browser; the worker's `adapter.rs` requests them. Browsers that lack them
        // say that they have from 4 to 128 lanes: <https://gpuweb.github.io/gpuweb/#dom-gpuadapterinfo-subgroupminsize>.
        let subgroups = if cfg!(target_arch = "wasm32") {
            info.subgroup_max_size < wgpu::MAXIMUM_SUBGROUP_MAX_SIZE
        } else {
            features.contains(wgpu::Features::SUBGROUP)
        };
        Self {
            f16: features.contains(wgpu::Features::SHADER_F16),
            subgroup_lanes: if subgroups { info.subgroup_min_size } else { 0 },
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            matrix_side: choose_shape(&list_shapes(adapter)).and_then(Matrices::side).unwrap_or(0),
        }
    }

    pub(crate) fn without(self, features: &[Feature]) -> Self {
        Self {
            f16: self.f16 && !features.contains(&Feature::F16),
            subgroup_lanes: if features.contains(&Feature::Subgroups) { 0 } else { self.subgroup_lanes },
            timestamps: self.timestamps && !features.contains(&Feature::Timestamps),
            ..self
        }
    }
}

pub(crate) async fn enumerate() -> Result<Vec<wgpu::Adapter>> {
    #[cfg(target_arch = "wasm32")]
    {
        let instance = new_instance();
        // A browser offers one adapter. On a machine with two GPUs, this requests the faster one.
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = answer("it was asked for an adapter", instance.request_adapter(&options)).await?;
        Ok(adapter.into_iter().collect())
    }
    #[cfg(not(target_arch = "wasm32"))]
    {
        // The program keeps one instance forever. Dropping the last instance would unload the driver, and NVIDIA's
        // crashes if a thread that used it ends afterwards (gfx-rs/wgpu#8365).
        static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
        Ok(INSTANCE.get_or_init(new_instance).enumerate_adapters(wgpu::Backends::PRIMARY).await)
    }
}

/// Creates an instance without OpenGL, which would list the same devices again with fewer features.
fn new_instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

/// Returns the limits that WebGPU grants in compatibility mode: <https://gpuweb.github.io/gpuweb/#limits>.
pub(super) fn compatibility_limits() -> wgpu::Limits {
    wgpu::Limits {
        max_texture_dimension_1d: 4096,
        max_texture_dimension_2d: 4096,
        max_uniform_buffer_binding_size: 16 << 10,
        max_inter_stage_shader_variables: 15,
        max_color_attachments: 4,
        max_compute_invocations_per_workgroup: 128,
        max_compute_workgroup_size_x: 128,
        max_compute_workgroup_size_y: 128,
        ..wgpu::Limits::default()
    }
}

pub(crate) fn describe(adapter: &wgpu::Adapter) -> Adapter {
    let info = adapter.get_info();
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
        compatibility: !wgpu::Limits::default().check_limits(&adapter.limits()),
    };
    // Some software renderers do not report themselves as such in the adapter's kind.
    adapter.software |= program_of(&adapter).is_some();
    adapter
}

/// Returns the name of a PCI vendor number, or an empty name if the platform reports none.
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

const LACKS_F16: &str = if cfg!(target_arch = "wasm32") {
    "this browser does not support WebGPU's feature `shader-f16` here; on Linux, Chrome supports it on NVIDIA's GPUs \
     with driver 615.71 or newer, and native-runner with older ones"
} else {
    "this device or its driver lacks WebGPU's feature `shader-f16`"
};

/// Maximum subgroup size of the matrix kernels, which assign a block of a tile to each lane.
const MAX_SUBGROUP_LANES: u32 = 64;

/// Returns the form of the kernels of this `precision` on `adapter` with these `features` and sizes of workgroups, or
/// the reason why it cannot run them. Without `matrices`, f16-matrix needs the adapter's matrix units.
pub(super) fn choose_form(
    precision: Precision,
    matrices: Option<Matrices>,
    adapter: &wgpu::Adapter,
    features: Features,
    small_workgroups: bool,
    without: &[Feature],
) -> Result<Form, String> {
    if precision == Precision::F32 {
        return Ok(Form::default());
    }
    if !features.f16 {
        return Err(missing_feature(Feature::F16, LACKS_F16, without));
    }
    if precision == Precision::F16 {
        return Ok(Stored::F16.into());
    }
    if features.subgroup_lanes == 0 {
        return Err(missing_feature(Feature::Subgroups, "this device or its driver lacks subgroups", without));
    }
    if small_workgroups {
        let reason = "its workgroups have fewer than 256 invocations, which share a tile";
        return Err(missing_feature(Feature::Core, reason, without));
    }
    let lanes = adapter.get_info().subgroup_max_size;
    if lanes > MAX_SUBGROUP_LANES {
        return Err(format!(
            "its subgroups have up to {lanes} lanes, but the kernels divide a tile among {MAX_SUBGROUP_LANES}"
        ));
    }
    let listed = list_shapes(adapter);
    matrices.or_else(|| choose_shape(&listed)).map(Form::with_matrices).ok_or_else(|| explain_no_shape(&listed))
}

/// Returns the reason why `feature` is missing: `reason`, unless the user disabled the feature.
fn missing_feature(feature: Feature, reason: &str, without: &[Feature]) -> String {
    if without.contains(&feature) { format!("{} was disabled", feature.name()) } else { reason.to_owned() }
}

/// Returns the matrix shapes that the adapter supports and wgpu exposes to kernels.
fn list_shapes(adapter: &wgpu::Adapter) -> Vec<wgpu::CooperativeMatrixProperties> {
    let granted = adapter.features().contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    if granted { adapter.cooperative_matrix_properties() } else { Vec::new() }
}

/// Chooses the largest of the listed shapes that the kernels support.
fn choose_shape(listed: &[wgpu::CooperativeMatrixProperties]) -> Option<Matrices> {
    let fits = |matrices: &Matrices| {
        listed.iter().any(|shape| {
            let sides = [shape.m_size, shape.n_size, shape.k_size];
            matrices.side().is_some_and(|side| sides == [side; 3])
                && shape.ab_type == wgpu::CooperativeScalarType::F16
                && shape.cr_type == wgpu::CooperativeScalarType::F32
        })
    };
    [Matrices::Sixteen, Matrices::Eight].into_iter().find(fits)
}

/// Returns the reason why the kernels support none of the `listed` shapes.
fn explain_no_shape(listed: &[wgpu::CooperativeMatrixProperties]) -> String {
    let needed =
        "the kernels multiply cooperative matrices of 16 × 16 × 16 or 8 × 8 × 8 numbers of f16, with sums in f32";
    let shape = |shape: &wgpu::CooperativeMatrixProperties| {
        let wgpu::CooperativeMatrixProperties { m_size, n_size, k_size, ab_type, cr_type, .. } = shape;
        format!("{m_size} × {n_size} × {k_size} of {ab_type:?} with sums in {cr_type:?}")
    };
    let listed: Vec<String> = listed.iter().map(shape).collect();
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ").to_lowercase() };
    format!("{needed}, but this device or its driver lists {listed}")
}

#[cfg(test)]
mod tests {
    use wgpu::CooperativeScalarType::{self as Scalar, F16, F32, I32};

    use super::*;

    fn shape(
        [m_size, n_size, k_size]: [u32; 3],
        ab_type: Scalar,
        cr_type: Scalar,
    ) -> wgpu::CooperativeMatrixProperties {
        wgpu::CooperativeMatrixProperties { m_size, n_size, k_size, ab_type, cr_type, saturating_accumulation: false }
    }

    #[test]
    fn chooses_the_largest_f16_square_with_f32_sums() {
        let [eight, sixteen] = [8, 16].map(|side| shape([side; 3], F16, F32));
        assert_eq!(choose_shape(&[eight]), Some(Matrices::Eight));
        assert_eq!(choose_shape(&[shape([8; 3], F32, F32), eight, sixteen]), Some(Matrices::Sixteen));
    }

    #[test]
    fn unsupported_shapes_are_listed_but_not_chosen() {
        let others = [shape([16, 8, 16], F16, F32), shape([16; 3], F16, F16), shape([8; 3], I32, I32)];
        assert_eq!(choose_shape(&others), None);
        let reason = explain_no_shape(&others);
        assert!(
            reason.contains("16 × 8 × 16 of f16 with sums in f32, 16 × 16 × 16 of f16 with sums in f16"),
            "{reason}"
        );
        assert!(explain_no_shape(&[]).ends_with("lists none"));
    }
}
