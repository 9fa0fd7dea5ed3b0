use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, JSON};
use training_worker::{FromWorker, RunOrder, ToWorker, describe, property};
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageChannel, MessageEvent, MessagePort, Worker};

use super::folder;
use crate::json;

/// URL of the loader of the plain training worker, or the reason the page does not contain it.
pub(crate) fn worker_loader() -> Result<String, String> {
    Ok(folder("gradmark-worker", "loader.js")? + "loader.js")
}

/// Training worker, and the worker of the framework that computes for it. Both are terminated on drop.
pub(crate) struct TrainingWorker {
    training: Listened,
    _framework: Option<Listened>,
}

impl TrainingWorker {
    /// Starts the workers with the loaders at these URLs, sends `order` once the training worker is listening, and
    /// calls `handle` with every message.
    ///
    /// The page starts the framework's worker, because nested workers may hang in an automated Firefox
    /// (docs/BROWSERS.md).
    pub(crate) fn start(
        (loader, framework): (String, Option<String>),
        order: RunOrder,
        handle: impl FnMut(FromWorker) + 'static,
    ) -> Result<Self, String> {
        let handle: Handle = Rc::new(RefCell::new(handle));
        let worker = Worker::new(&loader).map_err(|error| describe(&error))?;
        // Reason the framework's worker failed.
        let failed = Failed::default();
        let framework = framework.map(|loader| connect(&loader, &worker, handle.clone(), failed.clone()));
        let (framework, mut port) = framework.transpose().inspect_err(|_| worker.terminate())?.unzip();
        let mut order = Some(Box::new(order));
        let (line, heard) = (worker.clone(), handle.clone());
        let message = move |data: JsValue| {
            let text = data.as_string().unwrap_or_default();
            let message = json::parse(&text).unwrap_or_else(|error| {
                FromWorker::Crashed(format!("it sent a message that this page does not know ({error})"))
            });
            // The loader of the Burn bundle sends its progress first.
            if message == FromWorker::Ready
                && let Some(order) = order.take()
            {
                post(&line, &ToWorker::Run(order), port.take());
                // Messages sent before the worker was listening are lost.
                if let Some(reason) = failed.take() {
                    post(&line, &ToWorker::FrameworkFailed(reason), None);
                }
            }
            (heard.borrow_mut())(message);
        };
        let error = move |event: ErrorEvent| {
            (handle.borrow_mut())(match said(&event) {
                Some(text) => FromWorker::Crashed(text),
                None => FromWorker::NotLoaded(format!("{loader} could not be loaded")),
            });
        };
        Ok(Self { training: Listened::to(worker, message, error), _framework: framework })
    }

    pub(crate) fn send(&self, message: &ToWorker) {
        post(&self.training.worker, message, None);
    }
}

type Handle = Rc<RefCell<dyn FnMut(FromWorker)>>;

type Failed = Rc<RefCell<Option<String>>>;

/// Starts the worker of a framework, and returns it with a port to it.
fn connect(loader: &str, training: &Worker, handle: Handle, failed: Failed) -> Result<(Listened, MessagePort), String> {
    let start = || -> Result<_, JsValue> {
        let (worker, channel) = (Worker::new(loader)?, MessageChannel::new()?);
        worker.post_message_with_transfer(&JsValue::NULL, &Array::of1(&channel.port1()))?;
        Ok((worker, channel.port2()))
    };
    let (worker, port) = start().map_err(|error| describe(&error))?;
    let message = move |data: JsValue| {
        let text = JSON::stringify(&property(&data, "loaded")).ok().and_then(|text| text.as_string());
        if let Some(Ok(loaded)) = text.map(|text| json::parse(&text)) {
            (handle.borrow_mut())(FromWorker::Loaded(loaded));
        }
    };
    let training = training.clone();
    let error = move |event: ErrorEvent| {
        event.prevent_default();
        let reason = said(&event).unwrap_or_else(|| "its script cannot be fetched; check the connection".to_owned());
        *failed.borrow_mut() = Some(reason.clone());
        post(&training, &ToWorker::FrameworkFailed(reason), None);
    };
    Ok((Listened::to(worker, message, error), port))
}

/// Worker with event listeners, terminated on drop.
struct Listened {
    worker: Worker,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(ErrorEvent)>,
}

impl Listened {
    fn to(worker: Worker, mut message: impl FnMut(JsValue) + 'static, error: impl FnMut(ErrorEvent) + 'static) -> Self {
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| message(event.data()));
        let error = Closure::<dyn FnMut(ErrorEvent)>::new(error);
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        Self { worker, _message: message, _error: error }
    }
}

impl Drop for Listened {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

/// Returns the message of an error event; `None` if the script could not be loaded.
fn said(event: &ErrorEvent) -> Option<String> {
    property(event, "message").as_string().filter(|text| !text.is_empty())
}

fn post(worker: &Worker, message: &ToWorker, port: Option<MessagePort>) {
    let text = json::compact(message);
    let ports: Array = port.into_iter().collect();
    let text = JsValue::from_str(&text);
    worker.post_message_with_transfer(&text, &ports).expect("a string and a port can always be posted");
}
