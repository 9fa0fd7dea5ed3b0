use results::Resources;

/// Measures the use of the machine around the training of one workload.
pub trait ResourceMeter {
    fn start(&mut self);
    /// Called after every window, never inside one.
    fn sample(&mut self);
    fn finish(&mut self) -> Resources;
    /// Bytes of the machine's memory that are free for whatever trains on its processors; nothing where the platform does
    /// not tell, or the training happens elsewhere.
    fn free_memory_bytes(&self) -> Option<u64> {
        None
    }
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
