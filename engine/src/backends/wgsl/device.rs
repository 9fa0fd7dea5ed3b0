use std::cell::Cell;
use std::future::Future;
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;
use results::{Adapter, DeviceKind, Precision};
use serde::Serialize;
use shaders::Stored;

use super::data_sets::DataSets;
use super::pipelines::Pipelines;
use super::variants::Abilities;
use crate::backends::{AdapterChoice, Feature};
use crate::clock::Clock;
use crate::error::EngineError;

/// Submissions of nothing that tell how late a device says that it has finished.
const LATENCY_LOOKS: usize = 4;

/// An opened device, its queue, and what went wrong with it.
pub(super) struct Device {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    adapter: Adapter,
    subgroup_lanes: u32,
    stored: Stored,
    fault: Arc<Mutex<Option<Fault>>>,
    counts: Cell<Counts>,
    pipelines: Pipelines,
    data: DataSets,
    latency_seconds: Cell<Option<f64>>,
    #[cfg(not(target_arch = "wasm32"))]
    waiter: waiter::Waiter,
}

/// What was asked of the driver so far; tests hold timed windows to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Buffers created.
    pub(super) buffers: u64,
    /// Bytes of all buffers that were created, as the driver's own buffers say.
    pub(super) buffer_bytes: u64,
    pub(super) bind_groups: u64,
    pub(super) pipelines: u64,
    /// Copies of device memory that the host waited for.
    pub(super) read_backs: u64,
    /// Submissions of recordings.
    pub(super) submissions: u64,
}

/// The first thing that a driver complained about.
#[derive(Clone, Debug)]
enum Fault {
    OutOfMemory(String),
    Lost(String),
    Refused(String),
}

impl Fault {
    fn of(error: &wgpu::Error) -> Self {
        match error {
            wgpu::Error::OutOfMemory { .. } => Self::OutOfMemory(error.to_string()),
            _ => Self::Refused(error.to_string()),
        }
    }

    fn into_error(self) -> EngineError {
        match self {
            Self::OutOfMemory(message) => EngineError::OutOfMemory { message },
            Self::Lost(message) => EngineError::DeviceLost { message },
            Self::Refused(message) => EngineError::DeviceRefused { message },
        }
    }
}

/// The adapters of this machine, in the order of their indices.
pub async fn adapters() -> Vec<Adapter> {
    enumerate().await.iter().map(|adapter| describe(&adapter.get_info())).collect()
}

/// What an adapter has beyond what every WebGPU device has, as far as the kernels use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Features {
    /// Whether it computes in f16.
    pub f16: bool,
    /// Lanes that every subgroup has at least; 0 without subgroups.
    pub subgroup_lanes: u32,
}

/// Those of the adapters of this machine, in the order of their indices.
pub async fn features() -> Vec<Features> {
    enumerate().await.iter().map(Features::of).collect()
}

impl Features {
    fn of(adapter: &wgpu::Adapter) -> Self {
        let features = adapter.features();
        let subgroups = features.contains(wgpu::Features::SUBGROUP);
        Self {
            f16: features.contains(wgpu::Features::SHADER_F16),
            subgroup_lanes: if subgroups { adapter.get_info().subgroup_min_size } else { 0 },
        }
    }

    /// What is left without these.
    fn without(self, features: &[Feature]) -> Self {
        Self {
            f16: self.f16 && !features.contains(&Feature::F16),
            subgroup_lanes: if features.contains(&Feature::Subgroups) { 0 } else { self.subgroup_lanes },
        }
    }
}

async fn enumerate() -> Vec<wgpu::Adapter> {
    // OpenGL shows the same devices again, with fewer abilities.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    #[cfg(target_arch = "wasm32")]
    {
        // A browser offers one adapter: of two GPUs, the fast one.
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        instance.request_adapter(&options).await.into_iter().collect()
    }
    #[cfg(not(target_arch = "wasm32"))]
    instance.enumerate_adapters(wgpu::Backends::PRIMARY).await
}

fn describe(info: &wgpu::AdapterInfo) -> Adapter {
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
        wgpu::DeviceType::Cpu => DeviceKind::Cpu,
        wgpu::DeviceType::Other => DeviceKind::Unknown,
    };
    let driver = [info.driver.as_str(), info.driver_info.as_str()];
    Adapter {
        software: kind == DeviceKind::Cpu || is_software_name(&info.name),
        name: if info.name.is_empty() { "unnamed adapter".to_owned() } else { info.name.clone() },
        vendor: vendor_name(info.vendor),
        architecture: String::new(),
        kind,
        api: match info.backend {
            wgpu::Backend::BrowserWebGpu => "WebGPU".to_owned(),
            wgpu::Backend::Dx12 => "DX12".to_owned(),
            other => format!("{other:?}"),
        },
        driver: driver.join(" ").trim().to_owned(),
    }
}

/// Programs that pretend to be a GPU, some of which do not say so in their type.
fn is_software_name(name: &str) -> bool {
    let name = name.to_lowercase();
    ["llvmpipe", "lavapipe", "swiftshader", "softpipe", "basic render"].iter().any(|software| name.contains(software))
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

impl Device {
    /// Opens the adapter that fits `choice`, for kernels that store what `stored` says.
    pub(super) async fn open(choice: &AdapterChoice, stored: Stored) -> Result<Self, EngineError> {
        Self::open_without(choice, stored, &[]).await
    }

    /// As [`Device::open`], and as if the adapter lacked these features.
    pub(super) async fn open_without(
        choice: &AdapterChoice,
        stored: Stored,
        without: &[Feature],
    ) -> Result<Self, EngineError> {
        let mut adapters = enumerate().await;
        let described: Vec<Adapter> = adapters.iter().map(|a| describe(&a.get_info())).collect();
        let index = choice.choose(&described)?;
        let adapter = adapters.swap_remove(index);
        let offered = adapter.limits();
        let Features { f16, subgroup_lanes } = Features::of(&adapter).without(without);
        // Where they are offered, some kernels have variants that use them.
        let subgroups = if subgroup_lanes > 0 { wgpu::Features::SUBGROUP } else { wgpu::Features::empty() };
        if stored == Stored::F16 && !f16 {
            return Err(EngineError::NoPrecision {
                whose: format!("`{}`", described[index].name),
                precision: Precision::F16.name(),
                reason: if without.contains(&Feature::F16) {
                    "it was to do without that feature"
                } else {
                    "this device or its driver lacks WebGPU's feature `shader-f16`"
                },
                instead: "f32",
            });
        }
        let half = if stored == Stored::F16 { wgpu::Features::SHADER_F16 } else { wgpu::Features::empty() };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("gradmark"),
            required_features: subgroups | half,
            // Only the sizes of buffers go beyond what every WebGPU device grants: data sets are large.
            required_limits: wgpu::Limits {
                max_buffer_size: offered.max_buffer_size,
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                ..wgpu::Limits::default()
            },
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|e| EngineError::DeviceRefused { message: e.to_string() })?;
        let fault = Arc::new(Mutex::new(None));
        let note = |fault: &Arc<Mutex<Option<Fault>>>| {
            let fault = Arc::clone(fault);
            move |found: Fault| {
                if let Ok(mut fault) = fault.lock() {
                    fault.get_or_insert(found);
                }
            }
        };
        let note_error = note(&fault);
        device.on_uncaptured_error(Arc::new(move |error| note_error(Fault::of(&error))));
        let note_loss = note(&fault);
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note_loss(Fault::Lost(message));
            }
        });
        Ok(Self {
            #[cfg(not(target_arch = "wasm32"))]
            waiter: waiter::Waiter::new(device.clone()),
            adapter: described.into_iter().nth(index).expect("the index is that of an adapter"),
            subgroup_lanes,
            stored,
            pipelines: Pipelines::new(&device),
            data: DataSets::default(),
            latency_seconds: Cell::new(None),
            device,
            queue,
            fault,
            counts: Cell::default(),
        })
    }

    /// Notes something that was asked of the driver.
    pub(super) fn count(&self, note: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        note(&mut counts);
        self.counts.set(counts);
    }

    #[cfg(test)]
    pub(super) fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// Bytes that the driver's memory has reserved for buffers, where it tells.
    #[cfg(test)]
    pub(super) fn reserved_bytes(&self) -> Option<u64> {
        self.device.generate_allocator_report().map(|report| report.total_allocated_bytes)
    }

    /// What was compiled on this device so far.
    pub(super) fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    /// The data set that lies on this device.
    pub(super) fn data(&self) -> &DataSets {
        &self.data
    }

    pub(super) fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// What decides between variants of kernels.
    pub(super) fn abilities(&self) -> Abilities {
        Abilities { software: self.adapter.software, subgroup_lanes: self.subgroup_lanes, stored: self.stored }
    }

    /// What kernels on this device store.
    pub(super) fn stored(&self) -> Stored {
        self.stored
    }

    /// The largest part of a buffer that may be bound, in bytes.
    pub(super) fn largest_binding_bytes(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_buffer_size.min(limits.max_storage_buffer_binding_size)
    }

    /// The largest buffer, in bytes.
    pub(super) fn largest_buffer_bytes(&self) -> u64 {
        self.device.limits().max_buffer_size
    }

    /// Submits and returns a future that ends when the device has finished everything submitted so far.
    pub(super) fn submit(
        &self,
        commands: wgpu::CommandBuffer,
    ) -> impl Future<Output = Result<(), EngineError>> + use<> {
        let index = self.queue.submit([commands]);
        self.count(|counts| counts.submissions += 1);
        let (sender, receiver) = oneshot::channel();
        self.queue.on_submitted_work_done(move || {
            // Nobody waits any more when the run was cancelled.
            let _ = sender.send(());
        });
        self.progress(index);
        let fault = Arc::clone(&self.fault);
        async move {
            let finished = receiver.await;
            let found = fault.lock().ok().and_then(|fault| fault.clone());
            match (found, finished) {
                (Some(fault), _) => Err(fault.into_error()),
                (None, Ok(())) => Ok(()),
                (None, Err(_)) => Err(EngineError::DeviceLost { message: "the driver gave no answer".to_owned() }),
            }
        }
    }

    /// Seconds from the end of work until the host knows of it, measured once with submissions of nothing.
    ///
    /// # Errors
    /// A device that refuses, is full or lost.
    pub(super) async fn latency_seconds(&self, clock: &dyn Clock) -> Result<f64, EngineError> {
        if let Some(known) = self.latency_seconds.get() {
            return Ok(known);
        }
        let mut seconds = [0.0; LATENCY_LOOKS];
        let mut last = clock.now_seconds();
        for seconds in &mut seconds {
            let nothing = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            self.submit(nothing.finish()).await?;
            let now = clock.now_seconds();
            *seconds = now - last;
            last = now;
        }
        // The first may begin anywhere between two looks of a platform that looks now and then.
        let of_the_others = &mut seconds[1..];
        of_the_others.sort_by(f64::total_cmp);
        let median = of_the_others[of_the_others.len() / 2];
        self.latency_seconds.set(Some(median));
        Ok(median)
    }

    /// Makes callbacks of a submission happen: browsers do so themselves, elsewhere the waiter does.
    pub(super) fn progress(&self, submission: wgpu::SubmissionIndex) {
        #[cfg(not(target_arch = "wasm32"))]
        self.waiter.wait_for(submission);
        #[cfg(target_arch = "wasm32")]
        let _ = submission;
    }

    /// Runs `work` and returns the first complaint of the driver about it.
    pub(super) async fn watched<T>(&self, work: impl FnOnce() -> T) -> Result<T, EngineError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        let complaints = [validation.pop().await, memory.pop().await];
        match complaints.into_iter().flatten().next() {
            Some(error) => Err(Fault::of(&error).into_error()),
            None => Ok(result),
        }
    }
}

/// A thread that polls the device, so that futures wake up and the engine itself never blocks.
#[cfg(not(target_arch = "wasm32"))]
mod waiter {
    use std::sync::mpsc::{Sender, channel};

    pub(super) struct Waiter {
        submissions: Sender<wgpu::SubmissionIndex>,
    }

    impl Waiter {
        pub(super) fn new(device: wgpu::Device) -> Self {
            let (submissions, receiver) = channel();
            std::thread::spawn(move || {
                // The loop ends when the device's owner, and with it the sender, is gone.
                while let Ok(submission) = receiver.recv() {
                    let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
                    if device.poll(wait).is_err() {
                        break;
                    }
                }
            });
            Self { submissions }
        }

        pub(super) fn wait_for(&self, submission: wgpu::SubmissionIndex) {
            // The thread is gone only after the device failed, which its callbacks have told.
            let _ = self.submissions.send(submission);
        }
    }
}
