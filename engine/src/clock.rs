/// A monotonic clock. The engine reads no other, so a test can bring its own.
pub trait Clock {
    /// Seconds since some fixed moment.
    fn now_seconds(&self) -> f64;
}
