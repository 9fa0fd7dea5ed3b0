//! The page of a comparison of back ends that somebody shared: the tables that they saw.

use leptos::prelude::*;
use leptos::task::spawn_local;
use results::api::{SharedComparison, StoredComparison};

use super::compare::outcome::{Gathered, explanation, files, of_workload};
use super::language::kept;
use crate::platform::{self, Refusal};
use crate::route::COMPARE;
use crate::{side_by_side, t, text};

#[component]
pub(super) fn ComparisonPage(id: String) -> impl IntoView {
    platform::set_title(t!(comparison_title));
    let secret = platform::kept_secret(&id);
    let deletion = secret.map(|secret| format!("/comparisons/{id}/delete#{secret}"));
    let loaded = kept("comparison", || {
        let loaded = RwSignal::new(None::<Result<StoredComparison, Refusal>>);
        spawn_local(async move { loaded.set(Some(platform::comparison(&id).await)) });
        loaded
    });
    move || match loaded.get() {
        None => view! { <p class="note">{t!(common_loading)}</p> }.into_any(),
        Some(Err(refusal)) => view! {
            <section class="sheet narrow">
                <h1>{t!(comparison_refused)}</h1>
                <p>{refusal.to_string()}</p>
                <p><a class="button quiet" href=COMPARE>{t!(comparison_own)}</a></p>
            </section>
        }
        .into_any(),
        Some(Ok(stored)) => view! { <Shown stored deletion=deletion.clone() /> }.into_any(),
    }
}

#[component]
fn Shown(stored: StoredComparison, deletion: Option<String>) -> impl IntoView {
    let SharedComparison { records, refused } = stored.comparison;
    let first = records.first();
    let lead = first.map(|record| {
        let client = &record.provenance.client;
        t!(
            comparison_lead,
            device = text::device_name(&record.device.adapter, record.device.claimed_name.as_deref()),
            client = format!("{} {}, {}", client.name, client.version, client.operating_system),
            day = text::day(stored.submitted_unix_seconds)
        )
    });
    let networks = side_by_side::networks(&records);
    let said = RwSignal::new(String::new());
    let shown = Gathered::new(&networks, records.clone(), side_by_side::quoted(&refused));
    let tables = shown.compared.into_iter().map(|of| of_workload(of, &records)).collect_view();
    let explanation = explanation(&side_by_side::seeds(&records));
    let gathered = move || Gathered::new(&networks, records.clone(), refused.clone());
    view! {
        <section class="sheet" aria-labelledby="comparison-title">
            <h1 id="comparison-title">{t!(comparison_title)}</h1>
            <p class="lead small">{lead}</p>
            <p class="note">{explanation}</p>
            {tables}
            <div class="row">
                {files(gathered, said)}
                <span class="note" aria-live="polite">{said}</span>
            </div>
            <div class="row">
                <a class="button quiet" href=COMPARE>{t!(comparison_own)}</a>
                {deletion.map(|address| view! { <a class="button quiet" href=address>{t!(comparison_delete)}</a> })}
            </div>
        </section>
    }
}
