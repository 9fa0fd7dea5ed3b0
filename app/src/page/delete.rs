//! Deletes a result or a comparison, after confirmation.

use leptos::prelude::*;

use super::language::kept;
use super::parts::{LINK, Sending, linked, notice, send};
use crate::route::{LEADERBOARD, StoredKind};
use crate::{platform, t};

pub(super) fn delete_page(id: String, kind: StoredKind) -> impl IntoView {
    let secret = platform::fragment();
    if secret.is_empty() {
        let why = t!(delete_incomplete_why).to_owned();
        return notice(t!(delete_incomplete), why, LEADERBOARD, t!(common_all_results));
    }
    confirm(id, secret, kind).into_any()
}

fn confirm(id: String, secret: String, kind: StoredKind) -> impl IntoView {
    let (title, deleted) = match kind {
        StoredKind::Comparison => (t!(comparison_delete), t!(comparison_deleted)),
        _ => (t!(result_delete), t!(delete_done)),
    };
    let state = kept("deletion", || RwSignal::new(Sending::No));
    let permalink = format!("/runs/{id}");
    let asked = id.clone();
    let delete = move |_| {
        let (id, secret) = (id.clone(), secret.clone());
        send(state, async move {
            let address = format!("/api/v1/{}/{id}", kind.name());
            platform::delete(&address, &secret).await.map_err(|refusal| refusal.to_string())?;
            platform::forget(&platform::secret_of(&id));
            platform::change_own_runs(|runs| runs.deleted(&id));
            Ok(())
        });
    };
    let done = Memo::new(move |_| state.get() == Sending::Done(()));
    let sentence = move || match state.get() {
        Sending::No => String::new(),
        Sending::Now => t!(delete_deleting).to_owned(),
        Sending::Done(()) => deleted.to_owned(),
        Sending::Refused(reason) => t!(delete_refused, reason),
    };
    view! {
        <section class="sheet narrow">
            <h1>{title}</h1>
            <Show when=move || !done.get()>
                <p>
                    {match kind {
                        StoredKind::Comparison => t!(comparison_delete_what).into_any(),
                        _ => linked(&t!(delete_explanation, result = LINK), &permalink, &asked).into_any(),
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
                        {title}
                    </button>
                </Show>
                <a class="button quiet" href=LEADERBOARD>{t!(common_all_results)}</a>
            </div>
        </section>
    }
}
