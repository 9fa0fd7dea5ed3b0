//! What devices are doing while the host does something else.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::error::EngineError;

/// Ends when a device has done something.
pub(crate) type Ending<T> = Pin<Box<dyn Future<Output = Result<T, EngineError>>>>;

/// What each device does, in the order of the devices.
pub(crate) struct UnderWay<T>(Vec<Progress<T>>);

enum Progress<T> {
    Going(Ending<T>),
    Ended(Result<T, EngineError>),
}

impl<T> UnderWay<T> {
    pub(crate) fn new(devices: impl Iterator<Item = Ending<T>>) -> Self {
        Self(devices.map(Progress::Going).collect())
    }

    /// Whether no device does it any more, as far as has been told. Nobody waits; what nobody has asked for yet begins.
    pub(crate) fn has_ended(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        for progress in &mut self.0 {
            if let Progress::Going(going) = progress
                && let Poll::Ready(result) = going.as_mut().poll(&mut context)
            {
                *progress = Progress::Ended(result);
            }
        }
        self.0.iter().all(|progress| matches!(progress, Progress::Ended(_)))
    }

    /// Waits for all devices.
    ///
    /// # Errors
    /// The first that failed, with its place.
    pub(crate) async fn ended(self) -> Result<Vec<T>, (usize, EngineError)> {
        let mut all = Vec::new();
        for (place, progress) in self.0.into_iter().enumerate() {
            let result = match progress {
                Progress::Going(going) => going.await,
                Progress::Ended(result) => result,
            };
            all.push(result.map_err(|error| (place, error))?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use futures_channel::oneshot::{Receiver, channel};

    use super::*;

    fn told(receiver: Receiver<Result<(), EngineError>>) -> Ending<()> {
        Box::pin(async move { receiver.await.expect("the sender lives as long") })
    }

    #[test]
    fn devices_have_ended_when_the_last_of_them_has_and_a_failure_is_kept_until_it_is_asked_for() {
        let (first, second) = (channel(), channel());
        let mut computing = UnderWay::new([told(first.1), told(second.1)].into_iter());
        assert!(!computing.has_ended());
        let lost = EngineError::DeviceLost { message: "unplugged".to_owned() };
        second.0.send(Err(lost)).unwrap();
        assert!(!computing.has_ended());
        first.0.send(Ok(())).unwrap();
        assert!(computing.has_ended() && computing.has_ended());
        let (place, error) = pollster::block_on(computing.ended()).unwrap_err();
        assert!(place == 1 && matches!(error, EngineError::DeviceLost { .. }), "{place}: {error}");
    }
}
