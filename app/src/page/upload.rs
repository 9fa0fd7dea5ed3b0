//! Uploading a result to the leaderboard.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{AcceptedRun, Verdict};
use results::open_data::LICENCE_ADDRESS;

use super::claimed_name::ClaimedName;
use super::language::kept;
use super::linked::{LINKS, linked};
use super::state::StartState;
use super::verdict::VerdictOnRun;
use crate::platform;
use crate::t;

#[derive(Clone, PartialEq)]
enum Sending {
    No,
    Now,
    Done(AcceptedRun),
    Refused(String),
}

#[component]
pub(super) fn Upload(
    state: StartState,
    run_id: Option<String>,
    json: Memo<String>,
    /// Of the run in this browser.
    key: String,
) -> impl IntoView {
    let sending = kept(&format!("upload {key}"), || RwSignal::new(Sending::No));
    let idempotency_key = StoredValue::new(key);
    move || match sending.get() {
        Sending::Done(accepted) => view! { <Accepted accepted /> }.into_any(),
        now => view! { <Offer state run_id=run_id.clone() json idempotency_key sending now /> }.into_any(),
    }
}

#[component]
fn Offer(
    state: StartState,
    run_id: Option<String>,
    json: Memo<String>,
    idempotency_key: StoredValue<String>,
    sending: RwSignal<Sending>,
    now: Sending,
) -> impl IntoView {
    let busy = now == Sending::Now;
    let unregistered = run_id.is_none().then_some(t!(upload_unregistered));
    let refusal = if let Sending::Refused(sentence) = now { Some(sentence) } else { None };
    let send = move |_| {
        let run_id = run_id.clone();
        sending.set(Sending::Now);
        spawn_local(async move {
            sending.set(
                match platform::upload(run_id.as_deref(), &json.get_untracked(), &idempotency_key.get_value()).await {
                    Ok(accepted) => {
                        state.is_uploaded(&idempotency_key.get_value(), &accepted);
                        Sending::Done(accepted)
                    }
                    Err(refusal) => Sending::Refused(refusal.to_string()),
                },
            );
        });
    };
    view! {
        <section class="upload" aria-labelledby="upload-title">
            <h3 id="upload-title">{t!(upload_title)}</h3>
            {unregistered.map(|sentence| view! { <p class="callout">{sentence}</p> })}
            <ClaimedName claimed=state.claimed />
            <div class="go">
                <button class="button main" type="button" disabled=busy aria-describedby="upload-note" on:click=send>
                    {t!(common_upload)}
                </button>
                <p class="note" id="upload-note">
                    {if busy { t!(common_uploading) } else { t!(upload_note) }}
                </p>
            </div>
            <p class="note">
                {linked(&t!(upload_open_data, licence = LINKS[0]), [(LICENCE_ADDRESS.to_owned(), "CC0".to_owned())])}
            </p>
            <p class="refusal" role="alert">
                {refusal.map(|sentence| t!(upload_refused, reason = sentence))}
            </p>
        </section>
    }
}

#[component]
fn Accepted(accepted: AcceptedRun) -> impl IntoView {
    let heading = NodeRef::<html::H3>::new();
    Effect::new(move |_| {
        if let Some(heading) = heading.get() {
            drop(heading.focus());
        }
    });
    let deletion = accepted.deletion_link.clone();
    let AcceptedRun { tier, notes, being_verified, .. } = accepted.clone();
    let verdict = RwSignal::new(Verdict { tier, notes, being_verified });
    let whole_link = format!("{}{deletion}", platform::origin());
    let said = RwSignal::new(String::new());
    let copy = move |_| {
        let link = whole_link.clone();
        spawn_local(async move {
            said.set(match platform::copy(&link).await {
                Ok(()) => t!(common_copied).to_owned(),
                Err(reason) => t!(common_not_copied, reason = reason),
            });
        });
    };
    view! {
        <section class="upload" aria-labelledby="upload-title">
            <h3 id="upload-title" tabindex="-1" node_ref=heading>{t!(common_uploaded)}</h3>
            <VerdictOnRun run_id=accepted.run_id.clone() shown=verdict />
            <div class="row">
                <a class="button main" href=accepted.permalink>{t!(upload_permalink)}</a>
                <a class="button quiet" href=deletion>{t!(upload_deletion_link)}</a>
                <button class="button small" type="button" on:click=copy>{t!(upload_copy_deletion_link)}</button>
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <p class="note">
                {t!(upload_deletion_note)}
            </p>
        </section>
    }
}
