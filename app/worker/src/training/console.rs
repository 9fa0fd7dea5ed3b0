//! Errors that a library logs instead of returning them.

use log::{LevelFilter, Log, Metadata, Record};
use wasm_bindgen::JsValue;

struct Console;

impl Log for Console {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        web_sys::console::error_1(&JsValue::from_str(&record.args().to_string()));
    }

    fn flush(&self) {}
}

/// Shows errors in the browser's console. In a browser, Burn cannot wait for the compiler of its kernels: it logs those
/// that are refused and goes on without them, and the comparison with the reference then fails.
pub(super) fn start() {
    // Nobody else has set a logger in this module.
    if log::set_logger(&Console).is_ok() {
        log::set_max_level(LevelFilter::Error);
    }
}
