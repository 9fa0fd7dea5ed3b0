//! A few exclusive buttons that look like one.

use leptos::prelude::*;

/// One of `options` is chosen; `name` tells the group of buttons from others on the page.
pub(super) fn choice<T: Copy + PartialEq + Send + Sync + 'static>(
    legend: &'static str,
    name: &'static str,
    options: Vec<(T, &'static str)>,
    chosen: RwSignal<T>,
) -> impl IntoView {
    let button = move |(value, title): (T, &'static str)| {
        view! {
            <label>
                <input type="radio" name=name prop:checked=move || chosen.get() == value
                    on:change=move |_| chosen.set(value) />
                <span>{title}</span>
            </label>
        }
    };
    view! {
        <fieldset class="choice">
            <legend>{legend}</legend>
            {options.into_iter().map(button).collect_view()}
        </fieldset>
    }
}
