//! State of the page's run or comparison for scripts: `window.gradmark`.
//!
//! `gradmark.state` is `ready`, `running`, `finished`, `cancelled` or `failed`; `gradmark.sentence` is the reason a run
//! failed; `gradmark.record` is the latest record, or `gradmark.comparison` the latest comparison; and
//! `gradmark.finished` is a promise that resolves to this object when the first run or comparison ends in any way.

use js_sys::{Function, JSON, Object, Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use super::window;

pub(crate) struct TaskReport {
    pub(crate) state: &'static str,
    /// Reason for a failure, in English.
    pub(crate) sentence: Option<String>,
    /// Record or comparison as JSON.
    pub(crate) outcome: Option<String>,
}

/// Creates `window.gradmark`, and keeps it up to date. `outcome` is the name of the property with the result.
pub(crate) fn automate(outcome: &'static str, report: impl Fn() -> TaskReport + 'static) {
    let object = Object::new();
    let mut resolve = None::<Function>;
    let promise = Promise::new(&mut |keep, _| resolve = Some(keep));
    // A frozen window object does not get the property.
    let set = |object: &JsValue, name: &str, value: &JsValue| drop(Reflect::set(object, &name.into(), value));
    set(&object, "finished", &promise);
    set(&window(), "gradmark", &object);
    Effect::new(move |_| {
        let report = report();
        set(&object, "state", &report.state.into());
        set(&object, "sentence", &report.sentence.unwrap_or_default().into());
        let parsed = report.outcome.and_then(|json| JSON::parse(&json).ok());
        set(&object, outcome, &parsed.unwrap_or(JsValue::NULL));
        if let Some(resolve) = resolve.take_if(|_| !matches!(report.state, "ready" | "running")) {
            drop(resolve.call1(&JsValue::UNDEFINED, &object));
        }
    });
}
