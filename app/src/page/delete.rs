//! Deletes a result or a comparison, after confirmation.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::language::kept;
use super::parts::{LINK, Sending, linked};
use crate::route::LEADERBOARD;
use crate::{platform, t};

/// Kind of thing to delete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Run,
    Comparison,
}

impl Thing {
    const fn say(self, of_run: &'static str, of_comparison: &'static str) -> &'static str {
        match self {
            Self::Run => of_run,
            Self::Comparison => of_comparison,
        }
    }

    const fn address(self) -> &'static str {
        self.say("/api/v1/runs", "/api/v1/comparisons")
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
                <p>{t!(delete_incomplete_why)}</p>
            </section>
        }
        .into_any(),
    }
}

#[component]
fn Confirm(id: String, secret: String, thing: Thing) -> impl IntoView {
    let state = kept("deletion", || RwSignal::new(Sending::No));
    let permalink = format!("/runs/{id}");
    let asked = id.clone();
    let delete = move |_| {
        let (id, secret) = (id.clone(), secret.clone());
        state.set(Sending::Now);
        spawn_local(async move {
            state.set(match platform::delete(&format!("{}/{id}", thing.address()), &secret).await {
                Ok(()) => {
                    platform::forget_secret(&id);
                    platform::change_own_runs(|runs| runs.deleted(&id));
                    Sending::Done(())
                }
                Err(refusal) => Sending::Refused(refusal.to_string()),
            });
        });
    };
    let done = Memo::new(move |_| state.get() == Sending::Done(()));
    let sentence = move || match state.get() {
        Sending::No => String::new(),
        Sending::Now => t!(delete_deleting).to_owned(),
        Sending::Done(()) => thing.say(t!(delete_done), t!(comparison_deleted)).to_owned(),
        Sending::Refused(reason) => t!(delete_refused, reason = reason),
    };
    view! {
        <section class="sheet narrow">
            <h1>{thing.say(t!(result_delete), t!(comparison_delete))}</h1>
            <Show when=move || !done.get()>
                <p>
                    {match thing {
                        Thing::Comparison => t!(comparison_delete_what).into_any(),
                        Thing::Run => {
                            linked(&t!(delete_explanation, result = LINK), &permalink, &asked).into_any()
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
                        disabled=move || state.get() == Sending::Now
                        on:click=delete.clone()
                    >
                        {thing.say(t!(result_delete), t!(comparison_delete))}
                    </button>
                </Show>
                <a class="button quiet" href=LEADERBOARD>{t!(common_all_results)}</a>
            </div>
        </section>
    }
}
