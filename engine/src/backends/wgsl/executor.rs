use std::num::NonZeroU64;
use std::ops::Range;

use super::buffer::Buffers;
use super::device::Device;
use super::pipelines::Pipeline;
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

impl Executor {
    /// Compiles what of `recording` was not compiled before, and binds every dispatch of it. `params` and `steps` are the
    /// plan's uniform buffers.
    pub(super) async fn new(
        device: &Device,
        buffers: &Buffers,
        recording: &Recording,
        params: usize,
        steps: usize,
    ) -> Result<Self, EngineError> {
        device.pipelines().compile(device, recording).await?;
        device
            .watched(|| Self {
                dispatches: recording
                    .dispatches
                    .iter()
                    .map(|dispatch| ready(device, buffers, dispatch, params))
                    .collect(),
                step: create_bind_group(
                    device,
                    &wgpu::BindGroupDescriptor {
                        label: Some("step"),
                        layout: device.pipelines().step_layout(),
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

fn ready(device: &Device, buffers: &Buffers, dispatch: &Dispatch, params: usize) -> Ready {
    let Pipeline { pipeline, layout } = device.pipelines().get(dispatch);
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
        pipeline,
        bindings: create_bind_group(
            device,
            &wgpu::BindGroupDescriptor { label: Some(dispatch.kernel.name), layout: &layout, entries: &entries },
        ),
        workgroups: dispatch.workgroups,
    }
}

/// The one place where bind groups are made.
fn create_bind_group(device: &Device, descriptor: &wgpu::BindGroupDescriptor<'_>) -> wgpu::BindGroup {
    device.count(|counts| counts.bind_groups += 1);
    device.device.create_bind_group(descriptor)
}
