//! A run in progress, its result, its upload, and the runs that this browser keeps.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::RunRecord;
use results::api::{AcceptedRun, Verdict};
use results::open_data::LICENCE_ADDRESS;

use super::chart::{AccuracyChart, LossChart, RateChart};
use super::language::kept;
use super::parts::{ExactJson, LINK, PassOn, Sending, copy, focus, linked};
use super::report::{Overview, Particulars};
use super::result::VerdictOnRun;
use super::start::ClaimedName;
use super::state::StartState;
use crate::backend::PageBackend;
use crate::benchmark::{Benchmark, Finished, RunKind, Stage};
use crate::live::{Example, Examples, LiveWorkload};
use crate::options::RunOptions;
use crate::own_runs::{OwnRun, Record, Took, Uploaded};
use crate::words::Said;
use crate::words::remarks::Reader;
use crate::{platform, t, text};

#[component]
pub(super) fn Running(benchmark: Benchmark) -> impl IntoView {
    let live = benchmark.live;
    let cancel = NodeRef::<html::Button>::new();
    // The button that started the run is gone; the keyboard goes to the one that took its place.
    focus(cancel, || true);
    let percent = Memo::new(move |_| live.with(|live| (live.fraction() * 1000.0).floor() / 10.0));
    let workload = Memo::new(move |_| live.with(|live| live.workload.clone()));
    let bundle = Memo::new(move |_| live.with(|live| live.bundle));
    let title =
        move || workload.get().map_or_else(|| t!(running_getting_ready).to_owned(), |workload| workload.title());
    let left = Memo::new(move |_| benchmark.seconds_left().map(|left| t!(running_left, time = text::about(left))));
    let rates = Signal::derive(move || workload.get().map(|w| w.rates).unwrap_or_default());
    let training = Signal::derive(move || workload.get().map(|w| w.training).unwrap_or_default());
    let tests = Signal::derive(move || workload.get().map(|w| w.tests).unwrap_or_default());
    let target = Signal::derive(move || workload.get().map(|w| w.target_accuracy));
    let published = Memo::new(move |_| workload.with(|w| w.as_ref().and_then(LiveWorkload::published)));
    let citation = Memo::new(move |_| published.with(|of| of.as_ref().map(|of| of.learning.sentence())));
    let examples = Memo::new(move |_| workload.with(|w| w.as_ref().and_then(|w| w.examples.clone())));
    let answers = Memo::new(move |_| workload.with(|w| w.as_ref().map(|w| w.answers.clone()).unwrap_or_default()));
    view! {
        <section class="sheet run" aria-label=t!(running_progress)>
            <div class="run-head">
                <h2>{title}</h2>
                <button
                    class="button quiet"
                    type="button"
                    node_ref=cancel
                    disabled=move || benchmark.stage.get() == Stage::Cancelling
                    on:click=move |_| benchmark.cancel()
                >
                    {t!(common_cancel)}
                </button>
            </div>
            <div class="bar-line">
                <div
                    class="bar"
                    role="progressbar"
                    aria-label=t!(running_progress)
                    aria-valuemin="0"
                    aria-valuemax="100"
                    aria-valuenow=move || percent.get().to_string()
                >
                    <div class="bar-fill" style:width=move || format!("{}%", percent.get())></div>
                </div>
                <span class="bar-text" aria-hidden="true">{move || format!("{:.0} %", percent.get())}</span>
                <span class="bar-left" data-figure="left">{left}</span>
            </div>
            {move || bundle.get().map(|bundle| view! { <p class="note" data-figure="bundle">{bundle.sentence()}</p> })}
            <dl class="figures">
                {figure("samples-per-second", t!(common_rate), workload, |w| w.samples_per_second, text::rate)}
                {figure("loss", t!(running_loss), workload, LiveWorkload::loss, |loss| text::number(loss, 4))}
                {figure(
                    "training-accuracy",
                    t!(running_training_accuracy),
                    workload,
                    LiveWorkload::training_accuracy,
                    text::percent,
                )}
                {figure("test-accuracy", t!(metric_accuracy), workload, LiveWorkload::test_accuracy, text::percent)}
                {figure(
                    "step",
                    t!(running_step),
                    workload,
                    |w| (w.step > 0).then_some(w.step as f64),
                    |step| text::number(step, 0),
                )}
                {figure(
                    "epochs",
                    t!(running_epochs),
                    workload,
                    |w| (w.step > 0).then_some(w.epochs),
                    |epochs| text::number(epochs, 2),
                )}
            </dl>
            {move || examples.get().map(|examples| view! { <ExampleStrip examples answers /> })}
            <div class="charts">
                <LossChart training />
                <AccuracyChart training tests target published />
                <RateChart rates />
            </div>
            {move || citation.get().map(|sentence| view! { <p class="note" data-figure="published">{sentence}</p> })}
        </section>
    }
}

/// One number that changes during the run; `data-value` has it unrounded.
fn figure(
    name: &'static str,
    title: &'static str,
    workload: Memo<Option<LiveWorkload>>,
    value: fn(&LiveWorkload) -> Option<f64>,
    text: fn(f64) -> String,
) -> impl IntoView {
    let value = move || workload.with(|workload| workload.as_ref().and_then(value));
    view! {
        <div class="figure">
            <dt>{title}</dt>
            <dd data-figure=name data-value=move || value().map(|value| value.to_string())>
                {move || value().map_or_else(|| "–".to_owned(), text)}
            </dd>
        </div>
    }
}

/// Test images with the network's answers. Not a live region, because it changes all the time.
#[component]
fn ExampleStrip(examples: Arc<Examples>, #[prop(into)] answers: Signal<Vec<u16>>) -> impl IntoView {
    let addresses: Vec<String> = examples.bitmaps().map(|bitmap| platform::data_address("image/bmp", bitmap)).collect();
    let answered = Memo::new(move |_| answers.with(|answers| examples.answered(answers)));
    let image = |(place, address): (usize, String)| {
        let example = move || answered.with(|answered: &Vec<Option<Example>>| answered.get(place).cloned().flatten());
        let is_right = move || example().map(|example| example.is_right);
        let mark = move || match is_right() {
            Some(true) => "✓",
            Some(false) => "✗",
            None => "",
        };
        let answer = move || example().map(|example| example.answer);
        let words = move || example().map(|example| example.words).unwrap_or_default();
        view! {
            <li class:right=move || is_right() == Some(true) class:wrong=move || is_right() == Some(false)>
                <img src=address alt=words width="48" height="48" />
                <span aria-hidden="true"><b>{mark}</b>" "{answer}</span>
            </li>
        }
    };
    view! {
        <section class="examples" aria-labelledby="examples">
            <h3 id="examples">{t!(running_examples)}</h3>
            <ul>{addresses.into_iter().enumerate().map(image).collect_view()}</ul>
        </section>
    }
}

#[component]
pub(super) fn FinishedRun(state: StartState) -> impl IntoView {
    // A comparison is shown as a table instead.
    let shown = move || state.benchmark.finished.get().filter(|f| !matches!(f.kind, RunKind::Comparison { .. }));
    move || shown().map(|finished| view! { <Finish state finished /> })
}

#[component]
fn Finish(state: StartState, finished: Finished) -> impl IntoView {
    let heading = NodeRef::<html::H2>::new();
    // The Cancel button is gone; the keyboard goes on from the results.
    focus(heading, || true);
    let Finished { record, kind, bundle } = finished;
    let shown = record.clone();
    let run_id = record.run_id.clone();
    let file = format!("gradmark-{}.json", run_id.as_deref().unwrap_or("run"));
    // The JSON that is shown is the one that is uploaded, with the claimed name.
    let json = Memo::new(move |_| {
        let record = RunRecord { device: claimed(&record, &state.claimed.get()), ..record.clone() };
        serde_json::to_string_pretty(&record).expect("every record can be written as JSON")
    });
    // Noted once, however often it is shown.
    let began = shown.provenance.started_unix_seconds;
    let key = kept(&format!("finished {began}"), || {
        let key = platform::random_word();
        if kind == RunKind::Benchmark {
            note(state, &key, &shown, json.get_untracked());
        }
        StoredValue::new(key)
    });
    let key = key.get_value();
    let copied = text::to_pass_on(&shown, &format!("{}/", platform::origin()));
    view! {
        <section class="sheet" aria-labelledby="result-title">
            <h2 id="result-title" tabindex="-1" node_ref=heading>
                {t!(result_yours)}
            </h2>
            <Overview record=shown.clone() reader=Reader::Runner />
            {(kind == RunKind::Benchmark).then(|| view! { <PassOn text=copied address=format!("{}/", platform::origin()) /> })}
            {bundle.map(|bundle| view! { <p class="note" data-figure="bundle">{bundle.sentence()}</p> })}
            {match kind {
                RunKind::Benchmark if !is_provable(&shown) => {
                    view! { <p class="callout">{t!(result_not_provable)}</p> }.into_any()
                }
                RunKind::Benchmark => view! { <Upload state run_id json key software=shown.device.adapter.software /> }.into_any(),
                RunKind::Demonstration | RunKind::Comparison { .. } => {
                    view! { <p class="callout">{t!(result_stays)}</p> }.into_any()
                }
            }}
            <ExactJson json=json.into() file />
            <Particulars record=shown />
        </section>
    }
}

/// Stores a run in this browser, with its record if it may be uploaded.
fn note(state: StartState, key: &str, record: &RunRecord, json: String) {
    let run = OwnRun {
        key: key.to_owned(),
        unix_seconds: record.provenance.started_unix_seconds,
        device: Said::new(|| text::device_name(&record.device.adapter, record.device.claimed_name.as_deref())),
        sentence: Said::new(|| text::came_to(record)),
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

#[component]
fn Upload(state: StartState, run_id: Option<String>, json: Memo<String>, key: String, software: bool) -> impl IntoView {
    let sending = kept(&format!("upload {key}"), || RwSignal::new(Sending::No));
    let idempotency_key = StoredValue::new(key);
    move || match sending.get() {
        Sending::Done(accepted) => view! { <Accepted accepted /> }.into_any(),
        now => view! { <Offer state run_id=run_id.clone() json idempotency_key sending now software /> }.into_any(),
    }
}

#[component]
fn Offer(
    state: StartState,
    run_id: Option<String>,
    json: Memo<String>,
    idempotency_key: StoredValue<String>,
    sending: RwSignal<Sending<AcceptedRun>>,
    now: Sending<AcceptedRun>,
    software: bool,
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
            // A software adapter is no GPU that its owner could name.
            {(!software).then(|| view! { <ClaimedName claimed=state.claimed /> })}
            <div class="go">
                <button class="button main" type="button" disabled=busy aria-describedby="upload-note" on:click=send>
                    {t!(common_upload)}
                </button>
                <p class="note" id="upload-note">{if busy { t!(common_uploading) } else { t!(upload_note) }}</p>
            </div>
            <p class="note">{linked(&t!(upload_open_data, licence = LINK), LICENCE_ADDRESS, "CC0")}</p>
            <p class="refusal" role="alert">{refusal.map(|sentence| t!(upload_refused, reason = sentence))}</p>
        </section>
    }
}

#[component]
fn Accepted(accepted: AcceptedRun) -> impl IntoView {
    let heading = NodeRef::<html::H3>::new();
    focus(heading, || true);
    let deletion = accepted.deletion_link.clone();
    let AcceptedRun { tier, notes, being_verified, .. } = accepted.clone();
    let verdict = RwSignal::new(Verdict { tier, notes, being_verified });
    let whole_link = format!("{}{deletion}", platform::origin());
    let said = RwSignal::new(String::new());
    view! {
        <section class="upload" aria-labelledby="upload-title">
            <h3 id="upload-title" tabindex="-1" node_ref=heading>{t!(common_uploaded)}</h3>
            <VerdictOnRun run_id=accepted.run_id.clone() shown=verdict />
            <div class="row">
                <a class="button main" href=accepted.permalink>{t!(upload_permalink)}</a>
                <a class="button quiet" href=deletion>{t!(upload_deletion_link)}</a>
                <button class="button small" type="button" on:click=move |_| copy(whole_link.clone(), said)>
                    {t!(common_copy)}
                </button>
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <p class="note">{t!(upload_deletion_note)}</p>
        </section>
    }
}

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
                                <th scope="col">{t!(leaderboard_runs)}</th>
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
            <a href=deletion_link>{t!(result_delete)}</a>
        }
        .into_any(),
        (None, Some(record)) => {
            let upload = move |_| {
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
