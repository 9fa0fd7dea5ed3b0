//! Where a stored run stands among proven ones.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::RunRecord;
use results::api::{RunStanding, Tier, Verdict, WorkloadStanding};

use super::distribution::RatesOfOthers;
use crate::platform::{self, Refusal};
use crate::{standing, t, text};

/// Asks again when the verdict changes: a run that has just been proven counts from then on.
#[component]
pub(super) fn Standing(run_id: String, record: RunRecord, verdict: RwSignal<Verdict>) -> impl IntoView {
    let loaded = RwSignal::new(None::<Result<RunStanding, Refusal>>);
    let proven = Memo::new(move |_| verdict.with(|verdict| verdict.tier == Tier::Proven && !verdict.being_verified));
    Effect::new(move |_| {
        // Read and not only tracked: who tracks what was never read is told of its first value as of a change.
        proven.get();
        let run_id = run_id.clone();
        spawn_local(async move {
            let answer = platform::standing(&run_id).await;
            // The page may show something else by now.
            drop(loaded.try_set(Some(answer)));
        });
    });
    let record = StoredValue::new(record);
    view! {
        <section class="standing" aria-labelledby="standing-title">
            <h3 id="standing-title">{t!(standing_title)}</h3>
            {move || match loaded.get() {
                None => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
                Some(Err(refusal)) => {
                    view! { <p class="refusal">{t!(standing_not_shown, reason = refusal.to_string())}</p> }.into_any()
                }
                Some(Ok(standing)) => {
                    let record = record.get_value();
                    let counts = proven.get() && record.is_standard() && !record.device.adapter.software;
                    view! { <Places standing record counts /> }.into_any()
                }
            }}
        </section>
    }
}

#[component]
fn Places(standing: RunStanding, record: RunRecord, counts: bool) -> impl IntoView {
    let RunStanding { device_key, score, score_reference, mut workloads } = standing;
    // As the rest of the page has them.
    workloads.sort_by_key(|line| record.workloads.iter().position(|workload| workload.workload == line.workload));
    let score = score.map(|score| {
        let reference = score_reference.map(|reference| t!(standing_reference, reference = reference));
        view! {
            <p data-figure="score">
                <strong>{t!(standing_score, score = text::score(score))}</strong>
                {format!(" {} {}", t!(standing_score_of), reference.unwrap_or_default())}
            </p>
        }
    });
    let lines: Vec<_> =
        workloads.into_iter().filter_map(|line| Some((standing::sentence(&line, counts)?, line))).collect();
    let compared = if lines.is_empty() {
        view! { <p>{nobody(&record)}</p> }.into_any()
    } else {
        let lines = lines.into_iter().map(|(sentence, line)| view! { <Line sentence line record=record.clone() /> });
        view! {
            <p class="note">
                {standing::counting(counts)}
                " "
                {t!(standing_kind)}
            </p>
            <ul class="places">{lines.collect_view()}</ul>
        }
        .into_any()
    };
    view! {
        {score}
        {compared}
        <p><a href=format!("/devices/{device_key}")>{t!(standing_all_of_device)}</a></p>
    }
}

fn nobody(record: &RunRecord) -> &'static str {
    if record.device.adapter.software { t!(standing_software) } else { t!(standing_nobody) }
}

/// A network, and what opens below it.
#[component]
fn Line(sentence: String, line: WorkloadStanding, record: RunRecord) -> impl IntoView {
    let workload = record.workloads.iter().find(|workload| workload.workload == line.workload);
    let query = workload.and_then(|workload| standing::distribution_query(&record, workload));
    let title = text::workload_title(&line.workload);
    view! {
        <li data-workload=line.workload.clone()>
            <strong>{title.clone()}</strong>
            <p>{sentence}</p>
            {query.map(|query| view! { <RatesOfOthers title query own=line.samples_per_second /> })}
        </li>
    }
}
