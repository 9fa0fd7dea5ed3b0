//! JavaScript framework as a backend: a program in another worker that implements the protocol of docs/EXTERNAL.md
//! (`app/frameworks/src/worker.js`). The page starts it and connects the two workers with a message channel.

use std::cell::RefCell;
use std::rc::Rc;

use async_trait::async_trait;
use engine::backends::external::{self, ExternalBackend, Message};
use engine::{Backend, Clock, EngineError};
use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use results::Precision;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{MessageEvent, MessagePort};

use crate::adapter::describe;

/// Opens the backend in the worker at the other end of `port`; `waiting` receives its failures.
pub(super) async fn open(
    name: &str,
    port: MessagePort,
    waiting: Waiting,
    clock: Rc<dyn Clock>,
    precision: Precision,
) -> Result<Box<dyn Backend>, EngineError> {
    let failed = |message| EngineError::ProgramFailed { program: name.to_owned(), message };
    let name: &'static str = external::checked_name(name).map_err(failed)?.leak();
    let worker = Rc::new(FrameworkWorker::new(name, port, waiting));
    Ok(Box::new(ExternalBackend::meet(name, worker, clock, precision, None).await?))
}

/// Task waiting for the framework's next response.
#[derive(Clone, Default)]
pub(super) struct Waiting(Rc<RefCell<WaitingState>>);

#[derive(Default)]
struct WaitingState {
    /// Functions that resolve and reject the promise of the response.
    promise: Option<(Function, Function)>,
    /// Failure while no task was waiting.
    failed: Option<String>,
}

impl Waiting {
    fn answer(&self) -> Promise {
        Promise::new(&mut |resolve, reject| {
            let mut state = self.0.borrow_mut();
            match state.failed.take() {
                Some(reason) => drop(reject.call1(&JsValue::UNDEFINED, &reason.into())),
                None => state.promise = Some((resolve, reject)),
            }
        })
    }

    fn resolve(&self, data: &JsValue) {
        if let Some((resolve, _)) = self.0.borrow_mut().promise.take() {
            drop(resolve.call1(&JsValue::UNDEFINED, data));
        }
    }

    /// Rejects the pending request, or else the next one.
    pub(super) fn fail(&self, reason: String) {
        let mut state = self.0.borrow_mut();
        match state.promise.take() {
            Some((_, reject)) => drop(reject.call1(&JsValue::UNDEFINED, &reason.into())),
            None => state.failed = Some(reason),
        }
    }
}

struct FrameworkWorker {
    name: &'static str,
    port: MessagePort,
    waiting: Waiting,
    _message: Closure<dyn FnMut(MessageEvent)>,
}

impl FrameworkWorker {
    fn new(name: &'static str, port: MessagePort, waiting: Waiting) -> Self {
        let heard = waiting.clone();
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| heard.resolve(&event.data()));
        // Setting the handler also starts the port.
        port.set_onmessage(Some(message.as_ref().unchecked_ref()));
        Self { name, port, waiting, _message: message }
    }

    fn post(&self, message: &Message) -> Result<(), JsValue> {
        let data = Object::new();
        Reflect::set(&data, &"header".into(), &message.header.to_string().into())?;
        let payload = Uint8Array::from(message.payload.as_slice()).buffer();
        Reflect::set(&data, &"payload".into(), &payload)?;
        self.port.post_message_with_transferable(&data, &Array::of1(&payload))
    }

    fn failed(&self, error: &JsValue) -> EngineError {
        let message = error.as_string().unwrap_or_else(|| describe(error));
        EngineError::ProgramFailed { program: self.name.to_owned(), message }
    }
}

#[async_trait(?Send)]
impl external::Program for FrameworkWorker {
    fn send(&self, message: Message) -> Result<(), EngineError> {
        self.post(&message).map_err(|error| self.failed(&error))
    }

    async fn receive(&self) -> Result<Message, EngineError> {
        // Responses are delivered asynchronously, so none arrives before this task waits.
        let data = JsFuture::from(self.waiting.answer()).await.map_err(|error| self.failed(&error))?;
        read(&data).ok_or_else(|| self.failed(&"its answer is none of the protocol".into()))
    }
}

fn read(data: &JsValue) -> Option<Message> {
    let header = Reflect::get(data, &"header".into()).ok()?.as_string()?;
    let payload = Reflect::get(data, &"payload".into()).ok()?;
    Some(Message { header: serde_json::from_str(&header).ok()?, payload: Uint8Array::new(&payload).to_vec() })
}
