//! Keeping the screen on, asking before the page is left, and noticing when it is hidden.

use std::cell::Cell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use js_sys::Reflect;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Document, VisibilityState};

use super::{promise_of, property, unix_seconds, window};

/// Keeps the screen on until it is dropped.
pub(crate) struct WakeLock(JsValue);

impl WakeLock {
    /// `None` where the browser does not want to.
    pub(crate) async fn request() -> Option<Self> {
        let wake_lock = property(&window().navigator(), "wakeLock");
        let sentinel = JsFuture::from(promise_of(&wake_lock, "request", &JsValue::UNDEFINED)?).await.ok()?;
        Some(Self(sentinel))
    }
}

impl Drop for WakeLock {
    fn drop(&mut self) {
        // Nothing depends on the answer: a browser that hides the page has released the lock already.
        drop(promise_of(&self.0, "release", &JsValue::UNDEFINED));
    }
}

/// Lets the browser ask before the page is left, until it is dropped.
pub(crate) struct LeavePrompt {
    _listener: EventListener,
}

impl LeavePrompt {
    pub(crate) fn start() -> Self {
        let options = EventListenerOptions::enable_prevent_default();
        let listener = EventListener::new_with_options(&window(), "beforeunload", options, |event| {
            event.prevent_default();
            // Older browsers ask only where this is set. One that refuses does not ask.
            let _ = Reflect::set(event, &JsValue::from_str("returnValue"), &JsValue::TRUE);
        });
        Self { _listener: listener }
    }
}

/// Counts the seconds during which the page is hidden.
pub(crate) struct HiddenTimer {
    state: Rc<Hidden>,
    _listener: EventListener,
}

#[derive(Default)]
struct Hidden {
    seconds: Cell<f64>,
    since: Cell<Option<f64>>,
}

impl Hidden {
    fn note(&self) {
        let now = unix_seconds();
        if let Some(since) = self.since.take() {
            self.seconds.set(self.seconds.get() + (now - since).max(0.0));
        }
        if document().visibility_state() == VisibilityState::Hidden {
            self.since.set(Some(now));
        }
    }
}

fn document() -> Document {
    window().document().expect("a window has a document")
}

impl HiddenTimer {
    /// Calls `changed` whenever the page is hidden, with true, or shown.
    pub(crate) fn start(changed: impl Fn(bool) + 'static) -> Self {
        let state = Rc::new(Hidden::default());
        state.note();
        let noting = state.clone();
        let listener = EventListener::new(&document(), "visibilitychange", move |_| {
            noting.note();
            changed(noting.since.get().is_some());
        });
        Self { state, _listener: listener }
    }

    /// Whether the page is hidden now.
    pub(crate) fn is_hidden(&self) -> bool {
        self.state.since.get().is_some()
    }

    /// Seconds so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.state.note();
        self.state.seconds.get()
    }
}
