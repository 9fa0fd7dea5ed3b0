//! Uploads a comparison, so that it has a page of its own.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{AcceptedComparison, SharedComparison};

use crate::page::comparing::Comparing;
use crate::{platform, t, words};

#[derive(Clone, PartialEq)]
enum Sharing {
    No,
    Now,
    Done(AcceptedComparison),
    Refused(String),
}

#[component]
pub(super) fn ShareComparison(comparing: Comparing) -> impl IntoView {
    let sharing = RwSignal::new(Sharing::No);
    // The same for every try, so that an answer that was lost leaves no second comparison behind.
    let key = StoredValue::new(platform::random_word());
    let share = move |_| {
        // Readers of all languages open it.
        let refused = untrack(|| words::in_english(|| comparing.refused()));
        let shared = SharedComparison { records: comparing.records.get_untracked(), refused };
        let text = serde_json::to_string(&shared).expect("every comparison can be written as JSON");
        sharing.set(Sharing::Now);
        spawn_local(async move {
            sharing.set(match platform::share_comparison(&text, &key.get_value()).await {
                Ok(accepted) => {
                    platform::keep_secret(&accepted.comparison_id, &accepted.deletion_secret);
                    Sharing::Done(accepted)
                }
                Err(refusal) => Sharing::Refused(t!(comparison_not_shared, reason = refusal.to_string())),
            });
        });
    };
    view! {
        <section class="upload" aria-labelledby="share-title">
            <h3 id="share-title">{t!(comparison_share_title)}</h3>
            {move || match sharing.get() {
                Sharing::Done(accepted) => view! { <Shared accepted /> }.into_any(),
                now => {
                    let busy = now == Sharing::Now;
                    let refused = if let Sharing::Refused(sentence) = now { sentence } else { String::new() };
                    view! {
                        <div class="go">
                            <button
                                class="button quiet"
                                type="button"
                                disabled=busy
                                aria-describedby="share-note"
                                on:click=share
                            >
                                {if busy { t!(common_uploading) } else { t!(comparison_share) }}
                            </button>
                            <p class="note" id="share-note">{t!(comparison_share_note)}</p>
                        </div>
                        <p class="refusal" role="alert">{refused}</p>
                    }
                    .into_any()
                }
            }}
        </section>
    }
}

#[component]
fn Shared(accepted: AcceptedComparison) -> impl IntoView {
    view! {
        <p role="status">{t!(comparison_shared)}</p>
        <div class="row">
            <a class="button main" href=accepted.permalink>{t!(comparison_permalink)}</a>
            <a class="button quiet" href=accepted.deletion_link>{t!(comparison_deletion)}</a>
        </div>
        <p class="note">{t!(comparison_deletion_note)}</p>
    }
}
