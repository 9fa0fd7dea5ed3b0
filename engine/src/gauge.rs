//! What a device can do at best, measured beside what is given as a share of it: a device's clock wanders with heat and with
//! its other work, and a peak from another minute is another device's.

use async_trait::async_trait;

use crate::error::EngineError;

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
