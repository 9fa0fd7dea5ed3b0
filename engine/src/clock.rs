/// Monotonic clock, and the engine's only source of time. Tests provide a fake one.
pub trait Clock {
    fn now_seconds(&self) -> f64;
}
