//! Clipboard, downloads, and the little that the page keeps in this browser.

use crate::t;
use std::collections::BTreeMap;

use js_sys::Array;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Storage, Url};

use super::{describe, promise_of, property, window};

/// Copies `text` to the clipboard.
///
/// # Errors
/// What the browser said; some allow it on secure pages only.
pub(crate) async fn copy(text: &str) -> Result<(), String> {
    let navigator = window().navigator();
    if property(&navigator, "clipboard").is_undefined() {
        return Err(t!(common_no_clipboard).to_owned());
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.map(drop).map_err(|error| describe(&error))
}

/// Offers JSON as a file.
///
/// # Errors
/// What the browser said.
pub(crate) fn download(file: &str, text: &str) -> Result<(), String> {
    download_as(file, "application/json", text)
}

/// Offers `text` as a file of this media type.
///
/// # Errors
/// What the browser said.
pub(crate) fn download_as(file: &str, kind: &str, text: &str) -> Result<(), String> {
    let save = || -> Result<(), JsValue> {
        let options = BlobPropertyBag::new();
        options.set_type(kind);
        let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&JsValue::from_str(text)), &options)?;
        let address = Url::create_object_url_with_blob(&blob)?;
        let document = window().document().expect("a window has a document");
        let link: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
        link.set_href(&address);
        link.set_download(file);
        link.click();
        Url::revoke_object_url(&address)
    };
    save().map_err(|error| describe(&error))
}

/// The files of an event, dropped or chosen: a list of JavaScript's.
pub(crate) fn files_of(event: &JsValue) -> JsValue {
    let dropped = property(&property(event, "dataTransfer"), "files");
    if dropped.is_object() { dropped } else { property(&property(event, "target"), "files") }
}

/// Names and texts of files, or why one cannot be read.
pub(crate) async fn texts_of(files: &JsValue) -> Vec<(String, Result<String, String>)> {
    let mut texts = Vec::new();
    for file in Array::from(files).iter() {
        let name = property(&file, "name").as_string().unwrap_or_default();
        let reading = promise_of(&file, "text", &JsValue::UNDEFINED);
        let text = match reading {
            Some(reading) => JsFuture::from(reading).await.map_err(|error| describe(&error)),
            None => Err(t!(common_no_files).to_owned()),
        };
        texts.push((name, text.map(|text| text.as_string().unwrap_or_default())));
    }
    texts
}

/// Lets the browser keep the page for when there is no network (`app/service-worker.js`). One that does not wants a network
/// each time.
pub(crate) fn keep_page() {
    let container = property(&window().navigator(), "serviceWorker");
    let Some(kept) = promise_of(&container, "register", &JsValue::from_str("/service-worker.js")) else { return };
    // Whether it was refused is of no use to anybody; a promise that nobody looks at would be reported as an error.
    wasm_bindgen_futures::spawn_local(async move { drop(JsFuture::from(kept).await) });
}

/// Remembers in this browser how a result can be deleted. A browser that keeps nothing is no error:
/// the page shows the deletion link as well.
pub(crate) fn keep_secret(run_id: &str, secret: &str) {
    if let Some(storage) = storage() {
        drop(storage.set_item(&key(run_id), secret));
    }
}

/// The deletion secret of a result that was uploaded from this browser.
pub(crate) fn kept_secret(run_id: &str) -> Option<String> {
    storage()?.get_item(&key(run_id)).ok()?
}

pub(crate) fn forget_secret(run_id: &str) {
    if let Some(storage) = storage() {
        drop(storage.remove_item(&key(run_id)));
    }
}

/// What workers want to be kept for the next visit, in this browser and this version of it: another one compiles other
/// kernels.
#[derive(Default, Serialize, Deserialize)]
struct KeptTuning {
    browser: String,
    kept: BTreeMap<String, String>,
}

pub(crate) fn keep_tuning(key: String, text: String) {
    let browser = window().navigator().user_agent().unwrap_or_default();
    let mut tuning = KeptTuning { browser, kept: kept_tuning() };
    tuning.kept.insert(key, text);
    if let (Some(storage), Ok(json)) = (storage(), serde_json::to_string(&tuning)) {
        // A browser that keeps nothing times the kernels again.
        drop(storage.set_item(TUNING, &json));
    }
}

pub(crate) fn kept_tuning() -> BTreeMap<String, String> {
    let json = storage().and_then(|storage| storage.get_item(TUNING).ok()?).unwrap_or_default();
    let tuning: KeptTuning = serde_json::from_str(&json).unwrap_or_default();
    let is_this_browser = window().navigator().user_agent().is_ok_and(|browser| browser == tuning.browser);
    if is_this_browser { tuning.kept } else { BTreeMap::new() }
}

const TUNING: &str = "gradmark.tuning";

pub(super) fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}

fn key(run_id: &str) -> String {
    format!("gradmark.deletion.{run_id}")
}
