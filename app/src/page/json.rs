use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::platform;
use crate::t;

/// A record's exact JSON, on request.
#[component]
pub(super) fn ExactJson(json: Signal<String>, file: String) -> impl IntoView {
    let said = RwSignal::new(String::new());
    let copy = move |_| {
        spawn_local(async move {
            said.set(match platform::copy(&json.get_untracked()).await {
                Ok(()) => t!(common_copied).to_owned(),
                Err(reason) => t!(common_not_copied, reason = reason),
            });
        });
    };
    let save = move |_| {
        if let Err(reason) = platform::download(&file, &json.get_untracked()) {
            said.set(t!(common_not_saved, reason = reason));
        }
    };
    view! {
        <details class="json">
            <summary>{t!(result_json)}</summary>
            <div class="row">
                <button class="button small" type="button" on:click=copy>{t!(common_copy)}</button>
                <button class="button small" type="button" on:click=save>{t!(common_download)}</button>
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <pre tabindex="0" role="region" aria-label=t!(result_json)><code>{json}</code></pre>
        </details>
    }
}
