//! The button that a page is about, with what is to be known before it is pressed.

use leptos::html;
use leptos::prelude::*;

#[component]
pub(super) fn Go<R, N>(
    button: NodeRef<html::Button>,
    /// Of the note, which describes the button.
    note_id: &'static str,
    label: &'static str,
    /// Why it cannot be pressed now.
    reason: R,
    /// What is said where it can be.
    note: N,
    go: impl Fn() + 'static,
) -> impl IntoView
where
    R: Fn() -> Option<String> + Copy + Send + Sync + 'static,
    N: Fn() -> String + Copy + Send + Sync + 'static,
{
    view! {
        <div class="go">
            <button
                class="button main"
                type="button"
                node_ref=button
                disabled=move || reason().is_some()
                aria-describedby=note_id
                on:click=move |_| go()
            >
                {label}
            </button>
            <p class="note" id=note_id>{move || reason().unwrap_or_else(note)}</p>
        </div>
    }
}
