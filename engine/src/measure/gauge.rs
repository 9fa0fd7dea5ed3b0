//! What a device can do at best, measured beside what is given as a share of it: a device's clock wanders with heat and with
//! its other work, and a peak from another minute is another device's.

use async_trait::async_trait;
use results::PeakSample;

use crate::error::EngineError;
use crate::trainer::Backend;

/// Measures peaks of a device, about a tenth of a second each.
#[async_trait(?Send)]
pub trait Gauge {
    /// Operations per second just now.
    ///
    /// # Errors
    /// A device that is lost.
    async fn peak_flops_per_second(&mut self) -> Result<f64, EngineError>;

    /// Bytes per second that copying reads and writes; `None` where nothing can be copied.
    ///
    /// # Errors
    /// A device that is lost.
    async fn copied_bytes_per_second(&mut self) -> Result<Option<f64>, EngineError> {
        Ok(None)
    }
}

/// The gauge of a back end, which is opened when it is first needed. A run goes on without one.
pub(crate) struct Peaks<'a> {
    backend: &'a dyn Backend,
    gauge: Option<Box<dyn Gauge>>,
    opened: bool,
}

impl<'a> Peaks<'a> {
    pub(crate) fn new(backend: &'a dyn Backend) -> Self {
        Self { backend, gauge: None, opened: false }
    }

    /// Opens the gauge, if the back end has one.
    pub(crate) async fn open(&mut self) {
        if !self.opened {
            self.opened = true;
            // What has become of the device, the next window says.
            self.gauge = self.backend.gauge().await.ok().flatten();
        }
    }

    /// The peaks just now, after window number `window`.
    pub(crate) async fn measure(&mut self, window: usize) -> Option<PeakSample> {
        self.open().await;
        let gauge = self.gauge.as_mut()?;
        let flops = gauge.peak_flops_per_second().await;
        let copied = gauge.copied_bytes_per_second().await;
        let (Ok(flops_per_second), Ok(copied_bytes_per_second)) = (flops, copied) else {
            self.gauge = None;
            return None;
        };
        let window = u32::try_from(window).ok()?;
        Some(PeakSample { window, flops_per_second, copied_bytes_per_second })
    }
}
