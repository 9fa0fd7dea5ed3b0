//! A framework of JavaScript as a back end: a program that speaks the protocol of docs/EXTERNAL.md in a worker of its own,
//! which the worker that trains starts and talks to (`app/frameworks/src/worker.js`).

use std::cell::RefCell;
use std::rc::Rc;

use async_trait::async_trait;
use engine::backends::external::{self, ExternalBackend, Message};
use engine::{Backend, EngineError};
use js_sys::{Array, Function, JSON, Object, Promise, Reflect, Uint8Array};
use results::Precision;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ErrorEvent, MessageEvent, Worker};

use super::port;
use crate::messages::FromWorker;

/// Starts the worker of this loader and asks it who it is.
///
/// # Errors
/// A name that is none, a worker that cannot be started, and a framework that does not work here.
pub(super) async fn open(name: &str, loader: &str, precision: Precision) -> Result<Box<dyn Backend>, EngineError> {
    let failed = |message: String| EngineError::ProgramFailed { program: name.to_owned(), message };
    let name: &'static str = external::checked_name(name).map_err(failed)?.leak();
    let worker = FrameworkWorker::start(name, loader).map_err(failed)?;
    Ok(Box::new(ExternalBackend::meet(name, Rc::new(worker), precision, None).await?))
}

/// The worker of a framework. It is stopped by force when this is dropped.
struct FrameworkWorker {
    name: &'static str,
    worker: Worker,
    waiting: Waiting,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _error: Closure<dyn FnMut(ErrorEvent)>,
}

/// What resolves and what rejects the promise of the next answer.
type Waiting = Rc<RefCell<Option<(Function, Function)>>>;

impl FrameworkWorker {
    fn start(name: &'static str, loader: &str) -> Result<Self, String> {
        let worker = Worker::new(loader).map_err(|error| port::describe(&error))?;
        let waiting = Waiting::default();
        let heard = waiting.clone();
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let data = event.data();
            if let Some(loaded) = loaded(&data) {
                return port::post(&loaded);
            }
            if let Some((resolve, _)) = heard.borrow_mut().take() {
                drop(resolve.call1(&JsValue::UNDEFINED, &data));
            }
        });
        let heard = waiting.clone();
        let error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
            event.prevent_default();
            // A script that cannot be fetched has no message.
            let said = Reflect::get(&event, &"message".into()).ok().and_then(|text| text.as_string());
            let text = said.filter(|text| !text.is_empty());
            let text = text.unwrap_or_else(|| "its script cannot be fetched; check the connection".to_owned());
            if let Some((_, reject)) = heard.borrow_mut().take() {
                drop(reject.call1(&JsValue::UNDEFINED, &text.into()));
            }
        });
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        Ok(Self { name, worker, waiting, _message: message, _error: error })
    }

    fn post(&self, message: &Message) -> Result<(), JsValue> {
        let data = Object::new();
        Reflect::set(&data, &"header".into(), &message.header.to_string().into())?;
        let payload = Uint8Array::from(message.payload.as_slice()).buffer();
        Reflect::set(&data, &"payload".into(), &payload)?;
        self.worker.post_message_with_transfer(&data, &Array::of1(&payload))
    }

    fn failed(&self, error: &JsValue) -> EngineError {
        let message = error.as_string().unwrap_or_else(|| port::describe(error));
        EngineError::ProgramFailed { program: self.name.to_owned(), message }
    }
}

#[async_trait(?Send)]
impl external::Program for FrameworkWorker {
    async fn ask(&self, message: Message) -> Result<Message, EngineError> {
        let answer = Promise::new(&mut |resolve, reject| {
            *self.waiting.borrow_mut() = Some((resolve, reject));
        });
        self.post(&message).map_err(|error| self.failed(&error))?;
        let data = JsFuture::from(answer).await.map_err(|error| self.failed(&error))?;
        read(&data).ok_or_else(|| self.failed(&"its answer is none of the protocol".into()))
    }

    fn tell(&self, message: Message) {
        // One that has ended forgets by itself.
        drop(self.post(&message));
    }
}

impl Drop for FrameworkWorker {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

/// How the framework came, where a message says that.
fn loaded(data: &JsValue) -> Option<FromWorker> {
    let loaded = Reflect::get(data, &"loaded".into()).ok().filter(JsValue::is_object)?;
    let text = String::from(JSON::stringify(&loaded).ok()?);
    serde_json::from_str(&text).ok().map(FromWorker::Loaded)
}

fn read(data: &JsValue) -> Option<Message> {
    let header = Reflect::get(data, &"header".into()).ok()?.as_string()?;
    let payload = Reflect::get(data, &"payload".into()).ok()?;
    Some(Message { header: serde_json::from_str(&header).ok()?, payload: Uint8Array::new(&payload).to_vec() })
}
