//! Chooses the columns of the table of runs.

use leptos::prelude::*;

use crate::filters::columns::{Column, Columns};
use crate::t;

#[component]
pub(super) fn ColumnChoice(chosen: RwSignal<Columns>) -> impl IntoView {
    // Whoever followed a link sees what it chose.
    let open = chosen.get_untracked() != Columns::default();
    let one = move |(place, column): (usize, Column)| {
        view! {
            <label class="tick">
                <input
                    type="checkbox"
                    prop:checked=move || chosen.get().has(place)
                    on:change=move |_| chosen.update(|columns| columns.toggle(place))
                />
                <span>{column.title()}</span>
            </label>
        }
    };
    view! {
        <details class="more-filters" open=open>
            <summary>{t!(columns_title)}</summary>
            <fieldset class="ticks">
                <legend>{t!(columns_legend)}</legend>
                {Column::all().enumerate().map(one).collect_view()}
            </fieldset>
        </details>
    }
}
