//! A thread that makes calls which may never return.

use std::mem::ManuallyDrop;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use engine::EngineError;

use super::losses::Losses;
use super::watch::Watch;

/// How often somebody who waits for an answer looks whether it can still come.
const GLANCE: Duration = Duration::from_millis(50);

type Call<Held> = Box<dyn FnOnce(&mut Held) + Send>;

/// A thread that holds something and makes calls on it, one after the other. It is left behind, with what it holds, when
/// the server is lost; inside Burn it may then look again and again whether it can go on, which costs next to nothing.
pub(super) struct Caller<Held> {
    /// Absent only while it is dropped.
    calls: Option<Sender<Call<Held>>>,
    /// Nothing is sent; it is closed when the thread has dropped what it held.
    ended: Receiver<Result<(), EngineError>>,
    losses: Losses,
    _watches: Vec<Watch>,
}

impl<Held: 'static> Caller<Held> {
    /// # Errors
    /// Those of `open`, which is the first call.
    pub(super) fn start(
        watches: Vec<Watch>,
        open: impl FnOnce() -> Result<Held, EngineError> + Send + 'static,
    ) -> Result<Self, EngineError> {
        let mut caller = Self::until(Losses::of(&watches), open)?;
        caller._watches = watches;
        Ok(caller)
    }

    fn until(
        losses: Losses,
        open: impl FnOnce() -> Result<Held, EngineError> + Send + 'static,
    ) -> Result<Self, EngineError> {
        let (calls, coming) = mpsc::channel::<Call<Held>>();
        let (opened, opening) = mpsc::channel();
        let (ending, ended) = mpsc::channel();
        let known = losses.clone();
        thread::spawn(move || {
            let held = match open() {
                Ok(held) => held,
                Err(error) => return drop(opened.send(Err(error))),
            };
            // Neither a panic nor a lost server may drop it, because that calls the server as well.
            let mut held = ManuallyDrop::new(held);
            let _ = opened.send(Ok(()));
            for call in coming {
                call(&mut held);
            }
            if known.error().is_none() {
                drop(ManuallyDrop::into_inner(held));
            }
            drop(ending);
        });
        wait(&opening, &losses)?;
        Ok(Self { calls: Some(calls), ended, losses, _watches: Vec::new() })
    }

    /// Makes a call and waits for what comes of it.
    ///
    /// # Errors
    /// Those of the call, and a lost server, after which no call is made any more.
    pub(super) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Held) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        if let Some(error) = self.losses.error() {
            return Err(error);
        }
        let calls = self.calls.as_ref().ok_or_else(ended)?;
        let (reply, answer) = mpsc::channel();
        let call = Box::new(move |held: &mut Held| drop(reply.send(work(held))));
        let result = calls.send(call).map_err(|_| ended()).and_then(|()| wait(&answer, &self.losses));
        result.inspect_err(|error| self.losses.note(error))
    }
}

impl<Held> Drop for Caller<Held> {
    /// What the thread held is gone afterwards, unless the server is lost.
    fn drop(&mut self) {
        drop(self.calls.take());
        let _ = wait(&self.ended, &self.losses);
    }
}

/// The thread has panicked, and said why itself.
fn ended() -> EngineError {
    EngineError::Panicked { message: "the thread that computes elsewhere has ended".to_owned() }
}

/// Waits until there is an answer, or none can come: the server is lost, or the thread that would give it has ended.
fn wait<T>(answer: &Receiver<Result<T, EngineError>>, losses: &Losses) -> Result<T, EngineError> {
    loop {
        let silence = match answer.recv_timeout(GLANCE) {
            Ok(result) => return result,
            Err(silence) => silence,
        };
        if let Some(error) = losses.error() {
            return Err(error);
        }
        if silence == RecvTimeoutError::Disconnected {
            return Err(ended());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::watch::Lost;
    use super::*;

    /// Says when it is dropped.
    struct Counter(u32, Arc<AtomicBool>);

    impl Drop for Counter {
        fn drop(&mut self) {
            self.1.store(true, Ordering::SeqCst);
        }
    }

    fn counting() -> (Caller<Counter>, Lost, Arc<AtomicBool>) {
        let (lost, dropped) = (Lost::default(), Arc::new(AtomicBool::new(false)));
        let counter = Counter(0, Arc::clone(&dropped));
        (Caller::until(Losses::one(&lost), || Ok(counter)).unwrap(), lost, dropped)
    }

    fn count(caller: &Caller<Counter>) -> Result<u32, EngineError> {
        caller.call(|counter| {
            counter.0 += 1;
            Ok(counter.0)
        })
    }

    fn refused() -> EngineError {
        EngineError::DeviceRefused { message: "no".to_owned() }
    }

    #[test]
    fn calls_are_made_in_their_order_and_errors_end_nothing() {
        let (caller, _, dropped) = counting();
        assert_eq!(count(&caller).unwrap(), 1);
        let error = caller.call(|_| Err::<(), _>(refused())).unwrap_err();
        assert!(matches!(error, EngineError::DeviceRefused { .. }));
        assert_eq!(count(&caller).unwrap(), 2);
        drop(caller);
        assert!(dropped.load(Ordering::SeqCst));
    }

    #[test]
    fn what_cannot_be_opened_says_why() {
        let error = Caller::until(Losses::one(&Lost::default()), || Err::<u32, _>(refused())).err().unwrap();
        assert!(matches!(error, EngineError::DeviceRefused { .. }));
    }

    #[test]
    fn a_call_that_never_returns_is_given_up_when_the_server_is_lost_and_what_it_uses_is_left_alone() {
        let (caller, lost, dropped) = counting();
        let (_never, silence) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        thread::spawn(move || {
            begins.recv().unwrap();
            lost.set();
        });
        let hangs = caller.call(move |_| {
            begun.send(()).unwrap();
            silence.recv().map_err(|_| refused())
        });
        assert!(matches!(hangs, Err(EngineError::LinkLost)));
        assert!(matches!(count(&caller), Err(EngineError::LinkLost)));
        drop(caller);
        assert!(!dropped.load(Ordering::SeqCst));
    }

    #[test]
    fn a_call_that_finds_the_link_broken_is_the_last() {
        let (caller, lost, dropped) = counting();
        assert!(matches!(caller.call(|_| Err::<(), _>(EngineError::LinkLost)), Err(EngineError::LinkLost)));
        assert!(lost.is_known());
        assert!(matches!(count(&caller), Err(EngineError::LinkLost)));
        drop(caller);
        assert!(!dropped.load(Ordering::SeqCst));
    }

    #[test]
    fn a_call_that_panics_is_the_last() {
        let (caller, _, dropped) = counting();
        let broken = caller.call(|_| -> Result<(), EngineError> { panic!("a call that panics, as this test wants") });
        assert!(matches!(broken, Err(EngineError::Panicked { .. })));
        assert!(matches!(count(&caller), Err(EngineError::Panicked { .. })));
        drop(caller);
        assert!(!dropped.load(Ordering::SeqCst));
    }
}
