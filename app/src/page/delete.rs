//! Deletes a result, after asking.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::platform;

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
                <h1>"This link is not complete"</h1>
                <p>
                    "A deletion link ends in # and a secret, which was shown once, when the result was uploaded. Without \
                     it a result cannot be deleted here."
                </p>
            </section>
        }
        .into_any(),
    }
}

#[component]
fn Confirm(run_id: String, secret: String) -> impl IntoView {
    let state = RwSignal::new(Deletion::Asking);
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
        Deletion::Going => "Deleting …".to_owned(),
        Deletion::Done => "The result is deleted.".to_owned(),
        Deletion::Refused(reason) => format!("Not deleted: {reason}"),
    };
    view! {
        <section class="sheet narrow">
            <h1>"Delete a result"</h1>
            <Show when=move || !done.get()>
                <p>
                    "This removes result "
                    <a href=permalink.clone()>{asked.clone()}</a>
                    " from the leaderboard and from the open data. It cannot be undone. Files of earlier days, which some leaderboards \
                     offer, have it for at most a week, and copies that others have made are theirs."
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
                        "Delete this result"
                    </button>
                </Show>
                <a class="button quiet" href="/#leaderboard">"All results"</a>
            </div>
        </section>
    }
}
