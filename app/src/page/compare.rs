//! The back ends of the page side by side: each trains the chosen networks, one after another, from the same seed.

use std::time::Duration;

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

/// A comparison while it goes on, and what it came to.
#[derive(Clone, Copy)]
pub(super) struct Comparing {
    benchmark: Benchmark,
    /// What is trained, and from which seed; nothing before the first comparison.
    task: RwSignal<Option<(Wishes, u32)>>,
    /// The present back end and those to come; empty when nothing runs.
    queue: RwSignal<Vec<PageBackend>>,
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
        self.queue.with(|queue| queue.first().copied())
    }

    /// What the status region says about a comparison, if there is one.
    pub(super) fn status(self, of_the_run: &str) -> Option<String> {
        let of = PageBackend::ALL.len();
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
        self.task.set(Some((Wishes { limit, ..wishes }, platform::random_seed())));
        self.queue.set(PageBackend::ALL.to_vec());
        self.run_first();
    }

    /// Starts the first back end of the queue, or notes why it cannot train and goes on with the next one.
    fn run_first(self) {
        let (Some(backend), Some((wishes, seed))) =
            (self.queue.get_untracked().first().copied(), self.task.get_untracked())
        else {
            return;
        };
        let wishes = wishes.with_backend(backend);
        match wishes.obstacle(platform::bundle().as_ref()) {
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

    fn refuse(self, reason: String) {
        let Some(backend) = self.queue.get_untracked().first().copied() else { return };
        let precision = self.task.with_untracked(|task| task.as_ref().and_then(|(wishes, _)| wishes.precision));
        let contender =
            Contender { backend: backend.name().to_owned(), precision: precision.unwrap_or(Precision::F32) };
        self.refused.update(|refused| refused.push(Refused { contender, reason }));
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
        (Ok(wishes), _) => wishes.with_backend(PageBackend::BurnWgpu).obstacle(platform::bundle().as_ref()),
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
                {move || obstacle().unwrap_or_else(|| {
                    "Trains what is chosen on each of them in turn, for one pass over the data unless the address says \
                     otherwise. It stays on this page.".to_owned()
                })}
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
        let (wishes, seed) = task.get()?;
        let (records, refused) = (records.get(), refused.get());
        if records.is_empty() && refused.is_empty() {
            return None;
        }
        let networks = wishes.networks();
        let compared = networks.iter().map(|name| comparison::compare(name, &records, &refused)).collect::<Vec<_>>();
        Some(view! {
            <section class="sheet" aria-labelledby="comparison-title">
                <h2 id="comparison-title" tabindex="-1" node_ref=heading>"Comparison"</h2>
                <p class="note">
                    {format!("Seed {seed} for all of them. Times are of training and testing alone; × is against the fastest.")}
                </p>
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
        <p class="note">{format!("{}.", comparison.agreement)}</p>
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
            {cells(row.figures.as_ref()).map(|(figure, ratio)| view! {
                <td>{figure}{ratio.map(|ratio| view! { <span class="explain">{ratio}</span> })}</td>
            }).collect_view()}
        </tr>
    }
}

/// Figures and ratios of a row; a dash where there is none.
fn cells(figures: Option<&Figures>) -> [(String, Option<String>); 5] {
    let time = |timing: fn(&Figures) -> Option<Timing>| match figures.and_then(timing) {
        Some(timing) => (text::seconds(timing.seconds), timing.to_fastest.map(text::ratio)),
        None => ("–".to_owned(), None),
    };
    let (seconds, ratio) = time(|figures| figures.epoch);
    let projected =
        figures.filter(|of| of.epoch.is_some() && of.epoch_is_projected).map(|_| "from its throughput".to_owned());
    let remarks: Vec<String> = [ratio, projected].into_iter().flatten().collect();
    let epoch = (seconds, (!remarks.is_empty()).then(|| remarks.join(", ")));
    let plain = |text: Option<String>| (text.unwrap_or_else(|| "–".to_owned()), None);
    [
        epoch,
        time(|figures| figures.training),
        time(|figures| figures.testing),
        plain(figures.and_then(|figures| figures.accuracy).map(text::percent)),
        plain(figures.and_then(|figures| figures.device_memory_bytes).map(text::megabytes)),
    ]
}

/// Why a row has no figures.
fn remark(outcome: &RowOutcome) -> Option<String> {
    match outcome {
        RowOutcome::Completed => None,
        RowOutcome::Cancelled => Some("Cancelled.".to_owned()),
        RowOutcome::Refused { reason } => Some(reason.clone()),
        RowOutcome::Diverged { step, .. } => Some(format!("The loss became infinite at step {step}.")),
        RowOutcome::Incorrect { disagreement, .. } => {
            let what = disagreement.map_or_else(String::new, |found| format!(" ({found})"));
            Some(format!("Computed something else than the reference{what}, so nothing was timed."))
        }
    }
}
