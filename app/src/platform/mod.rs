//! What the browser offers, wrapped so that the rest of the page reads like ordinary Rust.

mod files;
mod gpu;
mod leaderboard;
mod power;
mod screen;
mod worker;

pub(crate) use files::{copy, download, forget_secret, keep_secret, keep_tuning, kept_secret, kept_tuning};
pub(crate) use gpu::{Gpu, probe};
pub(crate) use leaderboard::{Refusal, burn, data_sets, delete, list, register, standings, stored, upload, verdict};
pub(crate) use power::{PressureWatch, on_battery};
pub(crate) use screen::{HiddenTimer, WakeLock};
pub(crate) use worker::{TrainingWorker, worker_loader};

use js_sys::Reflect;
use wasm_bindgen::prelude::*;
use web_sys::{UrlSearchParams, Window};

use crate::browser::Browser;
use crate::options::RunOptions;

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

/// What a JavaScript error says.
fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.message()),
        None => format!("{error:?}"),
    }
}

pub(crate) fn path() -> String {
    window().location().pathname().unwrap_or_default()
}

/// The address's fragment without its `#`.
pub(crate) fn fragment() -> String {
    window().location().hash().unwrap_or_default().trim_start_matches('#').to_owned()
}

/// The address of this server, such as `http://127.0.0.1:8080`.
pub(crate) fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// The options that the page's address sets.
pub(crate) fn options_in_address() -> Result<RunOptions, String> {
    let query = window().location().search().unwrap_or_default();
    let Ok(parameters) = UrlSearchParams::new_with_str(&query) else { return Ok(RunOptions::default()) };
    let pairs: Vec<(&str, String)> =
        RunOptions::NAMES.into_iter().filter_map(|name| Some((name, parameters.get(name)?))).collect();
    RunOptions::from_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())))
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

/// Seconds since 1970 UTC.
pub(crate) fn unix_seconds() -> f64 {
    js_sys::Date::now() / 1e3
}

/// A seed for a run that the leaderboard gave none.
pub(crate) fn random_seed() -> u32 {
    let mut bytes = [0; 4];
    let crypto = window().crypto().expect("every browser with WebAssembly has a source of randomness");
    crypto.get_random_values_with_u8_array(&mut bytes).expect("four bytes are never refused");
    u32::from_le_bytes(bytes)
}
