//! What the browser offers, wrapped so that the rest of the page reads like ordinary Rust.

mod address;
mod automation;
mod files;
mod gpu;
mod language;
mod leaderboard;
mod own_runs;
mod power;
mod screen;
mod share;
mod storage;
mod theme;
mod turn;
mod worker;

pub(crate) use address::{
    filters_in_address, fragment, go_to, go_to_fragment, keep_filters, options_in_address, origin, parameter, path,
    put_in_address, unknown_in_address,
};
pub(crate) use automation::{Automation, TaskState, Told};
pub(crate) use files::{copy, download, download_as, files_of, keep_page, texts_of};
pub(crate) use gpu::{Gpu, probe};
pub(crate) use language::{Stance, keep_language, language, show_language};
pub(crate) use leaderboard::{
    Refusal, burn, comparing, comparison, data_sets, delete, delete_comparison, device, distribution, document,
    frameworks, history, list, moderation, register, share_comparison, standing, standings, stored, upload, verdict,
};
pub(crate) use own_runs::{change_own_runs, own_runs};
pub(crate) use power::{PressureWatch, on_battery};
pub(crate) use screen::{HiddenTimer, LeavePrompt, WakeLock};
pub(crate) use share::{can_share, share};
pub(crate) use storage::{forget_secret, keep_secret, keep_tuning, kept_secret, kept_tuning};
pub(crate) use theme::{Theme, keep_theme, show_theme, theme};
pub(crate) use turn::Turn;
pub(crate) use worker::{Loaders, TrainingWorker, worker_loader};

use js_sys::Reflect;
use wasm_bindgen::prelude::*;
use web_sys::Window;

use crate::browser::Browser;

pub(crate) fn window() -> Window {
    web_sys::window().expect("the page runs in a window")
}

/// Property `name` of a JavaScript object; undefined where it has none.
fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

/// Calls the method `name` with one argument and gives its promise, where there is one.
fn promise_of(object: &JsValue, name: &str, argument: &JsValue) -> Option<js_sys::Promise> {
    let method: js_sys::Function = property(object, name).dyn_into().ok()?;
    method.call1(object, argument).ok()?.dyn_into().ok()
}

/// The content of the page's `<meta>` of this name.
fn meta(name: &str) -> Option<String> {
    let meta = window().document()?.query_selector(&format!("meta[name={name}]")).ok()??;
    meta.get_attribute("content")
}

/// What a JavaScript error says.
fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.message()),
        None => format!("{error:?}"),
    }
}

/// Names the page in the browser's tab and history.
pub(crate) fn set_title(title: &str) {
    set_whole_title(&format!("{title} – Gradmark"));
}

/// The same, without the name of this page's whole.
pub(crate) fn set_whole_title(title: &str) {
    if let Some(document) = window().document() {
        document.set_title(title);
    }
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

/// Whether the browser gives this page its finer clock.
pub(crate) fn is_isolated() -> bool {
    property(&window(), "crossOriginIsolated").is_truthy()
}

/// An address that holds what it leads to: a file of this kind with these bytes.
pub(crate) fn data_address(kind: &str, bytes: &[u8]) -> String {
    // `btoa` reads one byte in each letter.
    let letters: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let content = window().btoa(&letters).expect("no letter is beyond a byte");
    format!("data:{kind};base64,{content}")
}

/// Seconds since 1970 UTC.
pub(crate) fn unix_seconds() -> f64 {
    js_sys::Date::now() / 1e3
}

/// A seed for a run that the leaderboard gave none.
pub(crate) fn random_seed() -> u32 {
    u32::from_le_bytes(random_bytes())
}

/// A word that nobody can guess.
pub(crate) fn random_word() -> String {
    random_bytes::<32>().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let crypto = window().crypto().expect("every browser with WebAssembly has a source of randomness");
    crypto.get_random_values_with_u8_array(&mut bytes).expect("so few bytes are never refused");
    bytes
}
