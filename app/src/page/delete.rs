//! Deletes a result or a comparison, after confirmation.

use leptos::prelude::*;

use super::language::kept;
use super::parts::{LINK, Sending, linked, send};
use crate::route::{LEADERBOARD, Thing};
use crate::{platform, t};

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

pub(super) fn delete_page(id: String, thing: Thing) -> impl IntoView {
    let secret = Some(platform::fragment()).filter(|secret| !secret.is_empty());
    match secret {
        Some(secret) => confirm(id, secret, thing).into_any(),
        None => view! {
            <section class="sheet narrow">
                <h1>{t!(delete_incomplete)}</h1>
                <p>{t!(delete_incomplete_why)}</p>
            </section>
        }
        .into_any(),
    }
}

fn confirm(id: String, secret: String, thing: Thing) -> impl IntoView {
    let state = kept("deletion", || RwSignal::new(Sending::No));
    let permalink = format!("/runs/{id}");
    let asked = id.clone();
    let delete = move |_| {
        let (id, secret) = (id.clone(), secret.clone());
        send(state, async move {
            let address = format!("{}/{id}", thing.address());
            platform::delete(&address, &secret).await.map_err(|refusal| refusal.to_string())?;
            platform::forget_secret(&id);
            platform::change_own_runs(|runs| runs.deleted(&id));
            Ok(())
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
