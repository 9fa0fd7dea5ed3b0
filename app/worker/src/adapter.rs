//! WebGPU adapters of the browser: a core adapter, or else one in compatibility mode.

use std::rc::Rc;

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

/// A `GPUAdapter` and its mode.
pub struct FoundAdapter {
    pub adapter: JsValue,
    /// True if the adapter was requested for compatibility mode.
    pub compatibility: bool,
}

pub struct Adapters {
    gpu: JsValue,
    request: Function,
    /// True to request compatibility mode even if the browser has a core adapter.
    without_core: bool,
}

impl Adapters {
    /// Returns `None` in a browser without WebGPU.
    pub fn of_browser(without_core: bool) -> Option<Self> {
        let gpu = property(&property(&js_sys::global(), "navigator"), "gpu");
        let request = property(&gpu, "requestAdapter").dyn_into().ok()?;
        Some(Self { gpu, request, without_core })
    }

    /// Returns the adapter that training uses: on a machine with two GPUs, the faster one.
    pub async fn find(&self) -> Option<FoundAdapter> {
        let options = Object::new();
        Reflect::set(&options, &"powerPreference".into(), &"high-performance".into()).ok()?;
        self.find_with(&options).await
    }

    async fn find_with(&self, options: &Object) -> Option<FoundAdapter> {
        if !self.without_core
            && let Some(adapter) = self.ask(options).await
        {
            return Some(FoundAdapter { adapter, compatibility: false });
        }
        let options = Object::assign(&Object::new(), options);
        Reflect::set(&options, &"featureLevel".into(), &"compatibility".into()).ok()?;
        let adapter = self.ask(&options).await?;
        Some(FoundAdapter { adapter, compatibility: true })
    }

    async fn ask(&self, options: &Object) -> Option<JsValue> {
        let promise: Promise = self.request.call1(&self.gpu, options).ok()?.dyn_into().ok()?;
        JsFuture::from(promise).await.ok().filter(JsValue::is_object)
    }

    /// Replaces the function that wgpu calls for an adapter, because wgpu 30 only asks for core adapters, and for devices
    /// without subgroups.
    pub(crate) fn install(self: &Rc<Self>) {
        let adapters = Rc::clone(self);
        let find = Closure::<dyn Fn(JsValue) -> Promise>::new(move |options: JsValue| {
            let adapters = Rc::clone(&adapters);
            future_to_promise(async move {
                let options = options.dyn_into().unwrap_or_else(|_| Object::new());
                let Some(FoundAdapter { adapter, .. }) = adapters.find_with(&options).await else {
                    return Ok(JsValue::NULL);
                };
                request_subgroups(&adapter);
                Ok(adapter)
            })
        });
        // Without it, wgpu finds core adapters only.
        let _ = Reflect::set(&self.gpu, &"requestAdapter".into(), &find.into_js_value());
    }
}

impl FoundAdapter {
    /// Returns a word with which the browser describes the adapter, or nothing.
    pub fn word(&self, name: &str) -> String {
        property(&property(&self.adapter, "info"), name).as_string().unwrap_or_default()
    }
}

pub fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.message()),
        None => format!("{error:?}"),
    }
}

/// Makes the adapter add subgroups, if it has them, to the features of its devices.
fn request_subgroups(adapter: &JsValue) -> Option<()> {
    let subgroups = JsValue::from("subgroups");
    let features = property(adapter, "features");
    let has: Function = property(&features, "has").dyn_into().ok()?;
    has.call1(&features, &subgroups).ok()?.is_truthy().then_some(())?;
    let request: Function = property(adapter, "requestDevice").dyn_into().ok()?;
    let this = adapter.clone();
    let request = Closure::<dyn Fn(JsValue) -> Result<JsValue, JsValue>>::new(move |descriptor: JsValue| {
        if let Ok(required) = property(&descriptor, "requiredFeatures").dyn_into::<Array>() {
            required.push(&subgroups);
        }
        request.call1(&this, &descriptor)
    });
    Reflect::set(adapter, &"requestDevice".into(), &request.into_js_value()).ok().map(|_| ())
}

/// Returns a property of a JavaScript object, or undefined.
pub fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}
