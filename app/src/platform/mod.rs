//! Wrappers of browser APIs, so that the rest of the page reads like ordinary Rust. Their errors are the browser's.

mod automation;
mod device;
mod leaderboard;
mod storage;
mod worker;

pub(crate) use automation::{TaskReport, automate};
pub(crate) use device::{
    BrowserGpu, CallOnDrop, HiddenTimer, PressureWatch, ask_before_leaving, has_battery, keep_screen_on, lock_runs,
    on_battery, probe,
};
pub(crate) use leaderboard::{RequestError, availability, delete, get, html_of, register, share_comparison, upload};
pub(crate) use storage::*;
pub(crate) use worker::{TrainingWorker, worker_loader};

use gloo_file::{Blob, File, FileList, ObjectUrl};
use js_sys::{Array, Object, Reflect};
use training_worker::{describe, property};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{Document, HtmlAnchorElement, UrlSearchParams, Window};

use crate::browser::Browser;
use crate::filters::Filters;
use crate::supplies::folder_of;
use crate::t;

fn window() -> Window {
    web_sys::window().expect("the page runs in a window")
}

pub(crate) fn document() -> Document {
    window().document().expect("a window has a document")
}

/// Calls a method with one argument, and returns its promise.
fn promise_of(object: &JsValue, name: &str, argument: &JsValue) -> Option<js_sys::Promise> {
    let method: js_sys::Function = property(object, name).dyn_into().ok()?;
    method.call1(object, argument).ok()?.dyn_into().ok()
}

/// Returns the folder of the file whose URL is in a `<meta>` of the page, or the reason it is unknown.
fn folder(meta: &str, file: &str) -> Result<String, String> {
    let element = document().query_selector(&format!("meta[name={meta}]")).ok().flatten();
    folder_of(meta, element.and_then(|element| element.get_attribute("content")).as_deref(), file)
}

pub(crate) fn set_title(title: &str) {
    document().set_title(&format!("{title} – Gradmark"));
}

pub(crate) fn browser() -> Browser {
    let navigator = window().navigator();
    let touch_points = u32::try_from(navigator.max_touch_points()).unwrap_or(0);
    Browser::from_user_agent(&navigator.user_agent().unwrap_or_default(), touch_points)
}

pub(crate) fn logical_processors() -> Option<u32> {
    let count = window().navigator().hardware_concurrency();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of processors")]
    (count >= 1.0).then_some(count as u32)
}

/// True if the page is cross-origin isolated, which gives it a finer clock.
pub(crate) fn is_isolated() -> bool {
    property(&window(), "crossOriginIsolated").is_truthy()
}

fn is_offline() -> bool {
    property(&window().navigator(), "onLine") == JsValue::FALSE
}

pub(crate) fn data_address(kind: &str, bytes: &[u8]) -> String {
    // `btoa` expects one byte per character.
    let letters: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let content = window().btoa(&letters).expect("no letter is beyond a byte");
    format!("data:{kind};base64,{content}")
}

pub(crate) fn prefers_less_motion() -> bool {
    let found = window().match_media("(prefers-reduced-motion: reduce)");
    found.is_ok_and(|found| found.is_some_and(|query| query.matches()))
}

pub(crate) fn unix_seconds() -> f64 {
    js_sys::Date::now() / 1e3
}

pub(crate) fn random_seed() -> u32 {
    u32::from_le_bytes(random_bytes())
}

pub(crate) fn random_word() -> String {
    random_bytes::<32>().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let crypto = window().crypto().expect("every browser with WebAssembly has a source of randomness");
    crypto.get_random_values_with_u8_array(&mut bytes).expect("so few bytes are never refused");
    bytes
}

pub(crate) fn path() -> String {
    window().location().pathname().unwrap_or_default()
}

/// Fragment of the URL, without the `#`.
pub(crate) fn fragment() -> String {
    window().location().hash().unwrap_or_default().trim_start_matches('#').to_owned()
}

pub(crate) fn go_to_fragment() {
    if let Some(place) = document().get_element_by_id(&fragment()) {
        place.scroll_into_view();
    }
}

/// Origin of this server, such as `http://127.0.0.1:8080`.
pub(crate) fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// Query of the URL, with its question mark.
pub(crate) fn query() -> String {
    window().location().search().unwrap_or_default()
}

pub(crate) fn parameter(name: &str) -> Option<String> {
    parameters()?.get(name)
}

/// Changes a URL parameter without leaving the page.
pub(crate) fn put_in_address(name: &str, value: &str) {
    let Some(parameters) = parameters() else { return };
    parameters.set(name, value);
    let fragment = window().location().hash().unwrap_or_default();
    replace(&format!("{}?{}{fragment}", path(), String::from(parameters.to_string())));
}

pub(crate) fn go_to(address: &str) {
    // If the browser refuses, the URL stays the same.
    drop(window().location().set_href(address));
}

/// Writes filters to the URL, so that it can be shared and the Back button restores them.
pub(crate) fn keep_filters(filters: &Filters) {
    let Some(parameters) = parameters() else { return };
    let before = String::from(parameters.to_string());
    Filters::names().for_each(|name| parameters.delete(name));
    filters.pairs().into_iter().for_each(|(name, value)| parameters.append(name, &value));
    let query = String::from(parameters.to_string());
    if query == before {
        return;
    }
    let query = if query.is_empty() { query } else { format!("?{query}") };
    replace(&format!("{}{query}", path()));
}

/// Replaces the URL. Browsers only refuse this if it is too frequent; the next change writes everything again.
fn replace(address: &str) {
    drop(window().history().and_then(|history| history.replace_state_with_url(&JsValue::NULL, "", Some(address))));
}

fn parameters() -> Option<UrlSearchParams> {
    UrlSearchParams::new_with_str(&query()).ok()
}

/// URL parameters with these names, including repeated ones.
pub(crate) fn pairs(names: impl IntoIterator<Item = &'static str>) -> Vec<(&'static str, String)> {
    let Some(parameters) = parameters() else { return Vec::new() };
    let values = |name| parameters.get_all(name).into_iter().map(move |value| (name, value.as_string()));
    names.into_iter().flat_map(values).filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Copies `text` to the clipboard. Some browsers only allow this on secure pages.
pub(crate) async fn copy(text: &str) -> Result<(), String> {
    let navigator = window().navigator();
    if property(&navigator, "clipboard").is_undefined() {
        return Err(t!(common_no_sharing).to_owned());
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.map(drop).map_err(|error| describe(&error))
}

pub(crate) async fn copy_image(address: &str) -> Result<(), String> {
    let window = window();
    let (make, clipboard) = (property(&window, "ClipboardItem"), property(&window.navigator(), "clipboard"));
    let make: js_sys::Function = make.dyn_into().map_err(|_| t!(common_no_sharing).to_owned())?;
    let address = JsValue::from_str(address);
    // The image may arrive later, but browsers allow the copy only at the click.
    let image = future_to_promise(async move {
        let fetched = promise_of(&window, "fetch", &address).ok_or(JsValue::UNDEFINED)?;
        let answer = JsFuture::from(fetched).await?;
        let blob = promise_of(&answer, "blob", &JsValue::UNDEFINED).ok_or(JsValue::UNDEFINED)?;
        JsFuture::from(blob).await
    });
    let formats = Object::new();
    let item = Reflect::set(&formats, &"image/png".into(), &image)
        .and_then(|_| Reflect::construct(&make, &Array::of1(&formats)))
        .map_err(|error| describe(&error))?;
    let written = promise_of(&clipboard, "write", &Array::of1(&item));
    let written = written.ok_or_else(|| t!(common_no_sharing).to_owned())?;
    JsFuture::from(written).await.map(drop).map_err(|error| describe(&error))
}

pub(crate) fn download(file: &str, kind: &str, text: &str) -> Result<(), String> {
    let address = ObjectUrl::from(Blob::new_with_options(text, Some(kind)));
    let save = || -> Result<(), JsValue> {
        let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
        link.set_href(&address);
        link.set_download(file);
        link.click();
        Ok(())
    };
    save().map_err(|error| describe(&error))
}

pub(crate) fn files_of(event: &JsValue) -> Vec<File> {
    let dropped = property(&property(event, "dataTransfer"), "files");
    let files = if dropped.is_object() { dropped } else { property(&property(event, "target"), "files") };
    files.dyn_into::<web_sys::FileList>().map(|list| FileList::from(list).to_vec()).unwrap_or_default()
}

/// Registers `app/service-worker.js`, which caches the page for offline use.
pub(crate) fn keep_page() {
    let container = property(&window().navigator(), "serviceWorker");
    let Some(kept) = promise_of(&container, "register", &JsValue::from_str("/service-worker.js")) else { return };
    // The outcome does not matter, but an unhandled rejection would be reported as an error.
    wasm_bindgen_futures::spawn_local(async move { drop(JsFuture::from(kept).await) });
}

pub(crate) fn can_share() -> bool {
    property(&window().navigator(), "share").is_function()
}

/// Opens the system's share dialog. Closing it is not a failure.
pub(crate) async fn share(text: &str, address: &str) -> Result<(), String> {
    let data = Object::new();
    for (name, value) in [("title", "Gradmark"), ("text", text), ("url", address)] {
        Reflect::set(&data, &name.into(), &value.into()).map_err(|error| describe(&error))?;
    }
    let promise = promise_of(&window().navigator(), "share", &data);
    let promise = promise.ok_or_else(|| t!(common_no_sharing).to_owned())?;
    match JsFuture::from(promise).await {
        Ok(_) => Ok(()),
        Err(error) if property(&error, "name") == JsValue::from_str("AbortError") => Ok(()),
        Err(error) => Err(describe(&error)),
    }
}
