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
    pub(crate) sentence: String,
    /// Record or comparison as JSON.
    pub(crate) outcome: Option<String>,
}

/// `window.gradmark`, and the function that resolves its promise.
pub(crate) struct Automation {
    object: Object,
    resolve: Option<Function>,
}

impl Automation {
    /// Creates the object, and keeps it up to date. `outcome` is the name of the property with the result.
    pub(crate) fn start(outcome: &'static str, report: impl Fn() -> TaskReport + 'static) {
        let mut resolve = None;
        let object = Object::new();
        let promise = Promise::new(&mut |keep, _| resolve = Some(keep));
        let automation = StoredValue::new_local(Self { object, resolve });
        automation.with_value(|own| {
            own.set("finished", &promise);
            // A frozen window object does not get the property.
            drop(Reflect::set(&window(), &"gradmark".into(), &own.object));
        });
        Effect::new(move |_| {
            let report = report();
            automation.update_value(|own| own.follow(outcome, &report));
        });
    }

    fn set(&self, name: &str, value: &JsValue) {
        drop(Reflect::set(&self.object, &name.into(), value));
    }

    fn follow(&mut self, outcome: &str, report: &TaskReport) {
        self.set("state", &report.state.into());
        self.set("sentence", &report.sentence.as_str().into());
        let parsed = report.outcome.as_ref().and_then(|json| JSON::parse(json).ok());
        self.set(outcome, &parsed.unwrap_or(JsValue::NULL));
        if let Some(resolve) = self.resolve.take_if(|_| !matches!(report.state, "ready" | "running")) {
            drop(resolve.call1(&JsValue::UNDEFINED, &self.object));
        }
    }
}
