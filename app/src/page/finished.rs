//! A run that came to its end: its report, its data, and its way to the leaderboard.

use leptos::html;
use leptos::prelude::*;
use results::RunRecord;

use super::report::Report;
use super::start::StartState;
use super::upload::Upload;
use crate::benchmark::{Finished, Kind};

#[component]
pub(super) fn FinishedRun(state: StartState) -> impl IntoView {
    move || state.benchmark.finished.get().map(|finished| view! { <Finish state finished /> })
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
    let Finished { record, kind } = finished;
    let shown = record.clone();
    // What is shown as the exact JSON is what is sent, the claimed name included.
    let record = Memo::new(move |_| RunRecord { device: claimed(&record, &state.claimed.get()), ..record.clone() });
    let json = Memo::new(move |_| {
        record.with(|record| serde_json::to_string_pretty(record).expect("every record can be written as JSON"))
    });
    view! {
        <section class="sheet" aria-labelledby="result-title">
            <h2 id="result-title" tabindex="-1" node_ref=heading>
                {if kind == Kind::Demonstration { "Demonstration on the processor" } else { "Your result" }}
            </h2>
            <Report record=shown json=json.into() />
            {match kind {
                Kind::Benchmark => view! { <Upload state record json /> }.into_any(),
                Kind::Demonstration => {
                    view! { <p class="callout">"A demonstration stays on this page; it is not uploaded."</p> }.into_any()
                }
            }}
        </section>
    }
}

fn claimed(record: &RunRecord, name: &str) -> results::Device {
    let claimed_name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    results::Device { claimed_name, ..record.device.clone() }
}
