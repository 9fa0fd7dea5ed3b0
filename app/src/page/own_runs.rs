//! The runs that this browser keeps.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::state::StartState;
use crate::own_runs::{OwnRun, Uploaded};
use crate::{platform, t, text};

/// Nothing where there are none.
#[component]
pub(super) fn OwnRuns(state: StartState) -> impl IntoView {
    let runs = state.own_runs;
    let said = RwSignal::new(String::new());
    let any = Memo::new(move |_| runs.with(|runs| !runs.all().is_empty()));
    view! {
        <Show when=move || any.get()>
            <section class="sheet" id="own-runs" aria-labelledby="own-runs-title">
                <h2 id="own-runs-title">{t!(upload_own_title)}</h2>
                <p class="note">{t!(upload_own_note)}</p>
                <p class="note" role="status">{said}</p>
                <div class="scroll" role="region" aria-label=t!(common_scrollable, what = t!(upload_own_title)) tabindex="0">
                    <table aria-label=t!(upload_own_title)>
                        <thead>
                            <tr>
                                <th scope="col">{t!(upload_came_to)}</th>
                                <th scope="col">{t!(common_leaderboard)}</th>
                            </tr>
                        </thead>
                        <tbody>
                            <For each=move || runs.get().all().to_vec() key=|run| (run.key.clone(), run.uploaded.clone()) let:run>
                                <Row state said run />
                            </For>
                        </tbody>
                    </table>
                </div>
            </section>
        </Show>
    }
}

#[component]
fn Row(state: StartState, said: RwSignal<String>, run: OwnRun) -> impl IntoView {
    let OwnRun { key, unix_seconds, device, sentence, uploaded, record, .. } = run;
    let forgotten = key.clone();
    let forget = move |_| state.own_runs.set(platform::change_own_runs(|runs| runs.forget(&forgotten)));
    let place = match (uploaded, record) {
        (Some(Uploaded { run_id, deletion_link }), _) => view! {
            <a href=format!("/runs/{run_id}")>{t!(upload_result)}</a>
            " · "
            <a href=deletion_link>{t!(upload_delete_there)}</a>
        }
        .into_any(),
        (None, Some(record)) => {
            let upload = move |_| {
                let (key, record) = (key.clone(), record.clone());
                said.set(t!(common_uploading).to_owned());
                spawn_local(async move {
                    match platform::upload(record.run_id.as_deref(), &record.json, &key).await {
                        Ok(accepted) => {
                            said.set(t!(upload_done).to_owned());
                            state.is_uploaded(&key, &accepted);
                        }
                        Err(refusal) => said.set(t!(upload_not_uploaded, reason = refusal.to_string())),
                    }
                });
            };
            view! { <button class="button small" type="button" on:click=upload>{t!(upload_now)}</button> }.into_any()
        }
        (None, None) => view! { <span class="explain">{t!(upload_no_record)}</span> }.into_any(),
    };
    view! {
        <tr>
            <th scope="row">
                {device.text().to_owned()}
                <span class="explain">{text::day(unix_seconds)}</span>
                <span class="explain">{sentence.text().to_owned()}</span>
            </th>
            <td>
                <div class="row">
                    {place}
                    <button class="button small" type="button" on:click=forget>{t!(upload_forget)}</button>
                </div>
            </td>
        </tr>
    }
}
