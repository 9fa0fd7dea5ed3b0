//! A comparison as the page drives it: each of its back ends trains the chosen networks, one after another, from the
//! same seeds.

use std::time::Duration;

use engine::measure;
use leptos::prelude::*;
use results::comparison::{Contender, Refused};
use results::{Precision, RunRecord};
use training_worker::Limit;

use crate::backend::PageBackend;
use crate::benchmark::{Benchmark, Kind, Stage};
use crate::options::RunOptions;
use crate::platform;

/// What every back end trains by default: one pass over the data, the same work for all.
const USUAL_LIMIT: Limit = Limit::Epochs(1);

/// One run of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    backend: PageBackend,
    seed: u32,
}

/// What is compared, and from which seeds.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) options: RunOptions,
    pub(super) seeds: Vec<u32>,
}

impl Task {
    fn turns(&self) -> Vec<Turn> {
        let contenders = self.options.contenders();
        let turn = |turn: measure::Turn| Turn { backend: contenders[turn.contender], seed: self.seeds[turn.seed] };
        measure::turns(self.seeds.len(), contenders.len()).map(turn).collect()
    }
}

/// A comparison while it runs, and its results.
#[derive(Clone, Copy)]
pub(super) struct Comparing {
    benchmark: Benchmark,
    /// `None` before the first comparison.
    pub(super) task: RwSignal<Option<Task>>,
    /// The current turn and those to come; empty when nothing runs.
    queue: RwSignal<Vec<Turn>>,
    pub(super) records: RwSignal<Vec<RunRecord>>,
    pub(super) refused: RwSignal<Vec<Refused>>,
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

    /// The back end that is running, during a comparison.
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

    pub(super) fn start(self, options: RunOptions) {
        self.forget();
        let limit = options.limit.or(Some(USUAL_LIMIT));
        let task =
            Task { seeds: options.seeds_from(platform::random_seed()), options: RunOptions { limit, ..options } };
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
        let options = task.options.with_backend(backend);
        match self.benchmark.supplies.with_untracked(|supplies| options.obstacle(supplies)) {
            Some(reason) => self.refuse(reason),
            // The worker of the run before is ended first.
            None => {
                let begin = move || {
                    if self.queue.with_untracked(|queue| !queue.is_empty()) {
                        self.benchmark.start(Kind::Comparison { seed }, options);
                    }
                };
                set_timeout(begin, Duration::ZERO);
            }
        }
    }

    /// Notes why the current back end does not train. What stopped it with one seed would with the next.
    fn refuse(self, reason: String) {
        let Some(Turn { backend, .. }) = self.queue.get_untracked().first().copied() else { return };
        let precision = self.task.with_untracked(|task| task.as_ref().and_then(|task| task.options.precision));
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

    /// When a back end's run ends, takes its record and begins the next run.
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
