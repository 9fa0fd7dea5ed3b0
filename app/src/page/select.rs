//! A list to choose one from.

use leptos::prelude::*;

/// One of `options` is chosen.
pub(super) fn select<T: Copy + PartialEq + Send + Sync + 'static>(
    label: &'static str,
    options: Vec<(T, String)>,
    chosen: RwSignal<T>,
) -> impl IntoView {
    let values: Vec<T> = options.iter().map(|(value, _)| *value).collect();
    let now = chosen.get_untracked();
    let options = options.into_iter().enumerate().map(|(number, (value, title))| {
        view! { <option value=number.to_string() selected=value == now>{title}</option> }
    });
    let choose = move |event| {
        let number: Option<usize> = event_target_value(&event).parse().ok();
        if let Some(value) = number.and_then(|number| values.get(number)) {
            chosen.set(*value);
        }
    };
    view! {
        <label class="select">
            <span>{label}</span>
            <select on:change=choose>{options.collect_view()}</select>
        </label>
    }
}
