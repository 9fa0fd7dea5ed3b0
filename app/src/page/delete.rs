//! Deletes a result, or a comparison, after asking.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::language::kept;
use super::linked::{LINKS, linked};
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
fn Confirm(id: String, secret: String, thing: Thing) -> impl IntoView {
    let state = kept("deletion", || RwSignal::new(Deletion::Asking));
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
        Deletion::Going => t!(delete_deleting).to_owned(),
        Deletion::Done => thing.say(t!(delete_done), t!(comparison_deleted)).to_owned(),
        Deletion::Refused(reason) => t!(delete_refused, reason = reason),
    };
    view! {
        <section class="sheet narrow">
            <h1>{thing.say(t!(delete_title), t!(comparison_delete_title))}</h1>
            <Show when=move || !done.get()>
                <p>
                    {match thing {
                        Thing::Comparison => t!(comparison_delete_what).into_any(),
                        Thing::Run => {
                            let result = [(permalink.clone(), asked.clone())];
                            linked(&t!(delete_explanation, result = LINKS[0]), result).into_any()
                        }
                    }}
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
                        {thing.say(t!(result_delete), t!(comparison_delete))}
                    </button>
                </Show>
                <a class="button quiet" href="/#leaderboard">{t!(common_all_results)}</a>
            </div>
        </section>
    }
}
