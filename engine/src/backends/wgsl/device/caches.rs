//! Caches of a device for later trainers: compiled kernels, and the buffers of the data set.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Weak};

use shaders::params::Step;

use crate::backends::wgsl::recording::JobPart;
use crate::data::DataSet;
use crate::error::Result;

/// Pipelines compiled since the device was opened, by kernel and constants.
pub(crate) struct Pipelines {
    pub(super) by_key: RefCell<HashMap<String, Pipeline>>,
    pub(super) step_layout: wgpu::BindGroupLayout,
}

#[derive(Clone)]
pub(super) struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

impl Pipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let step_size = NonZeroU64::new(size_of::<Step>() as u64);
        let step_entry = layout_entry(0, wgpu::BufferBindingType::Uniform, true, step_size);
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("step"), entries: &[step_entry] };
        Self { by_key: RefCell::default(), step_layout: device.create_bind_group_layout(&descriptor) }
    }
}

pub(super) fn layout_entry(
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

/// Buffers of the most recent data set, uploaded once for all networks that train on it.
///
/// A weak reference identifies the data set without keeping the host's copy alive.
#[derive(Default)]
pub(crate) struct DataSets(RefCell<Vec<(Weak<DataSet>, JobPart, wgpu::Buffer)>>);

impl DataSets {
    /// Returns the buffer with a part of `data`, created with `make` if necessary. Releases buffers of other data sets.
    pub(crate) fn get(
        &self,
        data: &Arc<DataSet>,
        part: JobPart,
        make: impl FnOnce() -> Result<wgpu::Buffer>,
    ) -> Result<wgpu::Buffer> {
        let mut buffers = self.0.borrow_mut();
        // While a weak reference exists, no other data set can get the same address.
        buffers.retain(|(of, ..)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(data)));
        if let Some((.., found)) = buffers.iter().find(|(_, of_part, _)| *of_part == part) {
            return Ok(found.clone());
        }
        let buffer = make()?;
        buffers.push((Arc::downgrade(data), part, buffer.clone()));
        Ok(buffer)
    }

    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}
