//! Device state during a run: GPU, power, screen, and the lock that allows one run at a time.

use std::cell::Cell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Function, Object, Promise, Reflect};
use results::Adapter;
use training_worker::{Adapters, property};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::VisibilityState;

use super::{document, promise_of, unix_seconds, window};
use crate::browser::GpuObstacle;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BrowserGpu {
    Asking,
    Missing(GpuObstacle),
    /// Fields that the browser hides are empty.
    Found(Adapter),
}

/// Asks the browser for a GPU, as the worker will for a run with or without core WebGPU.
pub(crate) async fn probe(without_core: bool) -> BrowserGpu {
    let Some(adapters) = Adapters::of_browser(without_core) else {
        let secure = window().is_secure_context();
        return BrowserGpu::Missing(if secure { GpuObstacle::NoInterface } else { GpuObstacle::InsecurePage });
    };
    let Some(found) = adapters.find().await else {
        return BrowserGpu::Missing(GpuObstacle::NoAdapter);
    };
    let is_fallback = |object: &JsValue| property(object, "isFallbackAdapter").is_truthy();
    BrowserGpu::Found(Adapter {
        name: found.word("description"),
        vendor: found.word("vendor"),
        architecture: found.word("architecture"),
        software: is_fallback(&property(&found.adapter, "info")) || is_fallback(&found.adapter),
        compatibility: found.compatibility,
        ..Adapter::default()
    })
}

const LOOK_EVERY_MILLISECONDS: f64 = 1000.0;

/// Battery of the Battery Status API, which only Chromium has. Without a battery, it is full and charging.
async fn battery() -> Option<JsValue> {
    let battery = promise_of(&window().navigator(), "getBattery", &JsValue::UNDEFINED)?;
    JsFuture::from(battery).await.ok()
}

/// True on battery power; `None` if the browser does not report it.
pub(crate) async fn on_battery() -> Option<bool> {
    property(&battery().await?, "charging").as_bool().map(|charging| !charging)
}

/// True if the machine certainly has a battery, otherwise `None`.
pub(crate) async fn has_battery() -> Option<bool> {
    let battery = battery().await?;
    let is_full = property(&battery, "level").as_f64().is_none_or(|level| level >= 1.0);
    let is_charging = property(&battery, "charging").as_bool().unwrap_or(true);
    (!is_full || !is_charging).then_some(true)
}

/// Observer of the processor pressure from all programs, using the Compute Pressure API.
pub(crate) struct PressureWatch {
    _observer: CallOnDrop,
    /// Numbers of samples: all, and those under pressure.
    looks: Rc<Cell<[u32; 2]>>,
    _listener: Closure<dyn FnMut(Array)>,
}

impl PressureWatch {
    /// Starts the observer, if the browser has one.
    pub(crate) fn start() -> Option<Self> {
        let class: Function = property(&window(), "PressureObserver").dyn_into().ok()?;
        let looks = Rc::new(Cell::new([0; 2]));
        let noted = Rc::clone(&looks);
        let listener = Closure::<dyn FnMut(Array)>::new(move |records: Array| {
            for record in records.iter() {
                let state = property(&record, "state").as_string();
                let pressed = matches!(state.as_deref(), Some("serious" | "critical"));
                let [all, before] = noted.get();
                noted.set([all + 1, before + u32::from(pressed)]);
            }
        });
        let observer = Reflect::construct(&class, &Array::of1(listener.as_ref())).ok()?;
        let options = Object::new();
        let every = JsValue::from_f64(LOOK_EVERY_MILLISECONDS);
        Reflect::set(&options, &JsValue::from_str("sampleInterval"), &every).ok()?;
        let observe: Function = property(&observer, "observe").dyn_into().ok()?;
        // The promise is rejected on platforms without such a sensor; then there are no samples.
        let promise: Promise = observe.call2(&observer, &JsValue::from_str("cpu"), &options).ok()?.dyn_into().ok()?;
        wasm_bindgen_futures::spawn_local(async move { drop(JsFuture::from(promise).await) });
        Some(Self { _observer: CallOnDrop(observer, "disconnect"), looks, _listener: listener })
    }

    /// Share of samples under pressure since the last call; `None` without samples.
    pub(crate) fn pressed_share(&self) -> Option<f64> {
        let [all, pressed] = self.looks.take();
        (all > 0).then(|| f64::from(pressed) / f64::from(all))
    }
}

/// JavaScript object, and its method to call when it is dropped. The result does not matter.
pub(crate) struct CallOnDrop(JsValue, &'static str);

impl Drop for CallOnDrop {
    fn drop(&mut self) {
        if let Ok(method) = property(&self.0, self.1).dyn_into::<Function>() {
            drop(method.call0(&self.0));
        }
    }
}

/// Keeps the screen on until the result is dropped, or the browser hides the page.
pub(crate) async fn keep_screen_on() -> Option<CallOnDrop> {
    let wake_lock = property(&window().navigator(), "wakeLock");
    let sentinel = JsFuture::from(promise_of(&wake_lock, "request", &JsValue::UNDEFINED)?).await.ok()?;
    Some(CallOnDrop(sentinel, "release"))
}

/// Makes the browser ask for confirmation before leaving the page, until the listener is dropped.
pub(crate) fn ask_before_leaving() -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&window(), "beforeunload", options, |event| {
        event.prevent_default();
        // Older browsers only ask if this is set.
        let _ = Reflect::set(event, &JsValue::from_str("returnValue"), &JsValue::TRUE);
    })
}

pub(crate) struct HiddenTimer {
    hidden: Rc<Hidden>,
    _listener: EventListener,
}

/// Seconds so far, and the time since which the page is hidden and not counted yet.
type Hidden = Cell<(f64, Option<f64>)>;

fn count_hidden(hidden: &Hidden) {
    let ((seconds, since), now) = (hidden.get(), unix_seconds());
    let is_hidden = document().visibility_state() == VisibilityState::Hidden;
    hidden.set((seconds + since.map_or(0.0, |since| (now - since).max(0.0)), is_hidden.then_some(now)));
}

impl HiddenTimer {
    /// Calls `changed` with true when the page is hidden, and with false when it is shown.
    pub(crate) fn start(changed: impl Fn(bool) + 'static) -> Self {
        let hidden = Rc::new(Hidden::default());
        count_hidden(&hidden);
        let heard = hidden.clone();
        let listener = EventListener::new(&document(), "visibilitychange", move |_| {
            count_hidden(&heard);
            changed(heard.get().1.is_some());
        });
        Self { hidden, _listener: listener }
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden.get().1.is_some()
    }

    pub(crate) fn seconds(&self) -> f64 {
        count_hidden(&self.hidden);
        self.hidden.get().0
    }
}

const LOCK: &str = "gradmark.run";

/// Number of attempts to acquire the lock: browsers release a lock of the same tab with a delay.
const TRIES: u32 = 10;
const PAUSE_MILLISECONDS: u32 = 100;

/// Acquires this tab's lock, held until dropped; `None` if another tab has it. Without browser support, every tab does.
/// Browsers also release it when the tab is closed or crashes.
pub(crate) async fn lock_runs() -> Option<CallOnDrop> {
    for _ in 0..TRIES {
        if let Some(lock) = try_lock_runs().await {
            return Some(lock);
        }
        TimeoutFuture::new(PAUSE_MILLISECONDS).await;
    }
    None
}

/// Requests a Web Lock (<https://w3c.github.io/web-locks/>). It ends when a promise is resolved.
async fn try_lock_runs() -> Option<CallOnDrop> {
    let locks = property(&window().navigator(), "locks");
    let Ok(request) = property(&locks, "request").dyn_into::<Function>() else {
        return Some(CallOnDrop(JsValue::UNDEFINED, "call"));
    };
    let mut release = JsValue::UNDEFINED;
    let until = Promise::new(&mut |keep, _| release = keep.into());
    let options = Object::new();
    drop(Reflect::set(&options, &"ifAvailable".into(), &true.into()));
    // Called with the browser's decision. The lock ends when the returned promise is resolved.
    let mut said = None;
    let decided = Promise::new(&mut |keep, _| said = Some(keep));
    let say = said?;
    let refused = say.clone();
    let callback = Closure::once_into_js(move |lock: JsValue| -> JsValue {
        drop(say.call1(&JsValue::UNDEFINED, &lock.is_object().into()));
        if lock.is_object() { until.into() } else { JsValue::UNDEFINED }
    });
    let Ok(asked) = request.call3(&locks, &LOCK.into(), &options, &callback) else {
        return Some(CallOnDrop(JsValue::UNDEFINED, "call"));
    };
    wasm_bindgen_futures::spawn_local(async move {
        // Treat a browser that denies locks to this page like one without locks.
        if JsFuture::from(Promise::resolve(&asked)).await.is_err() {
            drop(refused.call1(&JsValue::UNDEFINED, &JsValue::TRUE));
        }
    });
    let ours = JsFuture::from(decided).await.is_ok_and(|ours| ours.is_truthy());
    ours.then(|| CallOnDrop(release, "call"))
}
