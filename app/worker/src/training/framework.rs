//! JavaScript framework as a backend: a program in another worker that implements the protocol of docs/EXTERNAL.md
//! (`app/frameworks/src/worker.js`). The page starts it and connects the two workers with a message channel.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use async_trait::async_trait;
use engine::backends::external::{self, ExternalBackend, Message};
use engine::{Backend, Clock, EngineError};
use futures_channel::mpsc::{UnboundedReceiver, UnboundedSender};
use js_sys::{Array, Object, Reflect, Uint8Array};
use results::Precision;
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, MessagePort};

use crate::adapter::describe;

/// Data of a message from the framework's worker, or the reason it failed.
pub(super) type FrameworkAnswer = Result<JsValue, String>;

/// Port to the worker of a framework, with a queue of its answers. The page's report of a failure joins the queue.
pub(super) struct FrameworkPort {
    pub(super) port: MessagePort,
    pub(super) sender: UnboundedSender<FrameworkAnswer>,
    pub(super) answers: UnboundedReceiver<FrameworkAnswer>,
}

/// Opens the backend in the worker at the other end of the port.
pub(super) async fn open(
    name: &str,
    FrameworkPort { port, sender, answers }: FrameworkPort,
    clock: Rc<dyn Clock>,
    precision: Precision,
) -> Result<Box<dyn Backend>, EngineError> {
    let failed = |message| EngineError::ProgramFailed { program: name.to_owned(), message };
    let name: &'static str = external::checked_name(name).map_err(failed)?.leak();
    let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        // Fails only after the run.
        drop(sender.unbounded_send(Ok(event.data())));
    });
    // Setting the handler also starts the port.
    port.set_onmessage(Some(message.as_ref().unchecked_ref()));
    let worker = Rc::new(FrameworkWorker { name, port, answers: RefCell::new(answers), _message: message });
    Ok(Box::new(ExternalBackend::meet(name, worker, clock, precision, None).await?))
}

struct FrameworkWorker {
    name: &'static str,
    port: MessagePort,
    answers: RefCell<UnboundedReceiver<FrameworkAnswer>>,
    _message: Closure<dyn FnMut(MessageEvent)>,
}

impl FrameworkWorker {
    fn post(&self, message: &Message) -> Result<(), JsValue> {
        let data = Object::new();
        Reflect::set(&data, &"header".into(), &message.header.to_string().into())?;
        let payload = Uint8Array::from(message.payload.as_slice()).buffer();
        Reflect::set(&data, &"payload".into(), &payload)?;
        self.port.post_message_with_transferable(&data, &Array::of1(&payload))
    }

    fn failed(&self, message: impl Into<String>) -> EngineError {
        EngineError::ProgramFailed { program: self.name.to_owned(), message: message.into() }
    }
}

#[async_trait(?Send)]
impl external::Program for FrameworkWorker {
    fn send(&self, message: Message) -> Result<(), EngineError> {
        self.post(&message).map_err(|error| self.failed(describe(&error)))
    }

    async fn receive(&self) -> Result<Message, EngineError> {
        let answer = poll_fn(|context| pin!(self.answers.borrow_mut().recv()).poll(context)).await;
        let data = answer.unwrap_or_else(|_| Err("its worker is gone".to_owned())).map_err(|why| self.failed(why))?;
        read(&data).ok_or_else(|| self.failed("its answer is none of the protocol"))
    }
}

fn read(data: &JsValue) -> Option<Message> {
    let header = Reflect::get(data, &"header".into()).ok()?.as_string()?;
    let payload = Reflect::get(data, &"payload".into()).ok()?;
    Some(Message { header: serde_json::from_str(&header).ok()?, payload: Uint8Array::new(&payload).to_vec() })
}
