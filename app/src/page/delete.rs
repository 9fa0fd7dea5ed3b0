//! Deletes a result, or a comparison, after asking.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::platform::{self, Refusal};
use crate::t;

#[derive(Clone, PartialEq)]
enum Deletion {
    Asking,
    Going,
    Done,
    Refused(String),
}

/// What is deleted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Run,
    Comparison,
}

impl Thing {
    fn say(self, of_run: &'static str, of_comparison: &'static str) -> &'static str {
        match self {
            Self::Run => of_run,
            Self::Comparison => of_comparison,
        }
    }

    async fn delete(self, id: &str, secret: &str) -> Result<(), Refusal> {
        match self {
            Self::Run => platform::delete(id, secret).await,
            Self::Comparison => platform::delete_comparison(id, secret).await,
        }
    }
}

#[component]
pub(super) fn DeletePage(id: String, thing: Thing) -> impl IntoView {
    let secret = Some(platform::fragment()).filter(|secret| !secret.is_empty());
    match secret {
        Some(secret) => view! { <Confirm id secret thing /> }.into_any(),
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
fn Confirm(id: String, secret: String, thing: Thing) -> impl IntoView {
    let state = RwSignal::new(Deletion::Asking);
    let permalink = format!("/runs/{id}");
    let asked = id.clone();
    let delete = move |_| {
        let (id, secret) = (id.clone(), secret.clone());
        state.set(Deletion::Going);
        spawn_local(async move {
            state.set(match thing.delete(&id, &secret).await {
                Ok(()) => {
                    platform::forget_secret(&id);
                    platform::change_own_runs(|runs| runs.deleted(&id));
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
        Deletion::Done => thing.say("The result is deleted.", t!(comparison_deleted)).to_owned(),
        Deletion::Refused(reason) => format!("Not deleted: {reason}"),
    };
    view! {
        <section class="sheet narrow">
            <h1>{thing.say("Delete a result", t!(comparison_delete_title))}</h1>
            <Show when=move || !done.get()>
                {match thing {
                    Thing::Comparison => view! { <p>{t!(comparison_delete_what)}</p> }.into_any(),
                    Thing::Run => view! {
                <p>
                    "This removes result "
                    <a href=permalink.clone()>{asked.clone()}</a>
                    " from the leaderboard and from the open data. It cannot be undone. Files of earlier days, which some leaderboards \
                     offer, have it for at most a week, and copies that others have made are theirs."
                </p>
                    }
                    .into_any(),
                }}
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
                        {thing.say("Delete this result", t!(comparison_delete))}
                    </button>
                </Show>
                <a class="button quiet" href="/#leaderboard">"All results"</a>
            </div>
        </section>
    }
}
