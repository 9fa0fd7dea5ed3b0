//! The result of a run, its upload, and the runs that this browser keeps.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::RunRecord;
use results::api::AcceptedRun;
use results::open_data::LICENCE_ADDRESS;

use super::draw::draw_digit;
use super::language::kept;
use super::parts::{LINK, Sending, claimed_name, copy, exact_json, focus, go, linked, send, small_button, table};
use super::report::{caveats, overview, particulars};
use super::result::{share, verdict_on_run};
use super::state::StartState;
use super::write::{continue_text, to_pass_on};
use crate::backend::PageBackend;
use crate::benchmark::{FinishedRun, RunKind};
use crate::options::RunOptions;
use crate::own_runs::{OwnRun, Record, Took, UploadedRun};
use crate::words::{Said, outcome};
use crate::{json, platform, t, text};

pub(super) fn finished_run(state: StartState) -> impl IntoView {
    // A comparison is shown as a table instead.
    move || state.benchmark.finished.get().filter(FinishedRun::is_shown).map(|finished| finish(state, finished))
}

fn finish(state: StartState, finished: FinishedRun) -> impl IntoView {
    let heading = NodeRef::<html::H1>::new();
    // The Cancel button is gone; the keyboard goes on from the results.
    focus(heading, || true);
    let FinishedRun { record, kind } = finished;
    let bundle = state.benchmark.live.with_untracked(|live| live.bundle);
    let shown = record.clone();
    let file = format!("gradmark-{}.json", record.run_id.as_deref().unwrap_or("run"));
    // The displayed JSON is exactly what is uploaded, including the claimed name.
    let json = Memo::new(move |_| {
        let record = RunRecord { device: claimed(&record, &state.claimed.get()), ..record.clone() };
        json::pretty(&record)
    });
    // Stored once, even if the result is rendered again.
    let began = shown.provenance.started_unix_seconds;
    let key = kept(&format!("finished {began}"), || {
        let key = platform::random_word();
        if kind == RunKind::Benchmark {
            store_run(state, &key, &shown, json.get_untracked());
        }
        StoredValue::new(key)
    });
    let key = key.get_value();
    let adapter = shown.device.adapter.clone();
    let device = move || text::device_name(&adapter, Some(&state.claimed.get()));
    let title = view! {
        <h1 id="result-title" tabindex="-1" node_ref=heading>{t!(result_yours)}</h1>
        <p class="lead small">{device}</p>
    };
    view! {
        <section class="sheet finish" aria-labelledby="result-title">
            {overview(shown.clone(), title.into_any())}
            <div class="next">
            {match kind {
                RunKind::Benchmark if is_provable(&shown) => upload(state, json, key, &shown).into_any(),
                RunKind::Benchmark => view! { <p class="callout">{t!(result_not_provable)}</p> }.into_any(),
                _ => view! { <p class="callout">{t!(result_stays)}</p> }.into_any(),
            }}
            {draw_digit(state.benchmark)}
            {continue_text(state.benchmark.trained, shown.clone())}
            </div>
            {caveats(&shown, true, MAX_NOTES)}
            <details class="particulars">
                <summary>{t!(result_details)}</summary>
                {exact_json(json.into(), file)}
                {bundle.map(|bundle| view! { <p class="note" data-figure="bundle">{bundle.sentence()}</p> })}
                {(shown.warnings.len() >= MAX_NOTES).then(|| caveats(&shown, true, usize::MAX))}
                {particulars(shown)}
            </details>
        </section>
    }
}

/// Maximum number of notes above the details, which have all of them.
const MAX_NOTES: usize = 2;

fn store_run(state: StartState, key: &str, record: &RunRecord, json: String) {
    let run = OwnRun {
        key: key.to_owned(),
        unix_seconds: record.provenance.started_unix_seconds,
        device: Said::new(|| text::device_name(&record.device.adapter, record.device.claimed_name.as_deref())),
        sentence: Said::new(|| outcome::came_to(record)),
        uploaded: None,
        pace: state.options.with_untracked(|options| options.as_ref().map(RunOptions::pace).unwrap_or_default()),
        took: Took::of(record),
        record: is_provable(record).then(|| Record { run_id: record.run_id.clone(), json }),
    };
    state.own_runs.set(platform::change_own_runs(|runs| runs.note(run)));
}

fn is_provable(record: &RunRecord) -> bool {
    PageBackend::named(&record.device.backend).is_none_or(PageBackend::is_provable)
}

fn claimed(record: &RunRecord, name: &str) -> results::Device {
    let claimed_name = Some(name.trim().to_owned()).filter(|name| !name.is_empty() && !record.device.adapter.software);
    results::Device { claimed_name, ..record.device.clone() }
}

fn upload(state: StartState, json: Memo<String>, key: String, record: &RunRecord) -> impl IntoView + use<> {
    let (software, run_id, record) = (record.device.adapter.software, record.run_id.clone(), record.clone());
    let sending = kept(&format!("upload {key}"), || RwSignal::new(Sending::No));
    let (key, run_id) = (StoredValue::new(key), StoredValue::new(run_id));
    let upload = move || {
        send(sending, async move {
            let (key, run_id) = (key.get_value(), run_id.get_value());
            let accepted = platform::upload(run_id.as_deref(), &json.get_untracked(), &key).await;
            let accepted = accepted.map_err(|refusal| refusal.to_string())?;
            state.is_uploaded(&key, &accepted);
            Ok(accepted)
        });
    };
    let unregistered = move || run_id.with_value(Option::is_none).then_some(t!(upload_unregistered));
    move || match sending.get() {
        Sending::Done(accepted) => {
            let record = record.clone();
            accepted_run(accepted, move || to_pass_on(state.benchmark.trained, &record)).into_any()
        }
        now => {
            let busy = now == Sending::Now;
            let refusal = if let Sending::Refused(sentence) = now { Some(sentence) } else { None };
            let note = if busy { t!(common_uploading) } else { t!(upload_note) }.to_owned();
            let button = ["main", "upload-note", t!(common_upload)];
            view! {
                <section class="upload" aria-labelledby="upload-title">
                    <h2 class="minor" id="upload-title">{t!(upload_title)}</h2>
                    {unregistered().map(|sentence| view! { <p class="callout">{sentence}</p> })}
                    // A software adapter has no GPU for its owner to name.
                    {(!software).then(|| claimed_name(state.claimed))}
                    {go(NodeRef::new(), button, busy.into(), note.into(), upload)}
                    <p class="note">{linked(&t!(upload_open_data, licence = LINK), LICENCE_ADDRESS, "CC0")}</p>
                    <p class="refusal" role="alert">{refusal.map(|sentence| t!(upload_refused, reason = sentence))}</p>
                </section>
            }
            .into_any()
        }
    }
}

/// The links of an uploaded run. `text` returns the result in words, without its address.
fn accepted_run(accepted: AcceptedRun, text: impl Fn() -> String + Clone + Send + 'static) -> impl IntoView {
    let heading = NodeRef::<html::H2>::new();
    focus(heading, || true);
    let deletion = accepted.deletion_link.clone();
    let verdict = RwSignal::new(accepted.verdict.clone());
    let whole_link = format!("{}{deletion}", platform::origin());
    let said = RwSignal::new(String::new());
    view! {
        <section class="upload" aria-labelledby="upload-title">
            <h2 class="minor" id="upload-title" tabindex="-1" node_ref=heading>{t!(common_uploaded)}</h2>
            {verdict_on_run(accepted.run_id.clone(), verdict)}
            {share(&accepted.run_id, text)}
            <div class="row">
                <a class="button quiet" href=accepted.permalink>{t!(upload_permalink)}</a>
                <a class="button quiet" href=deletion>{t!(upload_deletion_link)}</a>
                {small_button(t!(common_copy), move || copy(whole_link.clone(), said))}
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <p class="note">{t!(upload_deletion_note)}</p>
        </section>
    }
}

pub(super) fn own_runs(state: StartState) -> impl IntoView {
    let runs = state.own_runs;
    let said = RwSignal::new(String::new());
    let any = Memo::new(move |_| runs.with(|runs| !runs.0.is_empty()));
    let heads = || [t!(leaderboard_runs), t!(common_leaderboard)].map(|title| view! { <th scope="col">{title}</th> });
    let row = move |run| own_run(state, said, run);
    view! {
        <Show when=move || any.get()>
            <section class="sheet" id="own-runs" aria-labelledby="own-runs-title">
                <h2 id="own-runs-title">{t!(upload_own_title)}</h2>
                <p class="note">{t!(upload_own_note)}</p>
                <p class="note" role="status">{said}</p>
                {table("", t!(upload_own_title), heads(), view! {
                    <tbody>
                        <For each=move || runs.get().0 key=|run| (run.key.clone(), run.uploaded.clone()) let:run>
                            {row(run)}
                        </For>
                    </tbody>
                })}
            </section>
        </Show>
    }
}

fn own_run(state: StartState, said: RwSignal<String>, run: OwnRun) -> impl IntoView {
    let OwnRun { key, unix_seconds, device, sentence, uploaded, record, .. } = run;
    let forgotten = key.clone();
    let forget =
        move || state.own_runs.set(platform::change_own_runs(|runs| runs.0.retain(|run| run.key != forgotten)));
    let place = match (uploaded, record) {
        (Some(UploadedRun { run_id, deletion_link }), _) => view! {
            <a href=format!("/runs/{run_id}")>{t!(upload_result)}</a>
            " · "
            <a href=deletion_link>{t!(result_delete)}</a>
        }
        .into_any(),
        (None, Some(record)) => {
            let upload = move || {
                let (key, record) = (key.clone(), record.clone());
                said.set(t!(common_uploading).to_owned());
                spawn_local(async move {
                    match platform::upload(record.run_id.as_deref(), &record.json, &key).await {
                        Ok(accepted) => {
                            said.set(t!(common_uploaded).to_owned());
                            state.is_uploaded(&key, &accepted);
                        }
                        Err(refusal) => said.set(t!(upload_refused, reason = refusal.to_string())),
                    }
                });
            };
            small_button(t!(upload_now), upload).into_any()
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
                    {small_button(t!(upload_forget), forget)}
                </div>
            </td>
        </tr>
    }
}
