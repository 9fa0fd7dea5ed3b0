//! A finished run: its report, its data, and its upload to the leaderboard.

use leptos::html;
use leptos::prelude::*;
use results::RunRecord;

use super::json::ExactJson;
use super::language::kept;
use super::report::{Overview, Particulars};
use super::share::PassOn;
use super::state::StartState;
use super::upload::Upload;
use crate::backend::PageBackend;
use crate::benchmark::{Finished, Kind};
use crate::options::RunOptions;
use crate::own_runs::{OwnRun, Record, Took};
use crate::words::Said;
use crate::{platform, t, text};

#[component]
pub(super) fn FinishedRun(state: StartState) -> impl IntoView {
    // A comparison is shown as a table instead.
    let shown = move || state.benchmark.finished.get().filter(|f| !matches!(f.kind, Kind::Comparison { .. }));
    move || shown().map(|finished| view! { <Finish state finished /> })
}

#[component]
fn Finish(state: StartState, finished: Finished) -> impl IntoView {
    let heading = NodeRef::<html::H2>::new();
    // The Cancel button is gone; the keyboard goes on from the results.
    Effect::new(move |_| {
        if let Some(heading) = heading.get() {
            drop(heading.focus());
        }
    });
    let Finished { record, kind, bundle } = finished;
    let shown = record.clone();
    let run_id = record.run_id.clone();
    let file = format!("gradmark-{}.json", run_id.as_deref().unwrap_or("run"));
    // What is shown as the exact JSON is what is sent, the claimed name included.
    let json = Memo::new(move |_| {
        let record = RunRecord { device: claimed(&record, &state.claimed.get()), ..record.clone() };
        serde_json::to_string_pretty(&record).expect("every record can be written as JSON")
    });
    // Noted once, however often it is shown.
    let began = shown.provenance.started_unix_seconds;
    let key = kept(&format!("finished {began}"), || {
        let key = platform::random_word();
        if kind == Kind::Benchmark {
            note(state, &key, &shown, json.get_untracked());
        }
        StoredValue::new(key)
    });
    let key = key.get_value();
    let copied = text::to_pass_on(&shown, &format!("{}/", platform::origin()));
    view! {
        <section class="sheet" aria-labelledby="result-title">
            <h2 id="result-title" tabindex="-1" node_ref=heading>
                {if kind == Kind::Demonstration { t!(result_demonstration) } else { t!(result_yours) }}
            </h2>
            <Overview record=shown.clone() />
            {(kind == Kind::Benchmark).then(|| view! { <PassOn text=copied address=format!("{}/", platform::origin()) /> })}
            {bundle.map(|bundle| view! { <p class="note" data-figure="bundle">{bundle.sentence()}</p> })}
            {match kind {
                Kind::Benchmark if !is_provable(&shown) => {
                    view! { <p class="callout">{t!(result_not_provable)}</p> }.into_any()
                }
                Kind::Benchmark => view! { <Upload state run_id json key /> }.into_any(),
                Kind::Demonstration | Kind::Comparison { .. } => {
                    view! { <p class="callout">{t!(result_stays)}</p> }.into_any()
                }
            }}
            <ExactJson json=json.into() file />
            <Particulars record=shown />
        </section>
    }
}

/// Keeps a run in this browser; what may be uploaded with its record, for when that does not work now.
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
    let claimed_name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    results::Device { claimed_name, ..record.device.clone() }
}
