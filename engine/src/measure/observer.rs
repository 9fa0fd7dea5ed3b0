/// Receives what a measurement announces, events of type `E`: a run's [`crate::Event`], or the [`super::Event`] of
/// measurements that follow each other. It knows nothing of what the engine does, as the engine knows nothing of screens.
pub trait Observer<E> {
    fn event(&mut self, event: &E);

    /// Asked between windows, and before whatever else takes long; true ends the measurement with what there is.
    fn cancelled(&self) -> bool {
        false
    }
}
