//! What the owner says the GPU is.

use crate::t;
use leptos::prelude::*;

/// Browsers mask the GPU's name, so its owner may say it.
#[component]
pub(super) fn ClaimedName(claimed: RwSignal<String>) -> impl IntoView {
    view! {
        <label class="claim">
            <span>{t!(start_claim)}</span>
            <input
                type="text"
                maxlength="80"
                autocomplete="off"
                spellcheck="false"
                placeholder=t!(start_claim_example)
                prop:value=move || claimed.get()
                on:input=move |event| {
                    // Copied text often brings invisible characters, which a leaderboard refuses.
                    claimed.set(event_target_value(&event).chars().filter(|c| results::is_plain(*c)).collect());
                }
            />
        </label>
    }
}
