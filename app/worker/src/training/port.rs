//! The worker's end of the line to the page.

use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, MessagePort, PromiseRejectionEvent};

use crate::messages::{FromWorker, ToWorker};

pub(super) fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

pub(super) fn post(message: &FromWorker) {
    let text = serde_json::to_string(message).expect("every message can be written as JSON");
    scope().post_message(&JsValue::from_str(&text)).expect("a string can always be posted");
}

/// Calls `handle` with every message of the page, and the port that came with it.
pub(super) fn listen(mut handle: impl FnMut(ToWorker, Option<MessagePort>) + 'static) {
    let closure = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let text = event.data().as_string().unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(message) => handle(message, event.ports().get(0).dyn_into().ok()),
            Err(error) => post(&FromWorker::Crashed(format!(
                "the page sent a message that its worker does not know ({error}); reload the page"
            ))),
        }
    });
    scope().set_onmessage(Some(closure.as_ref().unchecked_ref()));
    // The worker listens for as long as it lives.
    closure.forget();
}

/// A panic, or an error of the browser that nobody caught, is reported to the page before the worker stops working.
pub(super) fn report_crashes() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        web_sys::console::error_1(&JsValue::from_str(&text));
        post(&FromWorker::Crashed(text));
    }));
    let closure = Closure::<dyn FnMut(PromiseRejectionEvent)>::new(|event: PromiseRejectionEvent| {
        post(&FromWorker::Crashed(describe(&event.reason())));
    });
    let listening = scope().add_event_listener_with_callback("unhandledrejection", closure.as_ref().unchecked_ref());
    listening.expect("every worker can listen");
    closure.forget();
}

/// What a JavaScript error says.
pub(super) fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.message()),
        None => format!("{error:?}"),
    }
}
