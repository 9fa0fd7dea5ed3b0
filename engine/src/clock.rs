/// Monotonic clock. The engine reads no other, so tests can provide one.
pub trait Clock {
    fn now_seconds(&self) -> f64;
}
