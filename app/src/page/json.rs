use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::platform;

/// A record's exact JSON, on request.
#[component]
pub(super) fn ExactJson(json: Signal<String>, file: String) -> impl IntoView {
    let said = RwSignal::new(String::new());
    let copy = move |_| {
        spawn_local(async move {
            said.set(match platform::copy(&json.get_untracked()).await {
                Ok(()) => "Copied.".to_owned(),
                Err(reason) => format!("Not copied: {reason}."),
            });
        });
    };
    let save = move |_| {
        if let Err(reason) = platform::download(&file, &json.get_untracked()) {
            said.set(format!("Not saved: {reason}."));
        }
    };
    view! {
        <details class="json">
            <summary>"Exact JSON"</summary>
            <div class="row">
                <button class="button small" type="button" on:click=copy>"Copy"</button>
                <button class="button small" type="button" on:click=save>"Download"</button>
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <pre tabindex="0" role="region" aria-label="Exact JSON"><code>{json}</code></pre>
        </details>
    }
}
