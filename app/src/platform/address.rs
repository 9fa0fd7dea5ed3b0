//! The page's address: where it is, and what it asks for.

use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use super::window;
use crate::filters::Filters;
use crate::options::RunOptions;

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

/// The options of a run that the address sets.
pub(crate) fn options_in_address() -> Result<RunOptions, String> {
    let pairs = pairs(RunOptions::NAMES);
    RunOptions::from_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())))
}

/// What of the leaderboard the address asks to see.
pub(crate) fn filters_in_address() -> Filters {
    let pairs = pairs(Filters::names());
    Filters::from_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())))
}

/// Says in the address what is seen of the leaderboard, so that it can be passed on and comes back with the Back button.
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
    let address = format!("{}{query}#leaderboard", path());
    // Browsers refuse this only where it comes very often; the next choice says all of it again.
    drop(window().history().and_then(|history| history.replace_state_with_url(&JsValue::NULL, "", Some(&address))));
}

fn parameters() -> Option<UrlSearchParams> {
    UrlSearchParams::new_with_str(&window().location().search().ok()?).ok()
}

/// Those parameters of the address that have one of these names.
fn pairs(names: impl IntoIterator<Item = &'static str>) -> Vec<(&'static str, String)> {
    let Some(parameters) = parameters() else { return Vec::new() };
    names.into_iter().filter_map(|name| Some((name, parameters.get(name)?))).collect()
}
