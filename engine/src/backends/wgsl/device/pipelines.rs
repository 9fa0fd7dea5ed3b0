//! The pipelines of a device: each kernel is compiled once, however many networks use it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroU64;

use shaders::Access;

use super::Device;
use crate::backends::wgsl::recording::{Dispatch, Recording};
use crate::error::EngineError;

/// Every pipeline that was compiled since the device was opened, by kernel and constants.
pub(in crate::backends::wgsl) struct Pipelines {
    by_key: RefCell<HashMap<String, Pipeline>>,
    step_layout: wgpu::BindGroupLayout,
}

#[derive(Clone)]
pub(in crate::backends::wgsl) struct Pipeline {
    pub(in crate::backends::wgsl) pipeline: wgpu::ComputePipeline,
    pub(in crate::backends::wgsl) layout: wgpu::BindGroupLayout,
}

impl Pipelines {
    /// None yet.
    pub(in crate::backends::wgsl) fn new(device: &wgpu::Device) -> Self {
        let step_size = NonZeroU64::new(size_of::<shaders::params::Step>() as u64);
        let step_entry = layout_entry(0, wgpu::BufferBindingType::Uniform, true, step_size);
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("step"), entries: &[step_entry] };
        Self { by_key: RefCell::default(), step_layout: device.create_bind_group_layout(&descriptor) }
    }

    /// Compiles the kernels of a recording that were not compiled before.
    ///
    /// # Errors
    /// A shader that the driver refuses.
    pub(in crate::backends::wgsl) async fn compile(
        &self,
        device: &Device,
        recording: &Recording,
    ) -> Result<(), EngineError> {
        for dispatch in &recording.dispatches {
            let key = dispatch.pipeline_key();
            if self.by_key.borrow().contains_key(&key) {
                continue;
            }
            let compiled = device.watched(|| compile(device, dispatch, &self.step_layout)).await;
            let compiled = compiled.map_err(|error| of_kernel(&key, error))?;
            self.by_key.borrow_mut().insert(key, compiled);
        }
        Ok(())
    }

    /// The pipeline of a launch whose recording was compiled.
    pub(in crate::backends::wgsl) fn get(&self, dispatch: &Dispatch) -> Pipeline {
        self.by_key.borrow()[&dispatch.pipeline_key()].clone()
    }

    /// How the entry of the step table is bound.
    pub(in crate::backends::wgsl) fn step_layout(&self) -> &wgpu::BindGroupLayout {
        &self.step_layout
    }
}

/// What a driver says of a kernel, with the kernel's name before it.
fn of_kernel(key: &str, error: EngineError) -> EngineError {
    let named = |message: String| format!("kernel {}: {message}", key.trim());
    match error {
        EngineError::DeviceRefused { message } => EngineError::DeviceRefused { message: named(message) },
        EngineError::OutOfMemory { message } => EngineError::OutOfMemory { message: named(message) },
        other => other,
    }
}

fn layout_entry(
    binding: u32,
    ty: wgpu::BufferBindingType,
    has_dynamic_offset: bool,
    min_binding_size: Option<NonZeroU64>,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size },
        count: None,
    }
}

fn compile(device: &Device, dispatch: &Dispatch, step_layout: &wgpu::BindGroupLayout) -> Pipeline {
    let kernel = dispatch.kernel;
    let params = layout_entry(0, wgpu::BufferBindingType::Uniform, false, None);
    let storage = (1..).zip(kernel.storage).map(|(binding, access)| {
        layout_entry(binding, wgpu::BufferBindingType::Storage { read_only: *access == Access::Read }, false, None)
    });
    let entries: Vec<_> = std::iter::once(params).chain(storage).collect();
    let layout = device
        .device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(kernel.name), entries: &entries });
    let pipeline_layout = device.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(kernel.name),
        bind_group_layouts: &[Some(&layout), Some(step_layout)],
        immediate_size: 0,
    });
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(kernel.name),
        source: wgpu::ShaderSource::Wgsl(kernel.source(device.form()).into()),
    };
    let checks = if kernel.runs_unchecked() {
        wgpu::ShaderRuntimeChecks::unchecked()
    } else {
        wgpu::ShaderRuntimeChecks::checked()
    };
    // SAFETY: Without checks, an index beyond its array and a loop without end are undefined behavior. These kernels check
    // themselves which elements exist, their loops end, and tests compare each with its plain twin. Browsers check all the
    // same.
    let module = unsafe { device.device.create_shader_module_trusted(descriptor, checks) };
    device.count(|counts| counts.pipelines += 1);
    let pipeline = device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(kernel.name),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &dispatch.constants,
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    });
    Pipeline { pipeline, layout }
}
