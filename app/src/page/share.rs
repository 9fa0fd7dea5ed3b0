//! How to show a result elsewhere.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::platform;
use crate::t;

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
                    Ok(()) => t!(common_copied).to_owned(),
                    Err(reason) => t!(common_not_copied, reason = reason),
                });
            });
        }
    };
    let (copy_card, copy_badge) = (copy(card.clone()), copy(badge.clone()));
    view! {
        <div class="row">
            <a href=card>{t!(result_picture)}</a>
            <button class="button small" type="button" on:click=copy_card>{t!(result_copy_picture)}</button>
            <a href=badge>{t!(result_badge)}</a>
            <button class="button small" type="button" on:click=copy_badge>{t!(result_copy_badge)}</button>
            <span class="note" aria-live="polite">{said}</span>
        </div>
    }
}

/// A result in words, with an address: copied, or given to the system where it passes things on.
#[component]
pub(super) fn PassOn(text: String, address: String) -> impl IntoView {
    let said = RwSignal::new(String::new());
    let text = StoredValue::new(text);
    let copy = move |_| {
        spawn_local(async move {
            said.set(match platform::copy(&text.get_value()).await {
                Ok(()) => t!(common_copied).to_owned(),
                Err(reason) => t!(common_not_copied, reason = reason),
            });
        });
    };
    let share = platform::can_share().then(|| {
        let share = move |_| {
            let address = address.clone();
            spawn_local(async move {
                // The address goes by itself.
                let text = text.get_value().trim_end_matches(address.as_str()).trim_end().to_owned();
                if let Err(reason) = platform::share(&text, &address).await {
                    said.set(t!(result_not_shared, reason = reason));
                }
            });
        };
        view! { <button class="button small" type="button" on:click=share>{t!(result_share)}</button> }
    });
    view! {
        <div class="row">
            <button class="button small" type="button" on:click=copy>{t!(result_copy)}</button>
            {share}
            <span class="note" aria-live="polite">{said}</span>
        </div>
    }
}
