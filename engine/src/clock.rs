/// Monotonic clock. The engine uses no other, so tests can provide one.
pub trait Clock {
    fn now_seconds(&self) -> f64;
}
