use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the server reads the time. It is wall time, because a run may outlive a restart of the server.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> f64 + Send + Sync>);

impl Clock {
    pub fn system() -> Self {
        Self::from_fn(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()))
    }

    /// A clock that reads what `unix_seconds` returns: seconds since 1970 UTC.
    pub fn from_fn(unix_seconds: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(unix_seconds))
    }

    pub(crate) fn unix_seconds(&self) -> f64 {
        (self.0)()
    }
}
