//! Local storage of the page, as JSON. Everything also works in a browser that stores nothing.

use std::collections::BTreeMap;

use js_sys::Array;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use training_worker::property;
use wasm_bindgen::prelude::*;

use super::{document, parameter, put_in_address, window};
use crate::json;
use crate::own_runs::OwnRuns;
use crate::words::{PageLanguage, PlainText, messages};

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

pub(crate) fn kept<T: DeserializeOwned>(name: &str) -> Option<T> {
    json::parse(&storage()?.get_item(name).ok()??).ok()
}

/// Stores a value, and returns true if there was enough space.
pub(crate) fn keep(name: &str, value: &impl Serialize) -> bool {
    storage().is_some_and(|storage| storage.set_item(name, &json::compact(value)).is_ok())
}

pub(crate) fn forget(name: &str) {
    if let Some(storage) = storage() {
        drop(storage.remove_item(name));
    }
}

/// Name of the stored deletion secret of an upload. The page shows the deletion link, too.
pub(crate) fn secret_of(run_id: &str) -> String {
    format!("gradmark.deletion.{run_id}")
}

/// Tuning results for the next visit. They only apply to this browser version: another one compiles different kernels.
#[derive(Default, Serialize, Deserialize)]
struct KeptTuning {
    browser: String,
    kept: BTreeMap<String, String>,
}

const TUNING: &str = "gradmark.tuning";

pub(crate) fn keep_tuning(key: String, text: String) {
    let browser = window().navigator().user_agent().unwrap_or_default();
    let mut tuning = KeptTuning { browser, kept: kept_tuning() };
    tuning.kept.insert(key, text);
    // Without storage, the next visit tunes the kernels again.
    keep(TUNING, &tuning);
}

pub(crate) fn kept_tuning() -> BTreeMap<String, String> {
    let tuning: KeptTuning = kept(TUNING).unwrap_or_default();
    let is_this_browser = window().navigator().user_agent().is_ok_and(|browser| browser == tuning.browser);
    if is_this_browser { tuning.kept } else { BTreeMap::new() }
}

const RUNS_KEY: &str = "gradmark.runs";

pub(crate) fn own_runs() -> OwnRuns {
    kept(RUNS_KEY).unwrap_or_default()
}

/// Changes the stored runs, and returns them even if they cannot be stored. They are read again first, because another
/// tab may have changed them.
pub(crate) fn change_own_runs(change: impl FnOnce(&mut OwnRuns)) -> OwnRuns {
    let mut runs = own_runs();
    change(&mut runs);
    while !keep(RUNS_KEY, &runs) && runs.lighten() {}
    runs
}

pub(crate) const THEME_KEY: &str = "gradmark.theme";

/// Names and titles of the themes. The default is the system's.
pub(crate) const THEMES: [(&str, PlainText); 3] = [
    ("system", messages::common_colours_system),
    ("light", messages::common_colours_light),
    ("dark", messages::common_colours_dark),
];

pub(crate) fn theme() -> &'static str {
    let chosen = kept::<String>(THEME_KEY).unwrap_or_default();
    THEMES.iter().find(|(name, _)| *name == chosen).unwrap_or(&THEMES[0]).0
}

pub(crate) fn show_theme(theme: &str) {
    // The style sheet selects colors by this attribute; the system's have no selector. Setting it cannot fail.
    drop(document().document_element().map(|root| root.set_attribute("data-theme", theme)));
}

const LANGUAGE_KEY: &str = "gradmark.language";
const PARAMETER: &str = crate::options::LANGUAGE;

/// Language of the page: from the URL, else selected earlier, else preferred by the browser. A language in the URL is
/// stored, because links within the page do not carry it.
pub(crate) fn language() -> PageLanguage {
    if let Some(asked) = parameter(PARAMETER).and_then(|code| PageLanguage::of_code(&code)) {
        keep(LANGUAGE_KEY, &asked.name());
        return asked;
    }
    kept::<String>(LANGUAGE_KEY).and_then(|code| PageLanguage::of_code(&code)).unwrap_or_else(liked)
}

/// Stores the selected language, and updates the URL.
pub(crate) fn keep_language(language: PageLanguage) {
    keep(LANGUAGE_KEY, &language.name());
    if parameter(PARAMETER).is_some() {
        put_in_address(PARAMETER, language.name());
    }
}

fn liked() -> PageLanguage {
    let codes: Vec<String> =
        Array::from(&property(&window().navigator(), "languages")).iter().filter_map(|code| code.as_string()).collect();
    PageLanguage::liked(codes.iter().map(String::as_str))
}

/// Declares the language to screen readers, translators and hyphenation.
pub(crate) fn show_language(language: PageLanguage) {
    if let Some(root) = document().document_element() {
        drop(root.set_attribute("lang", language.name()));
    }
}

/// Returns a function that restores open details and the scroll position after the page is rendered again, and focuses
/// an element.
pub(crate) fn remember_view() -> impl FnOnce(&str) {
    let is_open = |details: JsValue| property(&details, "open").is_truthy();
    let (open, scrolled): (Vec<bool>, _) = (details().iter().map(is_open).collect(), window().scroll_y());
    move |focused| {
        for (details, open) in details().iter().zip(open) {
            drop(js_sys::Reflect::set(&details, &"open".into(), &open.into()));
        }
        let element = document().get_element_by_id(focused);
        if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            drop(element.focus());
        }
        window().scroll_to_with_x_and_y(0.0, scrolled.unwrap_or_default());
    }
}

fn details() -> Array {
    document().query_selector_all("details").map(|list| Array::from(&list)).unwrap_or_default()
}
