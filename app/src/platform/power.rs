//! What the browser says about power and heat, where it does.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::{promise_of, property, window};

/// Milliseconds between two looks at the pressure on the processor.
const LOOK_EVERY_MILLISECONDS: f64 = 1000.0;

/// Whether the device runs on its battery; `None` where the browser does not tell (only Chromium does).
pub(crate) async fn on_battery() -> Option<bool> {
    let battery = promise_of(&window().navigator(), "getBattery", &JsValue::UNDEFINED)?;
    let battery = JsFuture::from(battery).await.ok()?;
    property(&battery, "charging").as_bool().map(|charging| !charging)
}

/// Watches how hard-pressed the processor is, by whatever program, until it is dropped: the Compute Pressure API.
pub(crate) struct PressureWatch {
    observer: JsValue,
    looks: Rc<Cell<Looks>>,
    _listener: Closure<dyn FnMut(Array)>,
}

/// How often was looked, and how often the processor was under pressure.
#[derive(Clone, Copy, Default)]
struct Looks {
    all: u32,
    pressed: u32,
}

impl PressureWatch {
    /// `None` where the browser does not tell.
    pub(crate) fn start() -> Option<Self> {
        let class: Function = property(&window(), "PressureObserver").dyn_into().ok()?;
        let looks = Rc::new(Cell::new(Looks::default()));
        let noted = Rc::clone(&looks);
        let listener = Closure::<dyn FnMut(Array)>::new(move |records: Array| {
            for record in records.iter() {
                let state = property(&record, "state").as_string();
                let pressed = matches!(state.as_deref(), Some("serious" | "critical"));
                let Looks { all, pressed: before } = noted.get();
                noted.set(Looks { all: all + 1, pressed: before + u32::from(pressed) });
            }
        });
        let observer = Reflect::construct(&class, &Array::of1(listener.as_ref())).ok()?;
        let options = Object::new();
        let every = JsValue::from_f64(LOOK_EVERY_MILLISECONDS);
        Reflect::set(&options, &JsValue::from_str("sampleInterval"), &every).ok()?;
        let observe: Function = property(&observer, "observe").dyn_into().ok()?;
        // Its promise is refused where the platform has no such sensor; then there are no looks.
        let promise: js_sys::Promise =
            observe.call2(&observer, &JsValue::from_str("cpu"), &options).ok()?.dyn_into().ok()?;
        wasm_bindgen_futures::spawn_local(async move { drop(JsFuture::from(promise).await) });
        Some(Self { observer, looks, _listener: listener })
    }

    /// The same of the looks since it was last asked.
    pub(crate) fn take_pressed_share(&self) -> Option<f64> {
        let share = self.pressed_share();
        self.looks.take();
        share
    }

    /// Share of the looks that found the processor hard-pressed; `None` where there were none.
    pub(crate) fn pressed_share(&self) -> Option<f64> {
        let Looks { all, pressed } = self.looks.get();
        (all > 0).then(|| f64::from(pressed) / f64::from(all))
    }
}

impl Drop for PressureWatch {
    fn drop(&mut self) {
        if let Ok(disconnect) = property(&self.observer, "disconnect").dyn_into::<Function>() {
            // Nothing depends on the answer.
            drop(disconnect.call0(&self.observer));
        }
    }
}
