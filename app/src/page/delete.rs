//! Deletes a result, after asking.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::language::kept;
use super::linked::{LINKS, linked};
use crate::platform;
use crate::t;

#[derive(Clone, PartialEq)]
enum Deletion {
    Asking,
    Going,
    Done,
    Refused(String),
}

#[component]
pub(super) fn DeletePage(run_id: String) -> impl IntoView {
    let secret = Some(platform::fragment()).filter(|secret| !secret.is_empty());
    match secret {
        Some(secret) => view! { <Confirm run_id secret /> }.into_any(),
        None => view! {
            <section class="sheet narrow">
                <h1>{t!(delete_incomplete)}</h1>
                <p>
                    {t!(delete_incomplete_why)}
                </p>
            </section>
        }
        .into_any(),
    }
}

#[component]
fn Confirm(run_id: String, secret: String) -> impl IntoView {
    let state = kept("deletion", || RwSignal::new(Deletion::Asking));
    let permalink = format!("/runs/{run_id}");
    let asked = run_id.clone();
    let delete = move |_| {
        let (run_id, secret) = (run_id.clone(), secret.clone());
        state.set(Deletion::Going);
        spawn_local(async move {
            state.set(match platform::delete(&run_id, &secret).await {
                Ok(()) => {
                    platform::forget_secret(&run_id);
                    platform::change_own_runs(|runs| runs.deleted(&run_id));
                    Deletion::Done
                }
                Err(refusal) => Deletion::Refused(refusal.to_string()),
            });
        });
    };
    let done = Memo::new(move |_| state.get() == Deletion::Done);
    let sentence = move || match state.get() {
        Deletion::Asking => String::new(),
        Deletion::Going => t!(delete_deleting).to_owned(),
        Deletion::Done => t!(delete_done).to_owned(),
        Deletion::Refused(reason) => t!(delete_refused, reason = reason),
    };
    view! {
        <section class="sheet narrow">
            <h1>{t!(delete_title)}</h1>
            <Show when=move || !done.get()>
                <p>
                    {linked(&t!(delete_explanation, result = LINKS[0]), [(permalink.clone(), asked.clone())])}
                </p>
            </Show>
            <p role="status" aria-live="polite" class="status">{sentence}</p>
            <div class="row">
                <Show when=move || !done.get()>
                    <button
                        class="button danger"
                        type="button"
                        disabled=move || state.get() == Deletion::Going
                        on:click=delete.clone()
                    >
                        {t!(result_delete)}
                    </button>
                </Show>
                <a class="button quiet" href="/#leaderboard">{t!(common_all_results)}</a>
            </div>
        </section>
    }
}
