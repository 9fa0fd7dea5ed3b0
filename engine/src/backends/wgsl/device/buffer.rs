use std::cell::RefCell;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use futures_channel::oneshot;

use super::{Device, answer};
use crate::backends::wgsl::plan::Contents;
use crate::backends::wgsl::recording::{BufferContents, BufferPlan, BufferRange, JobPart};
use crate::data::DataSet;
use crate::error::EngineError;

/// Device buffers of a plan, in the plan's order.
pub(crate) struct Buffers {
    buffers: Vec<wgpu::Buffer>,
    /// Preallocated staging buffers, each for one read at a time.
    staging: Vec<wgpu::Buffer>,
}

impl Buffers {
    /// Allocates all buffers and uploads their initial contents. Reads of up to `staging_bytes` do not allocate.
    pub(crate) async fn new(device: &Device, plans: &[BufferPlan], staging_bytes: u64) -> Result<Self, EngineError> {
        Self::filled(device, plans, &[staging_bytes], |_| unreachable!("only plans of jobs have such buffers")).await
    }

    /// Allocates the buffers of a job's plan, with one staging buffer of each size.
    ///
    /// All trainers on the device share the buffers of the data set.
    ///
    /// # Errors
    /// Those of [`Buffers::new`], and a model whose tensors do not fit together.
    pub(crate) async fn of_job(
        device: &Device,
        plans: &[BufferPlan],
        staging_bytes: &[u64],
        contents: &Contents<'_>,
    ) -> Result<Self, EngineError> {
        let built = Self::filled(device, plans, staging_bytes, |plan| {
            let BufferContents::Job(part) = plan.contents else { unreachable!("other contents need no job") };
            let make = || {
                let buffer = create(device, plan);
                device.queue.write_buffer(&buffer, 0, &contents.bytes(part)?);
                Ok(buffer)
            };
            if part.is_of_the_data_set() { device.data.get(&contents.job.data, part, make) } else { make() }
        })
        .await;
        // The driver may have reported an error for a cached buffer, which is then unusable.
        built.inspect_err(|_| device.data.clear())
    }

    async fn filled(
        device: &Device,
        plans: &[BufferPlan],
        staging_bytes: &[u64],
        of_job: impl Fn(&BufferPlan) -> Result<wgpu::Buffer, EngineError>,
    ) -> Result<Self, EngineError> {
        let largest = device.largest_buffer_bytes();
        if let Some(plan) = plans.iter().find(|plan| plan.bytes > largest) {
            return Err(EngineError::DoesNotFit {
                what: format!("the buffer `{}`", plan.name),
                needed_bytes: plan.bytes,
                allowed_bytes: largest,
            });
        }
        let buffer = |plan: &BufferPlan| match &plan.contents {
            // WebGPU initializes new buffers with zeros.
            BufferContents::Zeros => Ok(create(device, plan)),
            BufferContents::Bytes(bytes) => {
                let buffer = create(device, plan);
                device.queue.write_buffer(&buffer, 0, bytes);
                Ok(buffer)
            }
            BufferContents::Job(_) => of_job(plan),
        };
        device
            .watched(|| {
                let buffers: Result<_, EngineError> = plans.iter().map(buffer).collect();
                let staging = staging_bytes.iter().map(|bytes| create_staging(device, "staging", *bytes)).collect();
                Ok(Self { buffers: buffers?, staging })
            })
            .await?
    }

    pub(crate) fn get(&self, index: usize) -> &wgpu::Buffer {
        &self.buffers[index]
    }

    /// Overwrites part of a buffer before the next submission.
    pub(crate) fn write(&self, device: &Device, index: usize, offset_bytes: u64, bytes: &[u8]) {
        device.queue.write_buffer(&self.buffers[index], offset_bytes, bytes);
    }

    /// Reads the first `bytes` of a buffer, after everything submitted so far.
    pub(crate) async fn read(&self, device: &Device, index: usize, bytes: u64) -> Result<Vec<u8>, EngineError> {
        self.read_at(device, index, 0, bytes).await
    }

    /// Reads `bytes` of a buffer at `offset_bytes`, after everything submitted so far. Both are multiples of four.
    pub(crate) async fn read_at(
        &self,
        device: &Device,
        index: usize,
        offset_bytes: u64,
        bytes: u64,
    ) -> Result<Vec<u8>, EngineError> {
        let allocated;
        let staging = if bytes <= self.staging[0].size() {
            &self.staging[0]
        } else {
            allocated = device.watched(|| create_staging(device, "large staging", bytes)).await?;
            &allocated
        };
        Ok(map_through(device, &self.buffers[index], offset_bytes, staging, bytes).await?.to_vec())
    }

    /// Starts to read part of a buffer through the first staging buffer, after everything submitted so far.
    ///
    /// The part must fit into the staging buffer, which is in use until the future resolves.
    pub(crate) fn begin_to_read(
        &self,
        device: &Device,
        range: BufferRange,
    ) -> impl Future<Output = Result<Vec<u8>, EngineError>> + use<> {
        let reading = self.begin_to_read_through(device, range, 0);
        async move { Ok(reading.await?.to_vec()) }
    }

    /// Like [`Self::begin_to_read`], through another staging buffer, which holds the bytes until the result is dropped.
    pub(crate) fn begin_to_read_through(
        &self,
        device: &Device,
        range: BufferRange,
        staging: usize,
    ) -> impl Future<Output = Result<ReadBack, EngineError>> + use<> {
        let BufferRange { buffer, offset_bytes, bytes } = range;
        map_through(device, &self.buffers[buffer], offset_bytes, &self.staging[staging], bytes)
    }
}

fn create_staging(device: &Device, label: &str, bytes: u64) -> wgpu::Buffer {
    create_buffer(device, label, bytes, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ)
}

fn create_buffer(device: &Device, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
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

fn create(device: &Device, plan: &BufferPlan) -> wgpu::Buffer {
    let kind = if plan.uniform { wgpu::BufferUsages::UNIFORM } else { wgpu::BufferUsages::STORAGE };
    create_buffer(device, plan.name, plan.bytes, kind | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC)
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

fn map_through(
    device: &Device,
    buffer: &wgpu::Buffer,
    offset_bytes: u64,
    staging: &wgpu::Buffer,
    bytes: u64,
) -> impl Future<Output = Result<ReadBack, EngineError>> + use<> {
    let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(buffer, offset_bytes, staging, 0, bytes);
    map(device, encoder.finish(), staging, bytes)
}

/// Submits commands that fill `staging`, and returns a future with its contents.
pub(super) fn map(
    device: &Device,
    commands: wgpu::CommandBuffer,
    staging: &wgpu::Buffer,
    bytes: u64,
) -> impl Future<Output = Result<ReadBack, EngineError>> + use<> {
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
        match answer("results were read back", mapped).await? {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(EngineError::DeviceLost { message: error.to_string() }),
            Err(_) => return Err(EngineError::DeviceLost { message: "the driver gave no answer".to_owned() }),
        }
        match staging.get_mapped_range(0..bytes) {
            Ok(view) => Ok(ReadBack { view: Some(view), staging }),
            Err(error) => Err(EngineError::DeviceLost { message: error.to_string() }),
        }
    }
}

/// Buffers of the most recent data set, uploaded once for all networks that train on it.
#[derive(Default)]
pub(crate) struct DataSets(RefCell<Vec<DataSetBuffer>>);

struct DataSetBuffer {
    /// Identifies the data set without keeping the host's copy alive.
    data: Weak<DataSet>,
    part: JobPart,
    buffer: wgpu::Buffer,
}

impl DataSets {
    /// Returns the buffer with a part of `data`, creating it with `make` if necessary. Releases the buffers of other
    /// data sets, which trainers may keep alive.
    pub(crate) fn get(
        &self,
        data: &Arc<DataSet>,
        part: JobPart,
        make: impl FnOnce() -> Result<wgpu::Buffer, EngineError>,
    ) -> Result<wgpu::Buffer, EngineError> {
        let mut buffers = self.0.borrow_mut();
        // While a weak reference exists, no other data set can get the same address.
        buffers.retain(|one| std::ptr::eq(one.data.as_ptr(), Arc::as_ptr(data)));
        if let Some(found) = buffers.iter().find(|one| one.part == part) {
            return Ok(found.buffer.clone());
        }
        let buffer = make()?;
        buffers.push(DataSetBuffer { data: Arc::downgrade(data), part, buffer: buffer.clone() });
        Ok(buffer)
    }

    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}
