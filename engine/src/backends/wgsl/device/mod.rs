//! An opened device: the only part of the engine that knows wgpu. Everything outside of this folder is data, which tests
//! can read without a GPU.

pub(super) mod adapters;
mod answer;
pub(super) mod buffer;
mod data_sets;
pub(super) mod executor;
mod fault;
pub(super) mod kernels;
mod matrices;
mod pipelines;
pub(super) mod timestamps;
#[cfg(not(target_arch = "wasm32"))]
mod waiter;

use std::cell::Cell;
use std::future::Future;
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;
use results::{Adapter, Precision};
use shaders::{Form, Matrices, Stored};

#[cfg(test)]
use crate::backends::wgsl::plan::Omission;
use crate::backends::wgsl::variants::Abilities;
use crate::backends::{AdapterChoice, Feature};
use crate::clock::Clock;
use crate::error::EngineError;
use adapters::{Features, describe, enumerate};
use answer::answer;
use data_sets::DataSets;
use fault::Fault;
use kernels::Kernels;
use pipelines::Pipelines;
#[cfg(not(target_arch = "wasm32"))]
use waiter::Waiter;

/// Submissions of nothing that tell how late a device says that it has finished.
const LATENCY_LOOKS: usize = 4;

/// An opened device, its queue, and what went wrong with it.
pub(in crate::backends::wgsl) struct Device {
    pub(in crate::backends::wgsl) device: wgpu::Device,
    pub(in crate::backends::wgsl) queue: wgpu::Queue,
    adapter: Adapter,
    subgroup_lanes: u32,
    large_matrix_tiles: bool,
    timestamps: bool,
    form: Form,
    fault: Arc<Mutex<Option<Fault>>>,
    counts: Cell<Counts>,
    pipelines: Pipelines,
    data: DataSets,
    latency_seconds: Cell<Option<f64>>,
    #[cfg(not(target_arch = "wasm32"))]
    waiter: Waiter,
    #[cfg(test)]
    omission: Cell<Option<Omission>>,
    #[cfg(test)]
    allowed_bytes: Cell<Option<u64>>,
}

/// What was asked of the driver so far; tests hold timed windows to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::backends::wgsl) struct Counts {
    /// Buffers created.
    pub(in crate::backends::wgsl) buffers: u64,
    /// Bytes of all buffers that were created, as the driver's own buffers say.
    pub(in crate::backends::wgsl) buffer_bytes: u64,
    pub(in crate::backends::wgsl) bind_groups: u64,
    pub(in crate::backends::wgsl) pipelines: u64,
    /// Copies of device memory that the host waited for.
    pub(in crate::backends::wgsl) read_backs: u64,
    /// Submissions of recordings.
    pub(in crate::backends::wgsl) submissions: u64,
}

impl Device {
    /// Opens the adapter that fits `choice`, for these kernels.
    pub(in crate::backends::wgsl) async fn open(
        choice: &AdapterChoice,
        kernels: impl Into<Kernels>,
    ) -> Result<Self, EngineError> {
        Self::open_without(choice, kernels, &[]).await
    }

    /// As [`Device::open`], and as if the adapter lacked these features.
    pub(in crate::backends::wgsl) async fn open_without(
        choice: &AdapterChoice,
        kernels: impl Into<Kernels>,
        without: &[Feature],
    ) -> Result<Self, EngineError> {
        let mut adapters = enumerate().await?;
        let described: Vec<Adapter> = adapters.iter().map(|a| describe(&a.get_info())).collect();
        let index = choice.choose(&described)?;
        let adapter = adapters.swap_remove(index);
        let offered = adapter.limits();
        let offered_features = Features::of(&adapter).without(without);
        let kernels = kernels.into();
        let form = kernels.form_on(&adapter, offered_features, without).map_err(|reason| EngineError::NoPrecision {
            whose: format!("`{}`", described[index].name),
            precision: kernels.precision().name(),
            reason,
            instead: kernels.instead(),
        })?;
        let Features { subgroup_lanes, timestamps, .. } = offered_features;
        // Where they are offered, some kernels have variants that use them.
        let subgroups = if subgroup_lanes > 0 { wgpu::Features::SUBGROUP } else { wgpu::Features::empty() };
        let half = if form.stored == Stored::F16 { wgpu::Features::SHADER_F16 } else { wgpu::Features::empty() };
        let timing = if timestamps { wgpu::Features::TIMESTAMP_QUERY } else { wgpu::Features::empty() };
        let (matrices, experimental_features) = matrix_features(form);
        let large_matrix_tiles = form.matrices.is_some()
            && adapter.get_info().subgroup_max_size <= LARGE_TILE_LANES
            && offered.max_compute_workgroup_storage_size >= LARGE_TILE_BYTES;
        let usual = wgpu::Limits::default();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("gradmark"),
            required_features: subgroups | half | timing | matrices,
            experimental_features,
            // Only the sizes of buffers go beyond what every WebGPU device grants, because data sets are large, and the
            // workgroup memory of large matrix tiles.
            required_limits: wgpu::Limits {
                max_buffer_size: offered.max_buffer_size,
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                max_compute_workgroup_storage_size: if large_matrix_tiles {
                    LARGE_TILE_BYTES
                } else {
                    usual.max_compute_workgroup_storage_size
                },
                ..usual
            },
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = answer("it was to be opened", adapter.request_device(&descriptor)).await?;
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
            waiter: Waiter::new(device.clone()),
            #[cfg(test)]
            omission: Cell::default(),
            #[cfg(test)]
            allowed_bytes: Cell::default(),
            adapter: described.into_iter().nth(index).expect("the index is that of an adapter"),
            subgroup_lanes,
            large_matrix_tiles,
            timestamps,
            form,
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
    pub(in crate::backends::wgsl) fn count(&self, note: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        note(&mut counts);
        self.counts.set(counts);
    }

    #[cfg(test)]
    pub(in crate::backends::wgsl) fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// What trainers that are built from now on leave out, as if the driver dropped it.
    #[cfg(test)]
    pub(in crate::backends::wgsl) fn omit(&self, omission: Option<Omission>) {
        self.omission.set(omission);
    }

    #[cfg(test)]
    pub(in crate::backends::wgsl) fn omission(&self) -> Option<Omission> {
        self.omission.get()
    }

    /// Is lost, as when a driver resets it.
    #[cfg(test)]
    pub(in crate::backends::wgsl) fn lose(&self) {
        self.fault.lock().unwrap().get_or_insert(Fault::Lost("a test pulled the plug".to_owned()));
    }

    /// Lets no part of a buffer be larger, as a small device does.
    #[cfg(test)]
    pub(in crate::backends::wgsl) fn allow(&self, bytes: u64) {
        self.allowed_bytes.set(Some(bytes));
    }

    /// Bytes that the driver's memory has reserved for buffers, where it tells.
    #[cfg(test)]
    pub(in crate::backends::wgsl) fn reserved_bytes(&self) -> Option<u64> {
        self.device.generate_allocator_report().map(|report| report.total_allocated_bytes)
    }

    /// What was compiled on this device so far.
    pub(in crate::backends::wgsl) fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    /// The data set that lies on this device.
    pub(in crate::backends::wgsl) fn data(&self) -> &DataSets {
        &self.data
    }

    pub(in crate::backends::wgsl) fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// What decides between variants of kernels.
    pub(in crate::backends::wgsl) fn abilities(&self) -> Abilities {
        Abilities {
            software: self.adapter.software,
            subgroup_lanes: self.subgroup_lanes,
            stored: self.form.stored,
            matrices: self.form.matrices.is_some(),
            large_matrix_tiles: self.large_matrix_tiles,
        }
    }

    /// Whether it tells when it begins and ends what it computes.
    pub(in crate::backends::wgsl) fn has_timestamps(&self) -> bool {
        self.timestamps
    }

    /// What kernels on this device store.
    pub(in crate::backends::wgsl) fn stored(&self) -> Stored {
        self.form.stored
    }

    /// The form of the kernels on this device.
    pub(in crate::backends::wgsl) fn form(&self) -> Form {
        self.form
    }

    /// What they compute in.
    pub(in crate::backends::wgsl) fn precision(&self) -> Precision {
        match (self.form.matrices, self.form.stored) {
            (Some(_), _) => Precision::F16Matrix,
            (None, Stored::F16) => Precision::F16,
            (None, Stored::F32) => Precision::F32,
        }
    }

    /// The largest part of a buffer that may be bound, in bytes.
    pub(in crate::backends::wgsl) fn largest_binding_bytes(&self) -> u64 {
        #[cfg(test)]
        if let Some(bytes) = self.allowed_bytes.get() {
            return bytes;
        }
        let limits = self.device.limits();
        limits.max_buffer_size.min(limits.max_storage_buffer_binding_size)
    }

    /// The largest buffer, in bytes.
    pub(in crate::backends::wgsl) fn largest_buffer_bytes(&self) -> u64 {
        self.device.limits().max_buffer_size
    }

    /// Submits and returns a future that ends when the device has finished everything submitted so far.
    pub(in crate::backends::wgsl) fn submit(
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
            let finished = answer("it was given work", receiver).await?;
            let found = fault.lock().ok().and_then(|fault| fault.clone());
            match (found, finished) {
                (Some(fault), _) => Err(fault.into_error()),
                (None, Ok(())) => Ok(()),
                (None, Err(_)) => Err(EngineError::DeviceLost { message: "the driver gave no answer".to_owned() }),
            }
        }
    }

    /// Lets go of the data set, forgets what the driver complained of, and asks for an answer.
    ///
    /// # Errors
    /// A device that is lost, or does not answer.
    pub(in crate::backends::wgsl) async fn recover(&self) -> Result<(), EngineError> {
        self.data.let_go();
        if let Ok(mut fault) = self.fault.lock() {
            match fault.take() {
                Some(lost @ Fault::Lost(_)) => return Err(fault.insert(lost).clone().into_error()),
                Some(Fault::OutOfMemory(_) | Fault::Refused(_)) | None => {}
            }
        }
        let nothing = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.submit(nothing.finish()).await
    }

    /// Seconds from the end of work until the host knows of it, measured once with submissions of nothing.
    ///
    /// # Errors
    /// A device that refuses, is full or lost.
    pub(in crate::backends::wgsl) async fn latency_seconds(&self, clock: &dyn Clock) -> Result<f64, EngineError> {
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
    pub(in crate::backends::wgsl) fn progress(&self, submission: wgpu::SubmissionIndex) {
        #[cfg(not(target_arch = "wasm32"))]
        self.waiter.wait_for(submission);
        #[cfg(target_arch = "wasm32")]
        let _ = submission;
    }

    /// Runs `work` and returns the first complaint of the driver about it.
    pub(in crate::backends::wgsl) async fn watched<T>(&self, work: impl FnOnce() -> T) -> Result<T, EngineError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        let complaints =
            answer("it was asked for buffers and kernels", async { [validation.pop().await, memory.pop().await] })
                .await?;
        match complaints.into_iter().flatten().next() {
            Some(error) => Err(Fault::of(&error).into_error()),
            None => Ok(result),
        }
    }
}

/// Lanes of the subgroups among which a large matrix tile is divided, at most (`shaders/shared/matrix_large.wgsl`).
const LARGE_TILE_LANES: u32 = 32;
/// Workgroup memory of a large matrix tile, at most.
const LARGE_TILE_BYTES: u32 = 32 << 10;

/// What kernels of this form ask of wgpu beside the features of WebGPU.
fn matrix_features(form: Form) -> (wgpu::Features, wgpu::ExperimentalFeatures) {
    if form.matrices.and_then(Matrices::side).is_none() {
        return (wgpu::Features::empty(), wgpu::ExperimentalFeatures::disabled());
    }
    // SAFETY: wgpu asks whoever enables experimental features to know that they may be wrong. It is done only for those
    // who ask for this precision, whose results are compared with the reference before they count.
    let granted = unsafe { wgpu::ExperimentalFeatures::enabled() };
    (wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX, granted)
}
