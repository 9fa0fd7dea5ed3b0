//! Global scope of the worker: its clock, and messages to the page.

use engine::Clock;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, Performance};

use crate::FromWorker;

/// Monotonic clock of the browser, as seen by this worker.
pub(super) struct WorkerClock {
    performance: Performance,
}

impl WorkerClock {
    pub(super) fn new() -> Self {
        Self { performance: scope().performance().expect("every worker has a performance clock") }
    }

    /// Measures the smallest step of the clock, seconds. Browsers coarsen their clocks on purpose.
    pub(super) fn resolution_seconds(&self) -> f64 {
        const MAX_SECONDS: f64 = 0.05;
        const STEPS: u32 = 20;
        let start = self.now_seconds();
        let (mut smallest, mut last, mut steps) = (f64::INFINITY, start, 0);
        while steps < STEPS && last - start < MAX_SECONDS {
            let now = self.now_seconds();
            if now > last {
                smallest = smallest.min(now - last);
                last = now;
                steps += 1;
            }
        }
        smallest
    }
}

impl Clock for WorkerClock {
    fn now_seconds(&self) -> f64 {
        self.performance.now() / 1e3
    }
}

pub(super) fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

pub(super) fn post(message: &FromWorker) {
    let text = serde_json::to_string(message).expect("every message can be written as JSON");
    scope().post_message(&JsValue::from_str(&text)).expect("a string can always be posted");
}
