//! How to show a result elsewhere.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::platform;

/// The pictures of a result, with addresses to copy.
#[component]
pub(super) fn Share(run_id: String) -> impl IntoView {
    let said = RwSignal::new(String::new());
    let address = |file: &str| format!("/api/v1/runs/{run_id}/{file}");
    let (card, badge) = (address("card.png"), address("badge.svg"));
    let copy = |path: String| {
        move |_| {
            let whole = format!("{}{path}", platform::origin());
            spawn_local(async move {
                said.set(match platform::copy(&whole).await {
                    Ok(()) => "Copied.".to_owned(),
                    Err(reason) => format!("Not copied: {reason}."),
                });
            });
        }
    };
    let (copy_card, copy_badge) = (copy(card.clone()), copy(badge.clone()));
    view! {
        <div class="row">
            <a href=card>"Picture of this result"</a>
            <button class="button small" type="button" on:click=copy_card>"Copy the picture's address"</button>
            <a href=badge>"Badge"</a>
            <button class="button small" type="button" on:click=copy_badge>"Copy the badge's address"</button>
            <span class="note" aria-live="polite">{said}</span>
        </div>
    }
}
