//! The peaks of arithmetic and of copying, again and again.

use std::rc::Rc;

use async_trait::async_trait;

use super::super::device::Device;
use super::lab::{Lab, Setup};
use super::peaks::{self, Arithmetic};
use crate::backends::AdapterChoice;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::measure;

/// The best of the kernels of fused multiply-adds, ready to be timed at any moment.
pub struct Gauge {
    setup: Setup,
    /// Operations of a repetition.
    flops: f64,
    /// Repetitions of a window.
    repetitions: u32,
    copying: Option<Copying>,
}

/// An array that is copied.
struct Copying {
    setup: Setup,
    /// That a repetition reads and writes.
    bytes: f64,
}

impl Gauge {
    pub(super) fn of(Arithmetic { setup, flops, repetitions, .. }: Arithmetic) -> Self {
        Self { setup, flops, repetitions, copying: None }
    }

    /// Finds the kernel that is best on an open device, and makes room for what is copied if there is room.
    ///
    /// # Errors
    /// A device that refuses or is lost.
    pub(in super::super) async fn on(device: Rc<Device>, clock: Rc<dyn Clock>) -> Result<Self, EngineError> {
        let lab = Lab::new(device, clock);
        let gauge = Self::of(peaks::arithmetic(&lab).await?);
        let copying = peaks::copying(&lab).await?.map(|(setup, bytes)| Copying { setup, bytes });
        Ok(Self { copying, ..gauge })
    }

    /// Opens the adapter once more and finds the kernel that is best on it.
    ///
    /// # Errors
    /// No such adapter, and a device that refuses or is lost.
    pub async fn open(choice: &AdapterChoice, clock: Rc<dyn Clock>) -> Result<Self, EngineError> {
        let device = Device::open(choice, shaders::Stored::F32).await?;
        Ok(Self::of(peaks::arithmetic(&Lab::new(Rc::new(device), clock)).await?))
    }
}

#[async_trait(?Send)]
impl measure::Gauge for Gauge {
    async fn peak_flops_per_second(&mut self) -> Result<f64, EngineError> {
        let window = self.setup.window(self.repetitions).await?;
        Ok(self.flops * window.rate())
    }

    async fn copied_bytes_per_second(&mut self) -> Result<Option<f64>, EngineError> {
        let Some(Copying { setup, bytes }) = &mut self.copying else { return Ok(None) };
        let window = setup.look().await?;
        Ok(Some(*bytes * window.rate()))
    }
}
