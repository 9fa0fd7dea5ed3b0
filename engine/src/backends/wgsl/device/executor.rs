use std::num::NonZeroU64;
use std::ops::Range;

use super::Device;
use super::buffer::Buffers;
use super::pipelines::Pipeline;
use crate::backends::wgsl::recording::{Dispatch, Recording, STEP_STRIDE_BYTES};
use crate::error::EngineError;

/// A recording with its pipelines and bind groups, ready to be submitted again and again.
pub(in crate::backends::wgsl) struct Executor {
    launches: Vec<Launch>,
    step: wgpu::BindGroup,
}

struct Launch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    workgroups: [u32; 2],
    operations: u64,
}

impl Executor {
    /// Compiles what of `recording` was not compiled before, and binds every dispatch of it. `params` and `steps` are the
    /// plan's uniform buffers.
    pub(in crate::backends::wgsl) async fn new(
        device: &Device,
        buffers: &Buffers,
        recording: &Recording,
        params: usize,
        steps: usize,
    ) -> Result<Self, EngineError> {
        device.pipelines().compile(device, recording).await?;
        device
            .watched(|| Self {
                launches: recording
                    .dispatches
                    .iter()
                    .map(|dispatch| launch(device, buffers, dispatch, params))
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

    /// How many launches the recording has.
    pub(in crate::backends::wgsl) fn launches(&self) -> usize {
        self.launches.len()
    }

    /// The launches from `first` on that come to no more than `most` operations, and what they come to. The first of them
    /// may come to more where it is `alone` in its submission.
    pub(in crate::backends::wgsl) fn within(&self, first: usize, most: u64, alone: bool) -> (Range<usize>, u64) {
        let mut end = first;
        let mut operations = 0;
        while let Some(launch) = self.launches.get(end)
            && (operations + launch.operations <= most || (alone && end == first))
        {
            operations += launch.operations;
            end += 1;
        }
        (first..end, operations)
    }

    /// Commands that run the recording once for each of these rows of the step table.
    pub(in crate::backends::wgsl) fn encode(&self, device: &Device, rows: Range<u32>) -> wgpu::CommandBuffer {
        let mut commands = Commands::new(device);
        for row in rows {
            commands.add(self, row, 0..self.launches());
        }
        commands.finish()
    }
}

/// Launches in the making that are submitted together.
pub(in crate::backends::wgsl) struct Commands {
    encoder: wgpu::CommandEncoder,
    pass: wgpu::ComputePass<'static>,
}

impl Commands {
    pub(in crate::backends::wgsl) fn new(device: &Device) -> Self {
        Self::begin(device, None)
    }

    /// Writes the times at which they begin and end.
    pub(in crate::backends::wgsl) fn timed(device: &Device, queries: &wgpu::QuerySet) -> Self {
        let writes = wgpu::ComputePassTimestampWrites {
            query_set: queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        };
        Self::begin(device, Some(writes))
    }

    fn begin(device: &Device, timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>) -> Self {
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        let pass = encoder.begin_compute_pass(&descriptor).forget_lifetime();
        Self { encoder, pass }
    }

    /// Adds launches of a recording, with the step in this row of the step table.
    pub(in crate::backends::wgsl) fn add(&mut self, executor: &Executor, row: u32, launches: Range<usize>) {
        self.pass.set_bind_group(1, &executor.step, &[row * STEP_STRIDE_BYTES]);
        for launch in &executor.launches[launches] {
            self.pass.set_pipeline(&launch.pipeline);
            self.pass.set_bind_group(0, &launch.bindings, &[]);
            self.pass.dispatch_workgroups(launch.workgroups[0], launch.workgroups[1], 1);
        }
    }

    pub(in crate::backends::wgsl) fn finish(self) -> wgpu::CommandBuffer {
        self.end().finish()
    }

    /// For what follows them in the same submission.
    pub(in crate::backends::wgsl) fn end(self) -> wgpu::CommandEncoder {
        // A pass ends when it is dropped, and until then its encoder does nothing else.
        drop(self.pass);
        self.encoder
    }
}

fn launch(device: &Device, buffers: &Buffers, dispatch: &Dispatch, params: usize) -> Launch {
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
    Launch {
        pipeline,
        bindings: create_bind_group(
            device,
            &wgpu::BindGroupDescriptor { label: Some(dispatch.kernel.name), layout: &layout, entries: &entries },
        ),
        workgroups: dispatch.workgroups,
        operations: dispatch.operations,
    }
}

/// The one place where bind groups are made.
fn create_bind_group(device: &Device, descriptor: &wgpu::BindGroupDescriptor<'_>) -> wgpu::BindGroup {
    device.count(|counts| counts.bind_groups += 1);
    device.device.create_bind_group(descriptor)
}
