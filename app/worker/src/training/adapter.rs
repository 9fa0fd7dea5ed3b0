use js_sys::{Function, Object, Promise, Reflect};
use results::{RunRecord, Warning};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// Adds to the record what the browser says of its GPU; wgpu does not pass that on.
///
/// Browsers say vendor and architecture at best, such as `nvidia` and `ampere`.
pub(super) async fn complete(record: &mut RunRecord) {
    let adapter = &mut record.device.adapter;
    if adapter.api != "WebGPU" {
        return;
    }
    let Some(info) = info().await else { return };
    let word = |name: &str| property(&info, name).as_string().unwrap_or_default();
    adapter.vendor = word("vendor");
    adapter.architecture = word("architecture");
    let described = word("description");
    let masked = format!("{} {}", adapter.vendor, adapter.architecture);
    let name = if described.is_empty() { masked.trim().to_owned() } else { described };
    if name.is_empty() {
        return;
    }
    adapter.name.clone_from(&name);
    for warning in &mut record.warnings {
        if let Warning::SoftwareAdapter { name: named } = warning {
            named.clone_from(&name);
        }
    }
}

/// `GPUAdapterInfo` of the adapter that the engine takes: the fast one of several.
async fn info() -> Option<JsValue> {
    let gpu = property(&property(&js_sys::global(), "navigator"), "gpu");
    let request: Function = property(&gpu, "requestAdapter").dyn_into().ok()?;
    let options = Object::new();
    Reflect::set(&options, &"powerPreference".into(), &"high-performance".into()).ok()?;
    let promise: Promise = request.call1(&gpu, &options).ok()?.dyn_into().ok()?;
    let adapter = JsFuture::from(promise).await.ok().filter(JsValue::is_object)?;
    Some(property(&adapter, "info"))
}

fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}
