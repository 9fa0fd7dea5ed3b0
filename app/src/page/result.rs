//! The page of one stored result.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::Outcome;
use results::api::{StoredRun, Verdict};

use super::compare_with::CompareWith;
use super::json::ExactJson;
use super::language::kept;
use super::report::{Overview, Particulars};
use super::share::{PassOn, Share};
use super::side_by_side::Compared;
use super::standing::Standing;
use super::verdict::VerdictOnRun;
use crate::platform::{self, Refusal};
use crate::t;
use crate::text;

#[component]
pub(super) fn ResultPage(run_id: String) -> impl IntoView {
    let own = platform::kept_secret(&run_id);
    let id = run_id.clone();
    let loaded = kept("result", || {
        let loaded = RwSignal::new(None::<Result<StoredRun, Refusal>>);
        spawn_local(async move { loaded.set(Some(platform::stored(&id).await)) });
        loaded
    });
    move || match loaded.get() {
        None => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
        Some(Err(refusal)) => view! {
            <section class="sheet narrow">
                <h1>{t!(result_not_shown)}</h1>
                <p>{format!("{refusal}")}</p>
                <p><a class="button quiet" href="/">{t!(common_to_start)}</a></p>
            </section>
        }
        .into_any(),
        Some(Ok(run)) => {
            let deletion = own.as_ref().map(|secret| format!("/runs/{run_id}/delete#{secret}"));
            view! { <Stored run deletion /> }.into_any()
        }
    }
}

#[component]
fn Stored(run: StoredRun, deletion: Option<String>) -> impl IntoView {
    let json = serde_json::to_string_pretty(&run.record).expect("every record can be written as JSON");
    let listed = (!run.listed.is_empty()).then(|| view! { <p class="note">{t!(result_as_listed)}</p> });
    let run = run.into_listed();
    let record = run.record;
    let completed = record.workloads.iter().find(|workload| workload.outcome == Outcome::Completed);
    let network = completed.map(|workload| workload.workload.clone());
    let verdict = RwSignal::new(Verdict { tier: run.tier, notes: run.notes, being_verified: run.being_verified });
    let name = text::device_name(&record.device.adapter, record.device.claimed_name.as_deref());
    let client = &record.provenance.client;
    let software = record.device.adapter.software.then_some(t!(result_software_note));
    platform::set_title(&t!(result_title_of, device = name));
    let permalink = format!("{}/runs/{}", platform::origin(), run.run_id);
    view! {
        <section class="sheet">
            <h1>{name}</h1>
            <p class="lead small">
                {t!(
                    result_uploaded_on,
                    client = format!("{} {}", client.name, client.version),
                    system = client.operating_system,
                    day = text::day(run.submitted_unix_seconds)
                )}
                " "
                {software}
            </p>
            <VerdictOnRun run_id=run.run_id.clone() shown=verdict />
            <h2>{t!(result_came_to)}</h2>
            {listed}
            <Overview record=record.clone() />
            <PassOn text=text::to_pass_on(&record, &permalink) address=permalink />
            <Standing run_id=run.run_id.clone() record=record.clone() verdict />
            <Particulars record />
            <ExactJson json=Signal::stored(json) file=format!("gradmark-{}.json", run.run_id) />
            <CompareWith own=run.run_id.clone() kind=Compared::Runs network />
            <Share run_id=run.run_id.clone() />
            <div class="row">
                <a class="button quiet" href="/#leaderboard">{t!(common_all_results)}</a>
                {deletion.map(|address| view! { <a class="button quiet" href=address>{t!(result_delete)}</a> })}
            </div>
        </section>
    }
}
