//! The little that the page keeps in this browser, as JSON. A browser that keeps nothing is no error: everything works
//! without.

use std::collections::BTreeMap;

use gloo_storage::{LocalStorage, Storage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::window;

/// Whether this browser keeps anything for this page. Those that block cookies refuse the very question, on which
/// `gloo_storage` would end the page.
fn keeps_something() -> bool {
    matches!(window().local_storage(), Ok(Some(_)))
}

/// What was kept under a name; nothing where it cannot be read.
pub(super) fn kept<T: DeserializeOwned>(name: &str) -> Option<T> {
    if keeps_something() { LocalStorage::get(name).ok() } else { None }
}

/// Keeps a value under a name. Whether there was room for it.
pub(super) fn keep(name: &str, value: &impl Serialize) -> bool {
    keeps_something() && LocalStorage::set(name, value).is_ok()
}

fn forget(name: &str) {
    if keeps_something() {
        LocalStorage::delete(name);
    }
}

/// Remembers how a result can be deleted. Where nothing is kept, the page shows the deletion link as well.
pub(crate) fn keep_secret(run_id: &str, secret: &str) {
    keep(&secret_of(run_id), &secret);
}

/// The deletion secret of a result that was uploaded from this browser.
pub(crate) fn kept_secret(run_id: &str) -> Option<String> {
    kept(&secret_of(run_id))
}

pub(crate) fn forget_secret(run_id: &str) {
    forget(&secret_of(run_id));
}

fn secret_of(run_id: &str) -> String {
    format!("gradmark.deletion.{run_id}")
}

/// What workers want to be kept for the next visit, in this browser and this version of it: another one compiles other
/// kernels.
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
    // A browser that keeps nothing times the kernels again.
    keep(TUNING, &tuning);
}

pub(crate) fn kept_tuning() -> BTreeMap<String, String> {
    let tuning: KeptTuning = kept(TUNING).unwrap_or_default();
    let is_this_browser = window().navigator().user_agent().is_ok_and(|browser| browser == tuning.browser);
    if is_this_browser { tuning.kept } else { BTreeMap::new() }
}
