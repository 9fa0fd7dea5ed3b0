use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

/// What the page wants of a run that goes on. It comes by messages, which arrive whenever the engine waits for the device.
#[derive(Default)]
pub(super) struct Wishes {
    cancelled: Cell<bool>,
    hidden: Cell<bool>,
    /// The engine's, while it waits for the page to be shown.
    waiting: RefCell<Option<Waker>>,
}

impl Wishes {
    pub(super) fn cancel(&self) {
        self.cancelled.set(true);
        self.wake();
    }

    pub(super) fn hidden(&self, hidden: bool) {
        self.hidden.set(hidden);
        self.wake();
    }

    pub(super) fn cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// Whether the run has to wait.
    pub(super) fn paused(&self) -> bool {
        self.hidden.get() && !self.cancelled.get()
    }

    /// Ends when the page is shown, or the run is cancelled.
    pub(super) fn resumed(self: Rc<Self>) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            if self.paused() {
                *self.waiting.borrow_mut() = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        })
    }

    fn wake(&self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }
}
