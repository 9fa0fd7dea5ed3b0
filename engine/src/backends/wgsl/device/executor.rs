use std::num::NonZeroU64;
use std::ops::Range;

use shaders::Access;
use shaders::params::Step;

use super::GpuDevice;
use super::buffer::{Buffers, create_buffer, map};
use super::caches::{Pipeline, Pipelines, layout_entry};
use crate::backends::wgsl::recording::{BufferRange, Dispatch, PARAMS, Recording, STEP_STRIDE_BYTES, STEPS};
use crate::error::{EngineError, Result};

/// Recording with its pipelines and bind groups, ready for repeated submission.
#[derive(Default)]
pub(crate) struct Executor {
    launches: Vec<BoundLaunch>,
    /// Binding of the step table, if there are launches.
    step: Option<wgpu::BindGroup>,
}

struct BoundLaunch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    workgroups: [u32; 2],
    operations: u64,
}

impl Executor {
    /// Compiles new kernels of `recording` and binds its dispatches.
    pub(crate) async fn new(device: &GpuDevice, buffers: &Buffers, recording: &Recording) -> Result<Self> {
        if recording.dispatches.is_empty() {
            return Ok(Self::default());
        }
        device.pipelines.compile(device, recording).await?;
        let step = BufferRange { buffer: STEPS, offset_bytes: 0, bytes: size_of::<Step>() as u64 };
        let launch = |dispatch: &Dispatch| {
            let Dispatch { kernel, params_offset_bytes: offset_bytes, workgroups, operations, .. } = *dispatch;
            let Pipeline { pipeline, layout } = device.pipelines.by_key.borrow()[&dispatch.pipeline_key()].clone();
            let params = BufferRange { buffer: PARAMS, offset_bytes, bytes: kernel.params_bytes as u64 };
            let ranges = [&[params], dispatch.bindings.as_slice()].concat();
            let bindings = bind(device, buffers, kernel.name, &layout, &ranges);
            BoundLaunch { pipeline, bindings, workgroups, operations }
        };
        let made = device.watched(|| Self {
            launches: recording.dispatches.iter().map(launch).collect(),
            step: Some(bind(device, buffers, "step", &device.pipelines.step_layout, &[step])),
        });
        made.await
    }

    pub(crate) fn launches(&self) -> usize {
        self.launches.len()
    }

    /// Returns the launches from `first` on that have at most `most` operations in total, with that total.
    ///
    /// If nothing else is in the submission (`alone`), the first launch may exceed the limit.
    pub(crate) fn within(&self, first: usize, most: u64, alone: bool) -> (Range<usize>, u64) {
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

    /// Encodes the recording once per row of the step table in `rows`.
    pub(crate) fn encode(&self, device: &GpuDevice, rows: Range<u32>) -> wgpu::CommandBuffer {
        let mut commands = Commands::new(device);
        for row in rows {
            commands.add(self, row, 0..self.launches());
        }
        commands.finish()
    }
}

/// Launches collected for one submission.
pub(crate) struct Commands {
    encoder: wgpu::CommandEncoder,
    pass: wgpu::ComputePass<'static>,
}

impl Commands {
    pub(crate) fn new(device: &GpuDevice) -> Self {
        Self::timed(device, None)
    }

    /// Creates commands that record timestamps before and after the launches, given queries for them.
    fn timed(device: &GpuDevice, queries: Option<&wgpu::QuerySet>) -> Self {
        let timestamp_writes = queries.map(|query_set| wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        let pass = encoder.begin_compute_pass(&descriptor).forget_lifetime();
        Self { encoder, pass }
    }

    /// Adds launches of a recording, for the step in `row` of the step table.
    pub(crate) fn add(&mut self, executor: &Executor, row: u32, launches: Range<usize>) {
        let Some(step) = &executor.step else { return };
        self.pass.set_bind_group(1, step, &[row * STEP_STRIDE_BYTES]);
        for launch in &executor.launches[launches] {
            self.pass.set_pipeline(&launch.pipeline);
            self.pass.set_bind_group(0, &launch.bindings, &[]);
            self.pass.dispatch_workgroups(launch.workgroups[0], launch.workgroups[1], 1);
        }
    }

    pub(crate) fn finish(self) -> wgpu::CommandBuffer {
        self.end().finish()
    }

    /// Ends the compute pass and returns the encoder for other commands of the same submission.
    pub(crate) fn end(self) -> wgpu::CommandEncoder {
        // The encoder is locked until the pass is dropped.
        drop(self.pass);
        self.encoder
    }
}

/// Binds parts of buffers, from binding 0 on, and counts the bind group. No other function creates bind groups.
fn bind(
    device: &GpuDevice,
    buffers: &Buffers,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    ranges: &[BufferRange],
) -> wgpu::BindGroup {
    device.count(|counts| counts.bind_groups += 1);
    let entry = |(binding, range): (u32, &BufferRange)| {
        let (offset, size) = (range.offset_bytes, NonZeroU64::new(range.bytes));
        let resource = wgpu::BufferBinding { buffer: &buffers.buffers[range.buffer], offset, size };
        wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(resource) }
    };
    let entries: Vec<_> = (0..).zip(ranges).map(entry).collect();
    device.device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
}

impl Pipelines {
    pub(crate) async fn compile(&self, device: &GpuDevice, recording: &Recording) -> Result<()> {
        for dispatch in &recording.dispatches {
            let key = dispatch.pipeline_key();
            if self.by_key.borrow().contains_key(&key) {
                continue;
            }
            let compiled = device.watched(|| compile(device, dispatch, &self.step_layout)).await;
            let compiled = compiled.map_err(|mut error| {
                if let EngineError::DeviceRefused { message } | EngineError::OutOfMemory { message } = &mut error {
                    *message = format!("kernel {}: {message}", key.trim());
                }
                error
            })?;
            self.by_key.borrow_mut().insert(key, compiled);
        }
        Ok(())
    }
}

fn compile(device: &GpuDevice, dispatch: &Dispatch, step_layout: &wgpu::BindGroupLayout) -> Pipeline {
    // The number of workgroups stays the same. Each has fewer invocations, which do more.
    let small = device.abilities.small_workgroups;
    let kernel = if small { dispatch.kernel.in_small_workgroups() } else { dispatch.kernel };
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
        source: wgpu::ShaderSource::Wgsl(kernel.source(device.form).into()),
    };
    let checks = if kernel.runs_unchecked() {
        wgpu::ShaderRuntimeChecks::unchecked()
    } else {
        wgpu::ShaderRuntimeChecks::checked()
    };
    // SAFETY: Without checks, out-of-bounds indices and infinite loops are undefined behavior. These kernels check
    // their indices, their loops end, and tests compare each with its plain twin. Browsers check regardless.
    let module = unsafe { device.device.create_shader_module_trusted(descriptor, checks) };
    device.count(|counts| counts.pipelines += 1);
    let pipeline = device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(kernel.name),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &dispatch.constants(),
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    });
    Pipeline { pipeline, layout }
}

const TIMESTAMP_BYTES: u64 = 8;
/// Number of timestamps: one before the work and one after.
const TIMESTAMPS: u32 = 2;

/// Device clock, which measures work without the notification latency.
pub(crate) struct Timestamps {
    queries: wgpu::QuerySet,
    /// Timestamps in device ticks.
    resolved: wgpu::Buffer,
    staging: wgpu::Buffer,
}

impl Timestamps {
    /// Allocates the queries and buffers. Returns `None` on a device without timestamps.
    pub(crate) async fn new(device: &GpuDevice) -> Result<Option<Self>> {
        if !device.has_timestamps {
            return Ok(None);
        }
        let bytes = u64::from(TIMESTAMPS) * TIMESTAMP_BYTES;
        let buffer = |label, usage| create_buffer(device, label, bytes, usage);
        let made = device.watched(|| Self {
            queries: device.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: TIMESTAMPS,
            }),
            resolved: buffer("timestamps", wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            staging: buffer("timestamps staging", wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
        });
        made.await.map(Some)
    }

    /// Runs a recording once and returns its duration in seconds.
    ///
    /// Returns `None` if the clock stood still or ran backwards, as it does with some drivers.
    pub(crate) async fn seconds(&self, device: &GpuDevice, executor: &Executor) -> Result<Option<f64>> {
        let mut commands = Commands::timed(device, Some(&self.queries));
        commands.add(executor, 0, 0..executor.launches());
        let mut encoder = commands.end();
        encoder.resolve_query_set(&self.queries, 0..TIMESTAMPS, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, self.staging.size());
        let bytes = map(device, encoder.finish(), &self.staging, self.staging.size()).await?;
        let times: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
        let ticks = times[1].checked_sub(times[0]).filter(|&ticks| ticks > 0);
        Ok(ticks.map(|ticks| ticks as f64 * f64::from(device.queue.get_timestamp_period()) * 1e-9))
    }
}
