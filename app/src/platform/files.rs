//! Clipboard, downloads and files from a disk, and the page itself, which the browser keeps.

use gloo_file::futures::read_as_text;
use gloo_file::{Blob, File, FileList, ObjectUrl};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlAnchorElement;

use super::{describe, promise_of, property, window};
use crate::t;

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
    let address = ObjectUrl::from(Blob::new_with_options(text, Some(kind)));
    let save = || -> Result<(), JsValue> {
        let document = window().document().expect("a window has a document");
        let link: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
        link.set_href(&address);
        link.set_download(file);
        link.click();
        Ok(())
    };
    save().map_err(|error| describe(&error))
}

/// The files of an event, dropped or chosen.
pub(crate) fn files_of(event: &JsValue) -> Vec<File> {
    let dropped = property(&property(event, "dataTransfer"), "files");
    let files = if dropped.is_object() { dropped } else { property(&property(event, "target"), "files") };
    files.dyn_into::<web_sys::FileList>().map(|list| FileList::from(list).to_vec()).unwrap_or_default()
}

/// Names and texts of files, or why one cannot be read.
pub(crate) async fn texts_of(files: &[File]) -> Vec<(String, Result<String, String>)> {
    let mut texts = Vec::new();
    for file in files {
        texts.push((file.name(), read_as_text(file).await.map_err(|error| error.to_string())));
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
