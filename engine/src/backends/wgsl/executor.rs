use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Range;

use shaders::Access;

use super::buffer::Buffers;
use super::device::Device;
use super::recording::{Dispatch, Recording, STEP_STRIDE_BYTES};
use crate::error::EngineError;

/// A recording with its pipelines and bind groups, ready to be submitted again and again.
pub(super) struct Executor {
    dispatches: Vec<Ready>,
    step: wgpu::BindGroup,
}

struct Ready {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    workgroups: [u32; 2],
}

/// Pipelines by kernel and constants, shared by all recordings of a device's plan.
pub(super) struct Pipelines {
    by_key: HashMap<String, (wgpu::ComputePipeline, wgpu::BindGroupLayout)>,
    step_layout: wgpu::BindGroupLayout,
}

impl Pipelines {
    /// Compiles every kernel that the recordings use.
    ///
    /// # Errors
    /// A shader that the driver refuses.
    pub(super) async fn new(device: &Device, recordings: &[&Recording]) -> Result<Self, EngineError> {
        let step_size = NonZeroU64::new(size_of::<shaders::params::Step>() as u64);
        let step_entry = layout_entry(0, wgpu::BufferBindingType::Uniform, true, step_size);
        let step_layout = device
            .device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("step"), entries: &[step_entry] });
        let mut by_key = HashMap::new();
        for dispatch in recordings.iter().flat_map(|r| &r.dispatches) {
            let key = dispatch.pipeline_key();
            if !by_key.contains_key(&key) {
                let compiled = device.watched(|| compile(device, dispatch, &step_layout)).await;
                let refused = |error| EngineError::DeviceRefused { message: format!("kernel {key}: {error}") };
                by_key.insert(key.clone(), compiled.map_err(refused)?);
            }
        }
        Ok(Self { by_key, step_layout })
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

fn compile(
    device: &Device,
    dispatch: &Dispatch,
    step_layout: &wgpu::BindGroupLayout,
) -> (wgpu::ComputePipeline, wgpu::BindGroupLayout) {
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
    let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(kernel.name),
        source: wgpu::ShaderSource::Wgsl(kernel.source(device.stored()).into()),
    });
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
    (pipeline, layout)
}

impl Executor {
    /// Binds every dispatch of `recording`. `params` and `steps` are the plan's uniform buffers.
    pub(super) async fn new(
        device: &Device,
        pipelines: &Pipelines,
        buffers: &Buffers,
        recording: &Recording,
        params: usize,
        steps: usize,
    ) -> Result<Self, EngineError> {
        device
            .watched(|| Self {
                dispatches: recording
                    .dispatches
                    .iter()
                    .map(|dispatch| ready(device, pipelines, buffers, dispatch, params))
                    .collect(),
                step: create_bind_group(
                    device,
                    &wgpu::BindGroupDescriptor {
                        label: Some("step"),
                        layout: &pipelines.step_layout,
                        entries: &[wgpu::BindGroupEntry {
                            binding: 0,
                            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                                buffer: buffers.get(steps),
                                offset: 0,
                                size: NonZeroU64::new(size_of::<shaders::params::Step>() as u64),
                            }),
                        }],
                    },
                ),
            })
            .await
    }

    /// Commands that run the recording once for each slot of the step table.
    pub(super) fn encode(&self, device: &Device, slots: Range<u32>) -> wgpu::CommandBuffer {
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for slot in slots {
            pass.set_bind_group(1, &self.step, &[slot * STEP_STRIDE_BYTES]);
            for dispatch in &self.dispatches {
                pass.set_pipeline(&dispatch.pipeline);
                pass.set_bind_group(0, &dispatch.bindings, &[]);
                pass.dispatch_workgroups(dispatch.workgroups[0], dispatch.workgroups[1], 1);
            }
        }
        drop(pass);
        encoder.finish()
    }
}

fn ready(device: &Device, pipelines: &Pipelines, buffers: &Buffers, dispatch: &Dispatch, params: usize) -> Ready {
    let (pipeline, layout) = &pipelines.by_key[&dispatch.pipeline_key()];
    let entry = |binding, index, offset, size| wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: buffers.get(index),
            offset,
            size: NonZeroU64::new(size),
        }),
    };
    let params = entry(0, params, dispatch.params_offset_bytes, dispatch.kernel.params_bytes as u64);
    let storage = (1..).zip(&dispatch.bindings);
    let storage = storage.map(|(binding, range)| entry(binding, range.buffer, range.offset_bytes, range.bytes));
    let entries: Vec<_> = std::iter::once(params).chain(storage).collect();
    Ready {
        pipeline: pipeline.clone(),
        bindings: create_bind_group(
            device,
            &wgpu::BindGroupDescriptor { label: Some(dispatch.kernel.name), layout, entries: &entries },
        ),
        workgroups: dispatch.workgroups,
    }
}

/// The one place where bind groups are made.
fn create_bind_group(device: &Device, descriptor: &wgpu::BindGroupDescriptor<'_>) -> wgpu::BindGroup {
    device.count(|counts| counts.bind_groups += 1);
    device.device.create_bind_group(descriptor)
}
