use std::cell::RefCell;
use std::rc::Rc;

use training_worker::{FromWorker, Order, ToWorker};
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker};

use super::{describe, meta};
use crate::bundle;

/// Address of the loader of the worker that every page has.
///
/// # Errors
/// The page does not say it.
pub(crate) fn worker_loader() -> Result<String, String> {
    bundle::worker_loader(meta(bundle::WORKER_META).as_deref())
}

/// A worker that trains. It is stopped by force when this is dropped.
pub(crate) struct TrainingWorker {
    worker: Worker,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(ErrorEvent)>,
}

impl TrainingWorker {
    /// Starts the worker of this loader, gives it `order` as soon as it listens, and calls `handle` with whatever it
    /// says.
    ///
    /// # Errors
    /// The browser cannot start workers.
    pub(crate) fn start(loader: &str, order: Order, handle: impl FnMut(FromWorker) + 'static) -> Result<Self, String> {
        let worker = Worker::new(loader).map_err(|error| describe(&error))?;
        let handle = Rc::new(RefCell::new(handle));
        let mut order = Some(Box::new(order));
        let (port, handle_message) = (worker.clone(), handle.clone());
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            let message = serde_json::from_str(&text).unwrap_or_else(|error| {
                FromWorker::Crashed(format!("it sent a message that this page does not know ({error})"))
            });
            // Others may come before it: the loader of the bundle with Burn tells how much of it has come.
            if message == FromWorker::Ready
                && let Some(order) = order.take()
            {
                post(&port, &ToWorker::Run(order));
            }
            (handle_message.borrow_mut())(message);
        });
        let loader = loader.to_owned();
        let error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
            // A script that cannot be loaded gives an event without a message.
            let text = js_sys::Reflect::get(&event, &JsValue::from_str("message")).ok().and_then(|m| m.as_string());
            (handle.borrow_mut())(match text {
                Some(text) => FromWorker::Crashed(text),
                None => FromWorker::NotLoaded(format!("{loader} could not be loaded")),
            });
        });
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        Ok(Self { worker, _message: message, _error: error })
    }

    /// Asks it to stop at the end of the current window.
    pub(crate) fn cancel(&self) {
        post(&self.worker, &ToWorker::Cancel);
    }

    /// Tells it whether the page is hidden.
    pub(crate) fn hidden(&self, hidden: bool) {
        post(&self.worker, &ToWorker::Hidden(hidden));
    }
}

impl Drop for TrainingWorker {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

fn post(worker: &Worker, message: &ToWorker) {
    let text = serde_json::to_string(message).expect("every message can be written as JSON");
    worker.post_message(&JsValue::from_str(&text)).expect("a string can always be posted");
}
