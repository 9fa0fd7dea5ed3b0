//! The language of the page: as the address says, else as somebody chose in this browser, else as the browser likes.

use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;

use super::storage;
use super::{parameter, property, put_in_address, window};
use crate::words::Language;

const KEY: &str = "gradmark.language";
/// Of the address.
const PARAMETER: &str = crate::options::LANGUAGE;

/// The language that the page begins in. What the address asks for is remembered, because its links lead to pages whose
/// addresses do not.
pub(crate) fn language() -> Language {
    if let Some(asked) = parameter(PARAMETER).and_then(|code| Language::named(&code)) {
        keep(asked);
        return asked;
    }
    storage::kept::<String>(KEY).and_then(|code| Language::named(&code)).unwrap_or_else(liked)
}

/// Remembers a choice, and corrects an address that says something else.
pub(crate) fn keep_language(language: Language) {
    keep(language);
    if parameter(PARAMETER).is_some() {
        put_in_address(PARAMETER, language.code());
    }
}

fn keep(language: Language) {
    storage::keep(KEY, &language.code());
}

fn liked() -> Language {
    let codes: Vec<String> =
        Array::from(&property(&window().navigator(), "languages")).iter().filter_map(|code| code.as_string()).collect();
    Language::liked(codes.iter().map(String::as_str))
}

/// Says in which language the page is, to who reads it out, translates or hyphenates it.
pub(crate) fn show_language(language: Language) {
    if let Some(root) = window().document().and_then(|document| document.document_element()) {
        drop(root.set_attribute("lang", language.code()));
    }
}

/// How the page stands that is about to be made anew: what is open in it, and how far it is scrolled.
pub(crate) struct Stance {
    open: Vec<bool>,
    scrolled: f64,
}

impl Stance {
    pub(crate) fn of_page() -> Self {
        let open = details().iter().map(|details| property(&details, "open").is_truthy()).collect();
        Self { open, scrolled: window().scroll_y().unwrap_or_default() }
    }

    /// Opens the same again, and gives the keyboard to the element that had it.
    pub(crate) fn take(&self, focused: &str) {
        for (details, open) in details().iter().zip(&self.open) {
            drop(js_sys::Reflect::set(&details, &"open".into(), &(*open).into()));
        }
        let element = window().document().and_then(|document| document.get_element_by_id(focused));
        if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            drop(element.focus());
        }
        window().scroll_to_with_x_and_y(0.0, self.scrolled);
    }
}

fn details() -> Array {
    let document: JsValue = window().document().into();
    let found = property(&document, "querySelectorAll").dyn_into().ok();
    let found = found.and_then(|find: Function| find.call1(&document, &"details".into()).ok());
    found.map(|list| Array::from(&list)).unwrap_or_default()
}
