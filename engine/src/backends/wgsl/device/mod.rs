//! An opened device: the only part of the engine that depends on wgpu. Everything outside this folder is data, which
//! tests can read without a GPU.

pub(super) mod adapters;
mod answer;
pub(super) mod buffer;
mod caches;
pub(super) mod executor;
#[cfg(not(target_arch = "wasm32"))]
mod waiter;

use std::cell::Cell;
use std::future::Future;
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;
use results::{Adapter, Feature, Precision};
use shaders::{Form, Matrices, Stored};

use crate::backends::adapter::AdapterChoice;
use crate::backends::wgsl::variants::Abilities;
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use adapters::{Features, choose_form, compatibility_limits, describe, enumerate};
use answer::answer;
use caches::{DataSets, Pipelines};
#[cfg(not(target_arch = "wasm32"))]
use waiter::Waiter;

/// Number of empty submissions that measure a device's latency.
const LATENCY_SAMPLES: usize = 4;
/// Latency above which a browser is tested for reporting finished work late.
const MAX_TIMELY_SECONDS: f64 = 0.004;
/// Interval between empty submissions while the device waits. Browsers wait at least 4 ms.
#[cfg(target_arch = "wasm32")]
const SUBMITTING_MILLISECONDS: u32 = 4;

pub(crate) struct GpuDevice {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) adapter: Adapter,
    pub(crate) precision: Precision,
    pub(crate) abilities: Abilities,
    pub(crate) has_timestamps: bool,
    pub(crate) form: Form,
    /// First error that the driver reported outside of [`Self::watched`].
    fault: Arc<Mutex<Option<EngineError>>>,
    pub(crate) counts: Cell<Counts>,
    pub(crate) pipelines: Pipelines,
    pub(crate) data: DataSets,
    latency_seconds: Cell<Option<f64>>,
    pub(crate) submits_while_waiting: Cell<bool>,
    #[cfg(not(target_arch = "wasm32"))]
    waiter: Waiter,
    /// Place of the launch that new trainers omit, to simulate a driver that drops work.
    #[cfg(test)]
    pub(crate) omission: Cell<Option<usize>>,
    /// Overrides the largest binding in bytes, to simulate a small device.
    #[cfg(test)]
    pub(crate) allowed_bytes: Cell<Option<u64>>,
}

/// A browser frees a device's memory when it collects garbage, which a worker that has finished may never do.
#[cfg(target_arch = "wasm32")]
impl Drop for GpuDevice {
    fn drop(&mut self) {
        self.device.destroy();
    }
}

/// Requests to the driver so far. Tests check those in timed windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) buffers: u64,
    pub(crate) buffer_bytes: u64,
    pub(crate) bind_groups: u64,
    pub(crate) pipelines: u64,
    /// Device-to-host copies that the host waited for.
    pub(crate) read_backs: u64,
    pub(crate) submissions: u64,
}

impl GpuDevice {
    /// Opens the adapter that matches `choice` for kernels of this precision, ignoring the features in `without`.
    /// `matrices` replaces the adapter's matrix units.
    pub(crate) async fn open(
        choice: &AdapterChoice,
        precision: Precision,
        matrices: Option<Matrices>,
        without: &[Feature],
    ) -> Result<Self> {
        let mut adapters = enumerate().await?;
        let described: Vec<Adapter> = adapters.iter().map(describe).collect();
        let index = choice.choose(&described)?;
        let adapter = adapters.swap_remove(index);
        let offered_features = Features::of(&adapter).without(without);
        let mut limits = required_limits(&adapter.limits(), without);
        let small_workgroups = limits.max_compute_invocations_per_workgroup < LARGE_WORKGROUP;
        let form = choose_form(precision, matrices, &adapter, offered_features, small_workgroups, without);
        let form = form.map_err(|reason| EngineError::NoPrecision {
            whose: format!("`{}`", described[index].name),
            precision: precision.name(),
            reason,
            instead: if precision == Precision::F16Matrix { "f16" } else { "f32" },
        })?;
        let Features { subgroup_lanes, timestamps, .. } = offered_features;
        let subgroups = if subgroup_lanes > 0 { wgpu::Features::SUBGROUP } else { wgpu::Features::empty() };
        let half = if form.stored == Stored::F16 { wgpu::Features::SHADER_F16 } else { wgpu::Features::empty() };
        let timing = if timestamps { wgpu::Features::TIMESTAMP_QUERY } else { wgpu::Features::empty() };
        let (stored, matrices) = (form.stored, form.matrices.is_some());
        let large_matrix_tiles = matrices
            && adapter.get_info().subgroup_max_size <= MAX_LARGE_TILE_LANES
            && adapter.limits().max_compute_workgroup_storage_size >= LARGE_TILE_BYTES;
        if large_matrix_tiles {
            limits.max_compute_workgroup_storage_size = LARGE_TILE_BYTES;
        }
        let software = described[index].software;
        let abilities = Abilities { software, subgroup_lanes, stored, small_workgroups, matrices, large_matrix_tiles };
        let (cooperative_matrices, experimental_features) = matrix_features(form);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("gradmark"),
            required_features: subgroups | half | timing | cooperative_matrices,
            experimental_features,
            required_limits: limits,
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = answer("it was to be opened", adapter.request_device(&descriptor)).await?;
        let (device, queue) = opened.map_err(EngineError::refused)?;
        let fault = Arc::new(Mutex::new(None));
        let note = |fault: &Arc<Mutex<Option<EngineError>>>| {
            let fault = Arc::clone(fault);
            move |found: EngineError| {
                if let Ok(mut fault) = fault.lock() {
                    fault.get_or_insert(found);
                }
            }
        };
        let note_error = note(&fault);
        device.on_uncaptured_error(Arc::new(move |error| note_error(reported(&error))));
        let note_loss = note(&fault);
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note_loss(EngineError::DeviceLost { message });
            }
        });
        Ok(Self {
            #[cfg(not(target_arch = "wasm32"))]
            waiter: Waiter::new(device.clone()),
            #[cfg(test)]
            omission: Cell::default(),
            #[cfg(test)]
            allowed_bytes: Cell::default(),
            adapter: Adapter {
                compatibility: described[index].compatibility || without.contains(&Feature::Core),
                ..described.into_iter().nth(index).expect("the index is in range")
            },
            abilities,
            precision,
            has_timestamps: timestamps,
            form,
            pipelines: Pipelines::new(&device),
            data: DataSets::default(),
            latency_seconds: Cell::new(None),
            submits_while_waiting: Cell::new(false),
            device,
            queue,
            fault,
            counts: Cell::default(),
        })
    }

    pub(crate) fn count(&self, note: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        note(&mut counts);
        self.counts.set(counts);
    }

    /// Simulates a lost device, as after a driver reset.
    #[cfg(test)]
    pub(crate) fn lose(&self) {
        let message = "a test pulled the plug".to_owned();
        self.fault.lock().unwrap().get_or_insert(EngineError::DeviceLost { message });
    }

    /// Returns the bytes that the driver has reserved for buffers, if it reports them.
    #[cfg(test)]
    pub(crate) fn reserved_bytes(&self) -> Option<u64> {
        self.device.generate_allocator_report().map(|report| report.total_allocated_bytes)
    }

    /// Returns the size in bytes of the largest part of a buffer that a kernel can bind.
    pub(crate) fn largest_binding_bytes(&self) -> u64 {
        #[cfg(test)]
        if let Some(bytes) = self.allowed_bytes.get() {
            return bytes;
        }
        let limits = self.device.limits();
        limits.max_buffer_size.min(limits.max_storage_buffer_binding_size)
    }

    /// Submits commands and returns a future that resolves when the device has finished everything submitted so far.
    pub(crate) fn submit(&self, commands: wgpu::CommandBuffer) -> impl Future<Output = Result<()>> + use<> {
        let index = self.queue.submit([commands]);
        self.count(|counts| counts.submissions += 1);
        let (sender, receiver) = oneshot::channel();
        self.queue.on_submitted_work_done(move || {
            // The receiver is dropped when the run is cancelled.
            let _ = sender.send(());
        });
        self.progress(index);
        let fault = Arc::clone(&self.fault);
        let finished = self.completion(receiver);
        async move {
            let finished = answer("it was given work", finished).await?;
            let found = fault.lock().ok().and_then(|fault| fault.clone());
            match (found, finished) {
                (Some(fault), _) => Err(fault),
                (None, Ok(())) => Ok(()),
                (None, Err(_)) => Err(EngineError::DeviceLost { message: "the driver gave no answer".to_owned() }),
            }
        }
    }

    /// Returns a future that resolves when the device has finished everything submitted so far.
    pub(crate) fn submit_nothing(&self) -> impl Future<Output = Result<()>> + use<> {
        let nothing = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.submit(nothing.finish())
    }

    /// Releases the data set, clears the driver's error, and waits for an empty submission to finish.
    pub(crate) async fn recover(&self) -> Result<()> {
        self.data.clear();
        if let Ok(mut fault) = self.fault.lock()
            && let Some(lost @ EngineError::DeviceLost { .. }) = fault.take()
        {
            return Err(fault.insert(lost).clone());
        }
        self.submit_nothing().await
    }

    /// Returns the delay in seconds from the end of work until the host is notified.
    ///
    /// It is measured once, with empty submissions. Browsers may report finished work late if nothing is submitted
    /// meanwhile: Firefox polls every 100 ms. If empty submissions reduce the delay, the device keeps making them while
    /// it waits.
    pub(crate) async fn latency_seconds(&self, clock: &dyn Clock) -> Result<f64> {
        if let Some(known) = self.latency_seconds.get() {
            return Ok(known);
        }
        let mut latency = self.measure_latency(clock).await?;
        if cfg!(target_arch = "wasm32") && latency > MAX_TIMELY_SECONDS {
            self.submits_while_waiting.set(true);
            let earlier = self.measure_latency(clock).await?;
            self.submits_while_waiting.set(earlier < latency / 2.0);
            latency = latency.min(earlier);
        }
        self.latency_seconds.set(Some(latency));
        Ok(latency)
    }

    async fn measure_latency(&self, clock: &dyn Clock) -> Result<f64> {
        let mut seconds = [0.0; LATENCY_SAMPLES];
        let mut last = clock.now_seconds();
        for seconds in &mut seconds {
            self.submit_nothing().await?;
            let now = clock.now_seconds();
            *seconds = now - last;
            last = now;
        }
        // If the platform polls periodically, the first sample may start anywhere between two polls.
        let others = &mut seconds[1..];
        others.sort_by(f64::total_cmp);
        Ok(others[others.len() / 2])
    }

    /// Waits for a driver callback, with empty submissions in the meantime if they reduce its delay.
    pub(super) fn completion<T>(
        &self,
        receiver: oneshot::Receiver<T>,
    ) -> impl Future<Output = Result<T, oneshot::Canceled>> + use<T> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            receiver
        }
        #[cfg(target_arch = "wasm32")]
        {
            use futures_util::future::{Either, select};
            use gloo_timers::future::TimeoutFuture;

            let queue = self.submits_while_waiting.get().then(|| self.queue.clone());
            async move {
                let mut receiver = receiver;
                while let Some(queue) = &queue {
                    match select(receiver, TimeoutFuture::new(SUBMITTING_MILLISECONDS)).await {
                        Either::Left((answer, _)) => return answer,
                        Either::Right((_, waiting)) => receiver = waiting,
                    }
                    queue.submit([]);
                }
                receiver.await
            }
        }
    }

    /// Makes the waiter poll for the callbacks of a submission. Browsers call them on their own.
    pub(crate) fn progress(&self, submission: wgpu::SubmissionIndex) {
        #[cfg(not(target_arch = "wasm32"))]
        self.waiter.wait_for(submission);
        #[cfg(target_arch = "wasm32")]
        let _ = submission;
    }

    /// Runs `work` and returns its result, or the first error that the driver reports for it.
    pub(crate) async fn watched<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        let errors =
            answer("it was asked for buffers and kernels", async { [validation.pop().await, memory.pop().await] })
                .await?;
        match errors.into_iter().flatten().next() {
            Some(error) => Err(reported(&error)),
            None => Ok(result),
        }
    }
}

/// Invocations of a workgroup on a device of core WebGPU.
const LARGE_WORKGROUP: u32 = 256;

/// Returns the limits to request from an adapter that offers these: the limits of core WebGPU, or less if the adapter
/// offers less or `without` withholds core WebGPU, but at least the limits of compatibility mode.
///
/// Only buffer sizes exceed the limits of core WebGPU, because data sets are large.
fn required_limits(offered: &wgpu::Limits, without: &[Feature]) -> wgpu::Limits {
    let least = compatibility_limits();
    let core = if without.contains(&Feature::Core) { least.clone() } else { wgpu::Limits::default() };
    wgpu::Limits {
        max_buffer_size: offered.max_buffer_size,
        max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
        ..core.or_worse_values_from(offered).or_better_values_from(&least)
    }
}

/// Maximum size of subgroups that share a large matrix tile (`shaders/shared/matrix_large.wgsl`).
const MAX_LARGE_TILE_LANES: u32 = 32;
/// Workgroup memory that large matrix tiles require.
const LARGE_TILE_BYTES: u32 = 32 << 10;

/// Returns the non-standard features that kernels of this form need.
fn matrix_features(form: Form) -> (wgpu::Features, wgpu::ExperimentalFeatures) {
    if form.matrices.and_then(Matrices::side).is_none() {
        return (wgpu::Features::empty(), wgpu::ExperimentalFeatures::disabled());
    }
    // SAFETY: Experimental features may have bugs. They are enabled only for this precision, whose results are checked
    // against the reference before they count.
    let granted = unsafe { wgpu::ExperimentalFeatures::enabled() };
    (wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX, granted)
}

/// Converts an error reported by the driver.
fn reported(error: &wgpu::Error) -> EngineError {
    match error {
        wgpu::Error::OutOfMemory { .. } => EngineError::OutOfMemory { message: error.to_string() },
        _ => EngineError::refused(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel_tests::with_device;
    use super::buffer::create_buffer;
    use super::*;

    #[test]
    fn a_device_recovers_from_a_refused_request() {
        with_device(|device| {
            let ask = || pollster::block_on(device.submit_nothing());
            ask().unwrap();
            drop(create_buffer(device, "too large", u64::MAX / 8 * 4, wgpu::BufferUsages::STORAGE));
            assert!(matches!(ask(), Err(EngineError::DeviceRefused { .. })));
            pollster::block_on(device.recover()).unwrap();
            ask().unwrap();
        });
    }

    #[test]
    fn a_lost_device_does_not_recover() {
        with_device(|device| {
            device.lose();
            for _ in 0..2 {
                let error = pollster::block_on(device.recover()).unwrap_err();
                assert!(matches!(error, EngineError::DeviceLost { .. }), "{error}");
            }
        });
    }
}
