use js_sys::Reflect;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use super::{promise_of, property, window};
use crate::advice::Obstacle;
use crate::text;

/// Whether the browser has a GPU for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gpu {
    /// Not asked yet.
    Asking,
    Missing(Obstacle),
    Found(FoundGpu),
}

/// A GPU in the browser's words; those that it hides are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundGpu {
    pub(crate) vendor: String,
    pub(crate) architecture: String,
    description: String,
    /// A program that pretends to be a GPU.
    pub(crate) software: bool,
}

impl FoundGpu {
    /// As far as the browser says, in the page's language of the moment.
    pub(crate) fn name(&self) -> String {
        text::gpu_name(&self.vendor, &self.architecture, &self.description)
    }
}

/// Asks the browser for a GPU, as the worker will.
pub(crate) async fn probe() -> Gpu {
    let gpu = property(&window().navigator(), "gpu");
    if gpu.is_undefined() || gpu.is_null() {
        let secure = window().is_secure_context();
        return Gpu::Missing(if secure { Obstacle::NoInterface } else { Obstacle::InsecurePage });
    }
    let options = js_sys::Object::new();
    // Of two GPUs, the one that the worker will take.
    let _ = Reflect::set(&options, &"powerPreference".into(), &"high-performance".into());
    let Some(promise) = promise_of(&gpu, "requestAdapter", &options) else {
        return Gpu::Missing(Obstacle::NoInterface);
    };
    let adapter = match JsFuture::from(promise).await {
        Ok(adapter) if adapter.is_object() => adapter,
        _ => return Gpu::Missing(Obstacle::NoAdapter),
    };
    let info = property(&adapter, "info");
    let word = |name: &str| property(&info, name).as_string().unwrap_or_default();
    Gpu::Found(FoundGpu {
        vendor: word("vendor"),
        architecture: word("architecture"),
        description: word("description"),
        software: is_true(&info, "isFallbackAdapter") || is_true(&adapter, "isFallbackAdapter"),
    })
}

fn is_true(object: &JsValue, name: &str) -> bool {
    property(object, name).is_truthy()
}
