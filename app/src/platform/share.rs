//! The system's own way of passing something on.

use crate::t;
use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::{describe, promise_of, property, window};

/// Whether the browser has one.
pub(crate) fn can_share() -> bool {
    property(&window().navigator(), "share").is_function()
}

/// Lets a person pass on a text with an address. Who changes their mind has not failed.
///
/// # Errors
/// What the browser said.
pub(crate) async fn share(text: &str, address: &str) -> Result<(), String> {
    let data = Object::new();
    for (name, value) in [("title", "Gradmark"), ("text", text), ("url", address)] {
        Reflect::set(&data, &name.into(), &value.into()).map_err(|error| describe(&error))?;
    }
    let promise = promise_of(&window().navigator(), "share", &data);
    let promise = promise.ok_or_else(|| t!(common_no_sharing).to_owned())?;
    match JsFuture::from(promise).await {
        Ok(_) => Ok(()),
        Err(error) if property(&error, "name") == JsValue::from_str("AbortError") => Ok(()),
        Err(error) => Err(describe(&error)),
    }
}
