use results::Resources;

/// Measures the use of the machine around the training of one workload.
pub trait ResourceMeter {
    fn start(&mut self);
    /// Called after every window, never inside one.
    fn sample(&mut self);
    fn finish(&mut self) -> Resources;
}

/// A platform that offers no figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMeter;

impl ResourceMeter for NoMeter {
    fn start(&mut self) {}
    fn sample(&mut self) {}
    fn finish(&mut self) -> Resources {
        Resources::default()
    }
}
