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

/// Shows the place of the page that the address names, if it is there.
pub(crate) fn go_to_fragment() {
    let place = window().document().and_then(|document| document.get_element_by_id(&fragment()));
    if let Some(place) = place {
        place.scroll_into_view();
    }
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

/// Names in the address that mean nothing here.
pub(crate) fn unknown_in_address() -> Vec<String> {
    let search = window().location().search().unwrap_or_default();
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    let names: Vec<String> =
        search.trim_start_matches('?').split('&').map(name).filter(|name| !name.is_empty()).collect();
    RunOptions::unknown(names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}

/// The value of a parameter of the address, decoded.
pub(crate) fn parameter(name: &str) -> Option<String> {
    parameters()?.get(name)
}

/// Gives a parameter of the address another value, without leaving the page.
pub(crate) fn put_in_address(name: &str, value: &str) {
    let Some(parameters) = parameters() else { return };
    parameters.set(name, value);
    let fragment = window().location().hash().unwrap_or_default();
    replace(&format!("{}?{}{fragment}", path(), String::from(parameters.to_string())));
}

/// Goes to another page of this server.
pub(crate) fn go_to(address: &str) {
    // A browser that refuses stays where it is.
    drop(window().location().set_href(address));
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
    replace(&format!("{}{query}#leaderboard", path()));
}

/// Browsers refuse this only where it comes very often; the next choice says all of it again.
fn replace(address: &str) {
    drop(window().history().and_then(|history| history.replace_state_with_url(&JsValue::NULL, "", Some(address))));
}

fn parameters() -> Option<UrlSearchParams> {
    UrlSearchParams::new_with_str(&window().location().search().ok()?).ok()
}

/// Parameters of the address that have one of these names, as often as they are given.
fn pairs(names: impl IntoIterator<Item = &'static str>) -> Vec<(&'static str, String)> {
    let Some(parameters) = parameters() else { return Vec::new() };
    let values = |name| -> Vec<_> {
        parameters.get_all(name).iter().filter_map(|value| Some((name, value.as_string()?))).collect()
    };
    names.into_iter().flat_map(values).collect()
}
