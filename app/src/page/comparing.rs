//! A comparison as the page drives it: each of its back ends trains the chosen networks, one after another, from the
//! same seeds.

use std::time::Duration;

use engine::measure::Schedule;
use leptos::prelude::*;
use results::comparison::{Contender, Refused};
use results::{Precision, RunRecord};
use training_worker::Limit;

use crate::backend::PageBackend;
use crate::benchmark::{Benchmark, Kind, Stage};
use crate::bundle::Arrival;
use crate::options::RunOptions;
use crate::platform::{self, TaskState};
use crate::route::COMPARE;
use crate::t;
use crate::words::Said;

/// What every back end trains by default: one pass over the data, the same work for all.
const USUAL_LIMIT: Limit = Limit::Epochs(1);

/// What is compared, and from which seeds.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) options: RunOptions,
    /// In the order in which they train.
    pub(super) contenders: Vec<PageBackend>,
    pub(super) seeds: Vec<u32>,
}

impl Task {
    /// Where the same is compared from the same seeds.
    pub(super) fn address(&self) -> String {
        let options = RunOptions {
            compared: self.contenders.clone(),
            seeds: Some(self.seeds.len()).filter(|seeds| *seeds > 1).and_then(|seeds| u32::try_from(seeds).ok()),
            seed: self.seeds.first().copied(),
            limit: self.options.limit.filter(|limit| *limit != USUAL_LIMIT),
            backend: PageBackend::default(),
            autostart: false,
            ..self.options.clone()
        };
        format!("{COMPARE}{}", options.query())
    }

    fn schedule(&self) -> Schedule {
        Schedule::new(self.seeds.len(), self.contenders.len())
    }
}

/// A back end that did not train.
#[derive(Clone)]
pub(super) struct GaveUp {
    contender: Contender,
    why: Said,
}

impl GaveUp {
    /// In the language of the page.
    fn said(&self) -> Refused {
        Refused { contender: self.contender.clone(), reason: self.why.text().to_owned() }
    }
}

/// A comparison while it runs, and its results.
#[derive(Clone, Copy)]
pub(super) struct Comparing {
    benchmark: Benchmark,
    /// `None` before the first comparison.
    pub(super) task: RwSignal<Option<Task>>,
    /// Without turns when nothing runs.
    schedule: RwSignal<Schedule>,
    pub(super) records: RwSignal<Vec<RunRecord>>,
    gave_up: RwSignal<Vec<GaveUp>>,
    /// How what had to be fetched came at its back end's first turn: later ones find it in the browser's cache.
    pub(super) fetched: RwSignal<Vec<(PageBackend, Arrival)>>,
}

impl Comparing {
    pub(super) fn new(benchmark: Benchmark) -> Self {
        let comparing = Self {
            benchmark,
            task: RwSignal::new(None),
            schedule: RwSignal::new(Schedule::default()),
            records: RwSignal::new(Vec::new()),
            gave_up: RwSignal::new(Vec::new()),
            fetched: RwSignal::new(Vec::new()),
        };
        Effect::new(move |_| comparing.follow(&benchmark.stage.get()));
        comparing
    }

    /// The back end that is running, during a comparison.
    pub(super) fn present(self) -> Option<PageBackend> {
        let turn = self.schedule.with(Schedule::present)?;
        self.task.with(|task| task.as_ref().map(|task| task.contenders[turn.contender]))
    }

    /// What the status region says about a comparison, if there is one.
    pub(super) fn status(self, of_the_run: &str) -> Option<String> {
        if let Some(backend) = self.present() {
            let (number, count) = self.schedule.with(|schedule| (schedule.number(), schedule.count()));
            return Some(t!(
                compare_turn,
                backend = backend.title(),
                number = number,
                count = count,
                status = of_the_run
            ));
        }
        match self.state() {
            _ if self.is_empty() => None,
            TaskState::Cancelled => Some(t!(compare_cancelled_in_part).to_owned()),
            _ => Some(t!(compare_below).to_owned()),
        }
    }

    /// Whether no back end has had an outcome.
    pub(super) fn is_empty(self) -> bool {
        self.records.with(Vec::is_empty) && self.gave_up.with(Vec::is_empty)
    }

    /// The back ends that did not train, with the reason in the language of the page.
    pub(super) fn refused(self) -> Vec<Refused> {
        self.gave_up.with(|all| all.iter().map(GaveUp::said).collect())
    }

    /// How far it is; a back end that failed ends no comparison.
    pub(super) fn state(self) -> TaskState {
        if self.present().is_some() {
            TaskState::Running
        } else if self.benchmark.stage.with(|stage| matches!(stage, Stage::Cancelled)) {
            TaskState::Cancelled
        } else if self.is_empty() {
            TaskState::Ready
        } else {
            TaskState::Finished
        }
    }

    /// Forgets what was compared before, because another run begins.
    pub(super) fn forget(self) {
        self.task.set(None);
        self.schedule.set(Schedule::default());
        self.records.set(Vec::new());
        self.gave_up.set(Vec::new());
        self.fetched.set(Vec::new());
    }

    pub(super) fn start(self, options: RunOptions, contenders: Vec<PageBackend>) {
        self.forget();
        let limit = options.limit.or(Some(USUAL_LIMIT));
        let seeds = options.seeds_from(options.seed.unwrap_or_else(platform::random_seed));
        let task = Task { seeds, contenders, options: RunOptions { limit, ..options } };
        self.schedule.set(task.schedule());
        self.task.set(Some(task));
        self.begin_turn();
    }

    /// Begins the present turn, or notes why its back end cannot train and goes on with the next one.
    fn begin_turn(self) {
        let (Some(turn), Some(task)) = (self.schedule.with_untracked(Schedule::present), self.task.get_untracked())
        else {
            return;
        };
        let (backend, seed) = (task.contenders[turn.contender], task.seeds[turn.seed]);
        let options = task.options.with_backend(backend);
        let obstacle = || self.benchmark.supplies.with_untracked(|supplies| options.obstacle(supplies));
        match obstacle() {
            Some(_) => self.refuse(Said::new(|| obstacle().unwrap_or_default())),
            // The worker of the run before is ended first.
            None => {
                let begin = move || {
                    if self.is_under_way() {
                        self.benchmark.start(Kind::Comparison { seed }, options);
                    }
                };
                set_timeout(begin, Duration::ZERO);
            }
        }
    }

    /// Notes why the present back end does not train, which then has no more turns.
    fn refuse(self, why: Said) {
        let Some(backend) = untrack(|| self.present()) else { return };
        let precision = self.task.with_untracked(|task| task.as_ref().and_then(|task| task.options.precision));
        let contender =
            Contender { backend: backend.name().to_owned(), precision: precision.unwrap_or(Precision::F32) };
        self.gave_up.update(|all| all.push(GaveUp { contender, why }));
        self.schedule.update(Schedule::give_up);
        self.begin_turn();
    }

    fn go_on(self) {
        self.schedule.update(Schedule::go_on);
        self.begin_turn();
    }

    fn is_under_way(self) -> bool {
        self.schedule.with_untracked(|schedule| schedule.present().is_some())
    }

    /// When a back end's run ends, takes its record and begins the next run.
    fn follow(self, stage: &Stage) {
        if !self.is_under_way() {
            return;
        }
        match stage {
            Stage::Finished => {
                if let Some(finished) = self.benchmark.finished.get_untracked() {
                    if let Some((backend, arrival)) = untrack(|| self.present()).zip(finished.bundle) {
                        self.fetched.update(|fetched| {
                            if fetched.iter().all(|(known, _)| *known != backend) {
                                fetched.push((backend, arrival));
                            }
                        });
                    }
                    self.records.update(|records| records.push(finished.record));
                }
                self.go_on();
            }
            Stage::Failed(failure) => self.refuse(Said::new(|| failure.sentence())),
            Stage::Cancelled => self.schedule.update(Schedule::end),
            Stage::Ready | Stage::Running | Stage::Cancelling => {}
        }
    }
}
