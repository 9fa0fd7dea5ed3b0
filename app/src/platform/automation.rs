//! What scripts see of the page's run: `window.gradmark`.
//!
//! `gradmark.state` is a word (`ready`, `running`, `finished`, `cancelled`, `failed`), `gradmark.sentence` says why where a
//! run failed, `gradmark.record` is the latest record, and `gradmark.finished` a promise of this very object, kept when the
//! first run has ended in whatever way.

use js_sys::{Function, JSON, Object, Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use super::window;
use crate::benchmark::{Benchmark, Stage};
use crate::words;

/// The object, and what keeps its promise.
pub(crate) struct Automation {
    object: Object,
    resolve: Option<Function>,
}

impl Automation {
    /// Puts the object in place, and keeps it up to date for as long as the page is there.
    pub(crate) fn start(benchmark: Benchmark) {
        let mut resolve = None;
        let object = Object::new();
        let promise = Promise::new(&mut |keep, _| resolve = Some(keep));
        let automation = StoredValue::new_local(Self { object, resolve });
        automation.with_value(|own| {
            own.set("finished", &promise);
            // Whoever froze the window wants no such object.
            drop(Reflect::set(&window(), &"gradmark".into(), &own.object));
        });
        Effect::new(move |_| {
            let stage = benchmark.stage.get();
            automation.update_value(|own| own.follow(&stage, benchmark));
        });
    }

    fn set(&self, name: &str, value: &JsValue) {
        drop(Reflect::set(&self.object, &name.into(), value));
    }

    fn follow(&mut self, stage: &Stage, benchmark: Benchmark) {
        let (state, ended) = match stage {
            Stage::Ready => ("ready", false),
            Stage::Running | Stage::Cancelling => ("running", false),
            Stage::Finished => ("finished", true),
            Stage::Cancelled => ("cancelled", true),
            Stage::Failed(_) => ("failed", true),
        };
        let sentence = match stage {
            // Machines read it.
            Stage::Failed(failure) => words::in_english(|| failure.sentence()),
            _ => String::new(),
        };
        let record = benchmark.finished.with_untracked(|finished| {
            finished.as_ref().and_then(|finished| serde_json::to_string(&finished.record).ok())
        });
        self.set("state", &state.into());
        self.set("sentence", &sentence.into());
        self.set("record", &record.and_then(|json| JSON::parse(&json).ok()).unwrap_or(JsValue::NULL));
        if let Some(resolve) = self.resolve.take_if(|_| ended) {
            drop(resolve.call1(&JsValue::UNDEFINED, &self.object));
        }
    }
}
