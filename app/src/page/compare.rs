//! The back ends of the page side by side: the button that compares them, and the table of what came of it.

use leptos::html;
use leptos::prelude::*;
use results::comparison::{self, Comparison, Figures, Row, RowOutcome, Timing};

use super::comparing::{Comparing, Task};
use super::state::StartState;
use crate::backend::PageBackend;
use crate::platform::Gpu;
use crate::text;

/// The button that compares, beside the choice of the back end.
#[component]
pub(super) fn CompareControls(state: StartState) -> impl IntoView {
    let obstacle = move || match (state.options.get(), state.gpu.get()) {
        (Err(_), _) => Some("The address asks for something that is not there.".to_owned()),
        (Ok(_), Gpu::Missing(_)) => {
            Some("Without WebGPU there is one back end only, and nothing to compare it with.".to_owned())
        }
        (Ok(options), _) => {
            let options = options.with_backend(PageBackend::BurnWgpu);
            state.benchmark.supplies.with(|supplies| options.obstacle(supplies))
        }
    };
    let usual = move || {
        let seeds = state.options.with(|options| options.as_ref().ok().and_then(|options| options.seeds)).unwrap_or(1);
        let from = if seeds == 1 { String::new() } else { format!(" from {seeds} seeds") };
        format!(
            "Trains what is chosen on each of them in turn{from}, for one pass over the data unless the address says \
             otherwise. It stays on this page."
        )
    };
    let compare = move |_| {
        if let Ok(options) = state.options.get_untracked() {
            state.comparing.start(options);
        }
    };
    view! {
        <div class="go">
            <button class="button quiet" type="button" disabled=move || obstacle().is_some() on:click=compare>
                "Compare back ends"
            </button>
            <p class="note">
                {move || obstacle().unwrap_or_else(usual)}
            </p>
        </div>
    }
}

/// The table, as soon as a back end has finished.
#[component]
pub(super) fn ComparisonTable(state: StartState) -> impl IntoView {
    let Comparing { task, records, refused, .. } = state.comparing;
    let heading = NodeRef::<html::H2>::new();
    // The Cancel button is gone; the keyboard goes on from the table.
    Effect::new(move |_| {
        if let (Some(heading), None) = (heading.get(), state.comparing.present()) {
            drop(heading.focus());
        }
    });
    move || {
        let Task { options, seeds } = task.get()?;
        let (records, refused) = (records.get(), refused.get());
        if records.is_empty() && refused.is_empty() {
            return None;
        }
        let networks = options.networks();
        let times = "Times are of training and testing alone; × is against the fastest.";
        let note = match seeds.as_slice() {
            [seed] => format!("Seed {seed} for all of them. {times}"),
            several => {
                let several = several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                format!("Seeds {several} for all of them; times are medians over them, accuracies means. {times}")
            }
        };
        let compared = networks.iter().map(|name| comparison::compare(name, &records, &refused)).collect::<Vec<_>>();
        Some(view! {
            <section class="sheet" aria-labelledby="comparison-title">
                <h2 id="comparison-title" tabindex="-1" node_ref=heading>"Comparison"</h2>
                <p class="note">{note}</p>
                {compared.into_iter().map(|comparison| view! { <OfWorkload comparison /> }).collect_view()}
            </section>
        })
    }
}

#[component]
fn OfWorkload(comparison: Comparison) -> impl IntoView {
    let title = text::workload_title(&comparison.workload);
    let label = format!("Comparison: {title}");
    let region = format!("{label}, scrollable");
    view! {
        <h3>{title}</h3>
        <div class="scroll" role="region" aria-label=region tabindex="0">
            <table class="results" aria-label=label>
                <thead>
                    <tr>
                        <th scope="col">"Back end"</th>
                        <th scope="col">"Time per epoch"</th>
                        <th scope="col">"Training"</th>
                        <th scope="col">"Testing"</th>
                        <th scope="col">"Test accuracy"</th>
                        <th scope="col">"Device memory"</th>
                    </tr>
                </thead>
                <tbody>{comparison.rows.into_iter().map(|row| view! { <OfBackend row /> }).collect_view()}</tbody>
            </table>
        </div>
        <p class="note verdict">{format!("{}.", comparison.agreement)}</p>
    }
}

#[component]
fn OfBackend(row: Row) -> impl IntoView {
    let title =
        PageBackend::named(&row.contender.backend).map_or_else(|| row.contender.to_string(), |b| b.title().to_owned());
    let remark = remark(&row.outcome);
    view! {
        <tr data-backend=row.contender.backend.clone()>
            <th scope="row">
                {title}
                {remark.map(|remark| view! { <span class="explain long">{remark}</span> })}
            </th>
            {cells(row.figures.as_ref()).map(|cell| view! {
                <td data-value=cell.value.map(|value| value.to_string())>
                    {cell.figure}
                    {cell.remark.map(|remark| view! { <span class="explain">{remark}</span> })}
                </td>
            }).collect_view()}
        </tr>
    }
}

/// A figure of a row.
struct Cell {
    /// Unrounded, in the base unit.
    value: Option<f64>,
    /// For people; a dash where there is none.
    figure: String,
    remark: Option<String>,
}

impl Cell {
    fn new(value: Option<f64>, text: impl Fn(f64) -> String, remark: Option<String>) -> Self {
        Self { value, figure: value.map_or_else(|| "–".to_owned(), text), remark }
    }

    fn time(timing: Option<Timing>, remarks: Option<String>) -> Self {
        let ratio = timing.and_then(|timing| timing.to_fastest).map(text::ratio);
        let remarks: Vec<String> = ratio.into_iter().chain(remarks).collect();
        let remark = (!remarks.is_empty()).then(|| remarks.join(", "));
        Self::new(timing.map(|timing| timing.seconds), text::seconds, remark)
    }
}

/// In the order of the table's columns.
fn cells(figures: Option<&Figures>) -> [Cell; 5] {
    let projected =
        figures.filter(|of| of.epoch.is_some() && of.epoch_is_projected).map(|_| "from its throughput".to_owned());
    let memory = figures.and_then(|of| of.device_memory_bytes);
    [
        Cell::time(figures.and_then(|of| of.epoch), projected),
        Cell::time(figures.and_then(|of| of.training), None),
        Cell::time(figures.and_then(|of| of.testing), None),
        Cell::new(figures.and_then(|of| of.accuracy), text::percent, None),
        Cell::new(memory.map(|bytes| bytes as f64), |_| memory.map(text::megabytes).unwrap_or_default(), None),
    ]
}

/// Why a row has no figures.
fn remark(outcome: &RowOutcome) -> Option<String> {
    match outcome {
        RowOutcome::Completed => None,
        RowOutcome::Cancelled => Some("Cancelled.".to_owned()),
        RowOutcome::Refused { reason } => Some(reason.clone()),
        RowOutcome::Diverged { step, .. } => {
            Some(format!("The loss became infinite, or a thousand times the first one, at step {step}."))
        }
        RowOutcome::Incorrect { disagreement, .. } => {
            let what = disagreement.map_or_else(String::new, |found| format!(" ({found})"));
            Some(format!("Computed something else than the reference{what}, so nothing was timed."))
        }
    }
}
