//! The peak of arithmetic again and again, beside what is given as a share of it: a device's clock wanders with heat
//! and with its other work, and a peak from another minute is another device's.

use std::rc::Rc;

use async_trait::async_trait;

use super::super::device::Device;
use super::lab::{Lab, Setup};
use super::peaks;
use crate::backends::AdapterChoice;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::steps;

/// The best of the kernels of fused multiply-adds, ready to be timed at any moment.
pub struct Gauge {
    setup: Setup,
    /// Operations of a repetition.
    flops: f64,
    /// Repetitions of a window.
    repetitions: u32,
}

impl Gauge {
    pub(super) fn new(setup: Setup, flops: f64, repetitions: u32) -> Self {
        Self { setup, flops, repetitions }
    }

    /// Opens the adapter once more and finds the kernel that is best on it.
    ///
    /// # Errors
    /// No such adapter, and a device that refuses or is lost.
    pub async fn open(choice: &AdapterChoice, clock: Rc<dyn Clock>) -> Result<Self, EngineError> {
        let device = Device::open(choice, shaders::Stored::F32).await?;
        let (_, gauge) = peaks::arithmetic(&Lab::new(Rc::new(device), clock)).await?;
        Ok(gauge)
    }
}

#[async_trait(?Send)]
impl steps::Gauge for Gauge {
    async fn peak_flops_per_second(&mut self) -> Result<f64, EngineError> {
        let window = self.setup.window(self.repetitions).await?;
        Ok(self.flops * f64::from(window.repetitions) / window.seconds)
    }
}
