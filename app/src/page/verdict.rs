//! How far a result is to be trusted, and why; it may change while the leaderboard still computes.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{Tier, Verdict};

use super::linked::{LINKS, linked};
use crate::platform;
use crate::t;
use crate::text;
use crate::words;

/// A verification takes seconds where no other run waits for one.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// A page that is left open does not ask for ever.
const QUESTIONS: u32 = 300;

#[component]
pub(super) fn VerdictOnRun(run_id: String, shown: RwSignal<Verdict>) -> impl IntoView {
    if shown.with_untracked(|verdict| verdict.being_verified) {
        ask_later(run_id, shown, QUESTIONS);
    }
    view! {
        <div aria-live="polite">
            {move || {
                let Verdict { tier, notes, being_verified } = shown.get();
                let (name, word, meaning) = if being_verified {
                    ("being verified", t!(tier_verifying), t!(tier_verifying_meaning))
                } else {
                    (tier.name(), text::tier(tier), text::tier_meaning(tier))
                };
                view! {
                    <p>
                        <span class="tier" data-tier=name>{word}</span>
                        " "
                        {meaning}
                    </p>
                    {(!notes.is_empty()).then(|| view! {
                        <ul class="plain">{notes.into_iter().map(note).collect_view()}</ul>
                    })}
                    {(tier == Tier::Flagged).then(|| view! {
                        <p class="note">{linked(
                            &t!(tier_log, log = LINKS[0]),
                            [("/moderation".to_owned(), t!(tier_log_link).to_owned())],
                        )}</p>
                    })}
                }
            }}
        </div>
    }
}

/// In the server's words, which are English, where it is none of the usual ones.
fn note(sentence: String) -> impl IntoView {
    match words::note::note(&sentence) {
        Some(known) => view! { <li>{known}</li> }.into_any(),
        None => view! { <li lang="en">{sentence}</li> }.into_any(),
    }
}

fn ask_later(run_id: String, shown: RwSignal<Verdict>, questions: u32) {
    let ask = move || {
        spawn_local(async move {
            // A question without an answer is asked again.
            if let Ok(verdict) = platform::verdict(&run_id).await {
                let done = !verdict.being_verified;
                // The page may show something else by now.
                let gone = shown.try_set(verdict).is_some();
                if done || gone {
                    return;
                }
            }
            if questions > 0 {
                ask_later(run_id, shown, questions - 1);
            }
        });
    };
    set_timeout(ask, ASK_EVERY);
}
