//! The back ends of the page side by side: each trains the chosen networks, one after another, from the same seeds.

use std::time::Duration;

use engine::measure;
use leptos::html;
use leptos::prelude::*;
use results::comparison::{self, Comparison, Contender, Figures, Refused, Row, RowOutcome, Timing};
use results::{Precision, RunRecord};
use training_worker::Limit;

use super::start::StartState;
use crate::backend::PageBackend;
use crate::benchmark::{Benchmark, Kind, Stage};
use crate::platform::{self, Gpu};
use crate::text;
use crate::wishes::Wishes;

/// What every back end trains where nothing else is asked for: one pass over the data, the same work for all.
const USUAL_LIMIT: Limit = Limit::Epochs(1);

/// One run of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    backend: PageBackend,
    seed: u32,
}

/// What is trained, and by whom, from which seeds.
#[derive(Clone)]
struct Task {
    wishes: Wishes,
    seeds: Vec<u32>,
}

impl Task {
    fn turns(&self) -> Vec<Turn> {
        let contenders = self.wishes.contenders();
        let turn = |turn: measure::Turn| Turn { backend: contenders[turn.contender], seed: self.seeds[turn.seed] };
        measure::turns(self.seeds.len(), contenders.len()).map(turn).collect()
    }
}

/// A comparison while it goes on, and what it came to.
#[derive(Clone, Copy)]
pub(super) struct Comparing {
    benchmark: Benchmark,
    /// Nothing before the first comparison.
    task: RwSignal<Option<Task>>,
    /// The present turn and those to come; empty when nothing runs.
    queue: RwSignal<Vec<Turn>>,
    records: RwSignal<Vec<RunRecord>>,
    refused: RwSignal<Vec<Refused>>,
}

impl Comparing {
    pub(super) fn new(benchmark: Benchmark) -> Self {
        let comparing = Self {
            benchmark,
            task: RwSignal::new(None),
            queue: RwSignal::new(Vec::new()),
            records: RwSignal::new(Vec::new()),
            refused: RwSignal::new(Vec::new()),
        };
        Effect::new(move |_| comparing.follow(&benchmark.stage.get()));
        comparing
    }

    /// The back end that is running, while a comparison goes on.
    pub(super) fn present(self) -> Option<PageBackend> {
        self.queue.with(|queue| queue.first().map(|turn| turn.backend))
    }

    /// What the status region says about a comparison, if there is one.
    pub(super) fn status(self, of_the_run: &str) -> Option<String> {
        let of = self.task.with(|task| task.as_ref().map_or(0, |task| task.turns().len()));
        if let Some(backend) = self.present() {
            let place = of + 1 - self.queue.with(Vec::len);
            return Some(format!("{} ({place} of {of}): {of_the_run}", backend.title()));
        }
        let done = self.records.with(|records| !records.is_empty()) || self.refused.with(|refused| !refused.is_empty());
        done.then(|| match self.benchmark.stage.get() {
            Stage::Cancelled => "Cancelled. What was finished is in the comparison below.".to_owned(),
            _ => "The comparison is below.".to_owned(),
        })
    }

    /// Forgets what was compared before, because another run begins.
    pub(super) fn forget(self) {
        self.task.set(None);
        self.queue.set(Vec::new());
        self.records.set(Vec::new());
        self.refused.set(Vec::new());
    }

    fn start(self, wishes: Wishes) {
        self.forget();
        let limit = wishes.limit.or(Some(USUAL_LIMIT));
        let task = Task { seeds: wishes.seeds_from(platform::random_seed()), wishes: Wishes { limit, ..wishes } };
        self.queue.set(task.turns());
        self.task.set(Some(task));
        self.run_first();
    }

    /// Starts the first turn of the queue, or notes why its back end cannot train and goes on with the next one.
    fn run_first(self) {
        let (Some(Turn { backend, seed }), Some(task)) =
            (self.queue.get_untracked().first().copied(), self.task.get_untracked())
        else {
            return;
        };
        let wishes = task.wishes.with_backend(backend);
        match self.benchmark.supplies.with_untracked(|supplies| wishes.obstacle(supplies)) {
            Some(reason) => self.refuse(reason),
            // The worker of the run before is ended first.
            None => {
                let begin = move || {
                    if self.queue.with_untracked(|queue| !queue.is_empty()) {
                        self.benchmark.start(Kind::Comparison { seed }, wishes);
                    }
                };
                set_timeout(begin, Duration::ZERO);
            }
        }
    }

    /// Notes why the present back end does not train. What stopped it with one seed would with the next.
    fn refuse(self, reason: String) {
        let Some(Turn { backend, .. }) = self.queue.get_untracked().first().copied() else { return };
        let precision = self.task.with_untracked(|task| task.as_ref().and_then(|task| task.wishes.precision));
        let contender =
            Contender { backend: backend.name().to_owned(), precision: precision.unwrap_or(Precision::F32) };
        self.refused.update(|refused| refused.push(Refused { contender, reason }));
        self.queue.update(|queue| {
            let mut place = 0;
            queue.retain(|turn| {
                place += 1;
                place == 1 || turn.backend != backend
            });
        });
        self.go_on();
    }

    fn go_on(self) {
        self.queue.update(|queue| {
            queue.remove(0);
        });
        self.run_first();
    }

    /// Takes the end of a back end's run and begins the next one.
    fn follow(self, stage: &Stage) {
        if self.queue.with_untracked(Vec::is_empty) {
            return;
        }
        match stage {
            Stage::Finished => {
                let finished = self.benchmark.finished.get_untracked();
                self.records.update(|records| records.extend(finished.map(|finished| finished.record)));
                self.go_on();
            }
            Stage::Failed(sentence) => self.refuse(sentence.clone()),
            Stage::Cancelled => self.queue.set(Vec::new()),
            Stage::Ready | Stage::Running | Stage::Cancelling => {}
        }
    }
}

/// The button that compares, beside the choice of the back end.
#[component]
pub(super) fn CompareControls(state: StartState) -> impl IntoView {
    let obstacle = move || match (state.wishes.get(), state.gpu.get()) {
        (Err(_), _) => Some("The address asks for something that is not there.".to_owned()),
        (Ok(_), Gpu::Missing(_)) => {
            Some("Without WebGPU there is one back end only, and nothing to compare it with.".to_owned())
        }
        (Ok(wishes), _) => {
            let wishes = wishes.with_backend(PageBackend::BurnWgpu);
            state.benchmark.supplies.with(|supplies| wishes.obstacle(supplies))
        }
    };
    let usual = move || {
        let seeds = state.wishes.with(|wishes| wishes.as_ref().ok().and_then(|wishes| wishes.seeds)).unwrap_or(1);
        let from = if seeds == 1 { String::new() } else { format!(" from {seeds} seeds") };
        format!(
            "Trains what is chosen on each of them in turn{from}, for one pass over the data unless the address says \
             otherwise. It stays on this page."
        )
    };
    let compare = move |_| {
        if let Ok(wishes) = state.wishes.get_untracked() {
            state.comparing.start(wishes);
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
        let Task { wishes, seeds } = task.get()?;
        let (records, refused) = (records.get(), refused.get());
        if records.is_empty() && refused.is_empty() {
            return None;
        }
        let networks = wishes.networks();
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
