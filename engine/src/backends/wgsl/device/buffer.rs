use std::ops::Deref;

use futures_channel::oneshot;

use super::GpuDevice;
use super::answer::answer;
use crate::backends::wgsl::contents::Contents;
use crate::backends::wgsl::recording::{BufferContents, BufferPlan, BufferRange, JobPart};
use crate::error::{EngineError, Result};

/// Device buffers of a plan, in the plan's order.
pub(crate) struct Buffers {
    pub(super) buffers: Vec<wgpu::Buffer>,
    /// Preallocated staging buffers, each for one read at a time.
    staging: Vec<wgpu::Buffer>,
}

impl Buffers {
    /// Allocates all buffers and uploads their initial contents, with one staging buffer of each size. Reads of up to
    /// the first size do not allocate.
    ///
    /// Only plans of jobs need `contents`. All trainers on the device share the buffers of the data set.
    pub(crate) async fn new(
        device: &GpuDevice,
        plans: &[BufferPlan],
        staging_bytes: &[u64],
        contents: Option<&Contents<'_>>,
    ) -> Result<Self> {
        let largest = device.device.limits().max_buffer_size;
        if let Some(plan) = plans.iter().find(|plan| plan.bytes > largest) {
            return Err(EngineError::DoesNotFit {
                what: format!("the buffer `{}`", plan.name),
                needed_bytes: plan.bytes,
                allowed_bytes: largest,
            });
        }
        let built = device.watched(|| {
            let buffers: Result<_> = plans.iter().map(|plan| filled(device, plan, contents)).collect();
            let staging = staging_bytes.iter().map(|bytes| create_staging(device, "staging", *bytes)).collect();
            Ok(Self { buffers: buffers?, staging })
        });
        // The driver may have reported an error for a cached buffer, which is then unusable.
        built.await.flatten().inspect_err(|_| device.data.clear())
    }

    /// Overwrites part of a buffer before the next submission.
    pub(crate) fn write(&self, device: &GpuDevice, index: usize, offset_bytes: u64, bytes: &[u8]) {
        device.queue.write_buffer(&self.buffers[index], offset_bytes, bytes);
    }

    /// Reads part of a buffer, after everything submitted so far. Its offset and size are multiples of four.
    pub(crate) async fn read(&self, device: &GpuDevice, range: BufferRange) -> Result<Vec<u8>> {
        let allocated;
        let staging = if range.bytes <= self.staging[0].size() {
            &self.staging[0]
        } else {
            allocated = device.watched(|| create_staging(device, "large staging", range.bytes)).await?;
            &allocated
        };
        Ok(self.map_through(device, range, staging).await?.to_vec())
    }

    /// Starts to read part of a buffer through a staging buffer, after everything submitted so far.
    ///
    /// The part must fit into the staging buffer, which is in use until the result is dropped.
    pub(crate) fn begin_to_read(
        &self,
        device: &GpuDevice,
        range: BufferRange,
        staging: usize,
    ) -> impl Future<Output = Result<ReadBack>> + use<> {
        self.map_through(device, range, &self.staging[staging])
    }

    fn map_through(
        &self,
        device: &GpuDevice,
        BufferRange { buffer, offset_bytes, bytes }: BufferRange,
        staging: &wgpu::Buffer,
    ) -> impl Future<Output = Result<ReadBack>> + use<> {
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&self.buffers[buffer], offset_bytes, staging, 0, bytes);
        map(device, encoder.finish(), staging, bytes)
    }
}

/// Returns a new buffer with its initial contents, or the cached one of the data set.
fn filled(device: &GpuDevice, plan: &BufferPlan, contents: Option<&Contents<'_>>) -> Result<wgpu::Buffer> {
    let kind = if plan.uniform { wgpu::BufferUsages::UNIFORM } else { wgpu::BufferUsages::STORAGE };
    let usage = kind | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let create = || create_buffer(device, plan.name, plan.bytes, usage);
    let create_with = |bytes: &[u8]| {
        let buffer = create();
        device.queue.write_buffer(&buffer, 0, bytes);
        buffer
    };
    match &plan.contents {
        // WebGPU initializes new buffers with zeros.
        BufferContents::Zeros => Ok(create()),
        BufferContents::Bytes(bytes) => Ok(create_with(bytes)),
        BufferContents::Job(part) => {
            let contents = contents.expect("only plans of jobs have such buffers");
            let make = || Ok(create_with(&contents.bytes(*part)?));
            let is_of_the_data_set = matches!(part, JobPart::Images(_) | JobPart::Labels(_));
            if is_of_the_data_set { device.data.get(&contents.job.data, *part, make) } else { make() }
        }
    }
}

fn create_staging(device: &GpuDevice, label: &str, bytes: u64) -> wgpu::Buffer {
    create_buffer(device, label, bytes, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ)
}

pub(super) fn create_buffer(device: &GpuDevice, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let buffer = device.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes,
        usage,
        mapped_at_creation: false,
    });
    device.count(|counts| {
        counts.buffers += 1;
        counts.buffer_bytes += buffer.size();
    });
    buffer
}

/// Bytes in a staging buffer after a read. Dropping this makes the staging buffer available again.
pub(crate) struct ReadBack {
    view: Option<wgpu::BufferView>,
    staging: wgpu::Buffer,
}

impl Deref for ReadBack {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.as_deref().expect("the view exists until this is dropped")
    }
}

impl Drop for ReadBack {
    fn drop(&mut self) {
        // Views must be dropped before the buffer is unmapped.
        self.view = None;
        self.staging.unmap();
    }
}

/// Submits commands that fill `staging`, and returns a future with its contents.
pub(super) fn map(
    device: &GpuDevice,
    commands: wgpu::CommandBuffer,
    staging: &wgpu::Buffer,
    bytes: u64,
) -> impl Future<Output = Result<ReadBack>> + use<> {
    let submission = device.queue.submit([commands]);
    device.count(|counts| counts.read_backs += 1);
    let (sender, receiver) = oneshot::channel();
    staging.map_async(wgpu::MapMode::Read, 0..bytes, move |result| {
        // The receiver is dropped when the run is cancelled.
        let _ = sender.send(result);
    });
    device.progress(submission);
    let mapped = device.completion(receiver);
    let staging = staging.clone();
    async move {
        let lost = |message: String| EngineError::DeviceLost { message };
        let mapped = answer("results were read back", mapped).await?;
        mapped.map_err(|_| lost("the driver gave no answer".to_owned()))?.map_err(|error| lost(error.to_string()))?;
        let view = Some(staging.get_mapped_range(0..bytes).map_err(|error| lost(error.to_string()))?);
        Ok(ReadBack { view, staging })
    }
}
