use results::PeakSample;

use super::Gauge;
use crate::trainer::Backend;

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

    /// Gives back what the gauge holds on the device. Whoever measures next opens another one.
    pub(crate) fn close(&mut self) {
        self.gauge = None;
        self.opened = false;
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
