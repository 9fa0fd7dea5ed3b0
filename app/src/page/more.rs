//! More rows of a table, for those who ask.

use crate::t;
use leptos::prelude::*;

/// More than this no answer of the leaderboard has; whoever wants all takes the open data.
pub(super) const MOST_ROWS: u32 = 500;
/// How many more at a time.
const STEP: u32 = 100;

/// The button stands beside what is loaded and not in it, so that it keeps the keyboard's place.
#[component]
pub(super) fn ShowMore(#[prop(into)] more: Signal<bool>, limit: RwSignal<u32>) -> impl IntoView {
    let ask = move |_| limit.update(|limit| *limit = (*limit + STEP).min(MOST_ROWS));
    view! {
        <Show when=move || more.get()>
            <div class="row">
                <button class="button quiet" type="button" on:click=ask>{t!(common_show_more)}</button>
            </div>
        </Show>
    }
}
