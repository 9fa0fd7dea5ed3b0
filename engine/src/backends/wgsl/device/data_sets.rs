//! Data sets on a device: each is uploaded once, however many networks train on it.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use crate::backends::wgsl::recording::JobPart;
use crate::data::DataSet;
use crate::error::EngineError;

/// The buffers of the data set that was trained on last.
#[derive(Default)]
pub(in crate::backends::wgsl) struct DataSets(RefCell<Vec<Held>>);

struct Held {
    /// Tells data sets apart and does not keep the host's copy.
    data: Weak<DataSet>,
    part: JobPart,
    buffer: wgpu::Buffer,
}

impl DataSets {
    /// The buffer with a part of `data`, which `make` makes if it is not there. Those of other data sets are let go;
    /// trainers that still have them keep them.
    ///
    /// # Errors
    /// Those of `make`.
    pub(in crate::backends::wgsl) fn get(
        &self,
        data: &Arc<DataSet>,
        part: JobPart,
        make: impl FnOnce() -> Result<wgpu::Buffer, EngineError>,
    ) -> Result<wgpu::Buffer, EngineError> {
        let mut held = self.0.borrow_mut();
        // While a weak reference is held, no other data set gets the same address.
        held.retain(|one| std::ptr::eq(one.data.as_ptr(), Arc::as_ptr(data)));
        if let Some(found) = held.iter().find(|one| one.part == part) {
            return Ok(found.buffer.clone());
        }
        let buffer = make()?;
        held.push(Held { data: Arc::downgrade(data), part, buffer: buffer.clone() });
        Ok(buffer)
    }

    /// Lets go of all of them.
    pub(in crate::backends::wgsl) fn let_go(&self) {
        self.0.borrow_mut().clear();
    }
}
