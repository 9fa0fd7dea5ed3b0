use std::future::Future;
use std::pin::Pin;

/// Receives what a measurement announces, events of type `E`: a run's [`crate::Event`], or the [`super::Event`] of
/// measurements that follow each other. It knows nothing of what the engine does, as the engine knows nothing of screens.
pub trait Observer<E> {
    fn event(&mut self, event: &E);

    /// Asked between windows, and before whatever else takes long; true ends the measurement with what there is.
    fn cancelled(&self) -> bool {
        false
    }

    /// Whether somebody looks on who wants to see what a network answers on a few test images.
    fn wants_examples(&self) -> bool {
        false
    }

    /// Asked between windows and before whatever else takes long: what to wait for before it goes on, if anything. It
    /// ends when the measurement is cancelled as well.
    fn pause(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        None
    }
}
