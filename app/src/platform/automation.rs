//! What scripts see of the page's run or comparison: `window.gradmark`.
//!
//! `gradmark.state` is a word (`ready`, `running`, `finished`, `cancelled`, `failed`), `gradmark.sentence` says why where a
//! run failed, `gradmark.record` is the latest record, or `gradmark.comparison` the latest comparison, and
//! `gradmark.finished` a promise of this very object, kept when the first of them has ended in whatever way.

use js_sys::{Function, JSON, Object, Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use super::window;

/// What there is to tell.
pub(crate) struct Told {
    pub(crate) state: TaskState,
    /// Why it failed, in English, because machines read it.
    pub(crate) sentence: String,
    /// What came of it, as JSON.
    pub(crate) outcome: Option<String>,
}

/// How far a run or a comparison is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    Ready,
    Running,
    Finished,
    Cancelled,
    Failed,
}

impl TaskState {
    const fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    const fn has_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled | Self::Failed)
    }
}

/// The object, and what keeps its promise.
pub(crate) struct Automation {
    object: Object,
    resolve: Option<Function>,
}

impl Automation {
    /// Puts the object in place, and keeps it up to date for as long as the page is there. What comes of the page's task
    /// is called `outcome` there.
    pub(crate) fn start(outcome: &'static str, told: impl Fn() -> Told + 'static) {
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
            let told = told();
            automation.update_value(|own| own.follow(outcome, &told));
        });
    }

    fn set(&self, name: &str, value: &JsValue) {
        drop(Reflect::set(&self.object, &name.into(), value));
    }

    fn follow(&mut self, outcome: &str, told: &Told) {
        self.set("state", &told.state.name().into());
        self.set("sentence", &told.sentence.as_str().into());
        let parsed = told.outcome.as_ref().and_then(|json| JSON::parse(json).ok());
        self.set(outcome, &parsed.unwrap_or(JsValue::NULL));
        if let Some(resolve) = self.resolve.take_if(|_| told.state.has_ended()) {
            drop(resolve.call1(&JsValue::UNDEFINED, &self.object));
        }
    }
}
