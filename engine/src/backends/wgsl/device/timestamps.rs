//! The device's own clock: how long it computes what was submitted, whenever the host hears of it.

use super::Device;
use super::buffer::read_mapped;
use super::executor::{Commands, Executor};
use crate::error::EngineError;

/// A timestamp is a count of 64 bits.
const TIMESTAMP_BYTES: u64 = 8;
/// One when the device begins, and one when it has finished.
const TIMESTAMPS: u32 = 2;

pub(in crate::backends::wgsl) struct Timestamps {
    queries: wgpu::QuerySet,
    /// Where the device writes them.
    resolved: wgpu::Buffer,
    staging: wgpu::Buffer,
}

impl Timestamps {
    /// `None` on a device without them.
    ///
    /// # Errors
    /// A device that refuses or is full.
    pub(in crate::backends::wgsl) async fn new(device: &Device) -> Result<Option<Self>, EngineError> {
        if !device.has_timestamps() {
            return Ok(None);
        }
        let buffer = |label, usage| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: u64::from(TIMESTAMPS) * TIMESTAMP_BYTES,
                usage,
                mapped_at_creation: false,
            })
        };
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

    /// Seconds in which the device runs a recording once; `None` where its clock stood still or ran backwards, as some
    /// drivers' do.
    ///
    /// # Errors
    /// A device that refuses, or is lost.
    pub(in crate::backends::wgsl) async fn seconds(
        &self,
        device: &Device,
        executor: &Executor,
    ) -> Result<Option<f64>, EngineError> {
        let mut commands = Commands::timed(device, &self.queries);
        commands.add(executor, 0, 0..executor.launches());
        let mut encoder = commands.end();
        encoder.resolve_query_set(&self.queries, 0..TIMESTAMPS, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, self.staging.size());
        let bytes = read_mapped(device, encoder.finish(), &self.staging, self.staging.size()).await?;
        let times: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
        let ticks = times[1].checked_sub(times[0]).filter(|&ticks| ticks > 0);
        Ok(ticks.map(|ticks| ticks as f64 * f64::from(device.queue.get_timestamp_period()) * 1e-9))
    }
}
