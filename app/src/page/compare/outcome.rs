//! What a comparison came to: tables, curves, whether all learned the same, and all of it to take along.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use results::RunRecord;
use results::comparison::{self, Comparison, Refused, Row};

use super::share::ShareComparison;
use crate::page::chart::{AccuracyCurves, LossCurves};
use crate::page::comparing::{Comparing, Task};
use crate::page::state::StartState;
use crate::{platform, side_by_side, t, text, words};

/// From the first back end that has finished.
#[component]
pub(super) fn Outcome(state: StartState) -> impl IntoView {
    let Comparing { task, fetched, .. } = state.comparing;
    let heading = NodeRef::<html::H2>::new();
    // The Cancel button is gone; the keyboard goes on from the table.
    Effect::new(move |_| {
        if let (Some(heading), None) = (heading.get(), state.comparing.present()) {
            drop(heading.focus());
        }
    });
    let begun = Memo::new(move |_| task.with(Option::is_some) && !state.comparing.is_empty());
    let fetched = move || {
        fetched
            .get()
            .into_iter()
            .map(|(backend, arrival)| {
                view! { <li>{t!(compare_fetched, backend = backend.title(), arrival = arrival.sentence())}</li> }
            })
            .collect_view()
    };
    view! {
        <Show when=move || begun.get()>
            <section class="sheet" aria-labelledby="comparison-title">
                <h2 id="comparison-title" tabindex="-1" node_ref=heading>{t!(compare_comparison)}</h2>
                <p class="note">{move || task.get().map(|task| explanation(&task.seeds))}</p>
                {move || {
                    let Gathered { compared, records, .. } = Gathered::of(state.comparing);
                    compared.into_iter().map(|comparison| of_workload(comparison, &records)).collect_view()
                }}
                <ul class="plain note" data-figure="fetched">{fetched}</ul>
                <Takeaway state />
                <Show when=move || state.comparing.present().is_none()>
                    <ShareComparison comparing=state.comparing />
                </Show>
            </section>
        </Show>
    }
}

pub(in crate::page) fn explanation(seeds: &[u32]) -> String {
    let what = t!(compare_explanation);
    match seeds {
        [seed] => t!(compare_explanation_seed, seed = seed.to_string(), what = what),
        several => {
            let several = several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            t!(compare_explanation_seeds, seeds = several, what = what)
        }
    }
}

/// The table and the curves of one network.
pub(in crate::page) fn of_workload(comparison: Comparison, records: &[RunRecord]) -> impl IntoView + use<> {
    let title = text::workload_title(&comparison.workload);
    let label = t!(compare_of_workload, workload = title);
    let region = t!(common_scrollable, what = label);
    let accuracies = side_by_side::accuracy_curves(&comparison.workload, records);
    let losses = side_by_side::loss_curves(&comparison.workload, records);
    let drawn = (!losses.is_empty()).then(|| {
        view! { <div class="charts"><AccuracyCurves curves=accuracies /><LossCurves curves=losses /></div> }
    });
    view! {
        <h3>{title}</h3>
        <div class="scroll" role="region" aria-label=region tabindex="0">
            <table class="results compared" aria-label=label>
                <thead>
                    <tr>
                        <th scope="col">{t!(compare_backend)}</th>
                        {side_by_side::COLUMNS.map(|title| view! { <th scope="col">{title.text()}</th> }).collect_view()}
                    </tr>
                </thead>
                <tbody>{comparison.rows.into_iter().map(|row| view! { <OfBackend row /> }).collect_view()}</tbody>
            </table>
        </div>
        <p class="note verdict">{t!(compare_verdict, verdict = words::agreement::agreement(&comparison.agreement))}</p>
        {drawn}
    }
}

#[component]
fn OfBackend(row: Row) -> impl IntoView {
    let remark = side_by_side::remark(&row.outcome);
    view! {
        <tr data-backend=row.contender.backend.clone()>
            <th scope="row">
                {side_by_side::title(&row.contender)}
                {remark.map(|remark| view! { <span class="explain">{remark}</span> })}
            </th>
            {side_by_side::cells(row.figures.as_ref()).map(|cell| view! {
                <td data-value=cell.value.map(|value| value.to_string())>
                    {cell.figure}
                    {cell.remark.map(|remark| view! { <span class="explain">{remark}</span> })}
                </td>
            }).collect_view()}
        </tr>
    }
}

/// A comparison with all that its files have.
pub(in crate::page) struct Gathered {
    pub(in crate::page) compared: Vec<Comparison>,
    records: Vec<RunRecord>,
    refused: Vec<Refused>,
}

impl Gathered {
    /// The comparison of each of these networks.
    pub(in crate::page) fn new(networks: &[String], records: Vec<RunRecord>, refused: Vec<Refused>) -> Self {
        let compared = networks.iter().map(|name| comparison::compare(name, &records, &refused)).collect();
        Self { compared, records, refused }
    }

    /// Of what a comparison has so far.
    pub(super) fn of(comparing: Comparing) -> Self {
        let networks =
            comparing.task.with(|task| task.as_ref().map(|task| task.options.networks())).unwrap_or_default();
        Self::new(&networks, comparing.records.get(), comparing.refused())
    }

    pub(super) fn json(&self) -> String {
        side_by_side::document(&self.compared, &self.records, &self.refused)
    }
}

/// A link that compares the same again, and the figures as files.
#[component]
fn Takeaway(state: StartState) -> impl IntoView {
    let said = RwSignal::new(String::new());
    // For machines, and for readers of all languages.
    let gathered = move || words::in_english(|| untrack(|| Gathered::of(state.comparing)));
    let copy_link = move |_| {
        let Some(address) = state.comparing.task.with_untracked(|task| task.as_ref().map(Task::address)) else {
            return;
        };
        let whole = format!("{}{address}", platform::origin());
        spawn_local(async move {
            said.set(match platform::copy(&whole).await {
                Ok(()) => t!(compare_link_copied).to_owned(),
                Err(reason) => t!(compare_link_not_copied, reason = reason, link = whole),
            });
        });
    };
    view! {
        <div class="row">
            <button class="button small" type="button" on:click=copy_link>{t!(compare_copy_link)}</button>
            {files(gathered, said)}
            <span class="note" aria-live="polite">{said}</span>
        </div>
    }
}

/// Buttons that save a comparison.
pub(in crate::page) fn files(
    gathered: impl Fn() -> Gathered + Clone + 'static,
    said: RwSignal<String>,
) -> impl IntoView {
    let save = move |file: &str, kind: &str, text: &str| {
        if let Err(reason) = platform::download_as(file, kind, text) {
            said.set(t!(common_not_saved, reason = reason));
        }
    };
    let of_table = gathered.clone();
    let save_json = move |_| {
        save("gradmark-comparison.json", "application/json", &gathered().json());
    };
    let save_table = move |_| {
        save("gradmark-comparison.csv", "text/csv;charset=utf-8", &side_by_side::table(&of_table().compared));
    };
    view! {
        <button class="button small" type="button" on:click=save_json>{t!(compare_as_json)}</button>
        <button class="button small" type="button" on:click=save_table>{t!(compare_as_csv)}</button>
    }
}
