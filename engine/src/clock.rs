/// Monotonic clock. The engine reads no other, so tests can provide one.
pub trait Clock {
    /// Seconds since some fixed moment.
    fn now_seconds(&self) -> f64;
}
